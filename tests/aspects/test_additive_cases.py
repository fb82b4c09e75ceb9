"""That checks of posteriors of similarities accept right draws and name what is wrong."""

import copy

import numpy as np
import pytest
import xarray as xr
from helpers.additive_cases import far_off
from helpers.all_drawn import in_groups
from helpers.naive.latent_features import additive_similarity


def tree_of(states, n):
    """A posterior tree from states[chain][draw] = (constant, [(owners, weight), ...])."""
    most = max(len(columns) for chain in states for _, columns in chain)
    shape = (len(states), len(states[0]))
    features, weights = np.zeros((*shape, most, n), dtype=bool), np.zeros((*shape, most))
    constant, similarity = np.zeros(shape), np.zeros((*shape, n * (n - 1) // 2))
    for c, chain in enumerate(states):
        for d, (w0, columns) in enumerate(chain):
            for k, (owners, weight) in enumerate(columns):
                features[c, d, k, list(owners)] = True
                weights[c, d, k] = weight
            constant[c, d] = w0
            similarity[c, d] = additive_similarity(features[c, d].T, weights[c, d], w0)[
                np.triu_indices(n, 1)
            ]
    over = ("chain", "draw")
    drawn = {
        "features": ((*over, "feature", "option"), features),
        "weights": ((*over, "feature"), weights),
        "constant": (over, constant),
        "similarity": ((*over, "pair"), similarity),
        "n_shared_features": (over, (features.sum(-1) >= 2).sum(-1)),
    }
    return xr.DataTree.from_dict(in_groups(xr.Dataset(drawn)))


def right_draws(shift=0.0):
    """A tree of independent draws, and a case that they follow but for the shift of their
    constants."""
    rng = np.random.default_rng(1)

    def state():
        columns = [((0, 1), rng.exponential())] * (rng.random() < 0.3) + [
            ((1,), 1.0)
        ] * rng.poisson(2.0)
        return shift + rng.exponential(), columns

    tree = tree_of([[state() for _ in range(1000)] for _ in range(2)], 2)
    expected = {
        "n_shared_features": 0.3,
        "n_shared_features=1": 0.3,
        "n_shared_features=2": 1e-6,
        "P(01)": 0.3,
    }
    expected |= {"E w(01)": 0.3, "constant": 1.0, "similarity[0, 1]": 1.3}
    return tree, {"similarities": [[1, 1], [1, 1]], "model": {"alpha": 2.0}, "expected": expected}


@pytest.mark.fit
def test_right_draws_are_not_far_off_and_wrong_ones_are_named():
    tree, case = right_draws()
    assert far_off(tree, case) == {}
    for name in case["expected"]:
        wrong = copy.deepcopy(case)
        wrong["expected"][name] += 0.15  # of standard errors between .01 and .03
        assert name in far_off(tree, wrong)
    case["model"]["alpha"] = 2.5  # .5 too many, of a standard error of .03
    assert list(far_off(tree, case)) == ["n_features"]
    assert list(far_off(right_draws(shift=0.15)[0], right_draws()[1])) == [
        "constant",
        "similarity[0, 1]",
    ]


def test_draws_that_never_move_are_far_off():
    tree, case = right_draws()
    tree.children["latent_features"].dataset["features"].values[...] = False
    assert {"P(01)", "E w(01)", "n_features"} <= far_off(tree, case).keys()
    tree.children["posterior"].dataset["constant"].values[0, 0] = np.nan
    assert "constant" in far_off(tree, case)
