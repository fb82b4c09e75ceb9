"""Training rows of Plackett–Luce regression in Dask arrays, block by block.

Dask is imported only when such an array is passed; its scheduler may be a distributed cluster.
Every worker stores W of its rows; a sweep transfers only the weights and the (K + 1) p + 1 sums.
"""

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.chains import Run
from thali._model.base import Job

from ..dask_blocks import compute_block_standardization, scan_blocks, sum_over_blocks
from ..input import convert_to_matrix
from .design import ColumnSummary, PlackettLuceDesign, check_transform, summarise_columns
from .row_sums import CovariateRows, Curvature, Statistics, merge_equal_rows

if TYPE_CHECKING:
    from .model import PlackettLuceRegression


class DaskRows:
    """Delayed `CovariateRows`, one per block of rows."""

    n_classes: int
    p: int
    n_rows: int
    n: float

    def __init__(
        self, blocks: Sequence[Any], n_classes: int, p: int, block_sizes: Sequence[int]
    ) -> None:
        self._blocks, self._block_sizes = list(blocks), list(block_sizes)
        self.n_classes, self.p, self.n_rows = n_classes, p, sum(block_sizes)
        self.n = float(self.n_rows)

    def compute_statistics(self, A: Any, m: Any) -> Statistics:
        """Compute log-likelihood, R and s at A (K × p) and m (p)."""
        return sum_over_blocks(CovariateRows.compute_statistics, zip(self._blocks), A, m)

    def compute_curvature(self, A: Any, m: Any, columns: Any) -> Curvature:
        """Compute the sums of products for the Hessian, for columns of W."""
        return sum_over_blocks(CovariateRows.compute_curvature, zip(self._blocks), A, m, columns)

    def sample_rows(self, n_rows: int) -> CovariateRows:
        """Sample about `n_rows` rows into memory, in proportion from all blocks."""
        from dask.base import compute
        from dask.delayed import delayed

        shares = [-(-n_rows * size // self.n_rows) for size in self._block_sizes]
        parts = compute(
            *(
                delayed(_sample_block)(block, share)
                for block, share in zip(self._blocks, shares, strict=True)
            )
        )
        W, codes, counts = (
            np.concatenate([block_sample[i] for block_sample in parts]) for i in range(3)
        )
        return CovariateRows(W, codes, self.n_classes, counts)


def build_dask_job(
    model: "PlackettLuceRegression", X: Any, y: Any, sample_weight: Any, run: Run
) -> Job:
    """Build the job of a fit to a Dask array: find classes and scale, build W on workers."""
    from dask.base import compute, persist
    from dask.delayed import delayed

    transform = model._transform
    check_transform(transform)
    scan = scan_blocks(X, y, sample_weight, type(model).__name__)
    model.classes_, model.n_features_in_ = scan.classes, X.shape[1]
    names, standard = model._column_names(), None
    if model.standardize and transform is not None:
        standard = compute_block_standardization(scan, names)
    design = PlackettLuceDesign.from_standardization(standard, names, transform, scan.first[None])
    blocks = persist(
        *(delayed(_build_block_rows)(x, label, design, scan.classes) for x, label in scan.pairs)
    )
    summaries = compute(*(delayed(_summarise_block_columns)(block) for block in blocks))
    data = DaskRows(blocks, len(scan.classes), len(design.columns), scan.rows)
    summary = reduce(add, summaries)
    return model._build_row_job(data, design, summary, scan.counts, data.n_rows, run)


def _build_block_rows(
    block: Any, labels: Any, design: PlackettLuceDesign, classes: Any
) -> CovariateRows:
    """Build W of a block and merge its equal rows."""
    W, codes, counts = merge_equal_rows(
        design.apply(convert_to_matrix(block)), np.searchsorted(classes, np.asarray(labels))
    )
    return CovariateRows(W, codes, len(classes), counts, threads=1)


def _summarise_block_columns(rows: CovariateRows) -> ColumnSummary:
    """Summarise the columns of W of a block."""
    return summarise_columns(rows.W, rows.counts)


def _sample_block(rows: CovariateRows, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return W, codes and counts of a sample of a block."""
    sample = rows.sample_rows(min(size, len(rows.W)))
    return sample.W, sample.codes, sample.counts
