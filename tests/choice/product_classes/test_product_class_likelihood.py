"""The likelihood of choices and what it says about one feature, against a slow and obvious
evaluation."""

import math

import numpy as np
import pytest
from helpers.naive import product_classes as naive
from helpers.product_class_cases import random_experiment, unpacked, worst_to_best
from scipy import integrate, special, stats

from thali._choice.product_classes.likelihood import log_likelihood, sum_features, write_hits
from thali._choice.product_classes.moves.choice_bounds import (
    bound_feature,
    compute_shapes,
    draw_eps,
    log_bound_probability,
)
from thali._choice.product_classes.moves.value_shapes import (
    log_prior_shapes,
    log_value_density,
    sum_log_values,
)
from thali._choice.product_classes.state import (
    MUTE,
    PERSON,
    SIGN,
    TOP,
    A,
    build_class_problem,
    build_target,
    build_workspace,
    copy_state,
)
from thali._choice.product_classes.sweep import draw_state
from thali._inference.numerics.gamma_distribution import (
    compute_tails,
    draw_log_gamma_within,
    interval_probability,
)

DATA = random_experiment(11, [3, 4, 2], [4, 3, 5], missing=0.1)
MONOTONE = {"x0": "decreasing"}
POINTS = 800


def naive_likelihoods(problem, state, lapse):
    """Of every task, with the lapse."""
    classes, people = unpacked(problem, state)
    out = []
    for own, tasks in zip(people, DATA.people, strict=True):
        own = [
            naive.Feature(
                f.k, f.sign, f.log_theta, [0.0 if math.isnan(e) else e for e in f.log_eps]
            )
            for f in own
        ]
        for t, (products, chosen) in enumerate(tasks):
            codes = worst_to_best(problem, products)
            out.append(naive.choice_likelihood(classes, own, codes, chosen, t, lapse=lapse))
    return np.array(out)


@pytest.mark.parametrize("words", [1, 3])
@pytest.mark.parametrize("lapse", [0.0, 0.2])
def test_likelihood_of_every_choice_is_the_naive_one(lapse, words):
    """Also where values are too small for floats, and with more levels than fit in a word."""
    levels = [3, 4, 2] if words == 1 else [3, 130, 2]
    data = DATA if words == 1 else random_experiment(11, levels, [4, 3, 5], missing=0.1)
    problem = build_class_problem(data, MONOTONE, alpha=3.0)
    assert problem.tasks.rows.shape[1] == words
    target = build_target(problem, lapse)
    rng, hits = np.random.default_rng(12), np.zeros(problem.n_tasks)
    tiny = ties = 0
    for draw in range(30):
        state = draw_state(rng, problem, shapes_from_prior=True)
        if draw % 2:
            make_tiny(state)
            tiny += 1
        write_hits(problem, state, build_workspace(problem, state), hits)
        if words == 1:
            plain = naive_likelihoods(problem, state, 0.0)
            np.testing.assert_allclose(hits, plain, rtol=1e-9)
            ties += ((plain > 0) & (plain < 1)).sum()
            total = log_likelihood(problem, target, state, build_workspace(problem, state))
            with np.errstate(divide="ignore"):
                expected = np.log(naive_likelihoods(problem, state, lapse)).sum()
            assert total == pytest.approx(expected, abs=1e-9)
        else:
            assert ((hits >= 0) & (hits <= 1)).all() and hits.max() > 0
    assert words == 3 or (ties > 10 and tiny > 10)


def make_tiny(state):
    """Values of which no one but a logarithm can tell."""
    top, features = state.whole[TOP], state.features
    features.log_theta[:top] = 300.0 * features.log_theta[:top] - 1200.0
    features.log_eps[:top] = 300.0 * features.log_eps[:top] - 1200.0
    features.theta[:top] = np.exp(features.log_theta[:top])
    features.value[:top] = features.theta[:top, None] + np.exp(features.log_eps[:top])


