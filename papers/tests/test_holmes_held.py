"""The sampler of Holmes & Held for the sparse logit: its auxiliary variables, exact posteriors,
draws by seed."""

import json
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from arviz_stats.base.array import array_stats
from helpers.digests import digest_of, is_same
from helpers.sparse_logit_runs import (
    WIDE,
    CoefficientChain,
    CoefficientPrior,
    build_coefficient_problem,
    chains_of,
    mcse,
    three_classes,
)
from scipy import stats
from scipy.integrate import quad

import thali as th
from papers.samplers.holmes_held_2006 import (
    HolmesHeldChain,
    _is_in_lower_series,
    _is_in_upper_series,
    mixing_variance,
    positive_logistic,
    run,
)
from thali._classify.sparse_logit import fitting_methods
from thali._compile.jit import compiled
from thali._inference.numerics.polya_gamma import draw_polya_gamma
from thali._testing import small_models

N = 200_000
FALSE_ALARM = 1e-4 / 20
ERRORS = float(stats.norm.isf(FALSE_ALARM / 2))
FOUR = 4.0  # standard errors


@compiled
def many_polya_gamma(rng, c, out):
    for i in range(out.size):
        out[i] = draw_polya_gamma(rng, c)


@compiled
def many_variances(rng, r, out):
    for i in range(out.size):
        out[i] = mixing_variance(rng, r[i])


@compiled
def many_logistics(rng, mean, out):
    for i in range(out.size):
        out[i] = positive_logistic(rng, mean)


def drawn(many, argument, seed=1):
    out = np.empty(N)
    many(np.random.default_rng(seed), argument, out)
    return out


def test_mixing_variances_have_the_kolmogorov_law():
    residuals = np.abs(np.random.default_rng(2).logistic(size=N))
    variances = drawn(many_variances, residuals)
    assert abs(variances.mean() - math.pi**2 / 3) < ERRORS * variances.std() / math.sqrt(N)
    assert stats.kstest(np.sqrt(variances) / 2, stats.kstwobign.cdf).pvalue > FALSE_ALARM


@pytest.mark.parametrize("variance", [0.9, 4 / 3, 2.0])
def test_the_two_series_of_the_mixing_law_are_one_function(variance):
    u = (np.arange(2000) + 0.5) / 2000
    assert [_is_in_lower_series(variance, x) for x in u] == [
        _is_in_upper_series(variance, x) for x in u
    ]


@pytest.mark.parametrize("r", [0.0, 0.7, 5.0, 60.0])
def test_mixing_variances_of_one_residual_are_sums_of_two_polya_gammas_inverted(r):
    # N(r; 0, v) mixed over v and exp(-w r²/2) mixed over PG(2, 0) are the same logistic density, so
    # w = 1/v given r
    two = drawn(many_polya_gamma, r, 3) + drawn(many_polya_gamma, r, 4)
    assert stats.ks_2samp(1 / drawn(many_variances, np.full(N, r)), two).pvalue > FALSE_ALARM


@pytest.mark.parametrize("mean", [-800.0, -3.0, -1e-3, 0.0, 2.0])
def test_truncated_logistics(mean):
    draws = drawn(many_logistics, mean)
    assert draws.min() > 0
    # far out what is left of a logistic is exponential
    left = (
        np.exp(-draws)
        if mean < -700
        else stats.logistic.sf(draws, mean) / stats.logistic.sf(0, mean)
    )
    assert stats.kstest(left, "uniform").pvalue > FALSE_ALARM


X = np.array([-1.2, -0.7, -0.3, 0.1, 0.4, 0.8, 1.1, 1.5])[:, None]
Y = np.array([1, 1, 0, 1, 0, 0, 1, 0])


def far(draws, expected):
    """Standard errors between the mean of draws (chain, draw) and what it should be."""
    return abs(np.mean(draws) - expected) / mcse(draws)


def test_eta_learned():
    chains = chains_of(
        X, Y, 2, 1, CoefficientPrior(None, 1, 1, False), 40_000, kind=HolmesHeldChain
    )
    beta, log_eta = (
        np.stack([c.record.coef[:, 0, 0] for c in chains]),
        np.log([c.record.eta for c in chains]),
    )
    assert far(beta, 0.757483) < FOUR
    assert far((beta - 0.757483) ** 2, 0.696649) < FOUR
    assert far(log_eta, -0.320814) < FOUR


