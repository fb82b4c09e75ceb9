"""Rows of W as the samplers of Plackett–Luce regression read them: sorted by class, so that many share weights."""

from typing import Any, NamedTuple

import numpy as np

from thali.compile.jit import scalar, vectorised
from thali.data.training_data import TrainingData
from thali.errors import DataError, Setting
from thali.inference.numerics.logarithm import fast_log

WIDTH = 56  # rows of a block: seven cache lines a column, an odd number, so that columns spread over the cache
_NARROWER = (40, 24, 8, 4, 2, 1)  # where most classes are small
_ROOM = 2  # most places for a row, in blocks that are not all full
_STEP = 1024  # rows at a time, so that no second matrix as large as W is made
FLOOR = 1e-290  # probabilities below it, and sums that may have lost digits to underflow
_MOST = 2e9  # entries of W
_EQUAL = 1e-6  # relative difference of logarithms that counts as zero


class ClassRows(NamedTuple):
    """Blocks of rows of one class; inside a block column after column."""

    W: np.ndarray  # (blocks, p, width); zero beyond the rows of a block
    sizes: np.ndarray  # (blocks,) rows of a block
    of_class: np.ndarray  # (blocks,) ascending
    first: np.ndarray  # (K + 1,) first block of a class
    mean: np.ndarray  # (p,) of the columns of W
    alive: np.ndarray  # columns that are not zero everywhere
    opposite: np.ndarray  # (p,) for two classes: the column of which each is the opposite; -1 where there is none


def copies_of(data: TrainingData) -> tuple[np.ndarray, np.ndarray]:
    """Every row of W, and its class, as often as its weight says, since each copy has latent variables of its own."""
    numbers = float(data.counts.sum()) * data.matrix.shape[1]
    if numbers > _MOST:
        raise DataError(
            f"The weights add up to {data.counts.sum():g} rows, which would take {8e-9 * numbers:,.0f} GB; divide the "
            "weights, or set ",
            Setting("method", "map"),
            ".",
        )
    row = np.repeat(np.arange(len(data.codes)), data.counts.astype(np.int64))
    return data.matrix[row], data.codes[row]


def class_rows(W: np.ndarray, codes: np.ndarray, n_classes: int) -> ClassRows:
    """Sort the rows of W, each divided by its maximum, into blocks of their class; rows of a class keep their order."""
    n, p = W.shape
    members = np.bincount(codes, minlength=n_classes)
    width = _width(members)
    blocks = -(-members // width)
    first = np.concatenate([[0], np.cumsum(blocks)])
    sorted_rows = np.argsort(codes, kind="stable")
    rank = np.arange(n) - np.repeat(np.cumsum(members) - members, members)  # of a row within its class
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
    """For every column, the column whose product with it is the same for all columns in every row; -1 if none."""
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
        found = np.where((found < 0) & (distance <= _EQUAL * np.maximum(1.0, largest)), other, found)
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
def block_dots(W: Any, weights: Any, totals: Any, b: Any, k: Any, size: Any, of_class: Any, of_all: Any) -> None:
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
