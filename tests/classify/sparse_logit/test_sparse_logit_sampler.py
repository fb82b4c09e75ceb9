"""The samplers of the sparse logit: check A9, the joint-distribution test, agreement of the two,
speed."""

import math
import time
from itertools import combinations

import numpy as np
import pytest
from arviz_stats.base.array import array_stats
from helpers.sparse_logit_runs import (
    TRAJECTORIES,
    WIDE,
    CoefficientChain,
    CoefficientPrior,
    build_coefficient_problem,
    chains_of,
    mcse,
    three_classes,
)
from helpers.watched_runs import run_of
from scipy import special, stats
from scipy.integrate import quad

import thali as th
from thali._classify.sparse_logit.gibbs_sweep import ETA, record_sweeps
from thali._classify.sparse_logit.hamiltonian_moves import update_curvature

X = np.array([-1.2, -0.7, -0.3, 0.1, 0.4, 0.8, 1.1, 1.5])[:, None]
Y = np.array([1, 1, 0, 1, 0, 0, 1, 0])
FOUR = 4.0  # standard errors


def count_errors(draws, expected):
    """Return the distance of the mean from its expectation, in standard errors."""
    return abs(np.mean(draws) - expected) / mcse(draws)


@pytest.mark.parametrize("trajectories", TRAJECTORIES)
def test_draws_with_learned_eta_equal_known_values(trajectories):
    chains = chains_of(
        X, Y, 2, 1, CoefficientPrior(None, 1, 1, False), 40_000, trajectories=trajectories
    )
    beta, log_eta = (
        np.stack([c.record.coef[:, 0, 0] for c in chains]),
        np.log([c.record.scales[:, 0] for c in chains]),
    )
    assert count_errors(beta, 0.757483) < FOUR
    assert count_errors((beta - 0.757483) ** 2, 0.696649) < FOUR
    assert count_errors(log_eta, -0.320814) < FOUR
    assert count_errors((log_eta + 0.320814) ** 2, 1.067672**2) < FOUR


@pytest.mark.fit
def test_a9_the_samplers_agree_on_three_classes():
    found = []
    for trajectories in TRAJECTORIES:
        prior = CoefficientPrior(None, 2, 1, True)
        chains = chains_of(*three_classes(), 3, 0, prior, 6_000, trajectories=trajectories)
        coefs = np.stack([c.record.coef[:, 1:].reshape(len(c.record.coef), -1) for c in chains])
        assert (np.stack([c.record.coef[:, 0] for c in chains]) == 0).all()
        others = [
            np.stack([c.record.log_likelihood for c in chains]),
            np.log([c.record.scales[:, 0] for c in chains]),
        ]
        figures = [*np.moveaxis(coefs, -1, 0), *np.moveaxis(coefs**2, -1, 0), *others]
        found.append(([f.mean() for f in figures], [mcse(f) for f in figures]))
    for (first, e), (second, f) in combinations([tuple(map(np.array, one)) for one in found], 2):
        assert (np.abs(first - second) < FOUR * np.hypot(e, f)).all()


def test_the_recorded_likelihood_is_that_of_the_recorded_coefficients():
    data, labels = three_classes()
    (chain,) = chains_of(data, labels, 3, 1, CoefficientPrior(None, 1, 1, True), 50, count=1)
    linear = np.einsum(
        "nd,rkd->rkn", np.column_stack([data, np.ones(len(data))]), chain.record.coef
    )
    own = linear[:, labels, np.arange(len(data))]
    expected = (own - np.log(np.exp(linear).sum(axis=1))).sum(axis=1)
    assert np.allclose(chain.record.log_likelihood, expected, rtol=1e-10)


def integrate_over_eta(function):
    """The mean of a function of a standard Laplace variable's scale over eta ~ Gamma(3, 2)."""
    return quad(lambda eta: function(math.sqrt(eta)) * 4 * eta * eta * math.exp(-2 * eta), 0, 40)[0]


