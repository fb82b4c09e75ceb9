"""Covariates and labels as Dask arrays, read block by block on workers.

Dask is imported only when such an array is passed; its scheduler may be a distributed cluster.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from thali.errors import Argument, ArgumentError, DataError, Message, Setting, one_of

from .covariates_and_labels import (
    Standardization,
    check_class_labels,
    compute_standardization,
    convert_to_matrix,
    encode_class_labels,
)


def is_dask_array(X: Any) -> bool:
    """Return whether X is a Dask array."""
    return hasattr(X, "to_delayed") and hasattr(X, "chunks")


class BlockScan(NamedTuple):
    """Delayed blocks of rows, with sizes, covariate ranges and classes found."""

    pairs: list[tuple[Any, Any]]  # of covariates and labels, delayed
    rows: list[int]  # of each block
    ends: np.ndarray  # (2, d) least and largest value of each covariate
    first: np.ndarray  # (d,) covariates of one row
    classes: np.ndarray
    counts: np.ndarray  # rows of each class


def scan_blocks(X: Any, y: Any, sample_weight: Any, model: str) -> BlockScan:
    """Check all blocks of a Dask array; return sizes, covariate ranges and classes."""
    from dask.base import compute
    from dask.delayed import delayed

    if sample_weight is not None:
        raise DataError(
            "sample_weight does not support a Dask array X; remove sample_weight, or pass"
            " X.compute()."
        )
    block_pairs = _pair_blocks(X, y, model)
    summaries = compute(
        *(
            delayed(_summarise_block)(x, label, block_index, model)
            for block_index, (x, label) in enumerate(block_pairs)
        )
    )
    labels, label_counts = _merge_block_labels(summaries)
    classes, _ = encode_class_labels(
        np.repeat(labels, np.minimum(label_counts, 2)),
        model,
        int(np.minimum(label_counts, 2).sum()),
    )
    column_ranges = np.array(
        [
            np.min([summary.lowest for summary in summaries], axis=0),
            np.max([summary.highest for summary in summaries], axis=0),
        ]
    )
    return BlockScan(
        block_pairs,
        [summary.rows for summary in summaries],
        column_ranges,
        summaries[0].lowest,
        classes,
        label_counts,
    )


def compute_block_standardization(scan: BlockScan, names: Sequence[str]) -> Standardization:
    """Return mean and sd of each column over all blocks.

    It takes two passes, the first for the mean.
    """
    range_standardization = compute_standardization(scan.ends, np.array(names, dtype=object))
    unit = range_standardization.unit
    n_rows = sum(scan.rows)
    blocks = [x for x, _ in scan.pairs]
    mean = sum_over_blocks(_sum_scaled, zip(blocks), unit) / n_rows
    squared_deviations = sum_over_blocks(_sum_squared_deviations, zip(blocks), unit, mean)
    return Standardization(
        unit,
        mean,
        np.where(range_standardization.varies, np.sqrt(squared_deviations / n_rows), np.inf),
    )


def add_fields(sums: tuple[Any, ...], other_sums: tuple[Any, ...]) -> Any:
    """Return the sum of two named tuples, field by field."""
    return type(sums)(*map(add, sums, other_sums))


def sum_over_blocks(
    function: Callable[..., Any], parts: Iterable[tuple[Any, ...]], *arguments: Any
) -> Any:
    """Return the sum of function(*part, *arguments) over parts, in their order.

    A part is a block, perhaps with arrays about its rows.
    """
    from dask.base import compute
    from dask.delayed import delayed

    return reduce(add, compute(*(delayed(function)(*part, *arguments) for part in parts)))


def refuse_blocks(method: str, other_methods: tuple[str, ...]) -> None:
    """Raise ArgumentError for a Dask array if the method needs all rows in memory."""
    raise DataError(
        Message("X is a Dask array, but "),
        Setting("method", method),
        " requires the data in memory; set ",
        Message(Argument("method"), " to one of ", one_of("method", other_methods)),
        ", or pass X.compute().",
    )


def refuse_block_errors(return_se: bool) -> None:
    """Raise ArgumentError if standard errors are requested for a Dask array."""
    if return_se:
        raise ArgumentError(
            Argument("return_se"),
            " does not support a Dask array X; remove ",
            Argument("return_se"),
            ", or pass X.compute().",
        )


class _BlockSummary(NamedTuple):
    """Number of rows, covariate ranges and label counts of one block."""

    rows: int
    lowest: np.ndarray
    highest: np.ndarray
    labels: np.ndarray
    counts: np.ndarray


def _pair_blocks(X: Any, y: Any, model: str) -> list[tuple[Any, Any]]:
    """Return delayed (rows, labels) of each block."""
    import dask.array as da

    if X.ndim != 2:
        raise DataError(
            f"X must be two-dimensional, one row per observation; got {X.ndim} dimensions."
        )
    for name, array in (("X", X), ("y", y)):
        if is_dask_array(array) and np.isnan(np.concatenate(array.chunks)).any():
            raise DataError(
                f"{name} is a Dask array with blocks of unknown length; call"
                f" {name}.compute_chunk_sizes() first."
            )
    X = X.rechunk({1: -1})
    labels: Any = y
    if not is_dask_array(y):
        labels = da.from_array(check_class_labels(y, model, X.shape[0]), chunks=-1)  # pyright: ignore
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


def _summarise_block(
    x: np.ndarray, labels: np.ndarray, block_index: int, model: str
) -> _BlockSummary:
    """Check one block of rows and labels; return its summary."""
    try:
        matrix = convert_to_matrix(x)
        labels = check_class_labels(np.asarray(labels), model, len(matrix))
    except DataError as error:
        raise DataError(
            f"Block {block_index} of X (rows counted from 0 within the block): {error}"
        ) from None
    return _BlockSummary(
        len(matrix), matrix.min(axis=0), matrix.max(axis=0), *np.unique(labels, return_counts=True)
    )


def _merge_block_labels(summaries: Sequence[_BlockSummary]) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct labels of all blocks, and the count of each."""
    is_text_label = [summary.labels.dtype.kind in "OU" for summary in summaries]
    if len(set(is_text_label)) > 1:
        text_label, number_label = (
            repr(summaries[is_text_label.index(is_text)].labels.tolist()[0])
            for is_text in (True, False)
        )
        raise DataError(
            f"y contains labels of mixed types, {text_label} in one block and {number_label} in"
            " another; convert them to one type."
        )
    labels, label_indices = np.unique(
        np.concatenate([summary.labels for summary in summaries]), return_inverse=True
    )
    label_counts = np.zeros(len(labels), np.int64)
    np.add.at(
        label_counts, label_indices, np.concatenate([summary.counts for summary in summaries])
    )
    return labels, label_counts


def _sum_scaled(x: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Return column sums of a block's covariates divided by their units."""
    return (np.asarray(x, np.float64) / unit).sum(axis=0)


def _sum_squared_deviations(x: np.ndarray, unit: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Return column sums of squared deviations of x / unit from its mean."""
    return ((np.asarray(x, np.float64) / unit - mean) ** 2).sum(axis=0)
