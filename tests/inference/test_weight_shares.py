"""Shares, odds and probabilities of two outcomes, by hand and against SciPy."""

import numpy as np
import pytest
from scipy import special

from thali._inference.numerics.weight_shares import (
    compute_shares,
    divide_positive,
    mix_with_guess,
    replace_zeros,
    scale_to_maximum,
    softmax,
    stack_outcomes,
)

LOGS = np.random.default_rng(0).normal(size=(3, 4, 5)) * 300.0


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_odds_are_those_of_scipy(axis):
    np.testing.assert_allclose(softmax(LOGS, axis), special.softmax(LOGS, axis), rtol=1e-12)


def test_shares_and_scaled_weights_are_of_the_last_axis():
    np.testing.assert_array_equal(softmax(LOGS), softmax(LOGS, -1))
    weights = scale_to_maximum(LOGS)
    assert (weights.max(axis=-1) == 1.0).all() and weights.shape == LOGS.shape
    np.testing.assert_allclose(compute_shares(weights), special.softmax(LOGS, -1), rtol=1e-12)


def test_two_outcomes_and_guesses():
    p = np.array([[0.1, 0.7], [1.0, 0.0]])
    outcomes = stack_outcomes(p)
    assert outcomes.shape == (2, 2, 2)
    np.testing.assert_array_equal(outcomes[..., 0], p)
    np.testing.assert_allclose(outcomes.sum(axis=-1), 1.0)
    np.testing.assert_allclose(mix_with_guess(p, 0.2), [[0.18, 0.66], [0.9, 0.1]])


def test_quotients_of_what_is_not_above_zero():
    numerator, denominator = np.array([[1.0], [-4.0]]), np.array([2.0, 0.0, -1.0, 0.5])
    np.testing.assert_array_equal(
        divide_positive(numerator, denominator), [[0.5, 0, 0, 2.0], [-2.0, 0, 0, -8.0]]
    )
    assert divide_positive(1.0, 0.0, np.inf) == np.inf and divide_positive(3.0, 2.0) == 1.5
    assert replace_zeros(np.array([0.5, 0.0, -2.0, 3.0])).tolist() == [0.5, 1.0, 1.0, 3.0]
