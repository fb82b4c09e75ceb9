"""Training rows of Plackett-Luce regression as Dask blocks, summed on workers.

Dask is imported only when such an array is passed; its scheduler may be a distributed cluster.
Every worker stores W of its rows; a sweep transfers only the weights and the (K + 1) p + 1 sums.
"""

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.classification_data import merge_rows

from ..covariates_and_labels import convert_to_matrix, list_covariate_names
from ..dask_blocks import compute_block_standardization, scan_blocks, sum_over_blocks
from .nonnegative_columns import (
    ColumnSummary,
    PlackettLuceDesign,
    check_transform,
    summarise_columns,
)
from .row_sums import CovariateRows, Curvature, Statistics

if TYPE_CHECKING:
    from .model import PlackettLuceRegression


class DaskRows:
    """Training rows as delayed `CovariateRows`, one per block."""

    n_classes: int
    p: int
    n_rows: int
    n: float

    def __init__(
        self, blocks: Sequence[Any], n_classes: int, p: int, block_sizes: Sequence[int]
    ) -> None:
        self._blocks = list(blocks)
        self._block_sizes = list(block_sizes)
        self.n_classes = n_classes
        self.p = p
        self.n_rows = sum(block_sizes)
        self.n = float(self.n_rows)

    def compute_statistics(self, A: np.ndarray, m: np.ndarray) -> Statistics:
        """Return log-likelihood and sums R, s over all rows at A (K, p), m (p)."""
        return sum_over_blocks(CovariateRows.compute_statistics, zip(self._blocks), A, m)

    def compute_curvature(self, A: np.ndarray, m: np.ndarray, columns: np.ndarray) -> Curvature:
        """Return the sums of products for the Hessian over all rows."""
        return sum_over_blocks(CovariateRows.compute_curvature, zip(self._blocks), A, m, columns)

    def sample_rows(self, n_rows: int) -> CovariateRows:
        """Return a sample of about `n_rows` rows in memory, from all blocks."""
        from dask.base import compute
        from dask.delayed import delayed

        n_sampled_by_block = [-(-n_rows * size // self.n_rows) for size in self._block_sizes]
        block_samples = compute(
            *(
                delayed(_sample_block)(block, n_sampled)
                for block, n_sampled in zip(self._blocks, n_sampled_by_block, strict=True)
            )
        )
        W, class_codes, counts = (
            np.concatenate([block_sample[i] for block_sample in block_samples]) for i in range(3)
        )
        return CovariateRows(W, class_codes, self.n_classes, counts)


def read_dask_rows(
    model: "PlackettLuceRegression", transform: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[DaskRows, PlackettLuceDesign, ColumnSummary, np.ndarray]:
    """Return W of a Dask array's rows, its design and summary, and the size of each class."""
    from dask.base import compute, persist
    from dask.delayed import delayed

    check_transform(transform)
    scan = scan_blocks(X, y, sample_weight, type(model).__name__)
    model.classes_ = scan.classes
    model.n_features_in_ = X.shape[1]
    column_names = list_covariate_names(model)
    standardization = None
    if model.standardize and transform is not None:
        standardization = compute_block_standardization(scan, column_names)
    design = PlackettLuceDesign.from_standardization(
        standardization, column_names, transform, scan.first[None]
    )
    blocks = persist(
        *(delayed(_build_block_rows)(x, label, design, scan.classes) for x, label in scan.pairs)
    )
    summaries = compute(*(delayed(_summarise_block_columns)(block) for block in blocks))
    dask_rows = DaskRows(blocks, len(scan.classes), len(design.columns), scan.rows)
    summary = reduce(add, summaries)
    return dask_rows, design, summary, scan.counts


def _build_block_rows(
    block: np.ndarray, labels: np.ndarray, design: PlackettLuceDesign, classes: np.ndarray
) -> CovariateRows:
    """Return W of a block's rows, equal rows merged."""
    data = merge_rows(
        design.apply(convert_to_matrix(block)), np.searchsorted(classes, np.asarray(labels))
    )
    return CovariateRows(data.matrix, data.codes, len(classes), data.counts, threads=1)


def _summarise_block_columns(rows: CovariateRows) -> ColumnSummary:
    """Return the column summary of a block's W."""
    return summarise_columns(rows.W, rows.counts)


def _sample_block(rows: CovariateRows, n_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return W, class codes and counts of a sample of a block's rows."""
    sample = rows.sample_rows(min(n_rows, len(rows.W)))
    return sample.W, sample.codes, sample.counts
