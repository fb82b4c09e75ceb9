"""Probabilities of win, tie and loss against Davidson's formula in worths."""

import math

import numpy as np
import pytest

from thali._inference.numerics.davidson_ties import compute_win_tie_loss


@pytest.mark.parametrize(("first", "second"), [(1.0, 1.0), (3.0, 0.5), (0.01, 7.0)])
@pytest.mark.parametrize("nu", [0.0, 0.3, 4.0])
def test_win_tie_and_loss_are_davidsons(first, second, nu):
    total = first + second + nu * math.sqrt(first * second)
    expected = [first / total, nu * math.sqrt(first * second) / total, second / total]
    p = first / (first + second)
    np.testing.assert_allclose(compute_win_tie_loss(p, 1.0 - p, nu), expected, rtol=1e-12)


def test_probabilities_of_arrays_have_the_outcomes_last():
    p, nu = np.array([0.1, 0.5, 0.8]), np.array([[0.0], [2.0]])
    outcomes = compute_win_tie_loss(p, 1.0 - p, nu)
    assert outcomes.shape == (2, 3, 3)
    np.testing.assert_allclose(outcomes.sum(axis=-1), 1.0)
    np.testing.assert_array_equal(outcomes[0, :, 1], 0.0)
