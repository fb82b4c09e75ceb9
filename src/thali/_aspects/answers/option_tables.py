"""Who is first, second and last: the posterior of the options' ranks."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from thali._inference.indexing import BLOCK
from thali._inference.numerics.ranks import average_ranks
from thali._posterior.interval import tails_of
from thali._posterior.view import Posterior
from thali.errors import ArgumentError

from ..draws.columns import FeatureColumns, columns_of

if TYPE_CHECKING:
    import pandas


def utility_draws(columns: FeatureColumns) -> np.ndarray:
    r"""The utility of each option in each draw, :math:`U_i = u_i + \sum_k w_k f_{ik}`: the higher
    is chosen oftener."""
    utility = columns.unique_weights.astype(float)
    column = np.repeat(np.arange(len(columns.sizes)), columns.sizes)
    np.add.at(utility, (columns.draw[column], columns.owners), columns.weights[column])
    return utility


def shares_of(utility: np.ndarray) -> np.ndarray:
    """Each option's share in the sum of the utilities of all, the last axis."""
    return utility / utility.sum(axis=-1, keepdims=True)


def rank_draws(posterior: Posterior) -> np.ndarray:
    """The rank of each option by utility in each draw (draw, option), 1 the highest; equal ones
    share their mean."""
    return average_ranks(-utility_draws(columns_of(posterior)))


# The weight that each option has alone ------------------------------------------------------------


def unique_weights_table(posterior: Posterior, ci: float) -> "pandas.DataFrame":
    """The weight that each option has alone: its unique aspect, and every feature that no other
    option owns."""
    import pandas as pd

    from thali._tables import Table

    columns = columns_of(posterior)
    weights = columns.unique_weights.copy()
    alone = np.flatnonzero(columns.sizes == 1)
    np.add.at(
        weights,
        (columns.draw[alone], columns.owners[columns.first_owner[alone]]),
        columns.weights[alone],
    )
    total = weights.sum(1, keepdims=True)
    low, high = np.quantile(weights, tails_of(ci), axis=0)
    shares = np.divide(
        weights, total, out=np.full_like(weights, 1.0 / weights.shape[1]), where=total > 0
    )
    labels = pd.Index(posterior.labels, name="option")
    table = {
        "weight": weights.mean(0),
        "weight_low": low,
        "weight_high": high,
        "share": shares.mean(0),
    }
    found = Table(table, index=labels)
    found.attrs["interval"] = ci
    return found


# How similar options are by what they share, and the tree that is nearest to their features -------


MAX_OPTIONS = 1_000  # options of which there is a table


def similarity_table(posterior: Posterior) -> "pandas.DataFrame":
    """E[ sum_k w_k f_ik f_jk / ((U_i + U_j) / 2) ], 0 / 0 being 0, and 1 on the diagonal."""
    from thali._tables import Table

    labels = posterior.labels
    n = len(labels)
    if n > MAX_OPTIONS:
        raise ArgumentError(
            f"The table of similarities would have {n:,} rows, but the limit is {MAX_OPTIONS:,}"
            " options; use fewer options."
        )
    columns = columns_of(posterior)
    counts = ~ignored(columns, posterior.sees_single)
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


def ignored(columns: FeatureColumns, sees_single: bool) -> np.ndarray:
    """The columns that tell no options apart: those of all, and those of one owner where the data
    do not see them."""
    return (columns.sizes == columns.n_options) | ((columns.sizes == 1) & (not sees_single))
