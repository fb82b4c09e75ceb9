"""State of a Markov chain of Plackett-Luce regression, and its record."""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import scalar, vectorised
from thali._data.classification_data import TrainingData
from thali._inference.index_arithmetic import (
    iterate_slices,
    part_bounds,
    part_positions,
    repeat_indices,
)
from thali._inference.numerics.fast_logarithm import fast_log
from thali.errors import DataError, Setting

# Rows of W for the samplers, sorted by class, so that the rows of a block share weights


# rows of a block: seven cache lines per column, an odd number that distributes columns in the cache
MAX_BLOCK_WIDTH = 56
_SMALLER_WIDTHS = (40, 24, 8, 4, 2, 1)  # if most classes are small
_MAX_ROOM_PER_ROW = 2  # largest allocated room per row, as blocks may be partly empty
_BLOCK_ROWS = 1024  # so that no second matrix as large as W is made
MIN_PROBABILITY = 1e-290  # smaller probabilities and sums may have lost digits to underflow
_MAX_ENTRIES = 2e9  # of W
_MAX_LOG_DIFFERENCE = 1e-6  # relative; smaller differences are treated as zero


class ClassRows(NamedTuple):
    """Rows of W in blocks of one class each, stored column by column."""

    W: np.ndarray  # (blocks, p, width); zero beyond the rows of a block
    sizes: np.ndarray  # (blocks,) rows of a block
    class_of_block: np.ndarray  # (blocks,) ascending
    first: np.ndarray  # (K + 1,) first block of a class
    mean: np.ndarray  # (p,) of the columns of W
    alive: np.ndarray  # columns that are not zero everywhere
    # (p,) for two classes: index of the opposite column; -1 if none
    opposite: np.ndarray


