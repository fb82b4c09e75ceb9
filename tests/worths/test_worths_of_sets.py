"""Worths that judges see in choices from sets: by definition, their slopes, exact values, the mode,
and chains."""

from itertools import permutations

import numpy as np
import pytest
from helpers.naive.latent_features import best_worst_probability
from helpers.naive.worths import Answer, log_joint_of_sets
from quadrature import posterior
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import kstest
from worth_problems import build_spreads, run_short_chains, sample_prior_points

import thali._worths.hamiltonian_chains as chains
import thali._worths.prior_sd_moves as scales
from thali._posterior.summary_table import compute_mean_mcse
from thali._worths.laplace_approximation import Marginal, find_mode
from thali._worths.posterior_density import add_bordered
from thali._worths.posterior_sample import sample_posterior
from thali._worths.set_choice_density import ChoiceSetDensity, SetAnswersBySize

pytestmark = pytest.mark.fit
CHOICE, RANKING = "choice", "ranking"
SETTINGS = [
    (lapse, rule, judges)
    for lapse in (0.0, 0.05)
    for rule in (CHOICE, RANKING)
    for judges in (0, 3)
]


def made(lapse, rule, n_judges, n=5, rows=24, seed=1):
    """Answers to sets of two to four."""
    rng = np.random.default_rng(seed)
    sizes = [3, 4] if rule == RANKING else [2, 3, 4]
    members = tuple(
        np.stack([rng.permutation(n)[:m] for _ in range(rows // len(sizes))]) for m in sizes
    )
    judge = rng.integers(0, max(n_judges, 1), rows)
    return ChoiceSetDensity(
        SetAnswersBySize(members, judge, rng.integers(0, 4, rows).astype(float), rule, lapse),
        n,
        n_judges,
    )


def naive(density, point, spread=1.3, tau=0.5):
    rows = density.rows
    members = [row.tolist() for each in rows.members for row in each]
    is_best_worst = rows.rule == RANKING
    answers = [
        Answer(*each, is_best_worst) for each in zip(members, rows.judge, rows.counts, strict=True)
    ]
    return log_joint_of_sets(
        answers, point[density.worths], point[density.judges], tau, rows.lapse, spread
    )


@pytest.mark.parametrize(("lapse", "rule", "judges"), SETTINGS)
def test_the_density_is_that_of_the_model_with_its_slopes(lapse, rule, judges):
    density, spreads = made(lapse, rule, judges), build_spreads(1.3, 0.5 if judges else None)
    points = np.random.default_rng(4).normal(size=(density.size, 2)) * 0.8
    found, expected = (
        density.log_densities(points, spreads),
        [naive(density, point) for point in points.T],
    )
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    # of which rows are taken a few at a time
    many = density.log_densities(np.tile(points, 8_000), spreads)
    np.testing.assert_allclose(many, np.tile(found, 8_000), rtol=1e-12)
    np.testing.assert_allclose(density.gradients(points, spreads)[0], expected, rtol=1e-12)
    np.testing.assert_allclose(
        density.row_log_likelihoods(points).sum(axis=0), density.log_likelihoods(points), rtol=1e-12
    )
    point, step = points[:, :1], 1e-5 * np.eye(density.size)
    up, down = (density.gradients(point + sign * step, spreads) for sign in (1, -1))
    gradient = density.gradients(point, spreads)[1][:, 0]
    np.testing.assert_allclose(gradient, (up[0] - down[0]) / 2e-5, atol=1e-7)
    expanded = density.expand(point[:, 0])
    assert expanded.value == pytest.approx(float(density.log_likelihoods(point)[0]))
    curvature = add_bordered(expanded.curvature, density.prior_curvature(spreads)).assemble_dense()
    np.testing.assert_allclose(curvature, (down[1] - up[1]) / 2e-5, atol=1e-7)
    assert (
        np.linalg.eigvalsh(density.curvature(point[:, 0], is_convex=True).assemble_dense()).min()
        > -1e-10
    )
    nothing = density.with_counts(0.0 * density.rows.counts).gradients(point, spreads)[1][:, 0]
    if judges:
        np.testing.assert_allclose(
            density.judge_scores(point[:, 0]).sum(axis=1), gradient - nothing, atol=1e-10
        )


def test_sums_of_weights_follow_other_counts_and_worths_of_any_size():
    density = made(0.0, CHOICE, 0)
    points = np.random.default_rng(4).normal(size=(density.size, 3))
    every = density.row_log_likelihoods(points)
    np.testing.assert_allclose(density.log_likelihoods(points), every.sum(axis=0), rtol=1e-12)
    doubled = density.with_counts(2.0 * density.rows.counts)
    np.testing.assert_allclose(doubled.log_likelihoods(points), 2.0 * every.sum(axis=0))
    points[:, 1] = [-900.0, -900.5, 0.0, 1.0, 0.5]  # two whose weights are 0 beside the others
    every = density.row_log_likelihoods(points)
    np.testing.assert_allclose(density.log_likelihoods(points), every.sum(axis=0), rtol=1e-12)
    assert density.expand(points[:, 1]).value == pytest.approx(every[:, 1].sum(), rel=1e-12)


@pytest.mark.parametrize(("lapse", "rule"), [(0.0, CHOICE), (0.05, CHOICE), (0.05, RANKING)])
def test_answers_of_each_judge_are_predicted_from_the_point_without_that_judge(lapse, rule):
    density = made(lapse, rule, 3)
    points, rows = np.random.default_rng(6).normal(size=(density.size, 3)), density.rows
    found = density.predict_judges(points)
    sets = [members.tolist() for each in rows.members for members in each]
    for r, (members, judge) in enumerate(zip(sets, rows.judge.tolist(), strict=True)):
        weights = np.exp(points[members, judge])
        p = (1.0 - lapse) * weights / weights.sum() + lapse / len(members)
        if rule == RANKING:  # the best and the worst are first
            everything = list(range(len(members)))
            p = np.array(
                [
                    best_worst_probability(*pair, everything, weights, lapse)
                    for pair in permutations(everything, 2)
                ]
            )
        count = rows.counts[r]
        assert found.score[r] == pytest.approx(count * np.log(p[0]), rel=1e-10)
        assert found.expected[r] == pytest.approx(count * (p @ np.log(p)), rel=1e-10)
        assert found.chance[r] == pytest.approx(-count * np.log(len(p)), rel=1e-10)
        assert found.total[r] == count


def test_ties_are_not_predicted_and_take_the_time_of_many_rows():
    members = np.array([[0, 1, 2]]), np.array([[0, 1, 2], [1, 2, 0]])
    rows = SetAnswersBySize(members, np.zeros(3, int), np.full(3, 2.0), CHOICE, 0.0, (1, 2))
    density = ChoiceSetDensity(rows, 3, 1)
    found = density.predict_judges(np.zeros((density.size, 1)))
    assert found.total.tolist() == [2.0, 0.0, 0.0]
    np.testing.assert_allclose(found.score, [-2.0 * np.log(3.0), 0.0, 0.0])
    assert density.n_terms == 1 + 64 * 2
    assert density.with_rows(rows._replace(lapse=0.1)).n_terms == 1 + 64 * 4 * 2
    assert density.with_rows(rows._replace(n_tied=())).n_terms == 3


@pytest.mark.parametrize(("lapse", "rule"), [(0.0, CHOICE), (0.02, RANKING)])
def test_the_mode_is_that_of_a_naive_optimiser(lapse, rule):
    density = made(lapse, rule, 3)
    found = minimize(lambda point: -naive(density, point), np.zeros(density.size), tol=1e-10)
    mode = find_mode(density, build_spreads(1.3, 0.5))
    np.testing.assert_allclose(mode.point, found.x, atol=3e-6)  # whose slopes are differences
    assert naive(density, mode.point) >= -found.fun - 1e-12
    slope = density.gradients(mode.point[:, None], build_spreads(1.3, 0.5))[1]
    assert np.abs(mode.factor.solve(slope[:, 0])).max() < 1e-7  # the step that is left


def three():
    """Judge A ranked 4 times a > b > c, once b > a > c; judge B 3 times c > a > b, twice a > c >
    b."""
    members = (
        np.array([[1, 2], [0, 2], [0, 1], [2, 1]]),
        np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1], [0, 2, 1]]),
    )
    counts = np.array([4.0, 1.0, 3.0, 2.0] * 2)
    return ChoiceSetDensity(
        SetAnswersBySize(members, np.array([0, 0, 1, 1] * 2), counts, CHOICE, 0.05), 3, 2
    )


