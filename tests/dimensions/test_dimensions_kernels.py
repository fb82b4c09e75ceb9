"""Kernels of non-negative dimensions: gradient, steps and moves against double computations."""

import numpy as np
import pytest
from scipy.special import logsumexp

from thali import Similarities, Triplets
from thali._dimensions.chain import DimensionChain, build_problem
from thali._dimensions.gradient_kernels import (
    BLOCK,
    CONSTANT,
    LAPSE,
    N_ACTIVE,
    PRECISION,
    DimensionState,
    add_gradient,
    climb,
    exponentiate,
    move,
    sum_log_likelihood,
)

pytestmark = pytest.mark.fit
RNG = np.random.default_rng(3)


def build_mixed_triplets():
    sets = [("a", "b", "c"), ("a", "b", "d"), ("b", "c", "d", "e"), ("a", "c", "e")]
    chosen = [("a", "b"), ("b", "d"), ("c", "e"), ("a", "e")]
    anchored = Triplets.from_anchored(["a", "b"], ["b", "c"], ["e", "d"], labels=list("abcde"))
    of_three = Triplets.from_sets(sets[:2], chosen[:2], counts=[3, 1])
    return [Triplets.from_sets(sets, chosen, counts=[3, 1, 2, 1]), anchored, of_three]


def naive_log_likelihood(x, answers, numbers):
    """The log-likelihood by its definition, without any shared code."""
    products = [x[i] @ x[j] for i, j in zip(answers.first, answers.second, strict=True)]
    total = 0.0
    for a, b in zip(answers.start, answers.start[1:], strict=False):
        s = np.array(products[a:b])
        if numbers[PRECISION] > 0.0:
            variance = 1.0 / numbers[PRECISION] / answers.counts[a]
            residual = answers.values[a] - numbers[CONSTANT] - s[0]
            total += -0.5 * np.log(2 * np.pi * variance) - residual**2 / (2 * variance)
            continue
        p = np.exp(s - logsumexp(s))
        p = (1 - numbers[LAPSE]) * p + numbers[LAPSE] / len(s)
        total += answers.counts[a:b] @ np.log(p)
    return total


def list_problems():
    matrix = np.round(RNG.random((5, 5)), 3)
    similarities = Similarities((matrix + matrix.T) / 2, judgements=np.full((5, 5), 3))
    problems = []
    for data in (*build_mixed_triplets(), similarities):
        problem = build_problem(data, 3, 0.2, None)
        numbers = np.zeros(4)
        numbers[[LAPSE, N_ACTIVE]] = 0.2, 3
        if len(problem.answers.values):
            numbers[[CONSTANT, PRECISION]] = 0.1, 2.5
        problems.append((problem, numbers))
    return problems


@pytest.mark.parametrize("problem, numbers", list_problems())
def test_the_gradient_is_that_of_the_naive_log_likelihood(problem, numbers):
    """Central differences of an independent computation, in double precision."""
    answers = problem.answers
    x = RNG.random((problem.n_objects, 3))
    gradient = compute_gradient(x, problem, numbers, 0, problem.n_questions)
    value = compute_log_likelihood(x, problem, numbers)
    assert value == pytest.approx(naive_log_likelihood(x, answers, numbers), rel=1e-5)
    for i in range(problem.n_objects):
        for q in range(3):
            step = np.zeros_like(x)
            step[i, q] = 1e-5
            ends = [naive_log_likelihood(x + sign * step, answers, numbers) for sign in (1, -1)]
            assert gradient[i, q] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=2e-5)


def test_exponentials_of_single_precision_are_exact_to_their_last_digits():
    exact = np.linspace(-80.0, 0.0, 4001)
    values = np.append(exact, [-100.0, -1e30]).astype(np.float32)
    exact = np.exp(values.clip(-80.0).astype(float))
    exponentiate(values, len(values))
    assert values == pytest.approx(exact, rel=4e-7)


def test_questions_of_several_blocks_count_once_each():
    rows = [RNG.choice(20, 4, replace=False) for _ in range(700)]
    sets = [tuple(row[: 3 + k % 2]) for k, row in enumerate(rows)]
    data = Triplets.from_sets(sets, [tuple(row[:2]) for row in rows], counts=[1] * 700)
    problem = build_problem(data, 3, 0.2, None)
    assert problem.n_questions > 2 * BLOCK
    x = RNG.random((20, 3))
    numbers = np.array([0.2, 0.0, 0.0, 3.0])
    parts = [
        compute_gradient(x, problem, numbers, first, min(first + 100, problem.n_questions))
        for first in range(0, problem.n_questions, 100)
    ]
    assert compute_gradient(x, problem, numbers, 0, problem.n_questions) == pytest.approx(
        sum(parts)
    )
    value = compute_log_likelihood(x, problem, numbers)
    assert value == pytest.approx(naive_log_likelihood(x, problem.answers, numbers), rel=1e-5)


def test_questions_of_three_objects_are_recognised():
    assert [problem.answers.is_of_three for problem, _ in list_problems()] == [
        False,
        False,
        True,
        False,
    ]


