"""A restart as a chain: it climbs from random dimensions, then moves around the maximum."""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array

from thali._data.kinds import SIMILARITIES
from thali._inference.markov_chains import FixedChain

from .gradient_kernels import (
    BLOCK,
    CONSTANT,
    LAPSE,
    N_ACTIVE,
    PRECISION,
    AnswerArrays,
    DimensionState,
    climb,
    move,
    sum_log_likelihood,
)

# the climb: first and last step, as shares of the root mean square of a gradient
CLIMB_STEPS = 0.05, 0.003
CLIMB_SHARE = 0.6  # of the warm-up; the rest is for the moves
# Rates of the exponential prior while they are unknown: at the start, and at the end of the climb
# times the root of the number of answers per object, so that surplus dimensions vanish.
FIRST_RATE = 1.0
LAST_RATE = 0.12
START = 0.3  # largest coordinate at the start
MIN_HEIGHT = 0.1  # a dimension whose coordinates are all smaller after the climb is removed
STEPS_PER_TIME = 0.8  # time of the dynamics per pass over the questions
MAX_ROOT_STEP = 0.1
MIN_BATCH, MIN_BATCHES = 32, 25  # questions of a batch, and batches of a sweep
MAX_BATCHES = 200  # of a sweep of moves, which update all coordinates after each batch
MIN_VARIANCE_SHARE = 0.05  # of the similarities' variance, as noise during the climb
# InverseGamma prior of the variance of the noise: shape, and rate as a share of the variance
VARIANCE_SHAPE = 2.0
VARIANCE_SHARE = 0.02


