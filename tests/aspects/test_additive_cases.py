"""The helpers in additive_cases.py and the naive similarities, on a small posterior made by
hand."""

import copy
import math
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from helpers.additive_cases import CASES, case_named, expected_by_name, far_off, found_by_name
from helpers.all_drawn import in_groups
from helpers.naive.latent_features import additive_log_likelihood, additive_similarity

from thali._inference.numerics.positive_weight_draws import draw_tilted_weight


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


SMALL = [
    [(0.5, []), (0.25, [((0, 1), 0.5), ((2,), 9.0), ((0, 1), 0.125)])],
    [
        (0.125, [((0, 1, 2), 1.0), ((1, 2), 0.25)]),
        (0.0, [((0, 1), 1.0), ((0, 1, 2), 2.0), ((0, 2), 4.0)]),
    ],
]


def test_figures_of_a_small_posterior():
    found = found_by_name(tree_of(SMALL, 3), case_named("E3a"))
    by_hand = {
        "n_shared_features": [[0, 2], [2, 3]],
        "n_shared_features=0": [[1, 0], [0, 0]],
        "n_shared_features=2": [[0, 1], [1, 0]],
        "n_features": [[0, 3], [2, 3]],
        "constant": [[0.5, 0.25], [0.125, 0.0]],
        "P(01)": [[0, 1], [0, 1]],
        "E w(01)": [[0.0, 0.625], [0.0, 1.0]],
        "P(02)": [[0, 0], [0, 1]],
        "P(12)": [[0, 0], [1, 0]],
        "P(012)": [[0, 0], [1, 1]],
        "E w(012)": [[0.0, 0.0], [1.0, 2.0]],
        "similarity[0, 1]": [[0.5, 0.875], [1.125, 3.0]],
        "similarity[0, 2]": [[0.5, 0.25], [1.125, 6.0]],
        "similarity[1, 2]": [[0.5, 0.25], [1.375, 2.0]],
    }
    for name, draws in by_hand.items():
        np.testing.assert_array_equal(found[name], draws, err_msg=name)
    assert found["P(01)"].dtype == found["n_shared_features=0"].dtype == bool


def test_figures_of_given_features():
    states = [
        [(0.5, [((0, 1), 0.25), ((0, 1, 2), 2.0)]), (1.5, [((0, 1), 0.75), ((0, 1, 2), 4.0)])]
    ]
    case = case_named("given features, Gamma(1, 1)")
    found = found_by_name(tree_of(states, 3), case)
    assert {name: draws.tolist() for name, draws in found.items()} == {
        "E w(01)": [[0.25, 0.75]],
        "E w(01)^2": [[0.0625, 0.5625]],
        "E w(012)": [[2.0, 4.0]],
        "E w(012)^2": [[4.0, 16.0]],
        "constant": [[0.5, 1.5]],
        "constant^2": [[0.25, 2.25]],
        "E w(01) w(012)": [[0.5, 3.0]],
    }
    expected = expected_by_name(case)
    assert expected["E w(01)^2"] == pytest.approx(0.4018798**2 + 0.1213943**2)
    assert expected["constant^2"] == pytest.approx(0.1941318**2 + 0.1190240**2)
    assert expected["E w(01) w(012)"] == pytest.approx(0.4018798 * 0.1941318 - 0.0023971)


def test_every_name_of_every_case_is_found():
    for case in CASES:
        n = len(case["similarities"])
        expected = expected_by_name(case)
        found = found_by_name(tree_of([[(0.5, [(range(n), 1.0)]), (0.5, [])]], n), case)
        assert found.keys() == expected.keys()
        assert all(draws.shape == (1, 2) for draws in found.values())
        assert ("n_features" in expected) == ("alpha" in case["model"])
    assert expected_by_name(case_named("E4b"))["n_features"] == pytest.approx(1.62647 + 2.0)


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


def test_the_naive_log_likelihood_counts_every_measured_pair_once():
    data = SimpleNamespace(first=[0, 1], second=[1, 2], values=[0.8, 0.45], judgements=[1, 1])
    features, weights = [[1, 1, 0], [1, 1, 0], [0, 1, 1]], [0.25, 0.125, 7.0]
    expected = sum(
        -0.5 * ((s - mean) / 0.5) ** 2 - math.log(0.5 * math.sqrt(2.0 * math.pi))
        for s, mean in ((0.8, 0.0625 + 0.375), (0.45, 0.0625 + 0.125))
    )
    assert additive_log_likelihood(data, features, weights, 0.0625, 0.5) == pytest.approx(
        expected, rel=1e-14
    )
    assert additive_similarity(np.zeros((2, 0)), [], 0.5).tolist() == [[0.5, 0.5], [0.5, 0.5]]


@pytest.mark.first(1)
@pytest.mark.parametrize("name", ["given features, Gamma(1, 1)", "given features, Gamma(2, 4)"])
@pytest.mark.exact
def test_exact_draws_of_each_weight_find_the_weights_of_given_features(name):
    case = case_named(name)
    sigma, (shape, rate) = case["model"]["sigma"], case["model"]["weight_prior"]
    pairs = np.triu_indices(3, 1)
    values = np.array(case["similarities"])[pairs]
    columns = np.array(case["model"]["features"]).T
    # (weight, pair)
    shares = np.array([[1, 1, 1], *(column[pairs[0]] * column[pairs[1]] for column in columns)])
    states = []
    for chain in range(2):
        rng, w = np.random.default_rng(chain), np.ones(3)
        states.append([])
        for _ in range(5_000):
            for k, share in enumerate(shares):
                others = w @ shares - w[k] * share
                slope, curvature = share @ (values - others) / sigma**2, share.sum() / sigma**2
                w[k] = draw_tilted_weight(rng, shape, rate, curvature, slope)
            states[-1].append((w[0], [((0, 1), w[1]), ((0, 1, 2), w[2])]))
    assert far_off(tree_of(states, 3), case) == {}