@pytest.mark.exact
def test_three_options_by_quadrature():
    """Probabilities that a is above b and c, and the log d of A."""
    density, known = three(), (1.5, 0.5, None)

    def quantity(points, spreads):
        return np.array([*expit(points[0] - points[1:3]), density.log_discriminations(points)[0]])

    _, values, weights = posterior(density, quantity, known)
    marginal = Marginal(density, *known[:2])
    points, _ = sample_posterior(marginal, np.random.default_rng(1), 20_000)
    np.testing.assert_allclose(quantity(points, None).mean(axis=1), values @ weights, atol=0.015)
    drawn = np.array(
        [quantity(state.points, None) for state in run_short_chains(marginal, 5)]
    ).transpose(1, 2, 0)
    assert (
        np.abs((drawn.mean(axis=(1, 2)) - values @ weights) / compute_mean_mcse(drawn)).max() < 4.5
    )


def simulated(density, rng, points):
    """The density of as many new answers, of each point its own; rows are all answers to each
    question in turn."""
    rows, counts, begin = density.rows, np.zeros((len(density.rows.judge), points.shape[1])), 0
    for members in rows.members:
        m = members.shape[1]
        each = m if rows.rule == CHOICE else m * (m - 1)
        for first in range(begin, begin + len(members), each):
            own = np.sort(members[first - begin])
            weights = np.exp(
                np.exp(density.log_discriminations(points)[rows.judge[first]]) * points[own]
            ).T
            p = (1.0 - rows.lapse) * weights / weights.sum(axis=1, keepdims=True) + rows.lapse / m
            if rows.rule == RANKING:
                answers = permutations(range(m), 2)
                p = np.stack(
                    [best_worst_probability(*a, range(m), weights.T, rows.lapse) for a in answers],
                    axis=1,
                )
            for k in range(points.shape[1]):
                counts[first : first + each, k] = rng.multinomial(
                    int(rows.counts[first]), p[k] / p[k].sum()
                )
        begin += len(members)
    return density.with_counts(counts)


