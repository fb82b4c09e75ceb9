"""Joint-distribution tests of the whole compiled sweep, for each prior and sampler."""

import numpy as np
import pytest
from problems import random_comparisons
from scipy import integrate, special, stats

from thali.likelihoods.elimination import Elimination
from thali.mcmc.bag import ALPHA, COLUMNS, FULL, SWEEPS
from thali.mcmc.chains import Chain
from thali.models.engine import build_task
from thali.priors.finite import FiniteFeatures
from thali.priors.given import Given
from thali.priors.ibp import IndianBuffet
from thali.testing.joint import joint_distribution_test, simulate_pairs

# Ten quantities or so a test and nine tests: |z| < 5.4 in all of them has a false alarm below 1e-5.
LIMIT = 5.4


def harmonic(n):
    return float(np.sum(1.0 / np.arange(1, n + 1)))


class Successive:
    """Sweep and data in turn, on one chain."""

    def __init__(self, prior, n, unique=True, weight_prior=(1.0, 1.0), alpha=None, sampler=None, most=2, missing=0.0):
        data = random_comparisons(n, seed=n, most=most, missing=missing)
        self.rng = np.random.default_rng(77)
        self.task = build_task(
            prior, Elimination(0.05, unique=unique), data, weight_prior=weight_prior, alpha=alpha, sampler=sampler,
            draws=1, tune=0, thin=10**9,
        )  # fmt: skip
        self.chain = Chain(self.task, self.rng)
        self.chain.run_to(0)
        self.n, self.shape, self.rate = n, *weight_prior

    def sweep(self):
        self.chain.run_to(self.chain.sweeps + 1)

    def resample(self):
        chain = self.chain
        simulate_pairs(self.rng, self.task.model.likelihood, chain.cache)
        # the next sweep begins as the first one does, with a cache filled from the bag
        chain.bag.whole[SWEEPS] = 0

    def quantities(self):
        bag = self.chain.bag
        columns = int(bag.whole[COLUMNS])
        sizes, weights = bag.m[:columns], bag.w[:columns]
        alone = int(bag.singles.sum()) + int((sizes == 1).sum())
        alpha = float(bag.real[ALPHA])
        s = bag.s[: self.n]
        return {
            "alpha": alpha,
            "1 / (1 + alpha)": 1.0 / (1.0 + alpha),
            "columns": int((sizes > 0).sum()) + int(bag.singles.sum()) + int(bag.whole[FULL]),
            "single": alone,
            "pairs": int((sizes == 2).sum()),
            "owned by 0": float(bag.Z[:columns, 0].sum()) + int(bag.singles[0]) + int(bag.whole[FULL]),
            "shared weight": float(weights[sizes > 1].sum()),
            "heavy": float((weights[sizes > 1] > 1.0).sum()),
            "unique weight": float(s.sum()),
            "light unique": float((s < 0.5).mean()),
        }


def run(successive, expected, rounds):
    scores = joint_distribution_test(successive.sweep, successive.resample, successive.quantities, expected, rounds)
    assert max(abs(z) for z in scores.values()) < LIMIT, scores


def buffet_means(n, unique, mean_weight, heavy):
    """Prior means under the Indian buffet process with alpha ~ Gamma(1, 1)."""
    h = harmonic(n)
    return {
        "alpha": 1.0,
        "1 / (1 + alpha)": 0.596347362323194,
        "columns": h,
        "single": 1.0,
        "pairs": 0.5,
        "owned by 0": 1.0,
        "shared weight": mean_weight * (h - 1.0 - 1.0 / n),
        "heavy": heavy * (h - 1.0 - 1.0 / n),
        "unique weight": unique,
    }


@pytest.mark.parametrize("n, missing, rounds", [(4, 0.0, 60_000), (14, 0.5, 40_000)])
def test_buffet_with_unique_aspects(n, missing, rounds):
    # the unique weight holds the columns of single options: n + 1 in all
    run(Successive(IndianBuffet(), n, missing=missing), buffet_means(n, n + 1.0, 1.0, np.exp(-1.0)), rounds)


@pytest.mark.parametrize("n, missing", [(4, 0.0), (14, 0.8)])  # few comparisons: the chain must mix
def test_buffet_without_unique_aspects(n, missing):
    expected = buffet_means(n, 0.0, 1.0, np.exp(-1.0))
    del expected["unique weight"]
    run(Successive(IndianBuffet(), n, unique=False, missing=missing), expected, 60_000)


@pytest.mark.parametrize("shape, rate", [(2.5, 1.0), (0.7, 2.0), (1.0, 3.0)])
def test_buffet_with_other_weight_priors(shape, rate):
    prior = stats.gamma(shape, scale=1.0 / rate)
    successive = Successive(IndianBuffet(), 4, weight_prior=(shape, rate))
    # with exponential weights the unique weights again hold the columns of single options
    unique = (5.0 if shape == 1.0 else 4.0) * prior.mean()
    run(successive, buffet_means(4, unique, prior.mean(), prior.sf(1.0)), 60_000)


@pytest.mark.parametrize("unique", [True, False])
def test_finite_prior(unique):
    n, columns = 4, 3

    def mean_count(least, most):
        """Expected number of columns with `least` to `most` owners."""

        def integrand(alpha):
            m = np.arange(least, most + 1)
            a = alpha / columns
            log_p = np.log(a) + special.gammaln(m + a) + special.gammaln(n - m + 1) - special.gammaln(n + 1 + a)
            return np.exp(-alpha) * columns * np.sum(special.comb(n, m) * np.exp(log_p))

        return integrate.quad(integrand, 0.0, np.inf)[0]

    expected = {
        "alpha": 1.0,
        "1 / (1 + alpha)": 0.596347362323194,
        "columns": mean_count(1, n),
        "single": mean_count(1, 1),
        "pairs": mean_count(2, 2),
        "shared weight": mean_count(2, n),
        "heavy": np.exp(-1.0) * mean_count(2, n),
    }
    if unique:
        expected |= {"unique weight": float(n), "light unique": -np.expm1(-0.5)}
    run(Successive(FiniteFeatures(columns), n, unique=unique), expected, 60_000)


def test_given_aspects():
    matrix = [[1, 0, 1], [1, 0, 1], [0, 1, 1], [0, 1, 1]]
    expected = {
        "shared weight": 3.0,
        "heavy": 3.0 * np.exp(-1.0),
        "unique weight": 4.0,
        "light unique": -np.expm1(-0.5),
    }
    run(Successive(Given(np.array(matrix)), 4), expected, 40_000)


def test_weights_of_the_published_sampler():
    # its truncation biases the columns, but not the prior of the fixed unique weights
    expected = {"unique weight": 4.0, "light unique": -np.expm1(-0.5)}
    run(Successive(IndianBuffet(), 4, sampler="paper"), expected, 60_000)
