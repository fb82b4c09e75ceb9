"""Draws of worths, judges and drift: exact posteriors, the joint distribution, and the mode."""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import kstest
from worth_problems import (
    build_spreads,
    judges,
    naive,
    random_density,
    sample_prior_points,
    simulated,
)

import thali._worths.hamiltonian_chains as chains
import thali._worths.prior_sd_moves as scales
from thali._posterior.summary_table import compute_ess_and_r_hat, compute_tail_ess
from thali._worths.laplace_approximation import Marginal, find_mode
from thali._worths.posterior_density import Density, DistinctComparisons, LikelihoodExpansion

pytestmark = pytest.mark.fit


def test_judges_who_contradict_each_other():
    """Equal worths are a saddle; each of the two modes takes one judge for sharp, and one of them
    is found."""
    density = judges(0.01, (18, 0), (0, 18))
    marginal = Marginal(density)
    _, mode = marginal.best
    assert abs(mode.point[0] - mode.point[1]) > 0.5
    points, _ = marginal.draw_points(np.random.default_rng(1), 1000)
    assert np.isfinite(points).all()


def test_draws_of_a_skew_density_are_turned_about_its_mode():
    """Against the mean by quadrature of one difference of log worths, three wins to none, spread
    1.3 known."""
    none, one = np.zeros(1, int), np.ones(1, int)
    rows = DistinctComparisons(
        none, one, none, none, np.zeros((1, 0)), 3.0 * one, 0.0 * one, 0.0 * one, 0.0, False
    )
    density = Density(rows, 2, 0, np.zeros(0), np.zeros(2, int))
    points, _ = Marginal(density, 1.3).draw_points(np.random.default_rng(1), 40_000)
    d = np.linspace(-12.0, 14.0, 20_001)
    weight = expit(d) ** 3 * np.exp(-(d**2) / (4 * 1.3**2))
    # to first order
    assert abs((points[0] - points[1]).mean() - np.average(d, weights=weight)) < 0.08


class WatchedDensity(Density):
    """A density that counts how often it was expanded; it loses its slopes at the second time if it
    is `astray`."""

    looks, astray = 0, False

    def expand(self, *where):
        self.looks += 1
        value, gradient, curvature = super().expand(*where)
        return LikelihoodExpansion(
            value, gradient * np.nan if self.astray and self.looks == 2 else gradient, curvature
        )


@pytest.mark.first(2)
@pytest.mark.parametrize(
    "seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.long) for seed in (3, 4, 5))]
)
@pytest.mark.parametrize(
    "sizes", [{"n_judges": 3, "n_periods": 1, "bias": True}, {"n_judges": 0, "n_periods": 4}]
)
def test_modes_do_not_depend_on_where_climbs_begin(sizes, seed):
    """From the mode at a neighbour of the lattice and from equal worths alike, as often as weights
    are not small."""
    marginal = Marginal(random_density(seed, 0.0, False, rows=40, **sizes))
    for point, spreads, weight in zip(
        marginal._points, marginal.spreads, marginal.weights, strict=True
    ):
        if weight > 0.01:
            cold = find_mode(marginal.density, spreads)
            np.testing.assert_allclose(point, cold.point, atol=1e-5)


def test_a_step_to_where_there_is_no_slope_does_not_rise():
    density = judges(0.0)
    spreads = build_spreads(1.3, 0.5)
    best = find_mode(density, spreads).point
    watched = WatchedDensity(density.rows, 2, 2, np.zeros(0), np.zeros(2, int))
    watched.astray = True
    np.testing.assert_allclose(find_mode(watched, spreads, best + 0.5).point, best, atol=1e-6)
    assert watched.looks > 3


