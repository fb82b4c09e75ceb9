"""Choice probabilities of draws, against the formula of the paper written out."""

import numpy as np
import pytest
from helpers.posterior_cases import (
    LAPSE,
    chain,
    comparisons,
    features_of,
    large_fit,
    model_of,
    small_fit,
    tree_of,
    written,
)


@pytest.fixture(scope="module")
def small():
    return small_fit()


@pytest.fixture(scope="module")
def large():
    return large_fit()


def stored(tree):
    """The draws of a posterior."""
    return tree["posterior"].dataset


def naive_probability(features, unique_weights, i, j, lapse):
    """Görür, Jäkel & Rasmussen (2006), eq. 1, one feature after the other."""
    of_i, of_j = unique_weights[i], unique_weights[j]
    for owners, weight in features:
        if i in owners and j not in owners:
            of_i += weight
        if j in owners and i not in owners:
            of_j += weight
    p = 0.5 if of_i + of_j == 0 else of_i / (of_i + of_j)
    return (1 - lapse) * p + lapse / 2


@pytest.mark.parametrize("lapse", [0.0, 0.01, 0.3])
@pytest.mark.parametrize("unique", [True, False])
def test_probabilities_are_those_of_the_paper(lapse, unique):
    draws = chain(4, draws=60, unique=unique)
    tree = tree_of([draws], comparisons(4), lapse=lapse)
    i, j = np.triu_indices(4, k=1)
    expected = [
        [
            naive_probability(features, unique_weights, a, b, lapse)
            for a, b in zip(i, j, strict=True)
        ]
        for features, unique_weights in zip(features_of(draws), draws.unique_weights, strict=True)
    ]
    np.testing.assert_allclose(stored(tree)["choice_probability"].values[0], expected, rtol=1e-13)


def test_option_without_an_advantage_has_exactly_none():
    """1e-17 instead of 0 on both sides would give anything instead of one half."""
    rng = np.random.default_rng(1)
    sets = []
    for _ in range(50):  # options 0 and 1 own the same features, option 2 owns them all
        both = rng.random(60) < 0.6
        sets.append(
            [
                ([0, 1, 2] if own else [2], weight)
                for own, weight in zip(both, rng.gamma(1.0, size=60), strict=True)
            ]
        )
    tree = tree_of([written(np.zeros((50, 4)), sets)], comparisons(4), lapse=0.0, unique=False)
    p = stored(tree)["choice_probability"].values[0]
    np.testing.assert_array_equal(p[:, :2], np.tile([0.5, 0.0], (50, 1)))


def test_predictions_of_dense_and_listed_features(small, large):
    _, data, tree = small
    asked = [(data.labels[3], data.labels[1]), (data.labels[0], data.labels[4])]
    mean = stored(tree)["choice_probability"].mean(("chain", "draw")).values
    np.testing.assert_allclose(
        model_of(tree).predict_proba(asked), [1 - mean[5], mean[3]], rtol=1e-12
    )

    chains, _, tree = large
    for asked in ([(50, 4)], [(50, 4), (3, 69), (69, 3)]):
        expected = [
            np.mean([
                naive_probability(features, unique_weights, i, j, LAPSE)
                for draws in chains
                for features, unique_weights in zip(features_of(draws), draws.unique_weights, strict=True)
            ])
            for i, j in asked
        ]  # fmt: skip
        found = model_of(tree).predict_proba([(str(i), str(j)) for i, j in asked])
        np.testing.assert_allclose(found, expected, rtol=1e-12)