class DimensionProblem(NamedTuple):
    """Data and settings of a fit, as its chains read them."""

    answers: AnswerArrays
    n_objects: int
    n_dimensions: int  # at the start
    lapse: float
    penalty: float | None  # None: the rates of the prior are learned
    sigma: float | None  # of similarities, in units of `unit`; None: learned
    unit: float  # of similarities: they are divided by it

    @property
    def n_questions(self) -> int:
        """Number of questions, or of measured similarities."""
        return len(self.answers.start) - 1

    @property
    def n_climb_batches(self) -> int:
        """Number of batches of a pass of the climb, of about one question per object."""
        return max(self.n_questions // max(MIN_BATCH, self.n_objects), 1)

    @property
    def n_move_batches(self) -> int:
        """Number of batches of a pass of the dynamics."""
        return min(self.n_climb_batches, MAX_BATCHES)


def build_problem(
    data: Any, dimensions: int, lapse: float, penalty: float | None
) -> DimensionProblem:
    """Return data and settings in the form that chains read, the questions in random order."""
    if data.kind == SIMILARITIES:
        start = np.arange(data.n_pairs + 1)
        unit = float(np.ptp(data.values)) / 2.0 or 1.0
        counts = data.judgements
        values = data.values / unit
        sigma = None
        if data.sigma is not None:
            sigma = data.sigma / unit
    else:
        start = data.start
        counts = data.counts
        values = np.zeros(0)
        sigma = None
        unit = 1.0
    sizes = np.diff(start)
    # a fixed stream, so that the order is a function of the data
    order = np.random.default_rng(0).permutation(len(sizes))
    new_start = np.append(0, np.cumsum(sizes[order]))
    places = np.repeat(start[:-1][order] - new_start[:-1], sizes[order]) + np.arange(new_start[-1])
    first, second = data.first[places], data.second[places]
    answers = AnswerArrays(
        new_start.astype(np.int64),
        first.astype(np.uint32),
        second.astype(np.uint32),
        counts[places].astype(np.float32),
        values[places[: len(values)]].astype(np.float32),
        _is_of_three(new_start, first, second),
    )
    return DimensionProblem(answers, data.n_options, dimensions, lapse, penalty, sigma, unit)


def _is_of_three(start: np.ndarray, first: np.ndarray, second: np.ndarray) -> bool:
    """Return whether all questions have the pairs ij, ik and jk of three objects."""
    if not (np.diff(start) == 3).all():
        return False
    i, other_i, j = first.reshape(-1, 3).T
    other_j, k, other_k = second.reshape(-1, 3).T
    return bool((i == other_i).all() and (j == other_j).all() and (k == other_k).all())


def multiply_rows(x: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the dot products of pairs of rows, (pairs,)."""
    return np.einsum("kq,kq->k", x[first], x[second])


class DimensionDraws(NamedTuple):
    """Recorded draws of a chain."""

    coordinates: np.ndarray  # (draws, objects, dimensions) float32, padded with 0
    log_likelihood: np.ndarray  # (draws,)
    constant: np.ndarray  # (draws,)
    sigma: np.ndarray  # (draws,)


class DimensionChain(FixedChain):
    """A restart: its warm-up climbs to a maximum and removes surplus dimensions."""

    state: DimensionState
    record: DimensionDraws

    def __init__(
        self, problem: DimensionProblem, rng: np.random.Generator, draws: int, tune: int, thin: int
    ) -> None:
        super().__init__(draws, tune, thin)
        self.problem = problem
        self.rng = rng
        self.n_climbs = math.ceil(CLIMB_SHARE * self.tune)
        self._n_adapting = (self.n_climbs + self.tune) // 2  # sweeps that change the metric
        shape = problem.n_objects, problem.n_dimensions
        numbers = np.zeros(4)
        numbers[[LAPSE, N_ACTIVE]] = problem.lapse, problem.n_dimensions
        values = problem.answers.values
        if len(values):
            pairs = problem.answers.first, problem.answers.second
            half = coo_array((problem.answers.counts, pairs), (problem.n_objects,) * 2)
            self.judgements = (half + half.T).tocsr()
            numbers[[CONSTANT, PRECISION]] = values.min(), 1.0 / max(float(values.var()), 1e-12)
        self.rates = FIRST_RATE, FIRST_RATE
        if problem.penalty is not None:
            self.rates = (problem.penalty * math.sqrt(problem.unit),) * 2
        elif not len(values):
            n_answers = float(problem.answers.counts.sum(dtype=float))
            last_rate = LAST_RATE * math.sqrt(n_answers / problem.n_objects)
            self.rates = FIRST_RATE, max(FIRST_RATE, last_rate)
        self.state = DimensionState(
            (START * rng.random(shape)).astype(np.float32),
            np.zeros(shape, np.float32),
            np.full(shape, 1e-3, np.float32),
            np.full(problem.n_dimensions, self.rates[0]),
            numbers,
        )
        self.record = DimensionDraws(
            np.zeros((draws, *shape), np.float32),
            *np.zeros((3, draws)),
        )
        n_slopes = BLOCK * int(np.diff(problem.answers.start).max())
        self.work = tuple(np.zeros(size, np.float32) for size in (shape, n_slopes, shape[1]))

    def run_until(self, until: int) -> None:
        """Run the chain until it has done `until` sweeps."""
        while self.sweeps < until:
            if self.sweeps < self.n_climbs:
                self._climb()
            else:
                self._move()
            self._update_noise()
            self.sweeps += 1
            draw, remainder = divmod(self.sweeps - self.tune, self.thin)
            if draw >= 1 and remainder == 0:
                self._record(draw - 1)

    def _order_batches(self, n_batches: int) -> np.ndarray:
        """Return the batches of a sweep in random order: each once, or several times."""
        n_passes = -(-MIN_BATCHES // n_batches)
        return np.concatenate([self.rng.permutation(n_batches) for _ in range(n_passes)])

    def _climb(self) -> None:
        """Climb for one sweep, with smaller steps the later; at the end prune dimensions."""
        batches = self._order_batches(self.problem.n_climb_batches)
        first, last = CLIMB_STEPS
        progress = np.array([self.sweeps, self.sweeps + 1]) / self.n_climbs
        decay = 0.1
        if self.sweeps:
            decay = min(0.1, 2.0 / len(batches))
        steps = first * (last / first) ** progress
        self.state.rate[:] = self.rates[0] + (self.rates[1] - self.rates[0]) * progress[1] ** 2
        climb(
            self.state,
            self.problem.answers,
            batches,
            self.problem.n_climb_batches,
            steps,
            decay,
            self.work,
        )
        if self.sweeps + 1 == self.n_climbs:
            self._prune()

    def _prune(self) -> None:
        """Remove dimensions that no object has; order the others, the heaviest first."""
        state = self.state
        weights = (state.x.astype(float) ** 2).sum(axis=0)
        is_active = state.x.max(axis=0) >= MIN_HEIGHT
        if not is_active.any():
            is_active = weights == weights.max()
        order = np.argsort(np.where(is_active, -weights, 1.0), kind="stable")
        n_active = int(is_active.sum())
        state.numbers[N_ACTIVE] = n_active
        for array in (state.x, state.square):
            array[:] = array[:, order]
        state.x[:, n_active:] = 0.0

    def _move(self) -> None:
        """Move for one sweep; the first half after the climb adapts the metric."""
        problem = self.problem
        batches = self._order_batches(problem.n_move_batches)
        root_step = STEPS_PER_TIME / problem.n_move_batches
        decay = 0.0
        if self.sweeps < self._n_adapting and not len(problem.answers.values):
            decay = min(0.1, 2.0 / len(batches))
        move(
            self.rng,
            self.state,
            problem.answers,
            batches,
            problem.n_move_batches,
            min(root_step, MAX_ROOT_STEP),
            problem.penalty is None,
            decay,
            self.work,
        )

    def _update_noise(self) -> None:
        """Draw constant and precision of similarities; during the climb set them to their means."""
        values = self.problem.answers.values
        if not len(values):
            return
        numbers = self.state.numbers
        answers = self.problem.answers
        residuals = values - multiply_rows(self.state.x, answers.first, answers.second)
        total = float(answers.counts.sum())
        numbers[CONSTANT] = float(answers.counts @ residuals) / total
        is_climbing = self.sweeps < self.n_climbs
        if not is_climbing:
            numbers[CONSTANT] += self.rng.standard_normal() / math.sqrt(total * numbers[PRECISION])
        old_precision = numbers[PRECISION]
        variance = max(float(values.var()), 1e-12)
        squares = float(answers.counts @ (residuals - numbers[CONSTANT]) ** 2)
        if self.problem.sigma is not None:
            numbers[PRECISION] = 1.0 / self.problem.sigma**2
        elif is_climbing:
            least = MIN_VARIANCE_SHARE * variance
            numbers[PRECISION] = 1.0 / max(squares / len(values), least)
        else:
            shape = VARIANCE_SHAPE + len(values) / 2.0
            rate = VARIANCE_SHARE * variance + squares / 2.0
            numbers[PRECISION] = self.rng.gamma(shape) / rate
        # The climb may fit better than the noise allows, so that its gradients are too small a
        # metric; the Fisher information replaces them.
        if self.sweeps < self._n_adapting:
            squares = self.judgements @ self.state.x.astype(float) ** 2
            self.state.square[:] = numbers[PRECISION] * squares / len(values)
        else:
            self.state.square[:] *= np.float32(numbers[PRECISION] / old_precision)

    def _record(self, row: int) -> None:
        """Record the state in a row of the draws, in the units of the data."""
        state = self.state
        unit = self.problem.unit
        self.record.coordinates[row] = math.sqrt(unit) * state.x
        log_likelihood = sum_log_likelihood(state, self.problem.answers, self.work[1])
        self.record.log_likelihood[row] = log_likelihood
        self.record.constant[row] = unit * state.numbers[CONSTANT]
        if state.numbers[PRECISION] > 0.0:
            self.record.log_likelihood[row] -= self.problem.n_questions * math.log(unit)
            self.record.sigma[row] = unit / math.sqrt(state.numbers[PRECISION])
