"""Options that tie in a ranking come before all others, in any order: probabilities, derivatives,
densities."""

from itertools import permutations

import numpy as np
import pytest
from helpers.sentences import refused
from scipy.stats import kstest
from worth_problems import build_spreads, sample_prior_points

import thali as th
from thali._worths.laplace_approximation import Marginal
from thali._worths.posterior_sample import sample_posterior
from thali._worths.respondent_sandwich import compute_answer_scores
from thali._worths.set_choice_density import (
    MAX_TIED_WITH_LAPSES,
    ROUGH_DROP,
    ChoiceSetDensity,
    count_distinct_answers,
    differentiate_tied_answers,
)
from thali.errors import DataError

LAPSES = pytest.mark.parametrize("lapse", [0.0, 0.05])


def by_orders(weights, n_tied, lapse):
    """The sum over all orders of those that tie."""
    orders = np.array(list(permutations(range(n_tied))))
    own = weights[orders]
    left = weights.sum() - own.cumsum(axis=1) + own
    return np.prod(
        (1.0 - lapse) * own / left + lapse / (len(weights) - np.arange(n_tied)), axis=1
    ).sum()


def by_recursion(weights, n_tied, lapse):
    """The sum over all subsets: which of them are first, one after another."""
    found, rest = np.zeros(1 << n_tied), weights[n_tied:].sum()
    found[0] = 1.0
    for subset in range(len(found)):
        others = [k for k in range(n_tied) if not subset >> k & 1]
        total, options = rest + weights[others].sum(), len(weights) - n_tied + len(others)
        for k in others:
            found[subset | 1 << k] += found[subset] * (
                (1.0 - lapse) * weights[k] / total + lapse / options
            )
    return found[-1]


def drawn(n, rest, spread, rows=2, seed=0):
    return np.exp(spread * np.random.default_rng(seed).normal(size=(rows, n + rest)))


