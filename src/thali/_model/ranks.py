"""Table of posterior ranks of options."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from thali._inference.indexing import iterate_slices
from thali._inference.numerics.ranks import rank_bounds
from thali._posterior.interval import compute_discrete_interval

from .table_columns import HEADINGS

if TYPE_CHECKING:
    import pandas


def tabulate_ranks(
    utility: np.ndarray, labels: Sequence[str], every_rank: bool, ci: float
) -> "pandas.DataFrame":
    """Tabulate mean rank, interval and rank probabilities, one row per option.

    Utilities have shape (draws, options).
    """
    import pandas as pd

    from thali._result_table import Table

    n = utility.shape[1]
    rank = np.empty_like(utility)
    share = np.zeros((n, n + 1))  # differences along the ranks
    options = np.broadcast_to(np.arange(n), (1, n))
    for draws in iterate_slices(len(utility), n):
        block = -utility[draws]
        best_rank, worst_rank = rank_bounds(block)
        rank[draws] = (best_rank + worst_rank) / 2.0 + 1.0
        probability_per_rank = 1.0 / (worst_rank - best_rank + 1)
        option_index = np.broadcast_to(options, block.shape)
        np.add.at(share, (option_index, best_rank), probability_per_rank)
        np.add.at(share, (option_index, worst_rank + 1), -probability_per_rank)
    probability = np.clip(np.cumsum(share[:, :n], axis=1) / len(utility), 0.0, 1.0)
    low, high = compute_discrete_interval(rank, ci)
    table = {"rank": rank.mean(axis=0), "rank_low": low, "rank_high": high}
    shown_ranks = range(1)
    if every_rank:
        shown_ranks = range(n)
    table |= {f"p_{r + 1}": probability[:, r] for r in shown_ranks}
    frame = Table(table, index=pd.Index(labels, name="option"))
    frame.attrs |= {
        "interval": ci,
        HEADINGS: {f"p_{r + 1}": f"P(rank {r + 1})" for r in shown_ranks[1:]},
    }
    return frame.iloc[np.argsort(frame["rank"].to_numpy(), kind="stable")]
