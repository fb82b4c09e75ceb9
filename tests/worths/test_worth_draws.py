"""Draws of worths, judges and drift: exact posteriors, the joint distribution, and the mode."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import kstest
from worth_problems import EXACT, exact_problem, judges, naive, random_density, short_run

import thali._worths.chains as chains
import thali._worths.scales as scales
from thali._posterior.summary import bulk_and_r_hat, mean_mcse, tail_ess
from thali._worths.density import SPREAD, ComparisonRows, Density, Expanded, Spreads
from thali._worths.laplace import Marginal, highest

pytestmark = pytest.mark.fit


def reported(density, lapse, points, spreads):
    """What the exact values are of, by draw."""
    worths = points[density.worths].reshape(density.n_periods, 2, *points.shape[1:])
    q = (1 - lapse) * expit(worths[:, 0] - worths[:, 1]) + lapse / 2
    return np.concatenate([q, points[density.judges], [spreads.judges if density.n_judges else spreads.drift]])


LAPSING = [pytest.param(*case, marks=() if case[1] and case[2] is None else pytest.mark.long) for case in EXACT]


@pytest.mark.first(1)
@pytest.mark.parametrize(("name", "lapse", "spread", "exact"), LAPSING)
def test_chains_draw_from_the_posterior(name, lapse, spread, exact):
    _, probabilities, log_d, sd = exact
    density, known = exact_problem(name, lapse, spread)
    states = short_run(density, known.get("judges"), known.get("drift"), 5)
    found = np.array([reported(density, lapse, state.points, state.spreads) for state in states]).transpose(1, 2, 0)
    expected = [*probabilities, *log_d, sd or np.nan]
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = (found.mean(axis=(1, 2)) - expected) / mean_mcse(found)
    assert np.nanmax(np.abs(scores[: len(scores) if spread is None else -1])) < 4.5


@pytest.mark.parametrize(("name", "lapse", "spread", "exact"), EXACT)
def test_laplace_is_near(name, lapse, spread, exact):
    _, probabilities, log_d, sd = exact
    density, known = exact_problem(name, lapse, spread)
    points, spreads = Marginal(density, **known).draws(np.random.default_rng(1), 20_000)
    found = reported(density, lapse, points, spreads).mean(axis=1)
    np.testing.assert_allclose(found[: len(probabilities)], probabilities, atol=0.01)
    np.testing.assert_allclose(found[len(probabilities) : -1], log_d, atol=0.03)  # of ten answers a judge
    if sd is not None:
        assert found[-1] == pytest.approx(sd, abs=0.02)


@pytest.mark.long
def test_laplace_knows_that_sharp_judges_mean_near_worths():
    """The common factor of log d and log worths is left to the priors: of 12 options its density is skew."""
    rng = np.random.default_rng(3)
    n, judge = 12, np.repeat(np.arange(6), 150)
    first = rng.integers(0, n, 900)
    second = (first + rng.integers(1, n, 900)) % n
    worth = rng.normal(size=n)
    wins = rng.random(900) < expit(np.linspace(0.4, 2.0, 6)[judge] * (worth[first] - worth[second]))
    counts = np.zeros((6, n, n))
    np.add.at(counts, (judge, np.where(wins, first, second), np.where(wins, second, first)), 1.0)
    judge, first, second = np.nonzero(np.triu(counts + counts.transpose(0, 2, 1)))
    wins, losses = counts[judge, first, second], counts[judge, second, first]
    rows = ComparisonRows(
        first, second, 0 * judge, judge, np.zeros((len(judge), 0)), wins, losses, 0.0 * wins, 0.0, False
    )
    density = Density(rows, n, 6, np.zeros(0), np.zeros(n, int))
    marginal = Marginal(density)
    points, spreads = marginal.draws(np.random.default_rng(1), 4000)
    states = short_run(density, None, None, 2, marginal)
    drawn = np.mean([state.points.mean(axis=1) for state in states], axis=0)
    assert np.abs(points[density.judges].mean(axis=1) - drawn[density.judges]).max() < 0.05
    assert spreads.judges.mean() == pytest.approx(np.mean([state.spreads.judges for state in states]), abs=0.04)


def test_judges_who_contradict_each_other():
    """Equal worths are a saddle; each of the two modes takes one judge for sharp, and one of them is found."""
    density = judges(0.01, (18, 0), (0, 18))
    marginal = Marginal(density)
    _, mode = marginal.best
    assert abs(mode.point[0] - mode.point[1]) > 0.5
    points, _ = marginal.draws(np.random.default_rng(1), 1000)
    assert np.isfinite(points).all()


class WatchedDensity(Density):
    """A density that counts how often it was expanded; it loses its slopes at the second time if it is `astray`."""

    looks, astray = 0, False

    def expanded(self, *where):
        self.looks += 1
        value, gradient, curvature = super().expanded(*where)
        return Expanded(value, gradient * np.nan if self.astray and self.looks == 2 else gradient, curvature)


def test_the_mode_is_near_from_equal_worths():
    """Newton's own steps from there lead towards a saddle, and took 22 until they found the way."""
    rng = np.random.default_rng(5)
    n, count, judge = 100, 60_000, np.arange(60_000) % 10
    first = rng.integers(0, n, count)
    second = (first + rng.integers(1, n, count)) % n
    worth, d = rng.normal(size=n), np.exp(0.4 * rng.normal(size=10))
    p = expit(d[judge] * (worth[first] - worth[second]))
    ratio = 0.8 * np.sqrt(p * (1.0 - p))
    drawn = rng.random(count) * (1.0 + ratio)
    wins, tied = (drawn < p).astype(float), (drawn >= 1.0).astype(float)
    rows = ComparisonRows(
        first, second, 0 * judge, judge, np.zeros((count, 0)), wins, 1.0 - wins - tied, tied, 0.0, True
    )
    density = WatchedDensity(rows, n, 10, np.zeros(0), np.zeros(n, int))
    highest(density, Spreads.of(0.182, None), tilt=n - 1.0)
    assert 0 < density.looks < 12


