"""Who ignores what, in the hierarchical logit: the moves by enumeration, the answers by their draws, mistakes."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from experiment_data import simulated

import thali as th
from thali.choice.logit import Tasks
from thali.choice.logits.hierarchical_attention import attend, decide, draw_ignored, log_likelihood_of, write_heeded
from thali.choice.logits.hierarchical_moves import slope_of
from thali.choice.logits.hierarchical_sweep import Prior, initialise, problem_of, space_of, start_of
from thali.errors import ArgumentError, DataError
from thali.testing.exact import transition_matrix
from thali.testing.naive_choice_models import hierarchical_log_joint

# Three attributes: one of two coefficients, one of one with a sign, one of one; the fifth is an interaction.
OWNED = np.array([[1, 1, 0, 0, 1], [0, 0, 1, 0, 0], [0, 0, 0, 1, 1]], float)
SIGN = np.array([0.0, 0.0, -1.0, 0.0, 0.0])
MEAN = np.array([0.8, -0.5, 0.2, 0.6, 0.3])
COVARIANCE = np.diag([0.5, 0.8, 0.3, 0.6, 0.4]) + 0.1
RATE = np.array([0.7, 0.4, 0.55])
PATTERNS = np.array(list(product([0.0, 1.0], repeat=3)))


@pytest.fixture
def one():
    """A person of five tasks among others, with given tastes, and the naive joint density by what is attended to."""
    rng = np.random.default_rng(8)
    first_row = np.arange(11) * 3
    tasks = Tasks(rng.normal(size=(30, 5)).round(1), first_row, first_row[:-1] + rng.integers(3, size=10))
    first_task = np.array([0, 5, 10])
    problem = problem_of(tasks, first_task, Prior(9.0, 0.5, 1.0), SIGN, None, OWNED)
    state, space = start_of(problem, rng), space_of(problem)
    state.beta[1] = [1.1, -0.4, 0.3, 0.7, -0.2]
    state.mean[0], state.rate[:] = MEAN, RATE
    state.covariance[:], state.precision[:] = COVARIANCE, np.linalg.inv(COVARIANCE)
    initialise(problem, state, space)
    rows = [(tasks.matrix[a:b], c - a) for a, b, c in zip(first_row[5:], first_row[6:], tasks.chosen_row[5:])]  # noqa: B905

    def joint(attends, beta):
        more = (9.0, 4.5, 1.0, None, SIGN, [attends], OWNED, RATE)
        return hierarchical_log_joint([rows], [beta], MEAN, COVARIANCE, *more)

    return problem, state, space, joint


def test_all_patterns_of_a_person_by_enumeration(one):
    """Given all else: the matrix of transitions between the eight patterns leaves their probabilities as they are."""
    problem, state, space, joint = one
    beta = state.beta[1].copy()
    log_density = np.array([joint(attends, beta) for attends in PATTERNS])
    wanted = np.exp(log_density - log_density.max())
    wanted /= wanted.sum()
    assert wanted[-1] == pytest.approx(0.29093472803, abs=1e-10)  # who attends to all three

    def step(rng, attends):
        state.attends[1] = attends
        write_heeded(problem, state, 1)
        decide(rng, problem, state, space, 1)
        attends[:] = state.attends[1]

    states, matrix = transition_matrix(step, PATTERNS[0].copy(), lambda attends: tuple(attends))
    at = [PATTERNS.tolist().index(each.tolist()) for each in states]
    assert len(states) == 8 and matrix.sum(axis=1) == pytest.approx(1.0)
    assert wanted[at] @ matrix == pytest.approx(wanted[at], abs=1e-12)
    assert np.linalg.matrix_power(matrix, 500)[3] == pytest.approx(wanted[at], abs=1e-9)
    assert np.array_equal(state.beta[1], beta)


@pytest.mark.parametrize("attends", PATTERNS.tolist())
def test_the_likelihood_is_the_naive_one(one, attends):
    """And its slope is that of differences: 0 in what is ignored."""
    problem, state, space, joint = one
    beta, slope = state.beta[1].copy(), np.zeros(5)
    everything = joint(np.ones(3), beta) - np.log(RATE).sum()
    state.attends[1] = 1.0
    write_heeded(problem, state, 1)
    all_attended = log_likelihood_of(problem, state, space, 1)
    state.attends[1] = attends
    write_heeded(problem, state, 1)
    found = slope_of(problem, state, space, beta, 1, slope)
    given = np.log(np.where(np.array(attends) == 1.0, RATE, 1.0 - RATE)).sum()
    assert found - all_attended == pytest.approx(joint(attends, beta) - given - everything, rel=1e-9)
    for i in range(5):
        change = 1e-6 * np.eye(5)[i]
        ends = [slope_of(problem, state, space, beta + way * change, 1, np.zeros(5)) for way in (1, -1)]
        assert slope[i] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-7)
    assert not slope[np.array(attends) @ OWNED < OWNED.sum(axis=0)].any()


class Noise:
    """Standard normal numbers, one of which is 1 and the others 0."""

    def __init__(self, place=-1):
        self.left = place

    def standard_normal(self):
        self.left -= 1
        return float(self.left == -1)


def test_what_is_ignored_comes_from_the_population_given_the_rest(one):
    """A normal: where the noise is 0 the naive density is flat, and its curvature is that of the noise's square."""
    problem, state, space, joint = one
    attends = np.array([0.0, 1.0, 1.0])
    state.attends[1] = attends
    write_heeded(problem, state, 1)
    ignored, was = np.array([0, 1, 4]), state.beta[1].copy()
    drawn = []
    for place in (-1, 0, 1, 2):
        state.beta[1] = was
        draw_ignored(Noise(place), problem, state, space, 1)
        assert np.array_equal(np.delete(state.beta[1], ignored), np.delete(was, ignored))
        drawn.append(state.beta[1].copy())
    steps = np.array(drawn[1:])[:, ignored] - drawn[0][ignored]
    precision = np.linalg.inv(steps.T @ steps)
    for change in np.random.default_rng(2).normal(size=(4, 3)):
        there = drawn[0].copy()
        there[ignored] += change
        assert joint(attends, drawn[0]) - joint(attends, there) == pytest.approx(0.5 * change @ precision @ change)


def test_a_step_leaves_likelihood_and_slope_as_they_are_of_its_end(one):
    problem, state, space, _ = one
    rng = np.random.default_rng(3)
    for _ in range(20):
        attend(rng, problem, state, space, 1)
        slope = np.zeros(5)
        assert state.log_likelihood[1] == slope_of(problem, state, space, state.beta[1], 1, slope)
        assert np.array_equal(state.slope[1], slope)
