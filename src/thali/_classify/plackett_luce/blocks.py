"""Rows that lie in blocks on other machines: covariates and labels as Dask arrays, chunk by chunk.

Dask is imported only when somebody passes such an array; its scheduler may be a distributed
cluster. Every worker keeps W of its rows; a sweep transfers only the weights and the (K + 1) p + 1
sums.
"""

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from ..blocks import compute_block_standardization, scan_blocks, sum_over_blocks
from ..input import convert_to_matrix
from .design import Look, PlackettLuceDesign, check_transform, look_at
from .row_sums import CovariateRows, Curvature, Statistics, distinct_rows


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
        return sum_over_blocks(_statistics_of, self._held, A, m)

    def curvature(self, A: Any, m: Any, columns: Any) -> Curvature:
        """The sums of products that the Hessian needs, for some columns of W."""
        return sum_over_blocks(_curvature_of, self._held, A, m, columns)

    def sample(self, rows: int) -> CovariateRows:
        """About that many rows in memory, from every block its share."""
        from dask.base import compute
        from dask.delayed import delayed

        shares = [-(-rows * size // self.n_rows) for size in self._rows]
        parts = compute(
            *(
                delayed(_sample_of)(block, share)
                for block, share in zip(self._held, shares, strict=True)
            )
        )
        W, codes, counts = (np.concatenate([part[i] for part in parts]) for i in range(3))
        return CovariateRows(W, codes, self.n_classes, counts)


class Gathered(NamedTuple):
    """The input of a fit to blocks, as the classifier makes it for arrays in memory."""

    data: Blocks
    design: PlackettLuceDesign
    look: Look
    classes: np.ndarray
    class_counts: np.ndarray
    n_features: int


def gather(
    X: Any, y: Any, sample_weight: Any, transform: Any, standardize: bool, model: str
) -> Gathered:
    """Check the blocks, find their classes and scale, and make every worker keep W of its rows."""
    from dask.base import compute, persist
    from dask.delayed import delayed

    check_transform(transform)
    seen = scan_blocks(X, y, sample_weight, model)
    names = [f"x{j}" for j in range(X.shape[1])]
    standard = (
        compute_block_standardization(seen, names)
        if standardize and transform is not None
        else None
    )
    design = PlackettLuceDesign.of_standard(standard, names, transform, seen.first[None])
    held = persist(*(delayed(_rows_of)(x, label, design, seen.classes) for x, label in seen.pairs))
    looks = compute(*(delayed(_look_of)(block) for block in held))
    data = Blocks(held, len(seen.classes), len(design.columns), seen.rows)
    return Gathered(data, design, reduce(add, looks), seen.classes, seen.counts, X.shape[1])


def _rows_of(x: Any, labels: Any, design: PlackettLuceDesign, classes: Any) -> CovariateRows:
    W, codes, counts = distinct_rows(
        design.apply(convert_to_matrix(x)), np.searchsorted(classes, np.asarray(labels))
    )
    return CovariateRows(W, codes, len(classes), counts, threads=1)


def _look_of(rows: CovariateRows) -> Look:
    return look_at(rows.W, rows.counts)


def _statistics_of(rows: CovariateRows, A: np.ndarray, m: np.ndarray) -> Statistics:
    return rows.statistics(A, m)


def _curvature_of(rows: CovariateRows, A: np.ndarray, m: np.ndarray, columns: Any) -> Curvature:
    return rows.curvature(A, m, columns)


def _sample_of(rows: CovariateRows, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    part = rows.sample(min(size, len(rows.W)))
    return part.W, part.codes, part.counts
