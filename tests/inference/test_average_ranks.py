"""Ranks are those of SciPy."""

import numpy as np
import pytest
from scipy.stats import rankdata

from thali._inference.numerics.ranks import average_ranks, descending, rank_bounds


@pytest.mark.parametrize("shape", [(7,), (1, 1), (50, 30), (4, 5, 11), (3, 0)])
@pytest.mark.parametrize("different", [1, 3, 10**9])
def test_they_are_those_of_scipy(shape, different):
    values = np.random.default_rng(1).integers(different, size=shape).astype(float)
    best, worst = rank_bounds(values)
    np.testing.assert_array_equal(best + 1, rankdata(values, "min", axis=-1))
    np.testing.assert_array_equal(worst + 1, rankdata(values, "max", axis=-1))
    np.testing.assert_array_equal(average_ranks(values), rankdata(values, axis=-1))


def test_infinite_numbers_have_ranks():
    np.testing.assert_array_equal(average_ranks(np.array([np.inf, 1.0, -np.inf, np.inf])), [3.5, 2.0, 1.0, 3.5])


@pytest.mark.parametrize("size", [0, 1, 2, 30])
def test_rounding_orders_nothing(size):
    values = np.random.default_rng(2).integers(4, size=size) / 3.0
    rounded = values * (1.0 + 4.0 * np.finfo(float).eps * np.random.default_rng(3).uniform(-1.0, 1.0, size))
    np.testing.assert_array_equal(descending(rounded), np.argsort(-values, kind="stable"))
    values[: size // 3] = np.nan
    np.testing.assert_array_equal(descending(values), np.argsort(-values, kind="stable"))
