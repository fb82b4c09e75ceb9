"""The log evidence as users see it: its error, its interval, its convergence check."""

import math

import numpy as np
import pytest

from thali._posterior.log_evidence import estimate_log_evidence
from thali.errors import ArgumentError

BETA = np.array([1.0, 0.4, 0.0])
SWAPS = np.array([0.5, 0.6])


def normal_draws(chains=12, draws=200, seed=0, apart=0.0):
    """Log-likelihoods -x^2 / 2 of the prior Normal(0, 1), with evidence 1 / sqrt(2); `apart` shifts
    the first chain."""
    rng = np.random.default_rng(seed)
    energies = -0.5 * (rng.standard_normal((chains, draws, 3)) / np.sqrt(1.0 + BETA)) ** 2
    energies[0] += apart
    return energies


def test_value_interval_and_path():
    found = estimate_log_evidence(BETA, normal_draws(), SWAPS, -7.0)
    low, high = found.interval(0.999)
    assert low < -7.0 - 0.5 * math.log(2.0) < high
    assert found.usable
    assert found.df in (11.0, 108.0)
    assert found.estimates.shape == (12,)
    assert found.estimates.mean() == pytest.approx(found.value, abs=1e-9)
    assert found.path["log_evidence"].iloc[[0, -1]].tolist() == pytest.approx([found.value, 0.0])
    assert found.thermodynamic.value == pytest.approx(found.value, abs=0.03)
    assert str(found).startswith(f"Log evidence {found.value:.2f}\n  standard error  0.0")


def test_few_chains_have_the_error_of_blocks():
    found = estimate_log_evidence(BETA, normal_draws(chains=2), SWAPS, 0.0)
    assert found.df == 19.0
    assert 0.005 < found.standard_error < 0.05


@pytest.mark.parametrize(
    ("energies", "swaps", "said"),
    [
        (normal_draws(apart=3.0), SWAPS, "differ by up to"),
        (normal_draws(), np.array([0.5, 0.04]), "swap in only 4 % of attempts"),
        (
            normal_draws() - np.where(np.arange(200) < 30, 0.5, 0.0)[:, None],
            SWAPS,
            "depend on their starting points",
        ),
    ],
)
def test_evidence_of_disagreeing_chains_is_not_usable(energies, swaps, said):
    found = estimate_log_evidence(BETA, energies, swaps, 0.0)
    assert not found.usable
    assert said in str(found.convergence)
    assert "draws=800" in str(found)


def test_no_overlap_is_not_usable_and_no_error():
    beta = np.array([1.0, 0.0])
    energies = np.stack([np.full((12, 50), -1.0), np.full((12, 50), -1e6)], axis=-1)
    found = estimate_log_evidence(
        beta, energies + np.random.default_rng(0).random((12, 50, 2)), np.zeros(1), 0.0
    )
    assert not found.usable


def test_interval_refuses_a_percentage():
    with pytest.raises(ArgumentError, match=r"be in \(0, 1\); got 90"):
        estimate_log_evidence(BETA, normal_draws(), SWAPS, 0.0).interval(90)
