"""Choice probabilities of draws, against the formula of the paper written out."""

import numpy as np
import pytest
from helpers.posterior_cases import LAPSE, chain, comparisons, features_of, large_fit, small_fit, tree_of

from thali._aspects.draws.columns import columns_of
from thali._aspects.draws.probabilities import (
    advantage_blocks,
    advantages,
    lapsing,
    mean_probabilities,
    probability_draws,
)


@pytest.fixture(scope="module")
def small():
    return small_fit()


@pytest.fixture(scope="module")
def large():
    return large_fit()


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
        [naive_probability(features, unique_weights, a, b, lapse) for a, b in zip(i, j, strict=True)]
        for features, unique_weights in zip(features_of(draws), draws.unique_weights, strict=True)
    ]
    np.testing.assert_allclose(tree["posterior"].to_dataset()["choice_probability"].values[0], expected, rtol=1e-13)


def test_few_pairs_of_many_options_agree_with_all_pairs():
    rng = np.random.default_rng(0)
    features, weights = rng.random((3, 7, 20)) < 0.4, rng.gamma(1.0, size=(3, 7))
    unique_weights = rng.gamma(1.0, size=(3, 20))
    i, j = np.triu_indices(20, k=1)
    together = advantages(features, weights, unique_weights, i, j)
    for pair in range(0, len(i), 17):
        alone = advantages(features, weights, unique_weights, i[pair : pair + 1], j[pair : pair + 1])
        for a, b in zip(together, alone, strict=True):
            np.testing.assert_allclose(a[:, pair], b[:, 0], rtol=1e-13)


def test_a_draw_does_not_depend_on_the_others():
    """Neither on how many there are, nor on how many columns they have."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(0, 20, 60)
    features = (rng.random((60, 19, 9)) < 0.4) & (np.arange(19) < sizes[:, None])[:, :, None]
    weights, unique_weights = rng.gamma(1.0, size=(60, 19)), rng.gamma(1.0, size=(60, 9))
    pairs = np.triu_indices(9, k=1)
    together = advantages(features, weights, unique_weights, *pairs)
    for draw, size in enumerate(sizes):
        one = slice(draw, draw + 1)
        alone = advantages(features[one, :size], weights[one, :size], unique_weights[one], *pairs)
        np.testing.assert_array_equal([side[draw] for side in together], [side[0] for side in alone])


def test_option_without_an_advantage_has_exactly_none():
    """1e-17 instead of 0 on both sides would give anything instead of one half."""
    rng = np.random.default_rng(1)
    features = np.zeros((50, 300, 4), dtype=bool)
    features[:, :, :2] = (rng.random((50, 300)) < 0.6)[:, :, None]  # options 0 and 1 own the same features
    features[:, :, 2] = True  # option 2 owns them all
    weights, nothing = rng.gamma(1.0, size=(50, 300)), np.zeros((50, 4))
    for pairs in ([(0, 1), (0, 2)], [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)]):
        first, second = np.transpose(pairs)
        ij, ji = advantages(features, weights, nothing, first, second)
        assert not ij[:, :2].any()
        assert not ji[:, 0].any()
        assert (ji[:, 1] > 0).all()
        np.testing.assert_array_equal(lapsing(ij, ji, 0.0)[:, :2], np.tile([0.5, 0.0], (50, 1)))


def test_blocks_cover_every_draw_once(monkeypatch, small):
    monkeypatch.setattr("thali._aspects.draws.probabilities.BLOCK", 100)
    _, _, tree = small
    i, j = np.triu_indices(5, k=1)
    seen = np.zeros(120, dtype=int)
    for draws, _, _ in advantage_blocks(columns_of(tree), i, j):
        seen[draws] += 1
    assert (seen == 1).all()
    probability = probability_draws(columns_of(tree), i, j, LAPSE)
    np.testing.assert_allclose(probability.reshape(3, 40, 10), tree["posterior"]["choice_probability"], rtol=1e-13)


def test_mean_probabilities_of_dense_and_listed_features(small, large):
    _, _, tree = small
    mean = mean_probabilities(columns_of(tree), np.array([3, 0]), np.array([1, 4]), LAPSE)
    stored = tree["posterior"]["choice_probability"].mean(("chain", "draw")).values
    np.testing.assert_allclose(mean, [1 - stored[5], stored[3]], rtol=1e-12)

    chains, _, tree = large
    expected = [
        naive_probability(features, unique_weights, 50, 4, LAPSE)
        for draws in chains
        for features, unique_weights in zip(features_of(draws), draws.unique_weights, strict=True)
    ]
    mean = mean_probabilities(columns_of(tree), np.array([50]), np.array([4]), LAPSE)
    np.testing.assert_allclose(mean, [np.mean(expected)], rtol=1e-12)
