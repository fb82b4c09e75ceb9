"""Normalising constants of tempered densities: against closed forms, and against the equations that
define them."""

import math

import numpy as np
import pytest

from thali._inference.mbar import estimate_constants, log_mean_exp

BETA = np.array([1.0, 0.3, 0.08, 0.0])
NOISE = 0.4  # the likelihood is exp(-(x - 1)^2 / (2 NOISE^2)), the prior Normal(0, 1)


def exact(beta):
    """log of the integral of the prior times the likelihood to a power, and mean and variance of x
    under it."""
    precision = 1.0 + beta / NOISE**2
    mean = beta / NOISE**2 / precision
    return 0.5 * (mean**2 * precision - beta / NOISE**2 - np.log(precision)), mean, 1.0 / precision


def draws(rng, chains=12, number=400):
    _, mean, variance = exact(BETA)
    x = mean + np.sqrt(variance) * rng.standard_normal((chains, number, len(BETA)))
    return -0.5 * ((x - 1.0) / NOISE) ** 2


def test_constants_of_a_gaussian_are_the_closed_form():
    energies = draws(np.random.default_rng(0))
    found = estimate_constants(BETA, energies, 10)
    error = np.sqrt((found.influence**2).sum(axis=(0, 1)))
    assert found.log_z[-1] == 0.0
    assert error[-1] == 0.0
    assert (np.abs(found.log_z - exact(BETA)[0])[:-1] < 4.0 * error[:-1]).all()
    assert (error[:-1] < 0.05).all()


def test_the_constants_solve_the_equations_of_mbar():
    energies = draws(np.random.default_rng(1), 3, 50)
    found = estimate_constants(BETA, energies, 5)
    flat = energies.ravel()[:, None]
    mixture = np.exp(BETA * flat - found.log_z).sum(axis=1) * energies[..., 0].size
    assert np.log((np.exp(BETA * flat) / mixture[:, None]).sum(axis=0)) == pytest.approx(
        found.log_z, abs=1e-9
    )
    assert found.influence.sum(axis=(0, 1)) == pytest.approx(0.0, abs=1e-9)


def test_influence_is_what_the_estimate_loses_without_a_block():
    energies = draws(np.random.default_rng(2), 20, 100)
    found = estimate_constants(BETA, energies, 1)
    without = estimate_constants(BETA, energies[1:], 1).log_z
    assert (found.log_z - without)[:-1] == pytest.approx(
        found.influence[0, 0, :-1], rel=0.15, abs=1e-3
    )


@pytest.mark.long
@pytest.mark.fit  # for its time
def test_standard_errors_of_the_constants_are_calibrated():
    distances = []
    for seed in range(200):
        found = estimate_constants(BETA, draws(np.random.default_rng(seed), 12, 60), 10)
        distances.append(
            (found.log_z[0] - exact(1.0)[0]) / math.sqrt((found.influence[..., 0] ** 2).sum())
        )
    # A chi-square variable over 200 lies within these bounds but once in 100,000 times.
    assert 0.62 < np.mean(np.square(distances)) < 1.5
    assert abs(np.mean(distances)) < 4.3 / math.sqrt(200)


def test_draws_of_the_prior_without_likelihood():
    """The likelihood is 1 on the upper half of the unit interval and 0 below: log Z is -log 2 at
    every beta above 0."""
    rng = np.random.default_rng(3)
    energies = np.zeros((4, 500, 2))
    energies[..., 1] = np.where(rng.random((4, 500)) < 0.5, 0.0, -math.inf)
    found = estimate_constants(np.array([1.0, 0.0]), energies, 10)
    assert found.log_z[0] == pytest.approx(math.log(np.isfinite(energies[..., 1]).mean()), abs=1e-9)


def test_log_mean_exp_neither_overflows_nor_underflows():
    assert log_mean_exp(np.array([1000.0, 1000.0])) == 1000.0
    assert log_mean_exp(np.full(3, -math.inf)) == -math.inf
