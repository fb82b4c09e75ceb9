"""How similar options are by what they share, and the tree that is nearest to their features."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from thali.errors import ArgumentError

from ..draws.columns import Columns, columns_of
from ..draws.probabilities import BLOCK
from .kind import of_data

if TYPE_CHECKING:
    import pandas
    import xarray

MOST = 1_000  # options of which there is a table


def similarity_table(tree: "xarray.DataTree") -> "pandas.DataFrame":
    """E[ sum_k w_k f_ik f_jk / ((U_i + U_j) / 2) ], 0 / 0 being 0, and 1 on the diagonal."""
    from thali._tables import Table

    labels = [str(label) for label in tree["posterior"].dataset["option"].values]
    n = len(labels)
    if n > MOST:
        raise ArgumentError(f"The table of similarities would have {n:,} rows; it is made of {MOST:,} options at most.")
    columns = columns_of(tree)
    counts = ~ignored(tree, columns)
    total = np.zeros((n, n))
    step = max(1, BLOCK // max(1, n * n))
    weighed = replace(columns, weights=np.where(counts, columns.weights, 0.0))
    for start in range(0, columns.n_draws, step):
        stop = min(start + step, columns.n_draws)
        features, weights = weighed.dense(start, stop)
        owned = features.astype(float)
        shared = (owned * weights[:, :, None]).transpose(0, 2, 1) @ owned
        worth = np.diagonal(shared, axis1=1, axis2=2) + columns.unique_weights[start:stop]
        mean = 0.5 * (worth[:, :, None] + worth[:, None, :])
        total += np.divide(shared, mean, out=np.zeros_like(shared), where=mean > 0.0).sum(axis=0)
    found = total / columns.n_draws
    np.fill_diagonal(found, 1.0)
    return Table(found, index=labels, columns=labels)


def ignored(tree: "xarray.DataTree", columns: Columns) -> np.ndarray:
    """The columns that tell no options apart: those that all own, and those of one owner where the data do not see
    them."""
    sees_single = of_data(tree).sees_single(tree)
    return (columns.sizes == columns.n_options) | ((columns.sizes == 1) & (not sees_single))