def design(rule, n=4, n_judges=2, times=2.0):
    """All answers to one set of all options and one without the last, of each judge."""
    members, judge = [], []
    for m in (n - 1, n):
        pairs = np.array([*permutations(range(m), 2)]) if rule == RANKING else np.arange(m)[:, None]
        rows = [[*first, *(set(range(m)) - set(first))] for first in pairs.tolist()]
        members.append(np.array(rows * n_judges))
        judge.append(np.repeat(np.arange(n_judges), len(rows)))
    judge = np.concatenate(judge)
    return ChoiceSetDensity(
        SetAnswersBySize(tuple(members), judge, np.full(len(judge), times), rule, 0.02), n, n_judges
    )


@pytest.mark.first(1)
@pytest.mark.parametrize("rule", [CHOICE, RANKING])
def test_sweeps_pass_the_joint_distribution_test(rule):
    """Chains that begin with the prior and get new answers before every sweep stay at the prior."""
    density, count, rng = design(rule), 200, np.random.default_rng(9)
    sampler = chains.HamiltonianSampler(Marginal(density))
    points, spreads = sample_prior_points(density, rng, count)
    state = scales.ScaleState.from_points(density, points, np.log(np.array(spreads)))
    sampler.step, accepted = 0.6, []
    for _ in range(10):
        sampler.density = simulated(density, rng, state.points)
        state, rate = sampler.sweep(rng, scales.ScaleState.from_points(sampler.density, *state[:2]))
        accepted.append(rate.mean())
    assert np.mean(accepted) > 0.5
    fresh, of_fresh = sample_prior_points(density, np.random.default_rng(10), 20_000)
    for k in range(density.size):
        assert kstest(state.points[k], fresh[k]).pvalue > 1e-6, k
    assert kstest(state.logs[1], np.log(of_fresh.judges)).pvalue > 1e-6


@pytest.mark.study
@pytest.mark.long
@pytest.mark.parametrize(
    ("rule", "method"),
    [(CHOICE, "laplace"), (RANKING, "laplace"), (CHOICE, "mcmc"), (RANKING, "mcmc")],
)
def test_intervals_of_worths_of_sets_are_calibrated(rule, method):
    """Of 200 data sets the share of draws below the truth is uniform; by Laplace's approximation
    nearly."""
    plan, found = design(rule, 5 if rule == CHOICE else 4, 4, 12.0), []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        truth, spreads = sample_prior_points(plan, rng, 1)
        density = plan.with_counts(simulated(plan, rng, truth).rows.counts[:, 0])
        marginal = Marginal(density)
        if method == "laplace":
            points, drawn = sample_posterior(marginal, rng, 1000)
            tau = drawn.judges
        else:
            sampler = chains.HamiltonianSampler(marginal)
            state, states = chains.tune_step(sampler, rng, sampler.draw_start(rng, 8), 100), []
            for _ in range(240):
                state, _ = sampler.sweep(rng, state)
                states.append(state)
            points = np.concatenate([each.points for each in states[::6]], axis=1)
            tau = np.exp(np.concatenate([each.logs[1] for each in states[::6]]))
        own, true = (
            [
                p[0] - p[1],
                p[0] - p[2],
                p[density.judges][0] - p[density.judges].mean(axis=0),
                p[density.judges][0] - p[density.judges][1],
                t,
            ]
            for p, t in ((points, tau), (truth, spreads.judges))
        )
        found.append([(each < real).mean() for each, real in zip(own, true, strict=True)])
    smallest = [
        kstest(np.clip(each, 1e-9, 1 - 1e-9), "uniform").pvalue for each in np.array(found).T
    ]
    print(rule, method, np.round(smallest, 4))
    assert min(smallest) > (1e-4 if method == "mcmc" else 1e-6)
