"""Trees for the tests of the phylogenetic prior."""

import numpy as np

import thali as th


def random_tree(n, seed):
    """A random tree with multifurcations and edges without length, by joining nodes at rising heights."""
    rng = np.random.default_rng(seed)
    nodes = [(str(k), 0.0) for k in range(n)]
    height = 0.0
    while len(nodes) > 1:
        height += 0.05 if len(nodes) == n else rng.exponential() * (rng.random() < 0.8)
        joined = [nodes.pop(rng.integers(len(nodes))) for _ in range(min(len(nodes), 2 + (rng.random() < 0.3)))]
        nodes.append(("(" + ",".join(f"{name}:{height - low!r}" for name, low in joined) + ")", height))
    return th.Tree.from_newick(nodes[0][0] + ";").for_labels([str(k) for k in range(n)])
