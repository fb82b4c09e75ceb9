r"""Compiled passes over the answers: gradients, climbs and Langevin moves of the dimensions.

The similarity of objects i and j is :math:`s_{ij} = \sum_q x_{iq} x_{jq}`, with x of 0 or more and
the prior :math:`x_{iq} \sim \text{Exponential}(\lambda_q)`. Each step reads one batch of the N
questions, whose gradient g, times N over the size of the batch, estimates that of all questions.

The climb divides each coordinate of g by the root of its mean square. The moves are Langevin
dynamics with momentum (Chen, Fox & Guestrin 2014), with step h and friction a,

.. math:: v \leftarrow (1 - a) v + h P (g - \lambda) + \sqrt{2 a h P (1 - \rho)} z,
    \qquad x \leftarrow |x + v|,

where P is the diagonal of the inverse Fisher information and rho the share of the noise that the
choice of the batch contributes. Below 0 a coordinate is reflected, with its velocity.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import compiled, scalar, vectorised

# indices in `DimensionState.numbers`; similarities have a precision, 1 / sigma^2, above 0
LAPSE, CONSTANT, PRECISION, N_ACTIVE = 0, 1, 2, 3
RATE_SHAPE, RATE_OFFSET = 1.0, 0.1  # Gamma prior of the rate of each dimension
MIN_SQUARE = 1e-10  # mean square of a gradient that has no effect


class AnswerArrays(NamedTuple):
    """Questions in random order; those of similarities have one pair each."""

    start: np.ndarray  # (questions + 1,) first pair of each question
    first: np.ndarray  # (pairs,) int32
    second: np.ndarray  # (pairs,) int32
    counts: np.ndarray  # (pairs,) float32: answers, or judgements of a similarity
    values: np.ndarray  # (pairs,) float32 similarities; (0,) for triplets


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
def compute_slopes(x: Any, answers: Any, question: Any, numbers: Any, slopes: Any) -> Any:
    """Store the derivative of the log-likelihood by each pair's similarity; return the former."""
    n_active = int(numbers[N_ACTIVE])
    start = answers.start[question]
    n_pairs = answers.start[question + 1] - start
    if numbers[PRECISION] > 0.0:
        fitted = dot_rows(x, answers.first[start], answers.second[start], n_active)
        residual = answers.values[start] - numbers[CONSTANT] - fitted
        weight = numbers[PRECISION] * answers.counts[start]
        slopes[0] = weight * residual
        return 0.5 * (math.log(weight / (2.0 * math.pi)) - weight * residual * residual)
    lapse = numbers[LAPSE]
    top = -math.inf
    for k in range(n_pairs):
        slopes[k] = dot_rows(x, answers.first[start + k], answers.second[start + k], n_active)
        top = max(top, slopes[k])
    total = 0.0
    for k in range(n_pairs):
        slopes[k] = math.exp(slopes[k] - top)
        total += slopes[k]
    log_likelihood, n_attentive = 0.0, 0.0
    for k in range(n_pairs):
        slopes[k] /= total
        count = answers.counts[start + k]
        if count > 0.0:
            probability = (1.0 - lapse) * slopes[k] + lapse / n_pairs
            log_likelihood += count * math.log(probability)
            n_attentive += count * (1.0 - lapse) * slopes[k] / probability
    for k in range(n_pairs):
        share, count = slopes[k], answers.counts[start + k]
        slopes[k] = -n_attentive * share
        if count > 0.0:
            probability = (1.0 - lapse) * share + lapse / n_pairs
            slopes[k] += count * (1.0 - lapse) * share / probability
    return log_likelihood


@vectorised
def add_question(x: Any, gradient: Any, answers: Any, question: Any, n_active: Any, slopes: Any):
    """Add the gradient of one question, given the derivatives by similarity."""
    start = answers.start[question]
    for k in range(answers.start[question + 1] - start):
        i, j, slope = answers.first[start + k], answers.second[start + k], np.float32(slopes[k])
        for q in range(n_active):
            own, other = x[i, q], x[j, q]
            gradient[i, q] += slope * other
            gradient[j, q] += slope * own


@compiled
def add_gradient(
    x: Any, answers: Any, numbers: Any, first: Any, stop: Any, slopes: Any, gradient: Any
) -> float:
    """Add the gradient of questions `first` to `stop` - 1; return their log-likelihood."""
    log_likelihood = 0.0
    for question in range(first, stop):
        log_likelihood += compute_slopes(x, answers, question, numbers, slopes)
        add_question(x, gradient, answers, question, int(numbers[N_ACTIVE]), slopes)
    return log_likelihood


