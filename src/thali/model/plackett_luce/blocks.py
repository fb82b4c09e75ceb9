"""Rows that lie in blocks on other machines: covariates and labels as Dask arrays, chunk by chunk.

Dask is imported only when somebody passes such an array; its scheduler may be a distributed cluster. Every worker keeps
W of its rows; a sweep transfers only the weights and the (K + 1) p + 1 sums.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from thali.errors import DataError

from ..classifiers.input import codes_of, labels_of, matrix_of
from ..classifiers.standard import Standard, standard_of
from .curvature import Curvature
from .design import Design, check_transform
from .duplicates import distinct_rows
from .row_sums import Rows, State, Statistics, codes_among, partial_statistics
from .scale_check import Look, look_at


def is_blocked(X: Any) -> bool:
    """Whether this is a Dask array."""
    return hasattr(X, "to_delayed") and hasattr(X, "chunks")


class Blocks:
    """As `Rows`, for blocks in Dask: each is a delayed `Rows`."""

    n_classes: int
    p: int
    n_rows: int
    n: float

    def __init__(self, held: Sequence[Any], n_classes: int, p: int, rows: Sequence[int]) -> None:
        self._held, self.n_classes, self.p = list(held), n_classes, p
        self._rows = list(rows)
        self.n_rows = sum(rows)
        self.n = float(self.n_rows)

    def statistics(self, A: Any, m: Any) -> Statistics:
        """The fused sums at A (K × p) and m (p)."""
        return _sum_over(_statistics_of, self._held, State(A, m))

    def curvature(self, A: Any, m: Any, columns: Any) -> Curvature:
        """The sums of products that the Hessian needs, for some columns of W."""
        return _sum_over(_curvature_of, self._held, State(A, m), columns)

    def sample(self, rows: int) -> Rows:
        """About that many rows in memory, from every block its share."""
        from dask.base import compute
        from dask.delayed import delayed

        shares = [-(-rows * size // self.n_rows) for size in self._rows]
        parts = compute(*(delayed(_sample_of)(block, share) for block, share in zip(self._held, shares, strict=True)))
        W, codes, counts = (np.concatenate([part[i] for part in parts]) for i in range(3))
        return Rows(W, codes, self.n_classes, counts)


class Gathered(NamedTuple):
    """The input of a fit to blocks, as the classifier makes it for arrays in memory."""

    data: Blocks
    design: Design
    look: Look
    classes: np.ndarray
    class_counts: np.ndarray
    n_features: int


def gather(X: Any, y: Any, transform: Any, standardize: bool, model: str) -> Gathered:
    """Check the blocks, find their classes and scale, and make every worker keep W of its rows."""
    from dask.base import compute, persist
    from dask.delayed import delayed

    check_transform(transform)
    pairs = _pairs(X, y, model)
    names = [f"x{j}" for j in range(X.shape[1])]
    seen = compute(*(delayed(_look_over)(x, label, number, model) for number, (x, label) in enumerate(pairs)))
    labels, counts = _labels_of(seen)
    classes, _ = codes_of(np.repeat(labels, np.minimum(counts, 2)), model, int(np.minimum(counts, 2).sum()))
    standard = None
    if standardize and transform is not None:
        standard = _standard_over(pairs, seen, names)
    design = Design.of_standard(standard, names, transform, seen[0].lowest[None])
    held = persist(*(delayed(_rows_of)(x, label, design, classes) for x, label in pairs))
    looks = compute(*(delayed(_look_of)(block) for block in held))
    data = Blocks(held, len(classes), len(design.columns), [part.rows for part in seen])
    return Gathered(data, design, reduce(add, looks), classes, counts, X.shape[1])


class _Seen(NamedTuple):
    """Facts of one block: rows, least and largest value of each covariate, labels and their counts."""

    rows: int
    lowest: np.ndarray
    highest: np.ndarray
    labels: np.ndarray
    counts: np.ndarray


def _pairs(X: Any, y: Any, model: str) -> list[tuple[Any, Any]]:
    """Blocks of rows and of their labels."""
    import dask.array as da

    if X.ndim != 2:
        raise DataError(f"X must be two-dimensional, one row an observation; got {X.ndim} dimensions.")
    X = X.rechunk({1: -1})
    known = not np.isnan(X.chunks[0]).any()
    labels: Any = y
    if not is_blocked(y):
        rows = X.shape[0] if known or y is None else len(y)
        labels = da.from_array(labels_of(y, model, rows), chunks=-1)  # pyright: ignore
    elif y.ndim != 1:
        raise DataError(f"y should be a 1d array of labels, one for each row of X; got {y.ndim} dimensions.")
    if known and X.shape[0] != labels.shape[0]:
        raise DataError(f"X has {X.shape[0]} rows and y has {labels.shape[0]} labels; each row of X needs one label.")
    if known:
        labels = labels.rechunk((X.chunks[0],))
    blocks, of_labels = X.to_delayed().ravel(), labels.to_delayed().ravel()
    if len(blocks) != len(of_labels):
        raise DataError(f"X has {len(blocks)} blocks of rows and y has {len(of_labels)}; cut both at the same rows.")
    return list(zip(blocks, of_labels, strict=True))


def _look_over(x: Any, labels: Any, number: int, model: str) -> _Seen:
    try:
        matrix = matrix_of(x)
        labels = labels_of(np.asarray(labels), model, len(matrix))
    except DataError as error:
        raise DataError(f"In block {number} of the rows (blocks and rows counted from 0): {error}") from None
    return _Seen(len(matrix), matrix.min(axis=0), matrix.max(axis=0), *np.unique(labels, return_counts=True))


def _labels_of(seen: Sequence[_Seen]) -> tuple[np.ndarray, np.ndarray]:
    kinds = [part.labels.dtype.kind in "OU" for part in seen]
    if len(set(kinds)) > 1:
        text, number = (repr(seen[kinds.index(kind)].labels[0]) for kind in (True, False))
        raise DataError(
            f"y holds labels of mixed type, {text} in one block and {number} in another; make them one type."
        )
    labels, places = np.unique(np.concatenate([part.labels for part in seen]), return_inverse=True)
    counts = np.zeros(len(labels), np.int64)
    np.add.at(counts, places, np.concatenate([part.counts for part in seen]))
    return labels, counts


def _standard_over(pairs: Any, seen: Sequence[_Seen], names: Sequence[str]) -> Standard:
    """Mean and standard deviation over all blocks: two sweeps, the first for the mean."""
    ends = np.array([np.min([part.lowest for part in seen], axis=0), np.max([part.highest for part in seen], axis=0)])
    of_ends = standard_of(ends, np.array(names, dtype=object))
    unit = of_ends.unit
    rows = sum(part.rows for part in seen)
    mean = _sum_over(_sum_scaled, [x for x, _ in pairs], unit) / rows
    squares = _sum_over(_sum_squares, [x for x, _ in pairs], unit, mean)
    return Standard(unit, mean, np.where(of_ends.varies, np.sqrt(squares / rows), np.inf))


def _sum_over(function: Callable[..., Any], blocks: Sequence[Any], *rest: Any) -> Any:
    """Σ function(block, *rest), always in the order of the blocks."""
    from dask.base import compute
    from dask.delayed import delayed

    return reduce(add, compute(*(delayed(function)(block, *rest) for block in blocks)))


def _sum_scaled(x: Any, unit: Any) -> np.ndarray:
    return (np.asarray(x, np.float64) / unit).sum(axis=0)


def _sum_squares(x: Any, unit: Any, mean: Any) -> np.ndarray:
    return ((np.asarray(x, np.float64) / unit - mean) ** 2).sum(axis=0)


def _rows_of(x: Any, labels: Any, design: Design, classes: Any) -> Rows:
    W, codes, counts = distinct_rows(design.apply(matrix_of(x)), codes_among(labels, classes))
    return Rows(W, codes, len(classes), counts, threads=1)


def _look_of(rows: Rows) -> Look:
    return look_at(rows.W, rows.counts)


def _statistics_of(rows: Rows, state: State) -> Statistics:
    return partial_statistics(rows.W, rows.codes, state, rows.counts)


def _curvature_of(rows: Rows, state: State, columns: Any) -> Curvature:
    return rows.curvature(state.A, state.m, columns)


def _sample_of(rows: Rows, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    part = rows.sample(min(size, len(rows.W)))
    return part.W, part.codes, part.counts
