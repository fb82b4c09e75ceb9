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
        np.log([c.record.eta for c in chains]),
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
            np.log([c.record.eta for c in chains]),
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
    coefs, etas, variances = np.empty((rounds, 3, 3)), np.empty(rounds), np.empty(rounds)
    for t in range(rounds):
        scores = chain.state.linear + rng.gumbel(size=(3, n))
        problem.codes[:] = scores.argmax(axis=0)
        record_sweeps(rng, problem, chain.state, chain.motion, *chain.record, 0, 1, 0, 10**9)
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


@pytest.mark.parametrize(
    ("size", "thin"), [((90, 13, 3), 1), ((50, 301, 2), 4), ((50, 301, 3), 10)]
)
def test_default_sweeps_between_two_draws(size, thin):
    rows, columns, classes = size
    X, y = np.random.default_rng(1).random((rows, columns - 1)), np.arange(rows) % classes
    assert run_of(th.SparseMultinomialLogit("polya-gamma"), X, y).run.thin == thin


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
