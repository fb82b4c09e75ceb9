"""Moves of a class by enumeration: the matrix of transitions leaves the known posterior of the
class alone."""

import math

import numpy as np
import pytest
from helpers.naive import product_classes as naive
from helpers.product_class_cases import Experiment, unpacked
from scipy.special import gammainc

import thali._choice.product_classes.moves.class_content_moves as class_moves
from thali._choice.product_classes.likelihood import compare_chosen, deactivate, set_bit
from thali._choice.product_classes.moves.class_content_moves import move_class
from thali._choice.product_classes.state import (
    FEW_PROPOSALS,
    MANY_PROPOSALS,
    MANY_RESPONDENTS,
    NEGATIVE,
    POLARITY,
    PRESENT,
    SIGN,
    SPLIT,
    TOP,
    A,
    allocate_feature,
    append_class,
    build_class_problem,
    build_empty_state,
    build_workspace,
)
from thali._choice.product_classes.sweep import flip_classes
from thali._testing import exact

LEVELS = [3, 2, 2]
# Some product lacks the last attribute. Both people like (1, 1) in the last two, which is what they
# choose.
PEOPLE = [
    [
        ([(2, 1, 1), (0, 0, 1), (1, 1, -1)], 0),
        ([(2, 0, 0), (1, 1, 1)], 1),
        ([(0, 1, 1), (1, 0, 0)], 0),
    ],
    [
        ([(0, 0, 0), (1, 1, 1)], 1),
        ([(2, 0, 1), (1, 1, 1), (2, 1, 1)], 2),
        ([(2, 1, 0), (0, 1, 1)], 1),
    ],
]
LIKED = (None, frozenset({1}), frozenset({1}))
LOG_THETA = [-0.4, 0.3]  # of the two owners of the class that moves
LOG_LIKED = math.log(1.5)  # value of LIKED in all tasks


def build_state(monotone, sets, signs, proposals=(0, 0)):
    """The problem, and the state in which both people own LIKED and, with these signs, upper levels
    of a class."""
    problem = build_class_problem(Experiment(LEVELS, PEOPLE), monotone, 2.0)._replace(
        proposals=np.array(proposals)
    )
    state = build_empty_state(problem)
    state.whole[PRESENT] = 2
    for k, own in enumerate((sets, LIKED)):
        active = [i for i, levels in enumerate(own) if levels is not None]
        ordered = int((problem.direction[active] != 0).sum())
        append_class(state, 0 if ordered else -1, len(active), ordered)
        for i, levels in enumerate(own):
            for level in levels or ():
                set_bit(state.bits, k, problem.first_bit[i] + level)
            if levels is None:
                deactivate(problem, state.bits, k, i)
    features = state.features
    for n, k in ((0, 1), (0, 0), (1, 0), (1, 1)):
        f = allocate_feature(state, n, k, 0 if k == 1 else signs[n])
        features.slots[f, SPLIT] = compare_chosen(
            problem.tasks, state.bits, k, n, features.difference, features.separates, f
        )
        features.log_theta[f], features.log_eps[f] = (
            (LOG_LIKED, -700.0) if k == 1 else (LOG_THETA[n], -0.9)
        )
        features.theta[f] = math.exp(features.log_theta[f])
        features.value[f] = features.theta[f] + np.exp(features.log_eps[f])
    return problem, state


def read_contents(state):
    """What moves: the class, its polarity, the signs of its owners."""
    signs = state.features.slots[: state.whole[TOP], SIGN]
    return int(state.bits[0, 0]), int(state.classes[0, POLARITY]), tuple(signs.tolist())


def log_choice_probability(state, classes, owned):
    """ln P(choices) with the value of LIKED known and ε of the class that moves integrated out,
    task by task."""
    h = (1.0 - state.real[1]) * state.real[A]
    total = 0.0
    for n, tasks in enumerate(PEOPLE):
        (own,) = (feature for feature in owned[n] if feature.k == 0)
        theta, other = math.exp(own.log_theta), math.exp(LOG_LIKED)
        for t, (products, chosen) in enumerate(tasks):
            for feature in owned[n]:
                feature.log_eps[t] = -700.0
            # P(its value is below that of LIKED)
            below = float(gammainc(h, max(other - theta, 0.0)))
            answer = 0.0
            for mass, value in (
                (below, 0.5 * (theta + other)),
                (1.0 - below, max(theta, other) + 1.0),
            ):
                if mass > 0.0:
                    own.log_eps[t] = math.log(value - theta)
                    answer += mass * naive.choice_likelihood(classes, owned[n], products, chosen, t)
            total += math.log(answer) if answer > 0.0 else -math.inf
    return total


