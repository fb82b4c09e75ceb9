"""The prior over classes and who owns them: probabilities that sum to 1 exactly, draws that follow
them."""

import math
from fractions import Fraction

import numpy as np
import pytest
from helpers.naive import product_classes as naive
from helpers.naive.product_classes import separation_probability
from helpers.product_class_cases import NONE, Experiment, random_experiment, unpacked

from thali._choice.product_classes.state import (
    CLASSES,
    build_class_problem,
)
from thali._choice.product_classes.sweep import draw_state

LEVELS = [3, 4, 2]
ORDERED = [True, False, False]


def exact_probability(lam) -> Fraction:
    active = [i for i, s in enumerate(lam.sets) if s is not None]
    p = Fraction(1, len(LEVELS) * math.comb(len(LEVELS), len(active)))
    if any(ORDERED[i] for i in active):
        p /= 2
    for i in active:
        p /= LEVELS[i] - 1
        if not ORDERED[i]:
            p /= math.comb(LEVELS[i], len(lam.sets[i]))
    return p


@pytest.fixture(scope="module")
def problem():
    return build_class_problem(random_experiment(1, LEVELS, [2]), {"x0": "increasing"}, alpha=60.0)


@pytest.fixture(scope="module")
def drawn(problem):
    """Many classes from the prior: those of one person who is expected to own sixty."""
    rng = np.random.default_rng(2)
    return [draw_state(rng, problem) for _ in range(1500)]


def test_probabilities_of_classes_sum_to_one_exactly():
    classes = naive.every_class(LEVELS, ORDERED)
    assert len(classes) == len(set(classes)) == 224
    assert sum(map(exact_probability, classes)) == 1
    for lam in classes:
        assert naive.log_prior_class(lam, LEVELS, ORDERED) == pytest.approx(
            math.log(exact_probability(lam)), abs=1e-12
        )


@pytest.mark.long
def test_draws_of_classes_follow_their_probabilities(problem, drawn):
    index = {lam: i for i, lam in enumerate(naive.every_class(LEVELS, ORDERED))}
    p = np.array([float(exact_probability(lam)) for lam in index])
    bits = np.concatenate([s.bits[: s.whole[CLASSES], 0] for s in drawn])
    places = {}
    for state in drawn[:300]:
        classes, _ = unpacked(problem, state)
        places.update((int(state.bits[k, 0]), index[lam]) for k, lam in enumerate(classes))
    values, counts = np.unique(bits, return_counts=True)
    observed = np.zeros(len(p))
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        observed[places[value]] += count
    expected = p * len(bits)
    chi2 = float(((observed - expected) ** 2 / expected).sum())
    assert expected.min() > 5
    assert abs(chi2 - 223) < 4.5 * math.sqrt(2 * 223)


def test_pairs_are_separated_as_often_as_the_closed_form_says():
    data = Experiment(
        [3, 4],
        [
            [
                ([(0, 1), (1, 3)], 0),
                ([(2, 0), NONE], 0),
                ([(1, 2), (1, 0)], 0),
                ([(2, 2), (0, 2)], 0),
            ]
        ],
    )
    problem = build_class_problem(data, {"x0": "decreasing"}, alpha=60.0)
    rng = np.random.default_rng(3)
    separates, size = np.zeros(4), 0
    for _ in range(1000):
        state = draw_state(rng, problem)
        size += state.whole[CLASSES]
        separates += state.features.separates[: state.whole[CLASSES]].sum(axis=0)
    pairs = data.products[data.row_product].reshape(4, 2, 2)
    p = np.array([separation_probability(problem, *pair) for pair in pairs])
    z = (separates / size - p) / np.sqrt(p * (1 - p) / size)
    assert np.abs(z).max() < 4.5, (p, separates / size)


def test_moments_of_the_two_parameter_buffet():
    """Who owns how much, alpha 1.7 and beta 2.3, six people; the last is as the first."""
    problem = build_class_problem(random_experiment(1, LEVELS, [1] * 6), {}, alpha=1.7, beta=2.3)
    rng, draws = np.random.default_rng(4), 2_500
    size, rows, shared, empty = (
        np.zeros(draws),
        np.zeros((draws, 6)),
        np.zeros(draws),
        np.zeros(draws),
    )
    for d in range(draws):
        state = draw_state(rng, problem)
        size[d] = state.whole[CLASSES]
        rows[d] = state.features.respondents[:, 1]
        owned = state.features.slots[state.features.slots[:, 1] >= 0]
        of = [set(owned[owned[:, 1] == n, 0].tolist()) for n in (0, 3)]
        shared[d], empty[d] = len(of[0] & of[1]), not of[0] and not of[1]
    mean = 1.7 * sum(2.3 / (2.3 + i) for i in range(6))
    assert mean == pytest.approx(5.68814, abs=1e-5)
    for sample, expected in [(size, mean), *((r, 1.7) for r in rows.T), (shared, 1.7 / 3.3)]:
        assert abs(sample.mean() - expected) < 4.5 * math.sqrt(expected / draws)
        assert abs(sample.var() - expected) < 4.5 * math.sqrt((2 * expected**2 + expected) / draws)
    assert abs(empty.mean() - 0.0558633) < 4.5 * math.sqrt(0.0558633 / draws)


def test_values_from_the_prior_have_the_shapes_they_should():
    problem = build_class_problem(random_experiment(1, LEVELS, [3, 3]), {}, alpha=20.0)
    rng = np.random.default_rng(5)
    theta, both = [], []
    for _ in range(500):
        features = draw_state(rng, problem).features
        used = features.slots[:, 1] >= 0
        theta.append(features.log_theta[used])
        both.append(features.value[used][features.separates[used] != 0])
    from scipy import stats

    assert stats.kstest(np.exp(np.concatenate(theta)), stats.gamma(1.2).cdf).pvalue > 1e-4
    # θ is shared by the tasks of a person, hence the mean and its error over draws alone.
    means = np.array([b.mean() for b in both if len(b)])
    assert abs(means.mean() - 2.0) < 4.5 * means.std(ddof=1) / math.sqrt(len(means))