def repeat_rows(data: TrainingData) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of W and class codes, repeated by integer weight.

    Each copy has separate latent variables.
    """
    n_entries = float(data.counts.sum()) * data.matrix.shape[1]
    if n_entries > _MAX_ENTRIES:
        raise DataError(
            f"The weights sum to {data.counts.sum():g} rows, which would need"
            f" {8e-9 * n_entries:,.0f} GB; rescale the weights, or set ",
            Setting("method", "map"),
            ".",
        )
    row_indices = repeat_indices(data.counts.astype(np.int64))
    return data.matrix[row_indices], data.codes[row_indices]


def sort_rows_by_class(W: np.ndarray, codes: np.ndarray, n_classes: int) -> ClassRows:
    """Return the rows of W sorted into blocks of one class each.

    The rows are divided by their maxima; rows of a class keep their order.
    """
    n, p = W.shape
    class_sizes = np.bincount(codes, minlength=n_classes)
    width = _choose_block_width(class_sizes)
    n_blocks = -(-class_sizes // width)
    first_block = part_bounds(n_blocks)
    sorted_rows = np.argsort(codes, kind="stable")
    rank_in_class = part_positions(class_sizes)
    block_of_row = np.repeat(first_block[:-1], class_sizes) + rank_in_class // width
    W_blocks = np.zeros((first_block[-1], p, width))
    block_sizes = np.zeros(first_block[-1], np.int64)
    np.add.at(block_sizes, block_of_row, 1)
    block_ends = np.cumsum(block_sizes)
    for b, (block_end, block_size) in enumerate(zip(block_ends, block_sizes, strict=True)):
        W_blocks[b, :, :block_size] = W[sorted_rows[block_end - block_size : block_end]].T
    column_means = W.mean(axis=0)
    class_of_block = repeat_indices(n_blocks)
    opposite_columns = np.full(p, -1)
    if n_classes == 2:
        opposite_columns = find_opposite_columns(W)
    return ClassRows(
        W_blocks,
        block_sizes,
        class_of_block,
        first_block,
        column_means,
        np.flatnonzero(column_means > 0.0),
        opposite_columns,
    )


def _choose_block_width(class_sizes: np.ndarray) -> int:
    """Return the largest efficient block width with few empty entries."""
    widest = int(min(MAX_BLOCK_WIDTH, -(-class_sizes.max() // 8) * 8))
    for width in (widest, *(width for width in _SMALLER_WIDTHS if width < widest)):
        if width * (-(-class_sizes // width)).sum() <= _MAX_ROOM_PER_ROW * class_sizes.sum():
            return width
    return 1


def find_opposite_columns(W: np.ndarray) -> np.ndarray:
    """Return each column's opposite (product equal in all rows), -1 without, (p,).

    The product of opposite columns is the same in each row for all such pairs.
    """
    p = W.shape[1]
    opposite_columns = np.full(p, -1)
    if not all((W[rows] > 0.0).all() for rows in iterate_slices(len(W), 1, _BLOCK_ROWS)):
        return opposite_columns
    rng = np.random.default_rng(0)
    keys = np.zeros(p)
    for centred_logs in _iterate_centred_logs(W):
        keys += rng.standard_normal(len(centred_logs)) @ centred_logs
    by_key = np.argsort(keys)
    positions = np.clip(np.searchsorted(keys[by_key], -keys), 0, p - 1)
    candidates = np.stack(
        [by_key[np.clip(positions + neighbour, 0, p - 1)] for neighbour in (-1, 0, 1)]
    )
    max_logs = np.zeros(p)
    distances = np.zeros(candidates.shape)
    for centred_logs in _iterate_centred_logs(W):
        max_logs = np.maximum(max_logs, np.abs(centred_logs).max(axis=0))
        for candidate_index, candidate in enumerate(candidates):
            distances[candidate_index] = np.maximum(
                distances[candidate_index],
                np.abs(centred_logs + centred_logs[:, candidate]).max(axis=0),
            )
    for candidate, distance in zip(candidates, distances, strict=True):
        opposite_columns = np.where(
            (opposite_columns < 0) & (distance <= _MAX_LOG_DIFFERENCE * np.maximum(1.0, max_logs)),
            candidate,
            opposite_columns,
        )
    is_mutual = (opposite_columns >= 0) & (
        opposite_columns[opposite_columns] == np.arange(len(opposite_columns))
    )
    return np.where(is_mutual, opposite_columns, -1)


def _iterate_centred_logs(W: np.ndarray) -> Any:
    """Yield ln W by blocks of rows, centred over columns."""
    for rows in iterate_slices(len(W), 1, _BLOCK_ROWS):
        logs = np.log(W[rows])
        yield logs - logs.mean(axis=1, keepdims=True)


@vectorised
def sum_block_log_likelihood(T: Any, S: Any, b: Any, size: Any) -> Any:
    """Return the sum of ln(T / S) over the first `size` rows of block b."""
    total = 0.0
    for r in range(size):
        probability = T[b, r] / S[b, r] if S[b, r] > MIN_PROBABILITY else MIN_PROBABILITY
        total += fast_log(max(probability, MIN_PROBABILITY))
    return total


@vectorised
def compute_block_scores(
    W: Any, weights: Any, totals: Any, b: Any, k: Any, size: Any, T: Any, S: Any
) -> None:
    """Compute score T of each row's class, and S over all classes, in a block.

    The rows are in block b of class k.
    """
    for r in range(size):
        T[b, r] = 0.0
        S[b, r] = 0.0
    for j in range(W.shape[1]):
        weight, total = weights[k, j], totals[j]
        for r in range(size):
            T[b, r] += W[b, j, r] * weight
            S[b, r] += W[b, j, r] * total


@scalar
def compute_scores(rows: Any, weights: Any, totals: Any, T: Any, S: Any) -> Any:
    """Compute T and S of all rows; return the log-likelihood, sum of ln(T / S)."""
    log_likelihood = 0.0
    for b in range(rows.sizes.size):
        k, size = rows.class_of_block[b], rows.sizes[b]
        compute_block_scores(rows.W, weights, totals, b, k, size, T, S)
        log_likelihood += sum_block_log_likelihood(T, S, b, size)
    return log_likelihood


LOG_A, LOG_MASS, LOG_LIKELIHOOD, STEP = range(4)  # in WeightState.real
SWEEPS, RECORDED, TRIED, ACCEPTED = range(4)  # in WeightState.counters


class WeightState(NamedTuple):
    """Weights of a chain, their sums, and latent variables of all rows.

    Weights are logarithms, because weights of small a leave the range of floats.
    """

    real: np.ndarray  # (4,) ln a, ln Λ, log-likelihood, step of the walk of a
    counters: np.ndarray  # (4,) sweeps, recorded draws, moves tried and accepted after tuning
    log_weights: np.ndarray  # (K, p) ln λ̄
    weights: np.ndarray  # (K, p) λ̄
    totals: np.ndarray  # (p,) Σ_k λ̄_k
    class_scores: np.ndarray  # (blocks, width) W_i·λ̄ for the row's class
    total_scores: np.ndarray  # (blocks, width) W_i·Σ_k λ̄_k
    columns: np.ndarray  # (blocks, width) C
    times: np.ndarray  # (blocks, width) Z Λ
    counts: np.ndarray  # (K, p) n_kj
    s: np.ndarray  # (p,) Λ Σ_i Z_i W_ij
    log_rate: np.ndarray  # (p,) ln(b + s_j) of the unscaled s
    scratch: "Scratch"


class Scratch(NamedTuple):
    """Scratch arrays of a chain, as kernels that allocate compile slowly."""

    target: np.ndarray  # (width,)
    running: np.ndarray  # (width,)
    column_index: np.ndarray  # (width,)
    pull: np.ndarray  # (p,)
    size: np.ndarray  # (p,)
    occupied: np.ndarray  # (K p,)
    new_class_scores: np.ndarray  # (blocks, width)
    new_total_scores: np.ndarray  # (blocks, width)
    change: np.ndarray  # (K + 1, 4)


class WeightPrior(NamedTuple):
    """Prior: weights ~ Gamma(a, b), p(a) ~ 1/a from exp(low) to exp(high).

    For a fixed a both are ln a.
    """

    log_b: float
    low: float
    high: float
    learned: bool


class WeightDraws(NamedTuple):
    """Recorded draws of one chain: class weights and prior shape."""

    a: np.ndarray  # (draws,)
    log_likelihood: np.ndarray  # (draws,)
    weights: np.ndarray  # (draws, K, p) λ̄
    log_weights: np.ndarray  # (draws,) Σ_kj ln λ̄_kj, also where λ̄ leaves the range of floats


def build_weight_state(log_weights: np.ndarray, log_a: float, rows: ClassRows) -> WeightState:
    """Return the state of a chain at these log weights and log a."""
    block_shape = rows.W.shape[::2]
    p = rows.W.shape[1]
    log_weights = np.ascontiguousarray(log_weights, np.float64).copy()
    state = WeightState(
        real=np.array([log_a, 0.0, -math.inf, 0.3]),
        counters=np.zeros(4, np.int64),
        log_weights=log_weights,
        weights=np.zeros_like(log_weights),
        totals=np.zeros(p),
        class_scores=np.zeros(block_shape),
        total_scores=np.zeros(block_shape),
        columns=np.zeros(block_shape, np.int64),
        times=np.zeros(block_shape),
        counts=np.zeros(log_weights.shape, np.int64),
        s=np.zeros(p),
        log_rate=np.zeros(p),
        scratch=Scratch(
            target=np.zeros(block_shape[1]),
            running=np.zeros(block_shape[1]),
            column_index=np.zeros(block_shape[1], np.int64),
            pull=np.zeros(p),
            size=np.zeros(p),
            occupied=np.zeros(log_weights.size, np.int64),
            new_class_scores=np.zeros(block_shape),
            new_total_scores=np.zeros(block_shape),
            change=np.zeros((len(log_weights) + 1, 4)),
        ),
    )
    state.real[LOG_MASS] = normalise_weights(state)
    return state


def allocate_weight_draws(n_draws: int, n_classes: int, p: int) -> WeightDraws:
    """Allocate arrays for the recorded draws of a chain."""
    return WeightDraws(
        np.zeros(n_draws), np.zeros(n_draws), np.zeros((n_draws, n_classes, p)), np.zeros(n_draws)
    )


@scalar
def normalise_weights(state: Any) -> Any:
    """Divide the weights by their sum; return the log of the sum."""
    log_weights, weights = state.log_weights, state.weights
    classes, p = log_weights.shape
    maximum = -math.inf
    for k in range(classes):
        for j in range(p):
            maximum = max(maximum, log_weights[k, j])
    mass = 0.0
    for k in range(classes):
        for j in range(p):
            weights[k, j] = math.exp(log_weights[k, j] - maximum)
            mass += weights[k, j]
    log_mass = maximum + math.log(mass)
    for j in range(p):
        total = 0.0
        for k in range(classes):
            log_weights[k, j] -= log_mass
            weights[k, j] /= mass
            total += weights[k, j]
        state.totals[j] = total
    return log_mass


@scalar
def record_if_due(state: Any, record: Any, tune: int, thin: Any) -> None:
    """Record the state if its sweep is due: every `thin`-th after tuning."""
    sweeps, draw_index = state.counters[SWEEPS], state.counters[RECORDED]
    if sweeps <= tune or (sweeps - tune) % thin != 0 or draw_index == record.a.size:
        return
    record.a[draw_index] = math.exp(state.real[LOG_A])
    record.log_likelihood[draw_index] = state.real[LOG_LIKELIHOOD]
    total = 0.0
    for k in range(state.weights.shape[0]):
        for j in range(state.weights.shape[1]):
            record.weights[draw_index, k, j] = state.weights[k, j]
            total += state.log_weights[k, j]
    record.log_weights[draw_index] = total
    state.counters[RECORDED] = draw_index + 1
