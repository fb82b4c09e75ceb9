"""Worths that judges see in choices from sets: by definition, their slopes, exact values, the mode, and chains."""

import numpy as np
import pytest
from helpers.naive.worths import Answer, log_joint_of_sets
from scipy.optimize import minimize
from scipy.special import gammaln, logsumexp
from scipy.stats import kstest
from worth_problems import short_run

import thali._worths.chains as chains
import thali._worths.scales as scales
from thali import Choices
from thali._aspects.bradley_terry import NormalWorths, SetDensity, local, log_densities
from thali._aspects.maximum_likelihood.problem import problem
from thali._data.answers import ordered_pairs
from thali._model.best_worst import answer_probabilities, shares_of
from thali._posterior.summary import mean_mcse
from thali._worths.density import Spreads, added
from thali._worths.laplace import Marginal, highest
from thali._worths.sets import ChoiceSetDensity, SetAnswersBySize

pytestmark = pytest.mark.fit
CHOICE, RANKING = "choice", "ranking"
SETTINGS = [(lapse, rule, judges) for lapse in (0.0, 0.05) for rule in (CHOICE, RANKING) for judges in (0, 3)]


def made(lapse, rule, n_judges, n=5, rows=24, seed=1):
    """Answers to sets of two to four."""
    rng = np.random.default_rng(seed)
    sizes = [3, 4] if rule == RANKING else [2, 3, 4]
    members = tuple(np.stack([rng.permutation(n)[:m] for _ in range(rows // len(sizes))]) for m in sizes)
    judge = rng.integers(0, max(n_judges, 1), rows)
    return ChoiceSetDensity(
        SetAnswersBySize(members, judge, rng.integers(0, 4, rows).astype(float), rule, lapse), n, n_judges
    )


def naive(density, point, tau=0.5):
    rows = density.rows
    members = [row.tolist() for each in rows.members for row in each]
    is_best_worst = rows.rule == RANKING
    answers = [Answer(*each, is_best_worst) for each in zip(members, rows.judge, rows.counts, strict=True)]
    return log_joint_of_sets(answers, point[density.worths], point[density.judges], tau, rows.lapse)


@pytest.mark.parametrize(("lapse", "rule", "judges"), SETTINGS)
def test_the_density_is_that_of_the_model_with_its_slopes(lapse, rule, judges):
    density, spreads = made(lapse, rule, judges), Spreads.of(0.5 if judges else None, None)
    points = np.random.default_rng(4).normal(size=(density.size, 2)) * 0.8
    found, expected = density.values(points, spreads), [naive(density, point) for point in points.T]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    many = density.values(np.tile(points, 8_000), spreads)  # of which rows are taken a few at a time
    np.testing.assert_allclose(many, np.tile(found, 8_000), rtol=1e-12)
    np.testing.assert_allclose(density.gradients(points, spreads)[0], expected, rtol=1e-12)
    np.testing.assert_allclose(density.by_row(points).sum(axis=0), density.log_likelihoods(points), rtol=1e-12)
    point, step = points[:, :1], 1e-5 * np.eye(density.size)
    up, down = (density.gradients(point + sign * step, spreads) for sign in (1, -1))
    gradient = density.gradients(point, spreads)[1][:, 0]
    np.testing.assert_allclose(gradient, (up[0] - down[0]) / 2e-5, atol=1e-7)
    expanded = density.expanded(point[:, 0])
    assert expanded.value == pytest.approx(float(density.log_likelihoods(point)[0]))
    curvature = added(expanded.curvature, density.prior_curvature(point[:, 0], spreads)).dense()
    np.testing.assert_allclose(curvature, (down[1] - up[1]) / 2e-5, atol=1e-7)
    assert np.linalg.eigvalsh(density.curvature(point[:, 0], is_convex=True).dense()).min() > -1e-10
    nothing = density.with_answers(0.0 * density.rows.counts).gradients(point, spreads)[1][:, 0]
    if judges:
        np.testing.assert_allclose(density.scores_of_judges(point[:, 0]).sum(axis=1), gradient - nothing, atol=1e-10)


@pytest.mark.parametrize(("lapse", "rule"), [(0.0, CHOICE), (0.02, RANKING)])
def test_the_mode_is_that_of_a_naive_optimiser(lapse, rule):
    density = made(lapse, rule, 3)
    found = minimize(lambda point: -naive(density, point), np.zeros(density.size), tol=1e-10)
    mode = highest(density, Spreads.of(0.5, None))
    np.testing.assert_allclose(mode.point, found.x, atol=3e-6)  # whose slopes are differences
    assert naive(density, mode.point) >= -found.fun - 1e-12
    slope = density.gradients(mode.point[:, None], Spreads.of(0.5, None))[1]
    assert np.abs(mode.factor.solve(slope[:, 0])).max() < 1e-7  # the step that is left


# Three options; judge A ranked them 4 times as a > b > c, once as b > a > c; judge B 3 times as c > a > b, twice as
# a > c > b; tau = .5: log Z, E P(a is the best of all), E P(a over b), E log d of A and of B.
EXACT = {
    0.0: (-16.83710, [0.59785, 0.74349], [0.07975, -0.21627]),
    0.05: (-16.81385, [0.59404, 0.73799], [0.09542, -0.20517]),
}


def three(lapse):
    # the best of two that are left, of A b or a over c, of B a or c over b; before it the best of three
    members = np.array([[1, 2], [0, 2], [0, 1], [2, 1]]), np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1], [0, 2, 1]])
    counts = np.array([4.0, 1.0, 3.0, 2.0] * 2)
    return ChoiceSetDensity(SetAnswersBySize(members, np.array([0, 0, 1, 1] * 2), counts, CHOICE, lapse), 3, 2)


def reported(lapse, points):
    """What the exact values are of, by draw, for a judge of d = 1."""
    w = np.exp(points[:3])
    best, over = w[0] / w.sum(axis=0), w[0] / (w[0] + w[1])
    return np.stack([(1 - lapse) * best + lapse / 3, (1 - lapse) * over + lapse / 2, *points[3:]])


def integrated(density, tau, widest, lapse):
    """The log of the integral, and means, by sums over a grid of differences of log worths and of log d."""
    axes = [np.linspace(-widest, widest, 37)] * 2 + [np.linspace(-5, 5, 17) * tau] * 2
    a, b, *logs = (axis.ravel() for axis in np.meshgrid(*axes, indexing="ij"))
    points = np.stack([a, b, 0.0 * a, *logs])
    log_p = density.values(points, Spreads.of(tau, None))
    total = np.exp(points[:3]).sum(axis=0)
    log_p += total + gammaln(3.0) - 3.0 * np.log(total)  # the common factor of worths is integrated exactly
    log_p += sum(np.log(axis[1] - axis[0]) for axis in axes)
    return logsumexp(log_p), reported(lapse, points) @ np.exp(log_p - logsumexp(log_p))


@pytest.mark.long
@pytest.mark.parametrize("lapse", [pytest.param(0.0, marks=pytest.mark.long), 0.05])
def test_exact_values_by_quadrature_and_by_chains(lapse):
    density, tau, expected = three(lapse), 0.5, EXACT[lapse]
    evidence, found = integrated(density, tau, 7.0, lapse)
    assert evidence == pytest.approx(expected[0], abs=1e-4)
    np.testing.assert_allclose(found, expected[1] + expected[2], atol=2e-4)
    drawn = np.array([reported(lapse, state.points) for state in short_run(density, tau, None, 5)]).transpose(1, 2, 0)
    assert np.abs((drawn.mean(axis=(1, 2)) - found) / mean_mcse(drawn)).max() < 4.5


def test_laplace_of_many_answers_is_near():
    """Of 200 answers a judge, where twenty leave log d .09 off; judges who agree half of the time."""
    density = three(0.0)
    many = density.with_answers(10.0 * density.rows.counts)
    _, found = integrated(many, 0.5, 3.0, 0.0)
    points, _ = Marginal(many, 0.5).draws(np.random.default_rng(1), 10_000)
    near = reported(0.0, points).mean(axis=1)
    np.testing.assert_allclose(near[:2], found[:2], atol=0.01)
    assert near[2] - near[3] == pytest.approx(found[2] - found[3], abs=0.05)


def simulated(density, rng, points):
    """The density of as many new answers, of each point its own; rows are all answers to each question in turn."""
    rows, counts, begin = density.rows, np.zeros((len(density.rows.judge), points.shape[1])), 0
    for members in rows.members:
        m = members.shape[1]
        each = m if rows.rule == CHOICE else m * (m - 1)
        for first in range(begin, begin + len(members), each):
            own = np.sort(members[first - begin])
            weights = np.exp(np.exp(points[density.judges][rows.judge[first]]) * points[own]).T
            p = shares_of(weights, rows.lapse)
            if rows.rule == RANKING:
                p = answer_probabilities(weights, np.array([0, m]), np.arange(m), rows.lapse, RANKING)
            for k in range(points.shape[1]):
                counts[first : first + each, k] = rng.multinomial(int(rows.counts[first]), p[k] / p[k].sum())
        begin += len(members)
    return density.with_answers(counts)


def design(rule, n=4, n_judges=2, times=2.0):
    """All answers to one set of all options and one without the last, of each judge."""
    members, judge = [], []
    for m in (n - 1, n):
        pairs = np.stack(ordered_pairs(m), axis=1) if rule == RANKING else np.arange(m)[:, None]
        rows = [[*first, *(set(range(m)) - set(first))] for first in pairs.tolist()]
        members.append(np.array(rows * n_judges))
        judge.append(np.repeat(np.arange(n_judges), len(rows)))
    judge = np.concatenate(judge)
    return ChoiceSetDensity(
        SetAnswersBySize(tuple(members), judge, np.full(len(judge), times), rule, 0.02), n, n_judges
    )


def prior_draws(density, rng, count, tau=None):
    spreads = np.full((3, count), np.nan)
    spreads[0] = tau or 0.5 * np.abs(rng.normal(size=count))
    points = np.log(rng.standard_exponential((density.size, count)))
    points[density.judges] = rng.normal(size=(density.n_judges, count)) * spreads[0]
    return points, spreads


@pytest.mark.first(1)
@pytest.mark.parametrize("rule", [CHOICE, RANKING])
def test_joint_distribution(rule):
    """Chains that begin with the prior and get new answers before every sweep stay at the prior."""
    density, count, rng = design(rule), 200, np.random.default_rng(9)
    sampler = chains.Sampler(density, None, None)
    points, spreads = prior_draws(density, rng, count)
    state = scales.ScaleState(points, np.log(spreads))
    sampler.step, accepted = 0.6, []
    for _ in range(10):
        sampler.density = simulated(density, rng, state.points)
        state, rate = sampler.sweep(rng, state)
        accepted.append(rate.mean())
    assert np.mean(accepted) > 0.5
    fresh, of_fresh = prior_draws(density, np.random.default_rng(10), 20_000)
    for k in range(density.size):
        assert kstest(state.points[k], fresh[k]).pvalue > 1e-6, k
    assert kstest(state.logs[0], np.log(of_fresh[0])).pvalue > 1e-6


@pytest.mark.study
@pytest.mark.long
@pytest.mark.parametrize(
    ("rule", "method"), [(CHOICE, "laplace"), (RANKING, "laplace"), (CHOICE, "mcmc"), (RANKING, "mcmc")]
)
def test_calibration(rule, method):
    """Of 200 data sets the share of draws below the truth is uniform; by Laplace's approximation nearly."""
    plan, found = design(rule, 5 if rule == CHOICE else 4, 4, 12.0), []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        truth, spreads = prior_draws(plan, rng, 1)
        density = plan.with_answers(simulated(plan, rng, truth).rows.counts[:, 0])
        marginal = Marginal(density)
        if method == "laplace":
            points, drawn = marginal.draws(rng, 1000)
            tau = drawn.judges
        else:
            sampler = chains.Sampler(density, None, None, marginal)
            state, states = chains.tuned(sampler, rng, sampler.start(rng, 8), 100), []
            for _ in range(240):
                state, _ = sampler.sweep(rng, state)
                states.append(state)
            points = np.concatenate([each.points for each in states[::6]], axis=1)
            tau = np.exp(np.concatenate([each.logs[0] for each in states[::6]]))
        own, true = (
            [p[0] - p[1], p[0] - p[2], p[density.judges][0], p[density.judges][0] - p[density.judges][1], t]
            for p, t in ((points, tau), (truth[:, 0], spreads[0, 0]))
        )
        found.append([(each < real).mean() for each, real in zip(own, true, strict=True)])
    smallest = [kstest(np.clip(each, 1e-9, 1 - 1e-9), "uniform").pvalue for each in np.array(found).T]
    print(rule, method, np.round(smallest, 4))
    assert min(smallest) > (1e-4 if method == "mcmc" else 1e-6)


# Worths alone --------------------------------------------------------------------------------------------------------


def rankings(count=40, n=5, seed=3):
    rng = np.random.default_rng(seed)
    worth = np.linspace(0.8, -0.8, n)
    orders = np.argsort(-(worth + rng.gumbel(size=(count, n))), axis=1)[:, : n - 1]
    return Choices.from_rankings([[f"o{k}" for k in order] for order in orders], labels=[f"o{k}" for k in range(n)])


@pytest.mark.parametrize("lapse", [0.0, 0.05])
def test_the_density_of_worths_alone(lapse):
    """It is that of the pose, whose slopes are differences; draws have the moments of the posterior."""
    data = rankings()
    density = SetDensity(problem(data, np.eye(5, dtype=bool), lapse), True)
    rng = np.random.default_rng(1)
    points = rng.normal(size=(3, 5))
    found = [local(density, point) for point in points]
    np.testing.assert_allclose(log_densities(density, points)[0], [each.value for each in found], rtol=1e-12)
    counts, members = data.counts, data.members
    for each, point in zip(density.log_likelihoods(points), points, strict=True):
        own = np.split(np.exp(point[members]), data.start[1:-1])
        p = np.concatenate([shares_of(weights, lapse) for weights in own])
        assert each == pytest.approx(float(counts @ np.log(p)))
    step = 1e-5 * np.eye(5)
    up, down = ([local(density, points[0] + sign * h) for h in step] for sign in (1, -1))
    slopes = [(a.value - b.value) / 2e-5 for a, b in zip(up, down, strict=True)]
    np.testing.assert_allclose(found[0].gradient, slopes, atol=1e-6)
    bends = [(b.gradient - a.gradient) / 2e-5 for a, b in zip(up, down, strict=True)]
    np.testing.assert_allclose(found[0].curvature, bends, atol=1e-6)
    np.testing.assert_allclose(local(density.raised(0.5), points[0]).value, found[0].value / 2 + prior(points[0]) / 2)
    worths = NormalWorths(density)
    assert np.abs(local(density, worths.mode).gradient).max() < 1e-5


def prior(u):
    """The log prior density of worths whose common factor counts for nothing."""
    return u.sum() - len(u) * logsumexp(u)
