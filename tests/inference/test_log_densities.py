"""Log densities against SciPy."""

import numpy as np
from scipy import stats

from thali._inference.numerics.log_densities import (
    log_binomial,
    log_binomial_coefficient,
    log_normal_density,
    log_outcome_coefficients,
)


def test_densities_are_those_of_scipy():
    values = np.linspace(-3.0, 5.0, 9)
    np.testing.assert_allclose(
        log_normal_density(values, 0.7, 2.5), stats.norm(0.7, 2.5).logpdf(values), rtol=1e-12
    )
    wins, losses = np.array([0, 3, 7, 2]), np.array([4, 0, 5, 1])
    for p in (0.0, 0.3, 1.0):
        np.testing.assert_allclose(
            log_binomial(wins, losses, p), stats.binom(wins + losses, p).logpmf(wins), rtol=1e-12
        )


def test_coefficients_count_orders_of_answers():
    np.testing.assert_allclose(np.exp(log_binomial_coefficient(3, 2)), 10.0, rtol=1e-12)
    counts = np.array([[2, 1, 1], [0, 0, 3]])
    np.testing.assert_allclose(np.exp(log_outcome_coefficients(counts)), [12.0, 1.0], rtol=1e-12)
    more = log_outcome_coefficients(counts[None, :, :])
    np.testing.assert_allclose(np.exp(more), [[12.0, 1.0]], rtol=1e-12)
    fractional = log_binomial_coefficient(0.5, 0.5)
    np.testing.assert_allclose(np.exp(fractional), 4.0 / np.pi, rtol=1e-12)