def test_the_lattice_of_many_judges_is_found_at_once():
    """The marginal of tau is found by its slope: a lattice of steps as wide as it is, whose mean is
    that of a finer."""
    rng = np.random.default_rng(4)
    n, judge = 6, np.repeat(np.arange(60), 40)
    first = rng.integers(0, n, len(judge))
    second = (first + rng.integers(1, n, len(judge))) % n
    worth, d = 1.5 * rng.normal(size=n), np.exp(0.7 * rng.normal(size=60))
    wins = (rng.random(len(judge)) < expit(d[judge] * (worth[first] - worth[second]))).astype(float)
    rows = DistinctComparisons(
        first,
        second,
        0 * judge,
        judge,
        np.zeros((len(judge), 0)),
        wins,
        1.0 - wins,
        0.0 * wins,
        0.0,
        False,
    )
    density = Density(rows, n, 60, np.zeros(0), np.zeros(n, int))
    marginal = Marginal(density, 1.5)
    assert len(marginal._cache) <= 13
    logs = np.arange(-1.6, 0.61, 0.05)
    log_weights = np.array([marginal._log_marginal(np.array([each])) for each in logs])
    weights = np.exp(log_weights - log_weights.max())
    found = np.log([each.judges for each in marginal.spreads])
    mean, expected = marginal.weights @ found, weights @ logs / weights.sum()
    assert mean == pytest.approx(expected, abs=2e-3)
    sd, known = (
        marginal.weights @ (found - mean) ** 2,
        weights @ (logs - expected) ** 2 / weights.sum(),
    )
    assert sd == pytest.approx(known, rel=0.05) and float(
        marginal._cell_widths[0]
    ) == pytest.approx(known**0.5, rel=0.4)


@pytest.mark.first(1)
@pytest.mark.parametrize("sizes", [(3, 1), (0, 4), (3, 4)])
def test_the_mode_is_that_of_a_naive_optimiser(sizes):
    density = random_density(8, 0.01, True, *sizes)
    known = 1.3, (0.5 if sizes[0] else None), (0.4 if sizes[1] > 1 else None)
    spreads, free = build_spreads(*known), np.flatnonzero(density.is_free)

    def whole(own):
        point = np.zeros(density.size)
        point[free] = own
        return point

    found = minimize(lambda own: -naive(density, whole(own), *known), np.zeros(len(free)), tol=1e-9)
    # its slopes are differences; the last digits are those of two steps by naive differences
    polished = whole(found.x)
    for _ in range(2):
        polished[free] -= _naive_step(
            lambda own: naive(density, whole(own), *known), polished[free]
        )
    np.testing.assert_allclose(find_mode(density, spreads).point, polished, atol=1e-6)


def _naive_step(value, here, h=1e-3):
    """Newton's step by differences of the fourth order along lines."""
    n = len(here)
    unit = h * np.eye(n)
    ends = {k: np.array([value(here + k * step) for step in unit]) for k in (-2, -1, 1, 2)}
    gradient = (8 * (ends[1] - ends[-1]) - (ends[2] - ends[-2])) / (12 * h)
    bend = np.empty((n, n))
    for i in range(n):
        for j in range(i, n):
            signs = [
                (a, b, a * b * value(here + a * unit[i] + b * unit[j]))
                for a in (-1, 1)
                for b in (-1, 1)
            ]
            bend[i, j] = bend[j, i] = sum(each for _, _, each in signs) / (4 * h * h)
    return np.linalg.solve(bend, gradient)


