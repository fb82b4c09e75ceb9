"""The skeleton of a model works."""

import numpy as np
import pytest
from helpers.sentences import refused
from model import KnownSpread

from thali.errors import ArgumentError, DataError, NotFittedError

VALUES = [1.0, 2.0, 6.0]


def test_the_fit_is_the_known_posterior():
    model = KnownSpread(sd=3.0).fit(VALUES, draws=4000, random_seed=1)
    row = model.summary().loc["mu"]
    error = np.sqrt(3.0) / np.sqrt(16_000)  # sd of the posterior: 3 / sqrt(3)
    assert abs(model.mean_ - 3.0) < 5 * error
    assert row["sd"] == pytest.approx(np.sqrt(3.0), rel=0.03)
    assert model.convergence().agrees


def test_the_same_seed_gives_the_same_draws():
    first, second = (
        KnownSpread().fit(VALUES, draws=50, random_seed=7).posterior_["posterior"]["mu"]
        for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


def test_bad_input_is_refused_before_the_fit():
    with refused(DataError, "data"):
        KnownSpread().fit([np.nan])
    with pytest.raises(ArgumentError, match="sd"):
        KnownSpread(sd=-1.0).fit(VALUES)
    with pytest.raises(NotFittedError):
        KnownSpread().summary()
