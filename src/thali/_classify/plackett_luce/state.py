"""The state of a chain of Plackett–Luce regression, and the record of its draws."""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import scalar, vectorised
from thali._data.rows import TrainingData
from thali._inference.indexing import part_bounds
from thali._inference.numerics.logarithm import fast_log
from thali.errors import DataError, Setting

# Rows of W as the samplers of Plackett–Luce regression read them: sorted by class, so that many
# share weights


# rows of a block: seven cache lines a column, an odd number, so that columns spread over the cache
WIDTH = 56
_NARROWER = (40, 24, 8, 4, 2, 1)  # where most classes are small
_ROOM = 2  # most places for a row, in blocks that are not all full
_STEP = 1024  # rows at a time, so that no second matrix as large as W is made
FLOOR = 1e-290  # probabilities below it, and sums that may have lost digits to underflow
_MAX_ENTRIES = 2e9  # entries of W
_EQUAL = 1e-6  # relative difference of logarithms that counts as zero


class ClassRows(NamedTuple):
    """Blocks of rows of one class; inside a block column after column."""

    W: np.ndarray  # (blocks, p, width); zero beyond the rows of a block
    sizes: np.ndarray  # (blocks,) rows of a block
    of_class: np.ndarray  # (blocks,) ascending
    first: np.ndarray  # (K + 1,) first block of a class
    mean: np.ndarray  # (p,) of the columns of W
    alive: np.ndarray  # columns that are not zero everywhere
    # (p,) for two classes: the column of which each is the opposite; -1 where there is none
    opposite: np.ndarray


def copies_of(data: TrainingData) -> tuple[np.ndarray, np.ndarray]:
    """Every row of W, and its class, as often as its weight says, since each copy has latent
    variables of its own."""
    numbers = float(data.counts.sum()) * data.matrix.shape[1]
    if numbers > _MAX_ENTRIES:
        raise DataError(
            f"The weights sum to {data.counts.sum():g} rows, which would need"
            f" {8e-9 * numbers:,.0f} GB; rescale the weights, or set ",
            Setting("method", "map"),
            ".",
        )
    row = np.repeat(np.arange(len(data.codes)), data.counts.astype(np.int64))
    return data.matrix[row], data.codes[row]


