"""Two options whose comparisons have ties or covariates, against posteriors that are known by
quadrature."""

import math

import numpy as np
import pandas as pd
import pytest
from helpers.elimination_cases import mean_and_error
from helpers.naive import latent_features as naive
from helpers.problems import FIXED_UNIQUE, contents, make_state

import thali as th
from thali._aspects import kernel_operations
from thali._aspects.chain_state import BETA, ChainModel
from thali._aspects.likelihoods.pair_covariates import FIRST_COEFFICIENT, draw_coefficients
from thali._aspects.weight_priors import EXPONENTIAL
from thali.likelihoods import Elimination
from thali.priors import IndianBuffet

pytestmark = pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")

# By quadrature, of alpha 1 and lapse .01. Choices of either and ties; E p, E nu, E P(tie), E K.
TIES = [
    ((6, 2, 4), (0.69153520, 1.18268673, 0.31810944, 1.52317589)),
    ((6, 2, 0), (0.71141156, 0.26833500, 0.09145813, 1.51437582)),
    ((0, 0, 5), (0.5, 3.21660796, 0.55667841, 1.53256830)),
]
# Choices of either where the first is shown first (x = 1), and second (x = -1); E p at x = 0,
# E beta, E beta^2, E K.
ORDERS = [
    (((6, 2), (3, 5)), (0.56243424, 0.68536092, 0.71567623, 1.55785248)),
    (((9, 1), (4, 6)), (0.66798822, 1.04879695, 1.35172700, 1.53748456)),
]
KNOWN = [(False, *row) for row in TIES] + [(True, *row) for row in ORDERS]


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


@pytest.mark.first(3)
@pytest.mark.parametrize(("of_order", "counts", "expected"), KNOWN)
def test_posterior_means(of_order, counts, expected):
    if of_order:
        data, ties = in_order(*counts), None
    else:
        first, second, tied = counts
        data, ties = (
            th.PairedComparisons([[0, first], [second, 0]], ties=[[0, tied], [tied, 0]]),
            "davidson",
        )
    model = th.EliminationByAspects(alpha=1.0, ties=ties)
    model.fit(data, draws=4_000, tune=300, thin=5, random_seed=7, progressbar=False)
    posterior = model.posterior_["posterior"].dataset
    p = posterior["choice_probability"].values[..., 0]
    if of_order:
        b = posterior["covariate"].values[..., 0]
        values = p, b, b**2
    else:
        r = posterior["tie"].values * np.sqrt(p * (1.0 - p))
        values = p, posterior["tie"].values, r / (1.0 + r)
    for draws, mean in zip((*values, posterior["n_features"].values), expected, strict=True):
        found, error = mean_and_error(draws)
        assert error < 0.05 * mean and abs(found - mean) < 4.5 * error


def test_a_draw_of_the_coefficient_leaves_its_posterior_invariant():
    """Started at equally spaced quantiles of the posterior given all weights, the draws have its
    distribution."""
    rng, data = np.random.default_rng(2), in_order((6, 1), (3, 5))
    likelihood, make = Elimination(0.05, covariates=data.covariates.names).compiled(data)
    model = ChainModel(
        IndianBuffet().compiled(2), likelihood, EXPONENTIAL, 2, 1, FIXED_UNIQUE, False
    )
    state, cache = make_state(
        model, make, rng.random((2, 4)) < 0.5, rng.gamma(2.0, size=4), 3.0 + rng.random(2)
    )
    known = contents(state)
    grid = np.linspace(-5, 5, 401)
    for power in (1.0, 0.4):
        state.real[BETA] = power
        logs = [
            power * naive.log_likelihood(data, *known, 0.05, beta=(b or 1e-12,)) - b**2 / 2
            for b in grid
        ]
        cdf = np.cumsum(np.exp(np.array(logs) - max(logs)))
        cdf = (cdf - cdf[0] / 2) / cdf[-1]
        count, ranks = 200, []
        for start in np.interp((np.arange(count) + 0.5) / count, cdf, grid):
            cache.real[FIRST_COEFFICIENT] = start
            kernel_operations.rebuild_cache(model.likelihood, cache, state)
            draw_coefficients(model.likelihood, rng, cache, state)
            ranks.append(np.interp(cache.real[FIRST_COEFFICIENT], grid, cdf))
        # uniform ranks have means 1/2, 1/3, 1/4 of their powers, with known errors
        for k in (1, 2, 3):
            error = math.sqrt((1 / (2 * k + 1) - 1 / (k + 1) ** 2) / count)
            assert abs(np.mean(np.power(ranks, k)) - 1 / (k + 1)) < 4.5 * error