@pytest.mark.long
def test_it_agrees_with_polya_gamma_on_three_classes():
    found = []
    for kind in (CoefficientChain, HolmesHeldChain):
        chains = chains_of(
            *three_classes(), 3, 0, CoefficientPrior(None, 2, 1, True), 6_000, kind=kind
        )
        coefs = np.stack([c.record.coef[:, 1:].reshape(len(c.record.coef), -1) for c in chains])
        figures = [*np.moveaxis(coefs, -1, 0), np.stack([c.record.log_likelihood for c in chains])]
        found.append((np.array([f.mean() for f in figures]), np.array([mcse(f) for f in figures])))
    (first, e), (second, f) = found
    assert (np.abs(first - second) < FOUR * np.hypot(e, f)).all()


def test_posterior_of_weighted_rows():
    """Against quadrature: weights below 1, between, and above those that are drawn as sums."""
    x, codes = np.array([-1.2, -0.3, 0.4, 0.8, 1.5]), np.array([1, 0, 1, 1, 0])
    counts, eta = np.array([0.4, 2.7, 1.0, 3.0, 25.5]), 2.0

    def density(beta):
        signs = np.where(codes == 1, 1.0, -1.0)
        return math.exp(
            -counts @ np.logaddexp(0, -signs * beta * x) - math.sqrt(eta) * abs(beta) + 17.0
        )

    norm, first = (
        quad(lambda b, k=k: b**k * density(b), -12, 6, points=[-2, 0])[0] for k in range(2)
    )
    problem = build_coefficient_problem(
        x[:, None], codes, 2, 0, CoefficientPrior(eta, 1, 1, False), False, counts
    )
    chains = [
        HolmesHeldChain(problem, eta, np.random.default_rng(seed), 40_000, 1000, 1)
        for seed in range(2)
    ]
    for chain in chains:
        chain.run_until(chain.total)
    beta = np.stack([chain.record.coef[:, 1, 0] for chain in chains])
    assert mcse(beta) < 0.005 and abs(beta.mean() - first / norm) < 4.5 * mcse(beta)


@pytest.mark.parametrize("rounds", [8_000, pytest.param(200_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("wide", WIDE)
def test_joint_distribution(wide, rounds):
    """Geweke (2004): sweeps and new labels in turn leave the prior as it is."""
    rng, n = np.random.default_rng(11), 4
    prior = CoefficientPrior(1.5, 3, 2, True)
    problem = build_coefficient_problem(
        rng.normal(size=(n, 2)), np.arange(n) % 3, 3, 1, prior, wide
    )
    chain = HolmesHeldChain(problem, prior.eta, rng, 1, 0, 1)
    chain.state.real[1] = math.log(0.5)
    coefs = np.empty((rounds, 3, 3))
    for t in range(rounds):
        problem.codes[:] = (chain.state.linear + rng.gumbel(size=(3, n))).argmax(axis=0)
        run(rng, problem, chain.state, *chain.record, 0, 1, 0, 10**9)
        coefs[t] = chain.state.coef
    beta, root = coefs[:, [0, 2], :2], math.sqrt(1.5)
    size = np.abs(beta[:, 0, 0])
    expected = {
        "exp(-|beta|)": (np.exp(-size), root / (1 + root)),
        "|beta| at most 1": (size < 1, -math.expm1(-root)),
        "sign": (np.sign(beta[:, 1, 1]), 0.0),
        "difference": (beta[:, 0, 1] < beta[:, 1, 1], 0.5),
        "intercept": (np.abs(coefs[:, 0, 2]) < 10, math.erf(math.sqrt(0.5))),
    }
    for name, (values, mean) in expected.items():
        values = np.asarray(values, float)
        error = values.std() / math.sqrt(array_stats.ess(values[None], method="mean"))
        assert abs(values.mean() - mean) < FOUR * error, (name, values.mean(), mean, error)


@pytest.mark.usefixtures("uncompiled")
def test_same_seed_same_draws_as_ever(monkeypatch):
    kept = json.loads((Path(__file__).parent / "digests.json").read_text("utf-8"))["sparse-logit"]
    monkeypatch.setattr(fitting_methods, "CoefficientChain", HolmesHeldChain)
    monkeypatch.setattr(fitting_methods, "count_trajectories", lambda *size: 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = th.SparseMultinomialLogit(
            method="polya-gamma", draws=3, tune=1, chains=2, random_state=1
        )
        model.fit(*small_models.build_rows(), thin=1, cores=1, progressbar=False)
    posterior = model.posterior_["posterior"].dataset
    assert is_same(digest_of(posterior["coef"].values), kept["posterior.coef"])
    assert is_same(digest_of(posterior["log_likelihood"].values), kept["posterior.log_likelihood"])
