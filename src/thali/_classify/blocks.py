"""Rows that lie in blocks on other machines: covariates and labels as Dask arrays, block by block.

Dask is imported only when somebody passes such an array; its scheduler may be a distributed
cluster.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from thali.errors import Argument, ArgumentError, DataError, Message, Setting, one_of

from .input import Standard, codes_of, labels_of, matrix_of, standard_of


def is_blocked(X: Any) -> bool:
    """Whether this is a Dask array."""
    return hasattr(X, "to_delayed") and hasattr(X, "chunks")


class BlockScan(NamedTuple):
    """Blocks of rows and what was found in them."""

    pairs: list[tuple[Any, Any]]  # of covariates and labels, delayed
    rows: list[int]  # of each block
    ends: np.ndarray  # (2, d) least and largest value of each covariate
    first: np.ndarray  # (d,) covariates of one row
    classes: np.ndarray
    counts: np.ndarray  # rows of each class


def see(X: Any, y: Any, sample_weight: Any, model: str) -> BlockScan:
    """Check the blocks, and find their sizes, the ends of the covariates, and the classes."""
    from dask.base import compute
    from dask.delayed import delayed

    if sample_weight is not None:
        raise DataError(
            "sample_weight does not support a Dask array X; remove sample_weight, or pass"
            " X.compute()."
        )
    pairs = _pairs(X, y, model)
    seen = compute(
        *(delayed(_look_over)(x, label, number, model) for number, (x, label) in enumerate(pairs))
    )
    labels, counts = _labels_of(seen)
    classes, _ = codes_of(
        np.repeat(labels, np.minimum(counts, 2)), model, int(np.minimum(counts, 2).sum())
    )
    ends = np.array(
        [
            np.min([part.lowest for part in seen], axis=0),
            np.max([part.highest for part in seen], axis=0),
        ]
    )
    return BlockScan(pairs, [part.rows for part in seen], ends, seen[0].lowest, classes, counts)


def standard_over(seen: BlockScan, names: Sequence[str]) -> Standard:
    """Mean and standard deviation over all blocks: two sweeps, the first for the mean."""
    of_ends = standard_of(seen.ends, np.array(names, dtype=object))
    unit, rows, blocks = of_ends.unit, sum(seen.rows), [x for x, _ in seen.pairs]
    mean = sum_over(_sum_scaled, blocks, unit) / rows
    squares = sum_over(_sum_squares, blocks, unit, mean)
    return Standard(unit, mean, np.where(of_ends.varies, np.sqrt(squares / rows), np.inf))


def sum_over(function: Callable[..., Any], blocks: Sequence[Any], *rest: Any) -> Any:
    """Σ function(block, *rest), always in the order of the blocks."""
    from dask.base import compute
    from dask.delayed import delayed

    return reduce(add, compute(*(delayed(function)(block, *rest) for block in blocks)))


def refuse_blocks(method: str, others: tuple[str, ...]) -> None:
    """Refuse a Dask array where a method needs all rows in memory."""
    raise DataError(
        Message("X is a Dask array, whose rows stay in blocks, but "),
        Setting("method", method),
        " requires them in memory; set ",
        Message(Argument("method"), " to one of ", one_of("method", others)),
        ", or pass X.compute().",
    )


def predicted(
    predict: Callable[[Any], np.ndarray], X: Any, columns: int | None, dtype: Any = float
) -> Any:
    """A Dask array of predictions, with as many columns or none, a block of rows a block of X."""
    X = X.rechunk({1: -1})
    if columns is None:
        return X.map_blocks(predict, drop_axis=1, dtype=dtype, meta=np.empty(0, dtype))
    return X.map_blocks(
        predict, chunks=(X.chunks[0], (columns,)), dtype=dtype, meta=np.empty((0, 0), dtype)
    )


def refuse_errors(return_se: bool) -> None:
    """Refuse standard errors of predictions in blocks."""
    if return_se:
        raise ArgumentError(
            Argument("return_se"),
            " does not support a Dask array X; remove ",
            Argument("return_se"),
            ", or pass X.compute().",
        )


class _Part(NamedTuple):
    """Facts of one block: rows, least and largest value of each covariate, labels and their
    counts."""

    rows: int
    lowest: np.ndarray
    highest: np.ndarray
    labels: np.ndarray
    counts: np.ndarray


def _pairs(X: Any, y: Any, model: str) -> list[tuple[Any, Any]]:
    """Blocks of rows and of their labels."""
    import dask.array as da

    if X.ndim != 2:
        raise DataError(
            f"X must be two-dimensional, one row per observation; got {X.ndim} dimensions."
        )
    for name, array in (("X", X), ("y", y)):
        if is_blocked(array) and np.isnan(np.concatenate(array.chunks)).any():
            raise DataError(
                f"{name} is a Dask array with blocks of unknown length; call"
                f" {name}.compute_chunk_sizes() first."
            )
    X = X.rechunk({1: -1})
    labels: Any = y
    if not is_blocked(y):
        labels = da.from_array(labels_of(y, model, X.shape[0]), chunks=-1)  # pyright: ignore
    elif y.ndim != 1:
        raise DataError(
            f"y should be a 1d array of labels, one per row of X; got {y.ndim} dimensions."
        )
    if X.shape[0] != labels.shape[0]:
        raise DataError(
            f"X has {X.shape[0]} rows but y has {labels.shape[0]} labels; pass one label per row"
            " of X."
        )
    labels = labels.rechunk((X.chunks[0],))
    return list(zip(X.to_delayed().ravel(), labels.to_delayed().ravel(), strict=True))


def _look_over(x: Any, labels: Any, number: int, model: str) -> _Part:
    try:
        matrix = matrix_of(x)
        labels = labels_of(np.asarray(labels), model, len(matrix))
    except DataError as error:
        raise DataError(
            f"Block {number} of X (rows counted from 0 within the block): {error}"
        ) from None
    return _Part(
        len(matrix), matrix.min(axis=0), matrix.max(axis=0), *np.unique(labels, return_counts=True)
    )


def _labels_of(seen: Sequence[_Part]) -> tuple[np.ndarray, np.ndarray]:
    kinds = [part.labels.dtype.kind in "OU" for part in seen]
    if len(set(kinds)) > 1:
        text, number = (repr(seen[kinds.index(kind)].labels[0]) for kind in (True, False))
        raise DataError(
            f"y contains labels of mixed types, {text} in one block and {number} in another;"
            " convert them to one type."
        )
    labels, places = np.unique(np.concatenate([part.labels for part in seen]), return_inverse=True)
    counts = np.zeros(len(labels), np.int64)
    np.add.at(counts, places, np.concatenate([part.counts for part in seen]))
    return labels, counts


def _sum_scaled(x: Any, unit: Any) -> np.ndarray:
    return (np.asarray(x, np.float64) / unit).sum(axis=0)


def _sum_squares(x: Any, unit: Any, mean: Any) -> np.ndarray:
    return ((np.asarray(x, np.float64) / unit - mean) ** 2).sum(axis=0)
