"""Covariates of comparisons, against posteriors known by quadrature, naive evaluations and own simulations."""

import math

import numpy as np
import pandas as pd
import pytest
from elimination_cases import mean_and_error
from problems import FIXED_UNIQUE, NO_UNIQUE, contents, make_state
from scipy.stats import beta, poisson

import thali as th
from thali.aspects import operations
from thali.aspects.likelihoods.elimination import Elimination
from thali.aspects.likelihoods.pair_covariates import COEFFICIENTS, draw_coefficients
from thali.aspects.priors.ibp import IndianBuffet
from thali.aspects.state import BETA, Model
from thali.aspects.weight_priors import EXPONENTIAL
from thali.testing import naive

pytestmark = pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")

# Two options, alpha 1, lapse .01: choices of either where the first is shown first (x = 1), and second (x = -1);
# log evidence; E p at x = 0, E beta, E beta^2, E K.
KNOWN = [
    ((6, 2), (3, 5), -11.88975184, (0.56243424, 0.68536092, 0.71567623, 1.55785248)),
    ((9, 1), (4, 6), -12.60780402, (0.66798822, 1.04879695, 1.35172700, 1.53748456)),
]


def in_order(forward, backward):
    """Trials of two options, in both orders."""
    sides = {"tea": ("tea", "milk"), "milk": ("milk", "tea")}
    rows = [
        (*sides[first], chosen)
        for first, counts in (("tea", forward), ("milk", backward))
        for chosen, times in zip(("tea", "milk"), counts, strict=True)
        for _ in range(times)
    ]
    frame = pd.DataFrame(rows, columns=["left", "right", "chosen"])
    return th.PairedComparisons.from_trials(frame, covariates=["order"], labels=["tea", "milk"])


@pytest.mark.parametrize("row", KNOWN)
def test_the_known_values_are_those_of_quadrature(row):
    """Each option has 1 + Poisson(1/2) exponential weights alone, so that p is Beta given their numbers."""
    forward, backward, evidence, expected = row
    x, at = np.polynomial.legendre.leggauss(400)
    p, of_p = (1 + x) / 2, at / 2
    b, of_b = 8 * x, 8 * at * np.exp(-32 * x**2) / math.sqrt(2 * math.pi)
    i, j = np.ogrid[:25, :25]
    parts = poisson.pmf(i, 0.5) * poisson.pmf(j, 0.5) * beta.pdf(p[:, None, None], 1 + i, 1 + j)
    density, number = parts.sum(axis=(1, 2)), (parts * (i + j)).sum(axis=(1, 2))
    lapsed = [0.99 * p[:, None] / (p[:, None] + (1 - p[:, None]) * np.exp(-sign * b)) + 0.005 for sign in (1, -1)]
    likelihood = math.prod(
        q**wins * (1 - q) ** losses for q, (wins, losses) in zip(lapsed, (forward, backward), strict=True)
    )
    weight = likelihood * (of_p * density)[:, None] * of_b
    assert math.log(weight.sum()) == pytest.approx(evidence, abs=1e-7)
    values = (0.99 * p + 0.005)[:, None], b, b**2, (number / density)[:, None]
    means = [(weight * each).sum() / weight.sum() for each in values]
    assert [*means[:3], means[3] + 0.5] == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(("forward", "backward", "evidence", "expected"), KNOWN)
def test_posterior_means(forward, backward, evidence, expected):
    model = th.EliminationByAspects(alpha=1.0)
    model.fit(in_order(forward, backward), draws=10_000, tune=500, thin=5, random_seed=7, progressbar=False)
    posterior = model.posterior_["posterior"].dataset
    p, b = posterior["choice_probability"].values[..., 0], posterior["covariate"].values[..., 0]
    for draws, mean in zip((p, b, b**2, posterior["n_features"].values), expected, strict=True):
        found, error = mean_and_error(draws)
        assert error < 0.03 * mean and abs(found - mean) < 4.5 * error


def built(data, lapse, unique, covariates):
    """The model as the samplers read it, a state of it and its cache."""
    rng, n = np.random.default_rng(3), data.n_options
    likelihood = Elimination(lapse, unique != NO_UNIQUE, data.n_ties > 0, covariates=data.covariates.names)
    compiled, make = likelihood.compiled(data)
    model = Model(IndianBuffet().compiled(n), compiled, EXPONENTIAL, 2, n - 1, unique, False)
    own = np.zeros(n) if unique == NO_UNIQUE else 3.0 + rng.random(n)
    state, cache = make_state(model, make, rng.random((n, 4)) < 0.5, rng.gamma(2.0, size=4), own)
    cache.real[COEFFICIENTS:] = covariates
    operations.rebuild(compiled, cache, state)
    return model, state, cache


def test_a_draw_of_the_coefficient_leaves_its_posterior_invariant():
    """Started at equally spaced quantiles of the posterior given all weights, the draws have its distribution."""
    rng, data = np.random.default_rng(2), in_order((6, 1), (3, 5))
    model, state, cache = built(data, 0.05, FIXED_UNIQUE, (0.0,))
    known = contents(state)
    grid = np.linspace(-5, 5, 1001)
    for power in (1.0, 0.4):
        state.real[BETA] = power
        logs = [power * naive.log_likelihood(data, *known, 0.05, beta=(b or 1e-12,)) - b**2 / 2 for b in grid]
        cdf = np.cumsum(np.exp(np.array(logs) - max(logs)))
        cdf = (cdf - cdf[0] / 2) / cdf[-1]
        count, ranks = 400, []
        for start in np.interp((np.arange(count) + 0.5) / count, cdf, grid):
            cache.real[COEFFICIENTS] = start
            operations.rebuild(model.likelihood, cache, state)
            draw_coefficients(model.likelihood, rng, cache, state)
            ranks.append(np.interp(cache.real[COEFFICIENTS], grid, cdf))
        # uniform ranks have means 1/2, 1/3, 1/4 of their powers, with known errors
        for k in (1, 2, 3):
            error = math.sqrt((1 / (2 * k + 1) - 1 / (k + 1) ** 2) / count)
            assert abs(np.mean(np.power(ranks, k)) - 1 / (k + 1)) < 4.5 * error