@pytest.mark.first(1)
@pytest.mark.parametrize("tiny", [False, True])
def test_fit_of_a_feature_integrates_its_stable_noise_out(tiny):
    """Against the naive likelihood at equally likely ε: each of two bounds may then be half a point
    off."""
    problem = build_class_problem(DATA, MONOTONE, alpha=4.0)
    rng, checked, bounded = np.random.default_rng(13), 0, 0
    for _ in range(24):
        state = draw_state(rng, problem)
        if tiny:
            make_tiny(state)
            state.real[A] = 2e-3  # ln ε is then about -1,000
        features, work = state.features, build_workspace(problem, state)
        f = int(rng.integers(state.whole[TOP])) if state.whole[TOP] else -1
        if f < 0 or features.slots[f, PERSON] < 0:
            continue
        n, q = int(features.slots[f, PERSON]), 1 - 2 * int(features.slots[f, SIGN])
        _, h, next_h = compute_shapes(state.real)
        features.slots[f, MUTE] = 1
        sum_features(problem.tasks, features, work.sums, 1, n)
        common = (problem.tasks, features, state.lapsed, work.sums, work.bounds, 1, n)
        gain, possible, count = bound_feature(
            *common, features.difference, features.separates, f, q, -1
        )
        with_it = gain
        if gain > -math.inf:
            with_it += log_bound_probability(
                work.bounds, features.log_theta[f], h, next_h, count, -math.inf
            )
        features.slots[f, MUTE] = 0
        expected, is_possible = naive_fit(problem, state, n, f, h)
        assert possible == is_possible or gain == -math.inf
        error = len(DATA.people[n]) / POINTS
        assert math.exp(with_it) == pytest.approx(expected, abs=error * max(1.0, expected))
        checked += 1
        bounded += 0.01 < expected < 0.99
    assert checked > 7 and bounded > 0


def naive_fit(problem, state, n, f, h):
    """E_ε of the likelihood of the tasks that feature f separates over that without it (over that
    of its ties where it is 0), and whether the choices are possible without it."""
    classes, people = unpacked(problem, state)
    features = state.features
    own, order, g = people[n], [], features.respondents[n, 0]
    while g >= 0:
        order.append(g)
        g = features.slots[g, 5]
    place = order.index(f)
    feature = own[place]
    rest = own[:place] + own[place + 1 :]
    u = (np.arange(POINTS) + 0.5) / POINTS
    total, possible = 1.0, True
    for t, (products, chosen) in enumerate(DATA.people[n]):
        if math.isnan(feature.log_eps[t]):
            continue
        codes = worst_to_best(problem, products)
        clean = [
            naive.Feature(
                x.k, x.sign, x.log_theta, [0.0 if math.isnan(e) else e for e in x.log_eps]
            )
            for x in rest
        ]
        without = naive.choice_likelihood(classes, clean, codes, chosen, t)
        if without == 0.0:
            possible = False
            terms = [naive.utility_terms(classes, clean, x, t) for x in codes]
            same = sum(terms[j].keys() == terms[chosen].keys() for j in range(len(codes)))
            without = 1.0 / same
        with np.errstate(divide="ignore"):
            log_eps = np.maximum(
                np.log(special.gammaincinv(h, u)), (np.log(u) + math.lgamma(h + 1)) / h
            )
        hits = []
        for e in log_eps:
            values = list(feature.log_eps)
            values[t] = e
            values = [0.0 if math.isnan(v) else v for v in values]
            full = [*clean, naive.Feature(feature.k, feature.sign, feature.log_theta, values)]
            hits.append(naive.choice_likelihood(classes, full, codes, chosen, t))
        total *= np.mean(hits) / without
    return total, possible


def test_prior_of_values_and_their_shapes_is_the_naive_one():
    """The parts that the walk of (a, σ) uses, as a difference between two values of (a, σ)."""
    problem = build_class_problem(DATA, MONOTONE, alpha=2.5, beta=1.7)
    rng = np.random.default_rng(14)
    for _ in range(10):
        state = draw_state(rng, problem, shapes_from_prior=True)
        classes, people = unpacked(problem, state)
        n_theta, sum_theta, n_eps, sum_eps = sum_log_values(problem, state)

        def ours(a, sigma, sums=(n_theta, sum_theta, n_eps, sum_eps)):
            return log_prior_shapes(a, sigma) + log_value_density(sigma * a, (1 - sigma) * a, *sums)

        def slow(a, sigma, classes=classes, people=people):
            return naive.log_prior_state(
                classes, people, [3, 4, 2], [True, False, False], a, sigma, 2.5, 1.7
            )

        assert ours(0.6, 0.3) - ours(2.2, 0.9) == pytest.approx(
            slow(0.6, 0.3) - slow(2.2, 0.9), abs=1e-8
        )