def state_of(density, points, spreads):
    """The state of chains at draws of the prior."""
    return scales.ScaleState.from_points(density, points, np.log(np.array(spreads)))


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("tau", "s", "bias"),
    [(None, None, False), pytest.param(0.5, 0.4, False, marks=pytest.mark.long), (None, 0.4, True)],
)
def test_sweeps_pass_the_joint_distribution_test(tau, s, bias):
    """Chains that begin with the prior and get new comparisons before every sweep stay at the
    prior, each by itself."""
    density = random_density(2, 0.02, True, 2, 3, 1, n=3, rows=12, max_count=2, bias=bias)
    count, rng, known = 300, np.random.default_rng(9), (None, tau, s, None)
    sampler = chains.HamiltonianSampler(Marginal(density, *known[:3]))
    points, spreads = sample_prior_points(density, rng, count, known)
    state = state_of(density, points, spreads)
    sampler.step = 0.6
    accepted = []
    for _ in range(12):
        sampler.density = simulated(density, rng, state.points)
        state, rate = sampler.sweep(rng, scales.ScaleState.from_points(sampler.density, *state[:2]))
        accepted.append(rate.mean())
    assert np.mean(accepted) > 0.5
    fresh, of_fresh = sample_prior_points(density, np.random.default_rng(10), 20_000, known)
    for k in np.flatnonzero(density.is_free):
        assert kstest(state.points[k], fresh[k]).pvalue > 1e-6, k
    for logs, expected in zip(state.logs, of_fresh, strict=True):
        assert (
            np.isnan(logs).all()
            or np.ptp(logs) == 0.0
            or kstest(logs, np.log(expected)).pvalue > 1e-6
        )
    contrasts = state.points[0] - state.points[1], fresh[0] - fresh[1]
    assert kstest(*contrasts).pvalue > 1e-6


MOVES = {f"draw {k}": partial(scales.sample_spread, k=k) for k in range(3)}
MOVES |= {f"scale with {k}": partial(scales.move_spread_with_coordinates, k=k) for k in range(3)}


@pytest.mark.parametrize("move", [*MOVES, "trajectory"])
def test_each_move_alone_keeps_the_posterior(move):
    """Points of the prior with comparisons simulated from them are draws of the posterior; they
    stay that."""
    density = random_density(2, 0.02, True, 2, 3, 1, n=3, rows=12, max_count=2)
    count, rng = 1500, np.random.default_rng(19)
    points, spreads = sample_prior_points(density, rng, count)
    sampler = chains.HamiltonianSampler(Marginal(density))
    sampler.step, sampler.density = 0.9, simulated(density, rng, points)
    state = state_of(sampler.density, points, spreads)
    for _ in range(4 if move == "trajectory" else 30):
        if move == "trajectory":
            state, _ = sampler._run_trajectory(rng, state)
        else:
            state = MOVES[move](rng, sampler.density, state)
    assert (state.points != points).any() or (state.logs[:3] != np.log(np.array(spreads))[:3]).any()
    np.testing.assert_allclose(
        state.likelihood, sampler.density.log_likelihoods(state.points), rtol=1e-9, atol=1e-9
    )
    fresh, of_fresh = sample_prior_points(density, np.random.default_rng(10), 20_000)
    measures = [(state.points[density.judges][0], fresh[density.judges][0])]
    free = np.flatnonzero(density.present.ravel())
    measures.append((state.points[free].std(axis=0), fresh[free].std(axis=0)))
    measures += [(state.points[k], fresh[k]) for k in (0, density.nu.start, density.beta.start)]
    measures += [(state.logs[k], np.log(of_fresh[k])) for k in range(3)]
    for own, expected in measures:
        assert kstest(own, expected).pvalue > 1e-6


def test_chains_go_on_for_their_tails_too():
    """Draws whose scale alone changes slowly: independent in the middle, few in the tails."""
    rng = np.random.default_rng(1)
    draws = rng.standard_normal((3, 4, 1000))
    ess, r_hat = compute_ess_and_r_hat(draws)
    assert chains._compute_diagnostics(draws) == (
        r_hat.max(),
        min(ess.min(), compute_tail_ess(draws, 0.89).min()),
    )
    assert chains._compute_diagnostics(draws)[1] > chains.MIN_ESS
    draws[2] *= np.tile(np.repeat([0.1, 3.0], 250), 2)
    assert (
        compute_ess_and_r_hat(draws)[0].min()
        > chains.MIN_ESS
        > chains._compute_diagnostics(draws)[1]
    )