def test_inactive_dimensions_do_not_count():
    problem, numbers = list_problems()[0]
    x = RNG.random((problem.n_objects, 3))
    few, none = numbers.copy(), x.copy()
    few[N_ACTIVE], none[:, 2] = 2, 0.0
    gradients = [
        compute_gradient(coordinates, problem, settings, 0, 4)
        for coordinates, settings in ((x, few), (none, numbers))
    ]
    assert gradients[0][:, :2] == pytest.approx(gradients[1][:, :2])
    assert not gradients[0][:, 2].any()


def compute_gradient(x, problem, numbers, first, stop):
    """The gradient of some questions by the kernel, as Python in double precision."""
    state = DimensionState(x.astype(float), x, x, x, numbers)
    work = np.zeros(x.shape), np.zeros(6 * BLOCK)
    add_gradient(state, problem.answers, first, stop, work)
    return work[0]


def compute_log_likelihood(x, problem, numbers):
    """The log-likelihood of all questions by the kernel, in single precision."""
    single = x.astype(np.float32)
    state = DimensionState(single, single, single, x[0], numbers)
    return sum_log_likelihood(state, problem.answers, np.zeros(6 * BLOCK, np.float32))


def build_chain(problem):
    chain = DimensionChain(problem, np.random.default_rng(5), 1, 1, 1)
    chain.state.square[:] = RNG.random(chain.state.square.shape).astype(np.float32)
    chain.state.rate[:] = 0.5, 1.0, 2.0
    return chain


def test_a_step_of_the_climb_is_the_scaled_gradient_of_the_posterior():
    problem = list_problems()[0][0]
    chain = build_chain(problem)
    state = chain.state
    x, square = state.x.astype(float), state.square.astype(float)
    g = (
        compute_gradient(state.x, problem, state.numbers, 2, 4)
        - 2 / problem.n_questions * state.rate
    )
    square += 0.3 * (g**2 / 2 - square)
    expected = np.maximum(x + 0.05 * g / np.sqrt(2 * square), 0.0)
    climb(state, problem.answers, np.array([1]), 2, np.array([0.05, 0.01]), 0.3, chain.work)
    assert state.x == pytest.approx(expected, abs=1e-6)
    assert state.square == pytest.approx(square, abs=1e-6)
    assert not chain.work[0].any()


def test_a_move_is_a_step_of_the_dynamics():
    problem = list_problems()[0][0]
    chain = build_chain(problem)
    state = chain.state
    state.velocity[:] = RNG.normal(0, 0.3, state.x.shape)
    x, v = state.x.astype(float), state.velocity.astype(float)
    n, size, root = problem.n_questions, 2, 0.05
    g = n / size * compute_gradient(state.x, problem, state.numbers, 0, 2)
    spread = 1.0 / (n * state.square.astype(float) + state.rate**2)
    z = np.random.default_rng(9).standard_normal(x.shape)
    friction = 2 * root
    v = (1 - friction) * v + root**2 * spread * (g - state.rate)
    v += np.sqrt(2 * friction * root**2 * spread) * z
    uncut, limit = v, 10 * root * np.sqrt(spread)
    v = np.clip(v, -limit, limit)
    assert 0 < (v != uncut).sum() < v.size
    moved = x + v
    rng = np.random.default_rng(9)
    move(rng, state, problem.answers, np.array([0]), n // size, root, False, 0.0, chain.work)
    assert (moved < 0).any()
    assert state.x == pytest.approx(np.abs(moved), abs=1e-6)
    assert state.velocity == pytest.approx(np.where(moved < 0, -v, v), abs=1e-6)


def test_draws_have_the_moments_of_the_posterior():
    """Three objects on one dimension, by quadrature; every batch is all answers."""
    data = Triplets([(0, 1, 2)] * 12 + [(0, 2, 1)] * 5 + [(1, 2, 0)] * 3)
    problem = build_problem(data, 1, 0.05, 0.7)
    chain = DimensionChain(problem, np.random.default_rng(1), 6000, 200, 1)
    chain.run_until(chain.total)
    grid = (np.arange(80) + 0.5) / 80 * 6.0
    a, b, c = np.meshgrid(grid, grid, grid, indexing="ij")
    s = np.stack([a * b, a * c, b * c])
    p = 0.95 * np.exp(s - logsumexp(s, axis=0)) + 0.05 / 3
    log_density = np.tensordot([12, 5, 3], np.log(p), 1) - 0.7 * (a + b + c)
    weights = np.exp(log_density - log_density.max())
    weights /= weights.sum()
    x = chain.record.coordinates[:, :, 0].astype(float)
    for k, coordinate in enumerate((a, b, c)):
        assert x[:, k].mean() == pytest.approx((weights * coordinate).sum(), abs=0.08)
    drawn = np.stack([x[:, 0] * x[:, 1], x[:, 0] * x[:, 2], x[:, 1] * x[:, 2]], axis=1)
    drawn = 0.95 * np.exp(drawn - logsumexp(drawn, axis=1, keepdims=True)) + 0.05 / 3
    assert drawn.mean(axis=0) == pytest.approx((weights * p).sum(axis=(1, 2, 3)), abs=0.015)
    assert drawn.std(axis=0) == pytest.approx(
        np.sqrt((weights * p**2).sum(axis=(1, 2, 3)) - (weights * p).sum(axis=(1, 2, 3)) ** 2),
        rel=0.15,
    )