@pytest.mark.parametrize("h", [1e-4, 0.02, 0.4, 1.0, 3.7, 60.0])
def test_tails_of_the_gamma_distribution(h):
    x = np.concatenate([np.geomspace(1e-250, 1e-3, 12), np.linspace(0.01, 4 * h + 30, 80)])
    next_h = math.lgamma(h + 1)
    for value in x.tolist():
        below, above = compute_tails(h, next_h, math.log(value))
        # One tail comes as a series or a fraction, the other as 1 minus it.
        assert below == pytest.approx(
            special.gammainc(h, value), rel=1e-9, abs=1e-15 if value > h else 1e-300
        )
        assert above == pytest.approx(
            special.gammaincc(h, value), rel=1e-9, abs=1e-15 if value < h + 6 else 1e-300
        )
    # Where numbers end, the lower tail is x^h / Γ(h + 1).
    assert compute_tails(h, next_h, -100.0 / h)[0] == pytest.approx(
        math.exp(-100.0 - next_h), rel=1e-9
    )


@pytest.mark.parametrize("h", [0.03, 0.6, 1.0, 4.0, 50.0])
@pytest.mark.parametrize(
    "interval", [(-math.inf, 0.1), (0.2, 0.3), (0.4, 0.999), (0.9, math.inf), (1 - 1e-9, math.inf)]
)
def test_interval_and_draws_within_it(h, interval):
    low, high = (q if math.isinf(q) else float(special.gammaincinv(h, q)) for q in interval)
    low = math.log(low) if low > 0 else -math.inf
    high = math.log(high) if high < math.inf else math.inf
    probability = (1.0 if math.isinf(interval[1]) else interval[1]) - max(interval[0], 0.0)
    inside = interval_probability(h, math.lgamma(h + 1), low, high)
    assert inside == pytest.approx(probability, rel=1e-6)
    rng = np.random.default_rng(15)
    draws = np.array([draw_log_gamma_within(rng, h, low, high) for _ in range(1500)])
    assert draws.min() >= low and draws.max() <= high
    reference = (
        np.array([interval_probability(h, math.lgamma(h + 1), low, y) for y in draws]) / inside
    )
    assert stats.kstest(reference, "uniform").pvalue > 1e-4


def test_draws_far_out_in_either_tail():
    """Where probabilities are not numbers any more: the density there is exponential in y, or in
    e^y."""
    rng = np.random.default_rng(16)
    left = np.array([draw_log_gamma_within(rng, 0.5, -math.inf, -900.0) for _ in range(1500)])
    assert stats.kstest(-900.0 - left, stats.expon(scale=2.0).cdf).pvalue > 1e-4
    right = np.exp(
        [draw_log_gamma_within(rng, 0.5, math.log(800.0), math.inf) for _ in range(1500)]
    )
    density = integrate.quad(lambda x: x**-0.5 * math.exp(800.0 - x), 800.0, 900.0)[0]
    assert density == pytest.approx(800.0**-0.5 * (1 - 1 / 1600), rel=1e-3)
    assert stats.kstest(right - 800.0, "expon").pvalue > 1e-4


def test_drawn_noise_keeps_every_choice_possible():
    """Whatever the other features are, ε between its bounds makes hard choices come true."""
    problem = build_class_problem(DATA, MONOTONE, alpha=3.0)
    rng, hits, seen = np.random.default_rng(17), np.zeros(problem.n_tasks), 0
    for _ in range(200):
        state = copy_state(draw_state(rng, problem))
        features, work = state.features, build_workspace(problem, state)
        for f in range(state.whole[TOP]):
            n, q = int(features.slots[f, PERSON]), 1 - 2 * int(features.slots[f, SIGN])
            features.slots[f, MUTE] = 1
            sum_features(problem.tasks, features, work.sums, 1, n)
            common = (problem.tasks, features, state.lapsed, work.sums, work.bounds, 1, n)
            gain, _, count = bound_feature(
                *common, features.difference, features.separates, f, q, -1
            )
            fit = gain
            if gain > -math.inf:
                fit += log_bound_probability(
                    work.bounds, features.log_theta[f], 0.8, math.lgamma(1.8), count, -math.inf
                )
            features.slots[f, MUTE] = 0
            if fit == -math.inf or not count:
                continue
            draw_eps(rng, problem.tasks, features, work.bounds, n, f, 0.8)
            write_hits(problem, state, work, hits)
            own = slice(problem.tasks.first_task[n], problem.tasks.first_task[n + 1])
            separated = features.separates[f, : hits[own].size] != 0
            assert (hits[own][separated] > 0).all()
            seen += 1
    assert seen > 50
