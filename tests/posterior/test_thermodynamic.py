"""Thermodynamic integration: its rule and its bias where all cumulants are known, and draws that
agree."""

import math

import numpy as np
import pytest

from thali._posterior.log_evidence import (
    ThermodynamicIntegral,
    compute_next_order_terms,
    estimate_log_evidence,
    integrate_trapezoids,
)

EXACT = -0.5 * math.log(2.0)  # of the likelihood exp(-x^2 / 2) under Normal(0, 1)
LADDERS = [np.linspace(1.0, 0.0, levels) for levels in (2, 3, 5, 9)] + [
    np.array([1.0, 0.6, 0.3, 0.1, 0.0])
]


def cumulants(beta):
    """Of -x^2 / 2, x of variance 1 / (1 + beta)."""
    inverse = 1.0 / (1.0 + beta)
    return np.stack([-0.5 * inverse, 0.5 * inverse**2, -(inverse**3)])[:, None]


def normal_draws(beta, chains=12, draws=400, seed=0):
    rng = np.random.default_rng(seed)
    return -0.5 * (rng.standard_normal((chains, draws, beta.size)) / np.sqrt(1.0 + beta)) ** 2


@pytest.mark.parametrize("beta", LADDERS)
def test_the_bias_is_that_of_the_rule(beta):
    """The term of the next order takes away most of what the rule lacks, and bounds it."""
    gaps, known = -np.diff(beta), cumulants(beta)
    lacking = EXACT - integrate_trapezoids(gaps, known)[0]
    terms = compute_next_order_terms(gaps, known)
    assert abs(lacking) <= 1.05 * np.abs(terms).sum()
    assert abs(lacking - terms.sum()) < 0.2 * abs(lacking)


@pytest.mark.parametrize("beta", LADDERS)
def test_both_estimates_of_evidence_agree(beta):
    found = estimate_log_evidence(beta, normal_draws(beta), np.full(beta.size - 1, 0.5), -7.0)
    check = found.thermodynamic
    assert check.agrees
    assert abs(check.value - (EXACT - 7.0)) < 4.5 * check.standard_error + check.bias
    assert check.difference == pytest.approx(check.value - found.value)
    assert "in agreement" in str(found)


def test_the_integral_of_a_wrong_value_does_not_agree():
    check = ThermodynamicIntegral(-7.0, 0.05, 0.02, 0.2, 0.01)
    assert not check.agrees
    assert "not in agreement" in str(check)


def test_missing_where_a_draw_from_the_prior_is_impossible():
    energies = normal_draws(LADDERS[1])
    energies[0, 0, -1] = -np.inf
    found = estimate_log_evidence(LADDERS[1], energies, np.full(2, 0.5), 0.0)
    assert found.thermodynamic is None
    assert "thermodynamic" not in str(found)


def test_missing_of_a_single_chain():
    found = estimate_log_evidence(
        LADDERS[2], normal_draws(LADDERS[2], chains=1), np.full(4, 0.5), 0.0
    )
    assert found.thermodynamic is None