def class_rows(W: np.ndarray, codes: np.ndarray, n_classes: int) -> ClassRows:
    """Sort the rows of W, each divided by its maximum, into blocks of their class; rows of a class
    keep their order."""
    n, p = W.shape
    members = np.bincount(codes, minlength=n_classes)
    width = _width(members)
    blocks = -(-members // width)
    first = part_bounds(blocks)
    sorted_rows = np.argsort(codes, kind="stable")
    # of a row within its class
    rank = np.arange(n) - np.repeat(np.cumsum(members) - members, members)
    block = np.repeat(first[:-1], members) + rank // width
    tiles = np.zeros((first[-1], p, width))
    sizes = np.zeros(first[-1], np.int64)
    np.add.at(sizes, block, 1)
    ends = np.cumsum(sizes)
    for b, (end, size) in enumerate(zip(ends, sizes, strict=True)):
        tiles[b, :, :size] = W[sorted_rows[end - size : end]].T
    mean = W.mean(axis=0)
    of_class = np.repeat(np.arange(n_classes), blocks)
    opposite = opposites(W) if n_classes == 2 else np.full(p, -1)
    return ClassRows(tiles, sizes, of_class, first, mean, np.flatnonzero(mean > 0.0), opposite)


def _width(members: np.ndarray) -> int:
    """Rows of a block: as many as are efficient without blocks that are mostly empty."""
    widest = int(min(WIDTH, -(-members.max() // 8) * 8))
    for width in (widest, *(width for width in _NARROWER if width < widest)):
        if width * (-(-members // width)).sum() <= _ROOM * members.sum():
            return width
    return 1


def opposites(W: np.ndarray) -> np.ndarray:
    """For every column, the column whose product with it is the same for all columns in every row;
    -1 if none."""
    p = W.shape[1]
    found = np.full(p, -1)
    if not all((W[start : start + _STEP] > 0.0).all() for start in range(0, len(W), _STEP)):
        return found
    rng, key = np.random.default_rng(0), np.zeros(p)
    for logs in _centred_logs(W):
        key += rng.standard_normal(len(logs)) @ logs
    order = np.argsort(key)
    place = np.clip(np.searchsorted(key[order], -key), 0, p - 1)
    others = np.stack([order[np.clip(place + neighbour, 0, p - 1)] for neighbour in (-1, 0, 1)])
    largest, off = np.zeros(p), np.zeros(others.shape)
    for logs in _centred_logs(W):
        largest = np.maximum(largest, np.abs(logs).max(axis=0))
        for which, other in enumerate(others):
            off[which] = np.maximum(off[which], np.abs(logs + logs[:, other]).max(axis=0))
    for other, distance in zip(others, off, strict=True):
        found = np.where(
            (found < 0) & (distance <= _EQUAL * np.maximum(1.0, largest)), other, found
        )
    paired = (found >= 0) & (found[found] == np.arange(len(found)))
    return np.where(paired, found, -1)


def _centred_logs(W: np.ndarray) -> Any:
    """ln W block of rows by block of rows, minus their means over the columns."""
    for start in range(0, len(W), _STEP):
        logs = np.log(W[start : start + _STEP])
        yield logs - logs.mean(axis=1, keepdims=True)


@vectorised
def log_probability(of_class: Any, of_all: Any, b: Any, size: Any) -> Any:
    """Sum of ln T / S over the rows of a block."""
    total = 0.0
    for r in range(size):
        share = of_class[b, r] / of_all[b, r] if of_all[b, r] > FLOOR else FLOOR
        total += fast_log(max(share, FLOOR))
    return total


@vectorised
def block_dots(
    W: Any, weights: Any, totals: Any, b: Any, k: Any, size: Any, of_class: Any, of_all: Any
) -> None:
    """T = W·λ of the rows' own class and S = W·Σ_k λ_k for the rows of a block."""
    for r in range(size):
        of_class[b, r] = 0.0
        of_all[b, r] = 0.0
    for j in range(W.shape[1]):
        own, every = weights[k, j], totals[j]
        for r in range(size):
            of_class[b, r] += W[b, j, r] * own
            of_all[b, r] += W[b, j, r] * every


@scalar
def dots(rows: Any, weights: Any, totals: Any, of_class: Any, of_all: Any) -> Any:
    """T and S of all rows; returns the log-likelihood Σ ln T / S."""
    total = 0.0
    for b in range(rows.sizes.shape[0]):
        k, size = rows.of_class[b], rows.sizes[b]
        block_dots(rows.W, weights, totals, b, k, size, of_class, of_all)
        total += log_probability(of_class, of_all, b, size)
    return total


LOG_A, LOG_MASS, LOG_LIKELIHOOD, STEP = range(4)  # in State.real
SWEEPS, KEPT, TRIED, ACCEPTED = range(4)  # in State.whole


class WeightState(NamedTuple):
    """Weights λ = λ̄ Λ as logarithms, since those of small a leave the range of floats, and the
    sums that follow."""

    real: np.ndarray  # (4,) ln a, ln Λ, log-likelihood, step of the walk of a
    whole: np.ndarray  # (4,) sweeps done, draws kept, moves tried and accepted since tuning ended
    log_weights: np.ndarray  # (K, p) ln λ̄
    weights: np.ndarray  # (K, p) λ̄
    totals: np.ndarray  # (p,) Σ_k λ̄_k
    of_class: np.ndarray  # (blocks, width) W_i·λ̄ of the row's own class
    of_all: np.ndarray  # (blocks, width) W_i·Σ_k λ̄_k
    columns: np.ndarray  # (blocks, width) C
    times: np.ndarray  # (blocks, width) Z Λ
    counts: np.ndarray  # (K, p) n_kj
    s: np.ndarray  # (p,) Λ Σ_i Z_i W_ij
    log_rate: np.ndarray  # (p,) ln(b + s_j) of the unscaled s
    scratch: "Scratch"


class Scratch(NamedTuple):
    """Work space, because compiled code that allocates takes long to compile."""

    target: np.ndarray  # (width,)
    running: np.ndarray  # (width,)
    place: np.ndarray  # (width,)
    pull: np.ndarray  # (p,)
    size: np.ndarray  # (p,)
    occupied: np.ndarray  # (K p,)
    new_class: np.ndarray  # (blocks, width)
    new_all: np.ndarray  # (blocks, width)
    change: np.ndarray  # (K + 1, 4)


class WeightPrior(NamedTuple):
    """The prior: weights Gamma(a, b), p(a) ∝ 1/a between exp(low) and exp(high); both are ln a
    where a is fixed."""

    log_b: float
    low: float
    high: float
    learned: bool


class WeightDraws(NamedTuple):
    """Room for the draws of a chain."""

    a: np.ndarray  # (draws,)
    log_likelihood: np.ndarray  # (draws,)
    weights: np.ndarray  # (draws, K, p) λ̄
    log_weights: np.ndarray  # (draws,) Σ_kj ln λ̄_kj, also where λ̄ leaves the range of floats


def state_from(log_weights: np.ndarray, log_a: float, rows: ClassRows) -> WeightState:
    """A state at some weights, which need not sum to 1; a sweep fills everything that follows from
    them."""
    shape, p = rows.W.shape[::2], rows.W.shape[1]
    log_weights = np.ascontiguousarray(log_weights, np.float64).copy()
    state = WeightState(
        real=np.array([log_a, 0.0, -math.inf, 0.3]),
        whole=np.zeros(4, np.int64),
        log_weights=log_weights,
        weights=np.zeros_like(log_weights),
        totals=np.zeros(p),
        of_class=np.zeros(shape),
        of_all=np.zeros(shape),
        columns=np.zeros(shape, np.int64),
        times=np.zeros(shape),
        counts=np.zeros(log_weights.shape, np.int64),
        s=np.zeros(p),
        log_rate=np.zeros(p),
        scratch=Scratch(
            target=np.zeros(shape[1]),
            running=np.zeros(shape[1]),
            place=np.zeros(shape[1], np.int64),
            pull=np.zeros(p),
            size=np.zeros(p),
            occupied=np.zeros(log_weights.size, np.int64),
            new_class=np.zeros(shape),
            new_all=np.zeros(shape),
            change=np.zeros((len(log_weights) + 1, 4)),
        ),
    )
    state.real[LOG_MASS] = normalise(state.log_weights, state.weights, state.totals)
    return state


def empty_draws(draws: int, classes: int, p: int) -> WeightDraws:
    return WeightDraws(
        np.zeros(draws), np.zeros(draws), np.zeros((draws, classes, p)), np.zeros(draws)
    )


@scalar
def normalise(log_weights: Any, weights: Any, totals: Any) -> Any:
    """Make the weights sum to 1; returns the logarithm of their former sum."""
    classes, p = log_weights.shape
    top = -math.inf
    for k in range(classes):
        for j in range(p):
            top = max(top, log_weights[k, j])
    mass = 0.0
    for k in range(classes):
        for j in range(p):
            weights[k, j] = math.exp(log_weights[k, j] - top)
            mass += weights[k, j]
    log_mass = top + math.log(mass)
    for j in range(p):
        total = 0.0
        for k in range(classes):
            log_weights[k, j] -= log_mass
            weights[k, j] /= mass
            total += weights[k, j]
        totals[j] = total
    return log_mass


@scalar
def keep_if_due(state: Any, kept: Any, tune: int, thin: Any) -> None:
    """Record the state after every `thin` sweeps after tuning."""
    sweeps, done = state.whole[SWEEPS], state.whole[KEPT]
    if sweeps <= tune or (sweeps - tune) % thin != 0 or done == kept.a.shape[0]:
        return
    kept.a[done] = math.exp(state.real[LOG_A])
    kept.log_likelihood[done] = state.real[LOG_LIKELIHOOD]
    total = 0.0
    for k in range(state.weights.shape[0]):
        for j in range(state.weights.shape[1]):
            kept.weights[done, k, j] = state.weights[k, j]
            total += state.log_weights[k, j]
    kept.log_weights[done] = total
    state.whole[KEPT] = done + 1
