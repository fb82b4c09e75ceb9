"""Choices in blocks: the generator against its formulas."""

import numpy as np
import pytest
from helpers.sentences import refused
from scipy.special import digamma

from thali import datasets
from thali.errors import ArgumentError, DataError

FIVE = 5.0  # standard errors


@pytest.fixture(scope="module")
def many():
    return [datasets.block_choices(comparisons=20, random_seed=seed) for seed in range(600)]


@pytest.mark.long
def test_features_are_as_many_as_the_prior_says(many):
    alpha, total = 2.0, 3 * 0.9 + 9 * 0.1
    number = np.array([made.features.shape[1] for made in many])
    expected = alpha * (digamma(1 + total) - digamma(1))  # and Poisson: the variance is the same
    assert abs(number.mean() - expected) < FIVE * np.sqrt(expected / len(many))
    assert all(made.features.any(axis=0).all() for made in many), "every feature has an owner"


def test_relatives_share_features(many):
    # columns of one option are Poisson(alpha); those of two options together Poisson(alpha (psi(1 +
    # T) - psi(1))), T the length of their part of the tree; hence what they share by inclusion and
    # exclusion
    options = np.array([made.features.sum(axis=1) for made in many])
    assert np.abs(options.mean(axis=0) - 2.0).max() < FIVE * np.sqrt(2.0 / len(many))
    for other, length in ((1, 0.9 + 2 * 0.1), (3, 2.0)):
        shared = np.array([(made.features[0] & made.features[other]).sum() for made in many])
        expected = 2.0 * (2.0 - (digamma(1 + length) - digamma(1)))
        assert abs(shared.mean() - expected) < FIVE * np.sqrt(expected / len(many)), (
            f"options 0 and {other}"
        )


def test_weights_are_exponential(many):
    for weights in (
        np.concatenate([m.weights for m in many]),
        np.concatenate([m.unique_weights for m in many]),
    ):
        assert abs(weights.mean() - 1.0) < FIVE / np.sqrt(len(weights))
        # the variance of (w - 1)^2 is the fourth central moment 9 less 1
        assert abs(np.mean((weights - 1.0) ** 2) - 1.0) < FIVE * np.sqrt(8.0 / len(weights))


def test_probabilities_are_those_of_the_model(many):
    for made in many[:20]:
        p = naive_probabilities(made, 0.01)
        np.testing.assert_allclose(made.probabilities, p, rtol=0, atol=1e-14)
    exact = datasets.block_choices(random_seed=3, lapse=0.0)
    np.testing.assert_allclose(
        exact.probabilities, naive_probabilities(exact, 0.0), rtol=0, atol=1e-14
    )


def naive_probabilities(made, lapse):
    n = len(made.unique_weights)
    p = np.full((n, n), 0.5)
    for i in range(n):
        for j in set(range(n)) - {i}:
            ij, ji = made.unique_weights[i], made.unique_weights[j]
            for column, weight in zip(made.features.T, made.weights, strict=True):
                ij += weight * (column[i] and not column[j])
                ji += weight * (column[j] and not column[i])
            p[i, j] = (1 - lapse) * ij / (ij + ji) + lapse / 2
    return p


def test_choices_follow_the_probabilities(many):
    for first, second in ((0, 1), (0, 8), (4, 5)):
        gaps = np.array(
            [
                made.data.counts[first, second] - 20 * made.probabilities[first, second]
                for made in many
            ]
        )
        variance = np.array(
            [20 * p * (1 - p) for p in (made.probabilities[first, second] for made in many)]
        )
        assert abs(gaps.sum()) < FIVE * np.sqrt(variance.sum())
        # standardised squares have mean 1 and variance 2 + (1 - 6 p (1 - p)) / (20 p (1 - p)); p >=
        # .005
        excess = 2 + (1 - 6 * variance / 20) / variance
        assert abs((gaps**2 / variance).sum() - len(many)) < FIVE * np.sqrt(excess.sum())
    assert all(
        (made.data.wins + made.data.losses == 20).all() and made.data.n_pairs == 36 for made in many
    )


def test_a_seed_is_a_truth_whatever_the_number_of_comparisons():
    few, again, lots = (datasets.block_choices(comparisons=n, random_seed=7) for n in (5, 5, 1000))
    assert few.data == again.data and few.tree == again.tree
    for field in ("features", "weights", "unique_weights", "probabilities"):
        assert np.array_equal(getattr(few, field), getattr(again, field))
        assert np.array_equal(getattr(few, field), getattr(lots, field))
    assert few.data != datasets.block_choices(comparisons=5, random_seed=8).data
    from_sequence = [
        datasets.block_choices(random_seed=np.random.SeedSequence(7)).data for _ in range(2)
    ]
    assert from_sequence[0] == from_sequence[1]


def test_groups_and_labels_are_numbered():
    made = datasets.block_choices(groups=2, per_group=2, leaf_length=0.25, random_seed=1)
    assert made.data.labels == made.tree.labels == ("a1", "a2", "b1", "b2")
    assert made.tree.to_newick() == "((a1:0.25,a2:0.25)a:0.75,(b1:0.25,b2:0.25)b:0.75);"
    many = datasets.block_choices(groups=30, per_group=1, comparisons=1, random_seed=1).data.labels
    assert len(set(many)) == 30 and many[25:28] == ("z1", "aa1", "ab1")


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        ({"groups": 0}, ("groups", "got 0")),
        ({"per_group": 2.5}, ("per_group", "got 2")),
        ({"comparisons": True}, ("comparisons", "got True")),
        ({"alpha": 0}, ("alpha", "positive finite")),
        ({"alpha": float("inf")}, ("alpha",)),
        ({"leaf_length": 0}, ("leaf_length",)),
        ({"leaf_length": 1.5}, ("leaf_length",)),
        ({"lapse": 1.0}, ("lapse",)),
        ({"random_seed": -1}, ("random_seed",)),
    ],
)
def test_bad_arguments_are_refused(arguments, messages):
    with refused(ArgumentError, *messages):
        datasets.block_choices(**arguments)


def test_one_option_is_none():
    with pytest.raises(DataError):
        datasets.block_choices(groups=1, per_group=1)