@LAPSES
@pytest.mark.parametrize("spread", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("n_tied", [1, 2, 3, 5, 8])
def test_probabilities_sum_over_all_orders_of_tied_options(n_tied, spread, lapse):
    weights = drawn(n_tied, 3, spread)
    expected = [by_orders(each, n_tied, lapse) for each in weights]
    np.testing.assert_allclose(
        np.exp(differentiate_tied_answers(weights, n_tied, lapse, False).log_p),
        expected,
        rtol=1e-10,
    )


@pytest.mark.parametrize(("n_tied", "lapse"), [(12, 0.05), (13, 0.0)])
def test_probabilities_agree_with_a_recursion(n_tied, lapse):
    (weights,) = drawn(n_tied, 2, 1.0, 1)
    found = np.exp(differentiate_tied_answers(weights[None], n_tied, lapse, False).log_p)
    np.testing.assert_allclose(found, by_recursion(weights, n_tied, lapse), rtol=1e-10)


def test_probabilities_of_two_hundred_ties_are_exact():
    """Equal options: 200 of 203 in any order before three have the probability 1 / C(203, 3)."""
    found = differentiate_tied_answers(np.ones((1, 203)), 200, 0.0, False).log_p
    np.testing.assert_allclose(found, -np.log(203 * 202 * 201 / 6), rtol=1e-12)
    weights = np.exp(np.linspace(-3.0, 3.0, 203))[None]  # sum over 4,000,001 nodes
    np.testing.assert_allclose(
        differentiate_tied_answers(weights, 200, 0.0, False).log_p, -222.66422073777, rtol=1e-10
    )


def test_far_worths_keep_probabilities_finite():
    """Weights as far apart as the density allows."""
    weights = np.exp([[0.0, -30.0, -15.0], [0.0, -600.0, -300.0], [-600.0, -600.0, 0.0]])
    found = differentiate_tied_answers(weights, 2, 0.0, False)
    np.testing.assert_allclose(found.log_p[:2], [-15.0, -300.0], rtol=1e-6)
    assert (
        found.log_p[2] < -600.0
        and np.isfinite(found.log_p).all()
        and np.isfinite(found.gradient).all()
    )


@LAPSES
@pytest.mark.parametrize("n_tied", [2, 4])
def test_derivatives_agree_with_differences(n_tied, lapse):
    logs = 1.5 * np.random.default_rng(1).normal(size=(3, n_tied + 3))
    found = differentiate_tied_answers(np.exp(logs), n_tied, lapse, True)
    step = 1e-5 * np.eye(n_tied + 3)[:, None]
    up, down = (
        [
            differentiate_tied_answers(np.exp(logs + sign * each), n_tied, lapse, True)
            for each in step
        ]
        for sign in (1.0, -1.0)
    )
    for k, (above, below) in enumerate(zip(up, down, strict=True)):
        np.testing.assert_allclose(
            (above.log_p - below.log_p) / 2e-5, found.gradient[:, k], atol=1e-8
        )
        np.testing.assert_allclose(
            (above.gradient - below.gradient) / 2e-5, found.hessian[:, k], atol=1e-8
        )


def test_rough_nodes_have_six_digits():
    weights = drawn(3, 4, 2.0, 200)
    rough, exact = (
        differentiate_tied_answers(weights, 3, 0.0, False, *far) for far in ([ROUGH_DROP], [])
    )
    np.testing.assert_allclose(rough.log_p, exact.log_p, atol=2e-6)
    np.testing.assert_allclose(rough.gradient, exact.gradient, atol=2e-6)


# The density --------------------------------------------------------------------------------------


RANKINGS = [
    "a > b = c > d > e",
    "a = b = c > d = e",
    "e > a = b > c",
    "c > a > b",
    "d > e = c = b = a",
    "b = d > a",
] * 2


def naive(data, point, lapse, d=None):
    """The log-likelihood by all orders that ties leave open."""
    total = 0.0
    for row, choice in enumerate(data.choice):
        which = data.set_of[choice]
        start, end, n_tied = data.start[which], data.start[which + 1], data.n_tied[which]
        places = [k for k in range(start, end) if not choice <= k < choice + n_tied]
        sharpness = 1.0 if d is None else d[data.respondent[row]]
        weights = np.exp(
            sharpness * point[data.members[[*range(choice, choice + n_tied), *places]]]
        )
        total += data.times[row] * np.log(by_orders(weights, n_tied, lapse))
    return total


@LAPSES
@pytest.mark.parametrize("judges", [False, True])
def test_density_is_that_of_all_orders(lapse, judges):
    data = th.Choices.from_rankings(RANKINGS)
    density = ChoiceSetDensity(
        count_distinct_answers(data, lapse, judges), 5, len(data.respondents) * judges
    )
    points = np.random.default_rng(2).normal(size=(density.size, 3))
    d = np.exp(density.log_discriminations(points)).T
    expected = [
        naive(data, p, lapse, each if judges else None) for p, each in zip(points.T, d, strict=True)
    ]
    np.testing.assert_allclose(density.log_likelihoods(points), expected, rtol=1e-10)
    eight = np.tile(points, 3)[:, :8]  # as many points as are exact
    np.testing.assert_allclose(density.log_likelihoods(eight), np.tile(expected, 3)[:8], rtol=1e-10)
    many = density.log_likelihoods(np.tile(points, 20))
    np.testing.assert_allclose(many, np.tile(expected, 20), rtol=1e-5)
    spreads = build_spreads(1.3, 0.5 if judges else None)
    point, step = points[:, :1], 1e-5 * np.eye(density.size)
    up, down = (density.gradients(point + sign * step, spreads)[1] for sign in (1, -1))
    slope = density.gradients(point, spreads)[1][:, 0]
    values = [
        density.log_densities(point + sign * step[:, [k]], spreads)[0]
        for k in range(5)
        for sign in (1, -1)
    ]
    np.testing.assert_allclose(
        np.diff(np.reshape(values, (5, 2)))[:, 0] / -2e-5, slope[:5], atol=1e-6
    )
    bend = (
        density.curvature(point[:, 0]).assemble_dense()
        + density.prior_curvature(spreads).assemble_dense()
    )
    np.testing.assert_allclose(bend[:5, :5], ((down - up) / 2e-5)[:5, :5], atol=1e-4)


def test_tied_last_is_unranked_and_worse():
    tied = th.Choices.from_rankings(["a > b = c = d", "b > a > c = d"], labels="abcd")
    worse = th.Choices.from_rankings([["a"], ["b", "a"]], unranked="worse", labels="abcd")
    assert not tied.n_ties and tied == worse


def test_scores_of_respondents_add_up():
    data = th.Choices.from_rankings(RANKINGS)
    density, point = (
        ChoiceSetDensity(count_distinct_answers(data, 0.0, False), 5),
        np.linspace(-1.0, 1.0, 5),
    )
    asked, scores = data.questions(True), compute_answer_scores(density, data, point)
    assert asked.sizes.tolist() == scores.sizes.tolist() and len(asked.given.respondents) == 12
    assert scores.p[asked.start[:-1]][asked.sizes == 1].tolist() == [1.0] * int(
        (data.n_tied > 1).sum()
    )
    np.testing.assert_allclose(asked.counts @ scores.matrix, scores.gradient, atol=1e-10)


def test_many_ties_with_a_lapse_are_refused():
    data = th.Choices.from_rankings(
        [" = ".join(f"o{k}" for k in range(MAX_TIED_WITH_LAPSES + 1)) + " > z"]
    )
    count_distinct_answers(data, 0.0, False)
    with refused(DataError, "13 options", "12", th.errors.Setting("lapse", 0)):
        count_distinct_answers(data, 0.05, False)


# Simulated rankings -------------------------------------------------------------------------------


def tied_rankings(rng, log_worths, groups, count):
    """Rankings whose options fall into groups of these sizes."""
    n, found = len(log_worths), []
    for _ in range(count):
        order = np.argsort(-(log_worths + rng.gumbel(size=n)))
        parts = np.split(order, np.cumsum(groups)[:-1])
        found.append([[f"o{k}" for k in part] for part in parts])
    return th.Choices.from_rankings(found, labels=[f"o{k}" for k in range(n)])


@pytest.mark.study
@pytest.mark.long
def test_calibration_of_rankings_with_ties():
    """Of 400 data sets the share of draws below the truth is uniform."""
    any_answers = th.Choices.from_rankings([[f"o{k}" for k in range(6)]])
    plan, found = ChoiceSetDensity(count_distinct_answers(any_answers, 0.0, False), 6), []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        truth, spreads = sample_prior_points(plan, rng, 1)
        data = tied_rankings(rng, truth[:, 0], (1, 2, 2, 1), 15)
        points, drawn_spreads = sample_posterior(
            Marginal(ChoiceSetDensity(count_distinct_answers(data, 0.0, False), 6)), rng, 500
        )
        own = points[0] - points[1], points[2] - points[5], drawn_spreads.worths
        true = truth[0, 0] - truth[1, 0], truth[2, 0] - truth[5, 0], spreads.worths
        found.append([(each < real).mean() for each, real in zip(own, true, strict=True)])
    smallest = [
        kstest(np.clip(each, 1e-9, 1 - 1e-9), "uniform").pvalue for each in np.array(found).T
    ]
    print(np.round(smallest, 4))
    assert min(smallest) > 0.001


@pytest.mark.fit
def test_answers_that_count_single_options_refuse_ties():
    """None of them leaves choices out in silence."""
    some = th.Choices.from_rankings(["a = b > c", "c > a = b", "a > b > c", "b > a = c"])
    ties = th.Choices.from_rankings(["a = b > c", "b = c > a"])
    models = {"learned": th.BradleyTerryLuce(), "fixed": th.BradleyTerryLuce(spread=1.0)}
    with refused(DataError, "1 tie;", "by='evidence'"):
        th.compare(models, some, draws=20, progressbar=False)
    model = th.BradleyTerryLuce().fit(some, draws=50, random_seed=1, progressbar=False)
    with refused(DataError, "1 tie."):
        model.log_predictive(some)
    with refused(DataError, "Every choice is a tie"):
        th.BradleyTerryLuce().fit(ties)
    table = th.compare(models, some, by="evidence", draws=50, random_seed=1, progressbar=False)
    assert set(table.index) == set(models)  # guesses of ties have no evidence beside them