@pytest.mark.first(2)
@pytest.mark.parametrize("seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.long) for seed in (3, 4, 5))])
@pytest.mark.parametrize("sizes", [{"n_judges": 3, "n_periods": 1, "bias": True}, {"n_judges": 0, "n_periods": 4}])
def test_modes_do_not_depend_on_where_climbs_begin(sizes, seed):
    """From the mode at a neighbour of the lattice and from equal worths alike, as often as weights are not small."""
    marginal = Marginal(random_density(seed, 0.0, False, rows=40, **sizes))
    for point, spreads, weight in zip(marginal._points, marginal.spreads, marginal.weights, strict=True):
        if weight > 0.01:
            cold = highest(marginal.density, spreads, tilt=marginal._tilt)
            np.testing.assert_allclose(point, cold.point, atol=1e-5)


def test_a_step_to_where_there_is_no_slope_does_not_rise():
    density = judges(0.0)
    spreads, best = Spreads.of(0.5, None), highest(density, Spreads.of(0.5, None)).point
    watched = WatchedDensity(density.rows, 2, 2, np.zeros(0), np.zeros(2, int))
    watched.astray = True
    np.testing.assert_allclose(highest(watched, spreads, best + 0.5).point, best, atol=1e-6)
    assert watched.looks > 3


def test_the_lattice_of_many_judges_is_found_at_once():
    """The marginal of tau is found by its slope: a lattice of steps as wide as it is, whose mean is that of a finer."""
    rng = np.random.default_rng(4)
    n, judge = 6, np.repeat(np.arange(60), 40)
    first = rng.integers(0, n, len(judge))
    second = (first + rng.integers(1, n, len(judge))) % n
    worth, d = 1.5 * rng.normal(size=n), np.exp(0.7 * rng.normal(size=60))
    wins = (rng.random(len(judge)) < expit(d[judge] * (worth[first] - worth[second]))).astype(float)
    rows = ComparisonRows(
        first, second, 0 * judge, judge, np.zeros((len(judge), 0)), wins, 1.0 - wins, 0.0 * wins, 0.0, False
    )
    density = Density(rows, n, 60, np.zeros(0), np.zeros(n, int))
    marginal = Marginal(density)
    assert len(marginal._found) <= 13
    logs = np.arange(-1.6, 0.61, 0.05)
    log_weights = np.array([marginal._value(np.array([each])) for each in logs])
    weights = np.exp(log_weights - log_weights.max())
    found = np.log([each.judges for each in marginal.spreads])
    mean, expected = marginal.weights @ found, weights @ logs / weights.sum()
    assert mean == pytest.approx(expected, abs=2e-3)
    sd, known = marginal.weights @ (found - mean) ** 2, weights @ (logs - expected) ** 2 / weights.sum()
    assert sd == pytest.approx(known, rel=0.05) and float(marginal.step[0]) == pytest.approx(known**0.5, rel=0.4)


def test_laplace_of_many_answers_a_judge():
    density = judges(0.01, (180, 20), (140, 60))
    points, _ = Marginal(density, judges=0.5).draws(np.random.default_rng(1), 20_000)
    apart = points[density.judges][0] - points[density.judges][1]
    assert apart.mean() == pytest.approx(0.904, abs=0.02)


@pytest.mark.first(1)
@pytest.mark.parametrize("sizes", [(3, 1), (0, 4), (3, 4)])
def test_the_mode_is_that_of_a_naive_optimiser(sizes):
    density = random_density(8, 0.01, True, *sizes)
    tau, s = (0.5 if sizes[0] else None), (0.4 if sizes[1] > 1 else None)
    spreads, free = Spreads.of(tau, s), np.flatnonzero(density.is_free)

    def whole(own):
        point = np.zeros(density.size)
        point[free] = own
        return point

    found = minimize(lambda own: -naive(density, whole(own), tau, s), np.zeros(len(free)), tol=1e-9)
    polished = whole(found.x)  # its slopes are differences; the last digits are those of two steps by naive differences
    for _ in range(2):
        polished[free] -= _naive_step(lambda own: naive(density, whole(own), tau, s), polished[free])
    np.testing.assert_allclose(highest(density, spreads).point, polished, atol=1e-6)


def _naive_step(value, here, h=1e-3):
    """Newton's step by differences of the fourth order along lines."""
    n = len(here)
    unit = h * np.eye(n)
    ends = {k: np.array([value(here + k * step) for step in unit]) for k in (-2, -1, 1, 2)}
    gradient = (8 * (ends[1] - ends[-1]) - (ends[2] - ends[-2])) / (12 * h)
    bend = np.empty((n, n))
    for i in range(n):
        for j in range(i, n):
            signs = [(a, b, a * b * value(here + a * unit[i] + b * unit[j])) for a in (-1, 1) for b in (-1, 1)]
            bend[i, j] = bend[j, i] = sum(each for _, _, each in signs) / (4 * h * h)
    return np.linalg.solve(bend, gradient)


def prior_draws(density, rng, count, tau, s):
    """Points of the prior, and their standard deviations."""
    spreads = np.array([np.full(count, known or np.nan) for known in (tau, s, np.nan)])
    for k, known in enumerate((tau, s, None if density.n_bias else np.nan)):
        if known is None:
            spreads[k] = np.abs(rng.normal(size=count)) * SPREAD
    points = rng.normal(size=(density.size, count))
    points[density.judges] *= spreads[0]
    points[density.bias] *= spreads[2]
    worths = np.log(rng.standard_exponential((density.n_options, count)))
    every = []
    for t in range(density.n_periods):
        if t:
            moves = np.sqrt(density.steps[t - 1]) * spreads[1] * rng.normal(size=worths.shape)
            worths = worths + np.where((density.entry < t)[:, None], moves, 0.0)
        every.append(np.where((density.entry <= t)[:, None], worths, 0.0))
    points[density.worths] = np.concatenate(every)
    points[density.nu] = np.log(rng.standard_exponential(points[density.nu].shape))
    return points, Spreads(*spreads)


def simulated(density, rng, points):
    """The density of as many new comparisons, of each point its own."""
    seen = density.seen(density.rows, points)
    p = (1 - density.rows.lapse) * seen.q + density.rows.lapse / 2
    tie = np.exp(seen.log_nu) * np.sqrt(p * (1 - p)) if density.rows.has_ties else np.zeros_like(p)
    total = np.broadcast_to((density.rows.wins + density.rows.losses + density.rows.tied)[:, None], p.shape).astype(int)
    tied = rng.binomial(total, tie / (1 + tie))
    wins = rng.binomial(total - tied, p)
    return density.with_counts(wins.astype(float), (total - tied - wins).astype(float), tied.astype(float))


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("tau", "s", "bias"),
    [(None, None, False), pytest.param(0.5, 0.4, False, marks=pytest.mark.long), (None, 0.4, True)],
)
def test_joint_distribution(tau, s, bias):
    """Chains that begin with the prior and get new comparisons before every sweep stay at the prior, each by itself."""
    density = random_density(2, 0.02, True, 2, 3, 1, n=3, rows=12, most=2, bias=bias)
    count, rng = 300, np.random.default_rng(9)
    sampler = chains.Sampler(density, tau, s)
    points, spreads = prior_draws(density, rng, count, tau, s)
    state = scales.ScaleState(points, np.log(np.array(spreads)))
    sampler.step = 0.6
    accepted = []
    for _ in range(12):
        sampler.density = simulated(density, rng, state.points)
        state, rate = sampler.sweep(rng, state)
        accepted.append(rate.mean())
    assert np.mean(accepted) > 0.5
    fresh, of_fresh = prior_draws(density, np.random.default_rng(10), 20_000, tau, s)
    for k in np.flatnonzero(density.is_free):
        assert kstest(state.points[k], fresh[k]).pvalue > 1e-6, k
    for logs, expected in zip(state.logs, of_fresh, strict=True):
        assert np.isnan(logs).all() or np.ptp(logs) == 0.0 or kstest(logs, np.log(expected)).pvalue > 1e-6
    contrasts = state.points[0] - state.points[1], fresh[0] - fresh[1]
    assert kstest(*contrasts).pvalue > 1e-6


