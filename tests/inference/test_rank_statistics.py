"""Ranks, orders with near ties and falling means, against SciPy and by hand."""

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from scipy.stats import rankdata

from thali._inference.numerics.ranks import (
    average_ranks,
    fit_descending_means,
    rank_bounds,
    sort_descending,
    twice_ranks,
)


@pytest.mark.parametrize("n_values", [1, 2, 7])
@pytest.mark.parametrize("n_levels", [2, 5, 10**9])
def test_ranks_are_those_of_scipy(n_values, n_levels):
    values = np.random.default_rng(n_values).integers(n_levels, size=(2, 40, n_values)) / 7.0
    best, worst = rank_bounds(values)
    np.testing.assert_array_equal(best, rankdata(values, "min", axis=-1) - 1)
    np.testing.assert_array_equal(worst, rankdata(values, "max", axis=-1) - 1)
    np.testing.assert_array_equal(average_ranks(values), rankdata(values, axis=-1))
    np.testing.assert_array_equal(twice_ranks(values), 2 * rankdata(values, axis=-1) - 2)


def test_bounds_without_ties_are_two_arrays():
    best, worst = rank_bounds(np.array([3.0, 1.0, 2.0]))
    best[0] = 7
    assert worst.tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    ("values", "order"),
    [
        ([1.0, 3.0, 2.0], [1, 2, 0]),
        ([1.0, 1.0 + 0.9e-9, 2.0], [2, 0, 1]),  # as good as equal
        ([1.0, 1.0 + 1.1e-9, 2.0], [2, 1, 0]),
        ([1.0, 1.0 + 0.9e-9, 1.0 + 1.8e-9], [0, 1, 2]),  # a chain of them
        ([np.nan, 1.0, 2.0], [2, 1, 0]),
        ([0.0, 0.5, 0.0, 0.5], [1, 3, 0, 2]),
    ],
)
def test_values_that_are_as_good_as_equal_stay_in_order(values, order):
    assert sort_descending(np.array(values)).tolist() == order


def test_means_that_fall_are_those_of_isotonic_regression():
    rng = np.random.default_rng(0)
    for n_means in (1, 2, 5, 30):
        means, order = rng.normal(size=n_means).round(1), rng.permutation(n_means)
        fitted = fit_descending_means(order, means)
        expected = isotonic_regression(means[order], increasing=False).x
        np.testing.assert_allclose(fitted[order], expected, atol=1e-12)
