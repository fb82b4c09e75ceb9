"""Trees for the tests of the phylogenetic prior."""

from contextlib import contextmanager

import numpy as np
import pytest

import thali as th
import thali._aspects.priors.phylogenetic as phylogenetic


def random_tree(n, seed):
    """A random tree with multifurcations and edges without length, by joining nodes at rising
    heights."""
    rng = np.random.default_rng(seed)
    nodes = [(str(k), 0.0) for k in range(n)]
    height = 0.0
    while len(nodes) > 1:
        height += 0.05 if len(nodes) == n else rng.exponential() * (rng.random() < 0.8)
        joined = [
            nodes.pop(rng.integers(len(nodes)))
            for _ in range(min(len(nodes), 2 + (rng.random() < 0.3)))
        ]
        nodes.append(
            ("(" + ",".join(f"{name}:{height - low!r}" for name, low in joined) + ")", height)
        )
    return th.Tree.from_newick(nodes[0][0] + ";").for_labels([str(k) for k in range(n)])


@contextmanager
def pattern_by_pattern():
    """Compute the rate of each pattern of owners when it is needed, as of many options, without a
    table of all."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(phylogenetic, "MAX_TABLE_OPTIONS", 0)
        yield
