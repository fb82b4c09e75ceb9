"""Who is first, second and last: the posterior of the options' ranks."""

from typing import TYPE_CHECKING

import numpy as np

from thali.inference.numerics.ranks import average_ranks, rank_bounds
from thali.posterior.interval import TAILS

from ..draws.columns import Columns, columns_of

if TYPE_CHECKING:
    import pandas
    import xarray

BLOCK = 2**21  # numbers held at once


def utility_draws(columns: Columns) -> np.ndarray:
    r"""The utility of each option in each draw: the weight of all its aspects.

    .. math:: U_i = u_i + \sum_k w_k f_{ik}

    Since :math:`U_i - U_j = A_{ij} - A_{ji}`, option i is chosen over j more often than not if and only if its utility
    is the higher one.
    """
    utility = columns.unique_weights.astype(float)
    column = np.repeat(np.arange(len(columns.sizes)), columns.sizes)
    np.add.at(utility, (columns.draw[column], columns.owners), columns.weights[column])
    return utility


def rank_draws(tree: "xarray.DataTree") -> np.ndarray:
    """The rank of each option by utility in each draw (draw, option), 1 the highest; equal ones share their mean."""
    return average_ranks(-utility_draws(columns_of(tree)))


def ranks_table(tree: "xarray.DataTree", every_rank: bool = False) -> "pandas.DataFrame":
    """The posterior of the rank of each option by utility, 1 the highest, with the probability of the first, or all."""
    import pandas as pd

    from thali._tables import Table

    labels = tree["posterior"].to_dataset()["option"].values.tolist()
    utility = utility_draws(columns_of(tree))
    n = utility.shape[1]
    rank = np.empty_like(utility)
    share = np.zeros((n, n + 1))  # differences along the ranks
    options = np.broadcast_to(np.arange(n), (1, n))
    step = max(1, BLOCK // n)
    for start in range(0, len(utility), step):
        block = -utility[start : start + step]
        best, worst = rank_bounds(block)
        rank[start : start + step] = (best + worst) / 2.0 + 1.0
        each = 1.0 / (worst - best + 1)
        who = np.broadcast_to(options, block.shape)
        np.add.at(share, (who, best), each)
        np.add.at(share, (who, worst + 1), -each)
    probability = np.clip(np.cumsum(share[:, :n], axis=1) / len(utility), 0.0, 1.0)
    low, high = np.quantile(rank, TAILS, axis=0, method="inverted_cdf")
    table = {"rank": rank.mean(axis=0), "rank_low": low, "rank_high": high}
    table |= {f"p_{r + 1}": probability[:, r] for r in range(n if every_rank else 1)}
    frame = Table(table, index=pd.Index(labels, name="option"))
    return frame.iloc[np.argsort(frame["rank"].to_numpy(), kind="stable")]