MOVES = {
    "tau": lambda sampler, rng, state: scales.spread_given_points(rng, sampler.density, state, 0),
    "s": lambda sampler, rng, state: scales.spread_given_points(rng, sampler.density, state, 1),
    "tau with g": lambda sampler, rng, state: scales.spread_with_points(rng, sampler.density, state, 0),
    "s with changes": lambda sampler, rng, state: scales.spread_with_points(rng, sampler.density, state, 1),
    "sharpness": lambda sampler, rng, state: scales.sharper(rng, sampler.density, state, 1 in sampler.learned),
    "trajectory": lambda sampler, rng, state: sampler._trajectory(rng, state)[0],
}


@pytest.mark.parametrize(("move", "s"), [*((move, None) for move in MOVES), ("sharpness", 0.4)])
def test_each_move_alone_keeps_the_posterior(move, s):
    """Points of the prior with comparisons simulated from them are draws of the posterior; they stay that."""
    density = random_density(2, 0.02, True, 2, 3, 1, n=3, rows=12, most=2)
    count, rng = 1500, np.random.default_rng(19)
    sampler = chains.Sampler(density, None, s)
    sampler.step = 0.9
    points, spreads = prior_draws(density, rng, count, None, s)
    state = scales.ScaleState(points, np.log(np.array(spreads)))
    sampler.density = simulated(density, rng, points)
    for _ in range(4 if move == "trajectory" else 30):
        state = MOVES[move](sampler, rng, state)
    assert (state.points != points).any() or (state.logs != np.log(np.array(spreads))).any()
    fresh, of_fresh = prior_draws(density, np.random.default_rng(10), 20_000, None, s)
    measures = [(state.points[density.judges].mean(axis=0), fresh[density.judges].mean(axis=0))]
    free = np.flatnonzero(density.present.ravel())
    measures.append((state.points[free].std(axis=0), fresh[free].std(axis=0)))
    measures += [(state.points[k], fresh[k]) for k in (0, density.nu.start, density.beta.start)]
    measures.append((state.logs[0], np.log(of_fresh.judges)))
    measures += [(state.logs[1], np.log(of_fresh.drift))] if s is None else []
    for own, expected in measures:
        assert kstest(own, expected).pvalue > 1e-6


def test_the_same_seed_gives_the_same_draws():
    density = judges(0.0)
    one, other = (chains.run(density, 0.5, None, 3, chains=4) for _ in range(2))
    np.testing.assert_array_equal(one.points, other.points)


def test_chains_go_on_for_their_tails_too():
    """Draws whose scale alone changes slowly: independent in the middle, few in the tails."""
    rng = np.random.default_rng(1)
    draws = rng.standard_normal((3, 4, 1000))
    ess, r_hat = bulk_and_r_hat(draws)
    assert chains._agreement(draws) == (r_hat.max(), min(ess.min(), tail_ess(draws, 0.89).min()))
    assert chains._agreement(draws)[1] > chains.ESS
    draws[2] *= np.tile(np.repeat([0.1, 3.0], 250), 2)
    assert bulk_and_r_hat(draws)[0].min() > chains.ESS > chains._agreement(draws)[1]