@compiled
def sum_log_likelihood(x: Any, answers: Any, numbers: Any, slopes: Any) -> float:
    """Return the log-likelihood of all questions."""
    log_likelihood = 0.0
    for question in range(len(answers.start) - 1):
        log_likelihood += compute_slopes(x, answers, question, numbers, slopes)
    return log_likelihood


@compiled
def store_products(x: Any, first: Any, second: Any, products: Any) -> None:
    """Store the dot product of the rows of each pair."""
    for k in range(len(first)):
        products[k] = dot_rows(x, first[k], second[k], x.shape[1])


def fit_pairs(x: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the dot product of the rows of each pair, (pairs,)."""
    products = np.empty(len(first))
    store_products(x, np.asarray(first, np.int64), np.asarray(second, np.int64), products)
    return products


@scalar
def update_mean_square(square: Any, gradient: Any, size: Any, decay: Any) -> Any:
    """Return the decaying mean of g^2 over the number of questions in a batch."""
    return square + decay * (gradient * gradient / size - square)


@compiled
def climb(
    state: Any, answers: Any, batches: Any, size: Any, steps: Any, decay: Any, work: Any
) -> None:
    """Climb the posterior density by one step for each batch.

    `steps` are those at the first and after the last batch.
    """
    gradient, slopes = work
    n_questions = len(answers.start) - 1
    n_active = int(state.numbers[N_ACTIVE])
    for k in range(len(batches)):
        first = batches[k] * size
        stop = min(first + size, n_questions)
        for question in range(first, stop):
            compute_slopes(state.x, answers, question, state.numbers, slopes)
            add_question(state.x, gradient, answers, question, n_active, slopes)
        n_read = np.float32(stop - first)
        share = (stop - first) / n_questions
        step = np.float32(steps[0] * (steps[1] / steps[0]) ** (k / len(batches)))
        for i in range(len(state.x)):
            for q in range(n_active):
                g = gradient[i, q] - np.float32(share * state.rate[q])
                gradient[i, q] = np.float32(0.0)
                square = update_mean_square(state.square[i, q], g, n_read, np.float32(decay))
                state.square[i, q] = square
                g /= np.float32(math.sqrt(n_read * (square + np.float32(MIN_SQUARE))))
                state.x[i, q] = max(state.x[i, q] + step * g, np.float32(0.0))


@scalar
def draw_rates(rng: Any, state: Any, n_active: Any) -> None:
    """Draw the rate of each dimension from its conditional Gamma distribution."""
    n_objects = len(state.x)
    for q in range(n_active):
        total = 0.0
        for i in range(n_objects):
            total += state.x[i, q]
        state.rate[q] = rng.standard_gamma(n_objects + RATE_SHAPE) / (total + RATE_OFFSET)


@compiled
def move(
    rng: Any,
    state: Any,
    answers: Any,
    batches: Any,
    size: Any,
    root_step: Any,
    learns_rates: Any,
    decay: Any,
    work: Any,
) -> None:
    """Move along Langevin dynamics by one step for each batch."""
    gradient, slopes = work
    x, velocity = state.x, state.velocity
    n_questions = len(answers.start) - 1
    n_active = int(state.numbers[N_ACTIVE])
    step, friction = np.float32(root_step * root_step), 2.0 * root_step
    kept = np.float32(1.0 - friction)
    for k in range(len(batches)):
        first = batches[k] * size
        stop = min(first + size, n_questions)
        for question in range(first, stop):
            compute_slopes(x, answers, question, state.numbers, slopes)
            add_question(x, gradient, answers, question, n_active, slopes)
        n_read = np.float32(stop - first)
        raise_factor = np.float32(n_questions / (stop - first))
        # without replacement a batch of all questions adds no noise
        batch_share = (raise_factor - 1.0) * step / (2.0 * friction)
        noise = np.float32(math.sqrt(2.0 * friction * step * max(0.0, 1.0 - batch_share)))
        for i in range(len(x)):
            for q in range(n_active):
                g, rate = gradient[i, q], np.float32(state.rate[q])
                gradient[i, q] = np.float32(0.0)
                square = update_mean_square(state.square[i, q], g, n_read, np.float32(decay))
                state.square[i, q] = square
                spread = np.float32(1.0) / (np.float32(n_questions) * square + rate * rate)
                v = kept * velocity[i, q] + step * spread * (raise_factor * g - rate)
                v += noise * np.float32(math.sqrt(spread)) * np.float32(rng.standard_normal())
                moved = x[i, q] + v
                if moved < 0.0:
                    moved, v = -moved, -v
                x[i, q], velocity[i, q] = moved, v
        if learns_rates:
            draw_rates(rng, state, n_active)
