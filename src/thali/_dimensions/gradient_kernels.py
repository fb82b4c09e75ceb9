r"""Compiled passes over the answers: gradients, climbs and Langevin moves of the dimensions.

The similarity of objects i and j is :math:`s_{ij} = \sum_q x_{iq} x_{jq}`, with x of 0 or more and
the prior :math:`x_{iq} \sim \text{Exponential}(\lambda_q)`. Each step reads one batch of the N
questions, whose gradient g, times N over the size of the batch, estimates that of all questions.

The climb divides each coordinate of g by the root of its mean square. The moves are Langevin
dynamics with momentum (Chen, Fox & Guestrin 2014), with step h and friction a,

.. math:: v \leftarrow (1 - a) v + h P (g - \lambda) + \sqrt{2 a h P} z,
    \qquad x \leftarrow |x + v|,

where P is the diagonal of the inverse Fisher information. The choice of the batches adds almost no
noise to this: velocities persist for about one pass, and over a pass the errors of the gradients
add up to 0, because each question is read once. Below 0 a coordinate is reflected, with its
velocity. In equilibrium the variance of v is h P; v is cut at ten standard deviations.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import compiled, scalar, vectorised

# indices in `DimensionState.numbers`; similarities have a precision, 1 / sigma^2, above 0
LAPSE = 0
CONSTANT = 1
PRECISION = 2
N_ACTIVE = 3
RATE_SHAPE, RATE_OFFSET = 1.0, 0.1  # Gamma prior of the rate of each dimension
# largest velocity, in its standard deviations: where the metric is much too large, steps would grow
# without bound
MAX_SPEED = 10.0
MIN_SQUARE = 1e-10  # mean square of a gradient that has no effect
BLOCK = 256  # questions whose similarities are computed together, for fast vector instructions
# of the exponential in single precision: terms of its series, the logarithm of 2 in two parts
EXP_TERMS = 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0
LN2 = math.log(2.0)
LN2_HIGH, LN2_LOW = 0.693359375, LN2 - 0.693359375
MIN_EXPONENT = -80.0  # exponentials of less are positive, too


class AnswerArrays(NamedTuple):
    """Questions in random order; those of similarities have one pair each."""

    start: np.ndarray  # (questions + 1,) first pair of each question
    first: np.ndarray  # (pairs,) uint32: numba checks signed indices
    second: np.ndarray  # (pairs,) uint32
    counts: np.ndarray  # (pairs,) float32: answers, or judgements of a similarity
    values: np.ndarray  # (pairs,) float32 similarities; (0,) for triplets
    is_of_three: bool  # all questions have the pairs ij, ik, jk of three objects


class DimensionState(NamedTuple):
    """State of a chain; columns from `numbers[N_ACTIVE]` on are not used."""

    x: np.ndarray  # (objects, dimensions) float32
    velocity: np.ndarray  # likewise
    square: np.ndarray  # likewise: mean square of the gradient of one question
    rate: np.ndarray  # (dimensions,) lambda
    numbers: np.ndarray  # (4,) lapse, constant, precision, number of active dimensions


@vectorised
def dot_rows(x: Any, i: Any, j: Any, n_active: Any) -> Any:
    """Return the dot product of rows i and j of x."""
    total = np.float32(0.0)
    for q in range(n_active):
        total += x[i, q] * x[j, q]
    return total


@scalar
def list_three(answers: Any, k: Any) -> Any:
    """Return the three objects of the question whose first pair is k."""
    return answers.first[k], answers.second[k], answers.second[k + 1]


@vectorised
def store_three(x: Any, i: Any, j: Any, m: Any, n_active: Any, similarities: Any, k: Any) -> None:
    """Store the products of rows i, j and m of x from place k on; each row is read once."""
    of_ij, of_im, of_jm = np.float32(0.0), np.float32(0.0), np.float32(0.0)
    for q in range(n_active):
        of_ij += x[i, q] * x[j, q]
        of_im += x[i, q] * x[m, q]
        of_jm += x[j, q] * x[m, q]
    similarities[k] = of_ij
    similarities[k + 1] = of_im
    similarities[k + 2] = of_jm


@vectorised
def exponentiate(values: Any, n: Any) -> None:
    """Replace the first n values, each 0 or less, by their exponentials, to 3e-7 of them."""
    for k in range(n):
        value = max(values[k], np.float32(MIN_EXPONENT))
        power = np.floor(value * np.float32(1.0 / LN2) + np.float32(0.5))
        # in two parts, so that the remainder has no rounding error of the product
        remainder = (value - power * np.float32(LN2_HIGH)) - power * np.float32(LN2_LOW)
        series = np.float32(1.0 / 720.0)
        for term in EXP_TERMS:
            series = series * remainder + np.float32(term)
        bits = (np.int32(power) + np.int32(127)) << np.int32(23)
        values[k] = series * np.int32(bits).view(np.float32)


@scalar
def store_similarities(state: Any, answers: Any, first: Any, stop: Any, similarities: Any) -> None:
    """Store the products of the pairs of questions `first` to `stop` - 1."""
    begin, n_active = answers.start[first], int(state.numbers[N_ACTIVE])
    n_pairs = answers.start[stop] - begin
    if answers.is_of_three:
        for k in range(0, n_pairs, 3):
            i, j, m = list_three(answers, begin + k)
            store_three(state.x, i, j, m, n_active, similarities, k)
    else:
        for k in range(n_pairs):
            i, j = answers.first[begin + k], answers.second[begin + k]
            similarities[k] = dot_rows(state.x, i, j, n_active)
    if state.numbers[PRECISION] > 0.0:
        return
    # of triplets: their exponentials, relative to the largest of the question
    for question in range(first, stop):
        start, end = answers.start[question] - begin, answers.start[question + 1] - begin
        top = similarities[start]
        for k in range(start + 1, end):
            top = max(top, similarities[k])
        for k in range(start, end):
            similarities[k] -= top
    exponentiate(similarities, n_pairs)


@scalar
def compute_slopes(answers: Any, first: Any, stop: Any, numbers: Any, slopes: Any) -> None:
    """Replace stored similarities by the derivatives of the log-likelihood."""
    begin = answers.start[first]
    if numbers[PRECISION] > 0.0:
        for k in range(answers.start[stop] - begin):
            residual = answers.values[begin + k] - numbers[CONSTANT] - slopes[k]
            slopes[k] = numbers[PRECISION] * answers.counts[begin + k] * residual
        return
    attention, lapse = np.float32(1.0 - numbers[LAPSE]), np.float32(numbers[LAPSE])
    for question in range(first, stop):
        start, end = answers.start[question] - begin, answers.start[question + 1] - begin
        total, n_attentive = np.float32(0.0), np.float32(0.0)
        for k in range(start, end):
            total += slopes[k]
        guess = lapse * total / np.float32(end - start)
        for k in range(start, end):
            attentive = attention * slopes[k]
            n_attentive += answers.counts[begin + k] * attentive / (attentive + guess)
        for k in range(start, end):
            attentive = attention * slopes[k]
            own = answers.counts[begin + k] * attentive / (attentive + guess)
            slopes[k] = own - n_attentive / total * slopes[k]


@vectorised
def add_row(target: Any, i: Any, slope: Any, x: Any, j: Any, n_active: Any) -> None:
    """Add `slope` times row j of x to row i of the target."""
    for q in range(n_active):
        target[i, q] += slope * x[j, q]


@vectorised
def add_three(
    target: Any, i: Any, j: Any, m: Any, slopes: Any, k: Any, x: Any, n_active: Any
) -> None:
    """Add the gradient of the products of rows i, j and m, whose slopes are at place k."""
    of_ij, of_im, of_jm = slopes[k], slopes[k + 1], slopes[k + 2]
    for q in range(n_active):
        x_i, x_j, x_m = x[i, q], x[j, q], x[m, q]
        target[i, q] += of_ij * x_j + of_im * x_m
        target[j, q] += of_ij * x_i + of_jm * x_m
        target[m, q] += of_im * x_i + of_jm * x_j


@scalar
def add_gradient(state: Any, answers: Any, first: Any, stop: Any, work: Any) -> None:
    """Add the gradient of the log-likelihood of questions `first` to `stop` - 1 to work[0]."""
    gradient, slopes = work[0], work[1]
    n_active = int(state.numbers[N_ACTIVE])
    for block in range(first, stop, BLOCK):
        block_stop = min(block + BLOCK, stop)
        store_similarities(state, answers, block, block_stop, slopes)
        compute_slopes(answers, block, block_stop, state.numbers, slopes)
        begin = answers.start[block]
        n_pairs = answers.start[block_stop] - begin
        if answers.is_of_three:
            for k in range(0, n_pairs, 3):
                i, j, m = list_three(answers, begin + k)
                add_three(gradient, i, j, m, slopes, k, state.x, n_active)
        else:
            for k in range(n_pairs):
                i, j = answers.first[begin + k], answers.second[begin + k]
                add_row(gradient, i, slopes[k], state.x, j, n_active)
                add_row(gradient, j, slopes[k], state.x, i, n_active)


@scalar
def sum_block(answers: Any, first: Any, stop: Any, numbers: Any, similarities: Any) -> float:
    """Return the log-likelihood of questions `first` to `stop` - 1, given what is stored."""
    log_likelihood, begin = 0.0, answers.start[first]
    for question in range(first, stop):
        start, end = answers.start[question], answers.start[question + 1]
        if numbers[PRECISION] > 0.0:
            residual = answers.values[start] - numbers[CONSTANT] - similarities[start - begin]
            weight = numbers[PRECISION] * answers.counts[start]
            log_likelihood += 0.5 * (math.log(weight / (2.0 * math.pi)) - weight * residual**2)
            continue
        total = 0.0
        for k in range(start, end):
            total += similarities[k - begin]
        for k in range(start, end):
            if answers.counts[k] > 0.0:
                share = (1.0 - numbers[LAPSE]) * similarities[k - begin] / total
                probability = share + numbers[LAPSE] / (end - start)
                log_likelihood += answers.counts[k] * math.log(probability)
    return log_likelihood


@compiled
def sum_log_likelihood(state: Any, answers: Any, similarities: Any) -> float:
    """Return the log-likelihood of all questions."""
    log_likelihood, n_questions = 0.0, len(answers.start) - 1
    for first in range(0, n_questions, BLOCK):
        stop = min(first + BLOCK, n_questions)
        store_similarities(state, answers, first, stop, similarities)
        log_likelihood += sum_block(answers, first, stop, state.numbers, similarities)
    return log_likelihood


@vectorised
def update_mean_squares(
    square: Any, i: Any, gradient: Any, size: Any, decay: Any, n_active: Any
) -> None:
    """Update row i of the decaying mean of g^2 over the number of questions in a batch."""
    for q in range(n_active):
        change = gradient[i, q] * gradient[i, q] / size - square[i, q]
        square[i, q] += np.float32(decay) * change


@vectorised
def climb_row(state: Any, i: Any, gradient: Any, size: Any, step: Any) -> None:
    """Move row i by a step along its scaled gradient of the posterior density."""
    x, square = state.x, state.square
    for q in range(int(state.numbers[N_ACTIVE])):
        root = np.float32(math.sqrt(size * (square[i, q] + np.float32(MIN_SQUARE))))
        x[i, q] = max(x[i, q] + step * (gradient[i, q] / root), np.float32(0.0))


@scalar
def clear_row(matrix: Any, i: Any, n_active: Any) -> None:
    """Set row i to 0."""
    for q in range(n_active):
        matrix[i, q] = np.float32(0.0)


@compiled
def climb(
    state: Any, answers: Any, batches: Any, n_batches: Any, steps: Any, decay: Any, work: Any
) -> None:
    """Climb the posterior density by one step for each batch of about equal size.

    `steps` are those at the first and after the last batch.
    """
    gradient, n_questions = work[0], len(answers.start) - 1
    n_active = int(state.numbers[N_ACTIVE])
    for k in range(len(batches)):
        first = batches[k] * n_questions // n_batches
        stop = (batches[k] + 1) * n_questions // n_batches
        add_gradient(state, answers, first, stop, work)
        n_read = np.float32(stop - first)
        step = np.float32(steps[0] * (steps[1] / steps[0]) ** (k / len(batches)))
        for i in range(len(gradient)):
            for q in range(n_active):
                gradient[i, q] -= np.float32(n_read / n_questions * state.rate[q])
            update_mean_squares(state.square, i, gradient, n_read, decay, n_active)
            climb_row(state, i, gradient, n_read, step)
            clear_row(gradient, i, n_active)


@scalar
def draw_rates(rng: Any, state: Any, n_active: Any) -> None:
    """Draw the rate of each dimension from its conditional Gamma distribution."""
    n_objects = len(state.x)
    for q in range(n_active):
        state.rate[q] = 0.0
    for i in range(n_objects):
        for q in range(n_active):
            state.rate[q] += state.x[i, q]
    for q in range(n_active):
        shape = n_objects + RATE_SHAPE
        state.rate[q] = rng.standard_gamma(shape) / (state.rate[q] + RATE_OFFSET)


@vectorised
def move_row(state: Any, i: Any, gradient: Any, kicks: Any, step: Any, sizes: Any) -> None:
    """Move row i by a step of the dynamics, kicked by these standard normal numbers.

    `sizes`: number of questions, the same divided by those of the batch, friction.
    """
    x, velocity, square = state.x, state.velocity, state.square
    n_questions, scale, friction = sizes
    max_speed = np.float32(MAX_SPEED) * np.float32(math.sqrt(step))
    noise = np.float32(math.sqrt(np.float32(2.0) * friction * step))
    n_active = int(state.numbers[N_ACTIVE])
    for q in range(n_active):
        rate = np.float32(state.rate[q])
        spread = np.float32(1.0) / (n_questions * square[i, q] + rate * rate)
        root_spread = np.float32(math.sqrt(spread))
        v = (np.float32(1.0) - friction) * velocity[i, q]
        v += step * spread * (scale * gradient[i, q] - rate)
        v += noise * root_spread * kicks[q]
        limit = max_speed * root_spread
        kicks[q] = min(max(v, -limit), limit)
    for q in range(n_active):
        moved = x[i, q] + kicks[q]
        x[i, q] = abs(moved)
        velocity[i, q] = kicks[q]
        if moved < np.float32(0.0):
            velocity[i, q] = -kicks[q]


@compiled
def move(
    rng: Any,
    state: Any,
    answers: Any,
    batches: Any,
    n_batches: Any,
    root_step: Any,
    learns_rates: Any,
    decay: Any,
    work: Any,
) -> None:
    """Move along Langevin dynamics by one step for each batch."""
    gradient, kicks, n_questions = work[0], work[2], len(answers.start) - 1
    n_active = int(state.numbers[N_ACTIVE])
    step, friction = np.float32(root_step * root_step), np.float32(2.0 * root_step)
    for k in range(len(batches)):
        first = batches[k] * n_questions // n_batches
        stop = (batches[k] + 1) * n_questions // n_batches
        add_gradient(state, answers, first, stop, work)
        n_read = np.float32(stop - first)
        scale = np.float32(n_questions) / n_read
        sizes = np.float32(n_questions), scale, friction
        for i in range(len(gradient)):
            for q in range(n_active):
                kicks[q] = rng.standard_normal()
            if decay > 0.0:
                update_mean_squares(state.square, i, gradient, n_read, decay, n_active)
            move_row(state, i, gradient, kicks, step, sizes)
            clear_row(gradient, i, n_active)
        if learns_rates:
            draw_rates(rng, state, n_active)