def log_target(problem, state):
    """ln of the posterior of the class that moves and of its owners' signs."""
    classes, owned = unpacked(problem, state)
    lam = classes[0]
    signs = [feature.sign for own in owned for feature in own if feature.k == 0]
    assert sum(signs) == state.classes[0, NEGATIVE]
    total = naive.log_prior_class(lam, LEVELS, problem.direction != 0)
    total += naive.log_prior_signs(len(signs), sum(signs), lam.polarity)
    return total + log_choice_probability(state, classes, owned)


ORDER = {"x0": "increasing"}
BOTH = {"x0": "increasing", "x1": "increasing"}
HIGH, LOW = frozenset({1, 2}), frozenset({0})


@pytest.mark.parametrize(
    ("proposals", "monotone", "sets", "signs"),
    [
        ((1, 0), ORDER, (HIGH, None, None), (0, 0)),
        ((1, 0), BOTH, (HIGH, None, None), (0, 0)),
        ((1, 0), {}, (None, None, LOW), (1, 0)),
        ((0, 1), ORDER, (HIGH, None, None), (0, 0)),
        ((0, 1), BOTH, (HIGH, None, None), (0, 0)),
        ((0, 1), {}, (None, None, LOW), (1, 0)),
        ((0, 1), ORDER, (HIGH, None, LOW), (0, 0)),
        ((0, 1), BOTH, (HIGH, None, LOW), (0, 0)),
    ],
)
def test_moves_of_a_class_by_enumeration(monkeypatch, proposals, monotone, sets, signs):
    """An edit or an exchange, then a flip, by the code of the sweep; ε of the class is integrated
    out."""
    monkeypatch.setattr(class_moves, "draw_eps", lambda *given: None)
    problem, start = build_state(monotone, sets, signs, proposals)
    work = build_workspace(problem, start)

    def step(rng, state):
        move_class(rng, problem, state, work, 0)
        flip_classes(rng, problem, state)

    states, matrix = exact.transition_matrix(step, start, read_contents)
    logs = np.array([log_target(problem, state) for state in states])
    known = np.exp(logs - logs.max())
    known /= known.sum()
    assert len(states) >= 5 and known.max() < 0.5
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0)
    np.testing.assert_allclose(known @ matrix, known, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize(("attribute", "is_lacking"), [(0, False), (1, False), (2, True)])
def test_a_flip_is_a_symmetry_where_no_product_lacks_the_attribute(attribute, is_lacking):
    sets = [None, None, None]
    sets[attribute] = LOW if attribute else HIGH
    problem, start = build_state(ORDER, sets, (0, 0))
    assert problem.lacking.tolist() == [False, False, True]

    def step(rng, state):
        flip_classes(rng, problem, state)

    if is_lacking:
        assert len(exact.transition_matrix(step, start, read_contents)[0]) == 1
        return
    states, matrix = exact.transition_matrix(step, start, read_contents)
    assert len(states) == 2 and matrix.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert log_target(problem, states[0]) == pytest.approx(
        log_target(problem, states[1]), abs=1e-12
    )
    (before, _), (after, _) = (unpacked(problem, state)[0] for state in states)
    assert before.sets[attribute] | after.sets[attribute] == set(range(LEVELS[attribute]))
    assert not before.sets[attribute] & after.sets[attribute]


def test_classes_of_many_people_get_more_proposals():
    for people, proposals in (
        (MANY_RESPONDENTS - 1, FEW_PROPOSALS),
        (MANY_RESPONDENTS, MANY_PROPOSALS),
    ):
        assert build_class_problem(
            Experiment(LEVELS, PEOPLE[:1] * people)
        ).proposals.tolist() == list(proposals)