@pytest.mark.first(3)
@pytest.mark.parametrize("rounds", [8_000, pytest.param(200_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("wide, trajectories", [*((wide, 0) for wide in WIDE), (False, 2)])
@pytest.mark.parametrize("learned", [True, False])
def test_sweeps_pass_the_joint_distribution_test(learned, wide, trajectories, rounds):
    """Geweke (2004): sweeps and new labels in turn leave the prior as it is."""
    rng, n = np.random.default_rng(11), 4
    covariates = rng.normal(size=(n, 2))
    prior = CoefficientPrior(None if learned else 1.5, 3, 2, True)
    problem = build_coefficient_problem(
        covariates, np.arange(n) % 3, 3, 1, prior, wide, n_trajectories=trajectories
    )
    chain = CoefficientChain(problem, prior.eta, rng, 1, 0, 1)
    if trajectories:
        update_curvature(problem, chain.state, chain.motion)
    chain.state.real[1] = math.log(0.5)
    record = (chain.record.coef, chain.record.log_likelihood, chain.record.scales)
    coefs, etas, variances = np.empty((rounds, 3, 3)), np.empty(rounds), np.empty(rounds)
    for t in range(rounds):
        scores = chain.state.linear + rng.gumbel(size=(3, n))
        problem.codes[:] = scores.argmax(axis=0)
        record_sweeps(rng, problem, chain.state, chain.motion, *record, 0, 1, 0, 10**9)
        coefs[t], etas[t], variances[t] = (
            chain.state.coef,
            chain.state.real[ETA],
            chain.state.variance[0, 0],
        )
    beta, intercept = coefs[:, [0, 2], :2], coefs[:, [0, 2], 2]
    size = np.abs(beta[:, 0, 0])
    over = integrate_over_eta if learned else lambda f: f(math.sqrt(1.5))
    expected = {
        "exp(-|beta|)": (np.exp(-size), over(lambda root: root / (1 + root))),
        "|beta| at most 1": (size < 1, over(lambda root: -math.expm1(-root))),
        "sign": (np.sign(beta[:, 1, 1]), 0.0),
        "difference": (beta[:, 0, 1] < beta[:, 1, 1], 0.5),
        "|beta| sqrt(eta)": (size * np.sqrt(etas), 1.0),
        "exp(-tau eta / 2)": (np.exp(-0.5 * variances * etas), 0.5),
        "intercept": (np.abs(intercept[:, 0]) < 10, math.erf(math.sqrt(0.5))),
    }
    if learned:
        expected |= {
            "eta": (etas, 1.5),
            "ln eta": (np.log(etas), 1.5 - np.euler_gamma - math.log(2)),
        }
    for name, (values, mean) in expected.items():
        values = np.asarray(values, float)
        error = values.std() / math.sqrt(array_stats.ess(values[None], method="mean"))
        assert abs(values.mean() - mean) < 4 * error, (name, values.mean(), mean, error)


HORSESHOE = CoefficientPrior(None, 1, 1, False, "horseshoe")


def integrate_over_scales(function):
    """The prior mean of a function of (sqrt(u), c) at a global scale of 1, by quadrature.

    sqrt(u) is a product of two half-Cauchys, of density (4/pi²) ln(x)/(x² - 1).
    """
    s, t = np.linspace(-40, 40, 1601), np.linspace(-3, 12, 301)
    x, c = np.exp(s)[:, None], np.exp(t)
    weight = (
        np.exp(s)
        * 4
        / math.pi**2
        * np.divide(s, np.expm1(2 * s), out=np.full_like(s, 0.5), where=s != 0)
    )
    weight = weight[:, None] * stats.invgamma.pdf(c**2, 2, scale=2 * 2.5**2) * 2 * c**2
    assert weight.sum() * (s[1] - s[0]) * (t[1] - t[0]) == pytest.approx(1, abs=1e-6)
    return (function(x, c) * weight).sum(axis=(-2, -1)) / weight.sum()


def test_the_horseshoe_of_one_coefficient_is_that_of_quadrature():
    z, log_sd = np.linspace(-9, 9, 1001), np.linspace(-45, 5, 1001)
    beta = np.exp(log_sd)[:, None] * z
    signed = (1 - 2 * Y) * X[:, 0]
    terms = np.exp(-0.5 * z * z - sum(np.logaddexp(0, -each * beta) for each in signed))
    moments = [(beta**power * terms).sum(axis=1) for power in range(3)]

    def mean_of(values):
        return lambda x, c: np.interp(-0.5 * np.log(x**-2 + c**-2), log_sd, values)

    whole, mean, square = (integrate_over_scales(mean_of(values)) for values in moments)
    mean, square = mean / whole, square / whole
    # ln tau and ln lambda are exchangeable given their sum ln sqrt(u)
    log_tau = (
        0.5 * integrate_over_scales(lambda x, c: np.log(x) * mean_of(moments[0])(x, c)) / whole
    )
    chains = chains_of(X, Y, 2, 1, HORSESHOE, 60_000)
    drawn = np.stack([c.record.coef[:, 0, 0] for c in chains])
    assert count_errors(drawn, mean) < FOUR and count_errors(drawn**2, square) < FOUR
    assert count_errors(np.log([c.record.scales[:, 0] for c in chains]), log_tau) < FOUR


@pytest.mark.first(1)
@pytest.mark.parametrize("rounds", [8_000, pytest.param(200_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("wide, trajectories", [(True, 0), (False, 0), (False, 2)])
def test_horseshoe_sweeps_pass_the_joint_distribution_test(wide, trajectories, rounds):
    """Geweke (2004), as above."""
    rng, n = np.random.default_rng(12), 4
    rows = rng.normal(size=(n, 2)), np.arange(n) % 3, 3, 1
    problem = build_coefficient_problem(*rows, HORSESHOE, wide, n_trajectories=trajectories)
    chain = CoefficientChain(problem, None, rng, 1, 0, 1)
    if trajectories:
        update_curvature(problem, chain.state, chain.motion)
    chain.state.real[1] = math.log(0.5)
    draws = np.empty((rounds, 4))
    for t in range(rounds):
        problem.codes[:] = (chain.state.linear + rng.gumbel(size=(3, n))).argmax(axis=0)
        record_sweeps(rng, problem, chain.state, chain.motion, *chain.record, 0, 1, 0, 1)
        tau, slab = chain.record.scales[0] ** 2
        draws[t] = tau, slab, chain.state.spread[0, 0], abs(chain.state.coef[2, 1])
    tau, slab, spread, size = draws.T
    inside = [
        integrate_over_scales(lambda x, c, b=b: special.erf(b * np.sqrt(0.5 * (x**-2 + c**-2))))
        for b in (0.2, 2.0)
    ]
    expected = {
        "tau below 1": (tau < 1, 0.5),
        "tau below 1/10": (tau < 0.01, 2 / math.pi * math.atan(0.1)),
        "lambda below 1": (spread < tau, 0.5),
        "lambda below 10": (spread < 100 * tau, 2 / math.pi * math.atan(10)),
        "1 / c^2": (1 / slab, 1 / 2.5**2),
        "slab": (slab < 10, stats.invgamma.cdf(10, 2, scale=12.5)),
        "|beta| below 0.2": (size < 0.2, inside[0]),
        "|beta| below 2": (size < 2, inside[1]),
    }
    for name, (values, mean) in expected.items():
        values = np.asarray(values, float)
        error = values.std() / math.sqrt(array_stats.ess(values[None], method="mean"))
        assert abs(values.mean() - mean) < 4 * error, (name, values.mean(), mean, error)


@pytest.mark.parametrize(
    ("prior", "size", "thin"),
    [("horseshoe", (90, 13, 3), 3), ("horseshoe", (50, 301, 2), 64)]
    + [("laplace", (90, 13, 3), 1), ("laplace", (50, 301, 2), 4), ("laplace", (50, 301, 3), 10)],
)
def test_default_sweeps_between_two_draws(prior, size, thin):
    rows, columns, classes = size
    X, y = np.random.default_rng(1).random((rows, columns - 1)), np.arange(rows) % classes
    assert run_of(th.SparseMultinomialLogit("polya-gamma", prior=prior), X, y).run.thin == thin


@pytest.mark.long
def test_default_draws_of_the_horseshoe_converge():
    """Correlated covariates, of which tau once had 244 effective draws; and more covariates than
    rows (26)."""
    rng = np.random.default_rng(3)
    X = np.sqrt(0.1) * rng.normal(size=(200, 20)) + np.sqrt(0.9) * rng.normal(size=(200, 1))
    utility = np.column_stack(
        [np.zeros(200), X[:, :3] @ [1.0, -1.0, 1.0], X[:, :3] @ [-1.0, 1.0, 0.5]]
    )
    wide = rng.normal(size=(50, 300))
    studies = (
        (X, (utility + rng.gumbel(size=utility.shape)).argmax(axis=1)),
        (wide, wide[:, :5].sum(axis=1) > 0),
    )
    for covariates, labels in studies:
        model = th.SparseMultinomialLogit(prior="horseshoe", random_state=1).fit(
            covariates, labels, progressbar=False
        )
        assert model.convergence().agrees, str(model.convergence())


def test_a9_more_covariates_than_rows_cost_no_more_than_rows():
    rng = np.random.default_rng(0)
    data, labels = rng.normal(size=(50, 2000)), np.arange(50) % 2

    def seconds(wide, sweeps):
        problem = build_coefficient_problem(
            data, labels, 2, 0, CoefficientPrior(None, 1, 1, True), wide
        )
        chain = CoefficientChain(problem, None, np.random.default_rng(1), sweeps, 0, 1)
        chain.run_until(0)
        began = time.thread_time()
        chain.run_until(sweeps)
        return (time.thread_time() - began) / sweeps

    # 750 times on the machine this was measured on: n²J against nJ² + J³/3
    assert seconds(None, 50) < seconds(False, 1) / 20
