r"""Compiled passes over the answers: gradients, climbs and Langevin moves of the dimensions.

The similarity of objects i and j is :math:`s_{ij} = \sum_q x_{iq} x_{jq}`, with x of 0 or more and
the prior :math:`x_{iq} \sim \text{Exponential}(\lambda_q)`. Each step reads one batch of the N
questions, whose gradient g, times N over the size of the batch, estimates that of all questions.

The climb divides each coordinate of g by the root of its mean square. The moves are Langevin
dynamics with momentum (Chen, Fox & Guestrin 2014), with step h and friction a,

.. math:: v \leftarrow (1 - a) v + h P (g - \lambda) + \sqrt{2 a h P (1 - \rho)} z,
    \qquad x \leftarrow |x + v|,

where P is the diagonal of the inverse Fisher information and rho the share of the noise that the
choice of the batch contributes. Below 0 a coordinate is reflected, with its velocity. In
equilibrium the variance of v is h P; v is cut at ten standard deviations.
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
    start = answers.start[question]
    n_pairs = answers.start[question + 1] - start
    for k in range(n_pairs):
        first, second = answers.first[start + k], answers.second[start + k]
        slopes[k] = dot_rows(x, first, second, int(numbers[N_ACTIVE]))
    if numbers[PRECISION] > 0.0:
        residual = answers.values[start] - numbers[CONSTANT] - slopes[0]
        weight = numbers[PRECISION] * answers.counts[start]
        slopes[0] = weight * residual
        return 0.5 * (math.log(weight / (2.0 * math.pi)) - slopes[0] * residual)
    top, total = -math.inf, 0.0
    for k in range(n_pairs):
        top = max(top, slopes[k])
    for k in range(n_pairs):
        slopes[k] = math.exp(slopes[k] - top)
        total += slopes[k]
    attention = 1.0 - numbers[LAPSE]
    guess = numbers[LAPSE] / n_pairs
    log_likelihood, n_attentive = 0.0, 0.0
    for k in range(n_pairs):
        slopes[k] /= total
        # answers of a pair that was never chosen count nothing, even without lapses
        if answers.counts[start + k] > 0.0:
            probability = attention * slopes[k] + guess
            log_likelihood += answers.counts[start + k] * math.log(probability)
            n_attentive += answers.counts[start + k] * attention * slopes[k] / probability
    for k in range(n_pairs):
        share = slopes[k]
        slopes[k] = -n_attentive * share
        if answers.counts[start + k] > 0.0:
            slopes[k] += answers.counts[start + k] * attention * share / (attention * share + guess)
    return log_likelihood


@vectorised
def add_products(x: Any, i: Any, j: Any, slope: Any, n_active: Any, gradient: Any) -> None:
    """Add the gradient of `slope` times the dot product of rows i and j."""
    for q in range(n_active):
        own, other = x[i, q], x[j, q]
        gradient[i, q] += slope * other
        gradient[j, q] += slope * own


@scalar
def add_gradient(state: Any, answers: Any, first: Any, stop: Any, work: Any) -> None:
    """Add the gradient of the log-likelihood of questions `first` to `stop` - 1 to work[0]."""
    for question in range(first, stop):
        compute_slopes(state.x, answers, question, state.numbers, work[1])
        start = answers.start[question]
        for k in range(answers.start[question + 1] - start):
            i, j, slope = answers.first[start + k], answers.second[start + k], work[1][k]
            n_active = int(state.numbers[N_ACTIVE])
            add_products(state.x, i, j, np.float32(slope), n_active, work[0])


@compiled
def sum_log_likelihood(x: Any, answers: Any, numbers: Any, slopes: Any) -> float:
    """Return the log-likelihood of all questions."""
    log_likelihood = 0.0
    for question in range(len(answers.start) - 1):
        log_likelihood += compute_slopes(x, answers, question, numbers, slopes)
    return log_likelihood


@scalar
def update_mean_square(square: Any, i: Any, q: Any, gradient: Any, size: Any, decay: Any) -> Any:
    """Return the decaying mean of g^2 over the number of questions in a batch, updated."""
    change = gradient * gradient / size - square[i, q]
    square[i, q] += np.float32(decay) * change
    return square[i, q]


@compiled
def climb(
    state: Any, answers: Any, batches: Any, n_batches: Any, steps: Any, decay: Any, work: Any
) -> None:
    """Climb the posterior density by one step for each batch of about equal size.

    `steps` are those at the first and after the last batch.
    """
    x, n_questions = state.x, len(answers.start) - 1
    for k in range(len(batches)):
        first = batches[k] * n_questions // n_batches
        stop = (batches[k] + 1) * n_questions // n_batches
        add_gradient(state, answers, first, stop, work)
        n_read = np.float32(stop - first)
        step = np.float32(steps[0] * (steps[1] / steps[0]) ** (k / len(batches)))
        for i in range(len(x)):
            for q in range(int(state.numbers[N_ACTIVE])):
                g = work[0][i, q] - np.float32(n_read / n_questions * state.rate[q])
                work[0][i, q] = np.float32(0.0)
                square = update_mean_square(state.square, i, q, g, n_read, decay)
                g /= np.float32(math.sqrt(n_read * (square + np.float32(MIN_SQUARE))))
                x[i, q] = max(x[i, q] + step * g, np.float32(0.0))


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
    n_batches: Any,
    root_step: Any,
    learns_rates: Any,
    decay: Any,
    work: Any,
) -> None:
    """Move along Langevin dynamics by one step for each batch."""
    x, velocity, n_questions = state.x, state.velocity, len(answers.start) - 1
    n_active = int(state.numbers[N_ACTIVE])
    step, friction = np.float32(root_step * root_step), 2.0 * root_step
    max_speed = np.float32(MAX_SPEED * root_step)
    for k in range(len(batches)):
        first = batches[k] * n_questions // n_batches
        stop = (batches[k] + 1) * n_questions // n_batches
        add_gradient(state, answers, first, stop, work)
        n_read = np.float32(stop - first)
        scale = np.float32(n_questions) / n_read
        # without replacement a batch of all questions adds no noise
        batch_share = (scale - 1.0) * step / (2.0 * friction)
        noise = np.float32(math.sqrt(2.0 * friction * step * max(0.0, 1.0 - batch_share)))
        for i in range(len(x)):
            for q in range(n_active):
                g, rate = work[0][i, q], np.float32(state.rate[q])
                work[0][i, q] = np.float32(0.0)
                square = update_mean_square(state.square, i, q, g, n_read, decay)
                spread = np.float32(1.0) / (np.float32(n_questions) * square + rate * rate)
                v = np.float32(1.0 - friction) * velocity[i, q] + step * spread * (scale * g - rate)
                root_spread = np.float32(math.sqrt(spread))
                v += noise * root_spread * np.float32(rng.standard_normal())
                limit = max_speed * root_spread
                v = min(max(v, -limit), limit)
                moved = x[i, q] + v
                if moved < 0.0:
                    moved, v = -moved, -v
                x[i, q], velocity[i, q] = moved, v
        if learns_rates:
            draw_rates(rng, state, n_active)
