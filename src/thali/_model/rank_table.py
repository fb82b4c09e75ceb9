"""Table of posterior ranks of options."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from thali._inference.index_arithmetic import iterate_slices
from thali._inference.numerics.ranks import rank_bounds
from thali._posterior.posterior_interval import compute_discrete_interval

from .column_headings import HEADINGS

if TYPE_CHECKING:
    import pandas


def tabulate_ranks(
    utility: np.ndarray, labels: Sequence[str], every_rank: bool, ci: float
) -> "pandas.DataFrame":
    """Tabulate mean rank, interval and rank probabilities, one row per option.

    Utilities have shape (draws, options).
    """
    import pandas as pd

    from thali._exportable_table import Table

    n_options = utility.shape[1]
    mean_rank = np.empty_like(utility)
    p_rank_steps = np.zeros((n_options, n_options + 1))  # differences along the ranks
    option_row = np.broadcast_to(np.arange(n_options), (1, n_options))
    for draws in iterate_slices(len(utility), n_options):
        negative_utility = -utility[draws]
        best_rank, worst_rank = rank_bounds(negative_utility)
        mean_rank[draws] = (best_rank + worst_rank) / 2.0 + 1.0
        probability_per_rank = 1.0 / (worst_rank - best_rank + 1)
        option_indices = np.broadcast_to(option_row, negative_utility.shape)
        np.add.at(p_rank_steps, (option_indices, best_rank), probability_per_rank)
        np.add.at(p_rank_steps, (option_indices, worst_rank + 1), -probability_per_rank)
    p_rank = np.clip(np.cumsum(p_rank_steps[:, :n_options], axis=1) / len(utility), 0.0, 1.0)
    low, high = compute_discrete_interval(mean_rank, ci)
    columns = {"rank": mean_rank.mean(axis=0), "rank_low": low, "rank_high": high}
    shown_ranks = range(1)
    if every_rank:
        shown_ranks = range(n_options)
    columns |= {f"p_{r + 1}": p_rank[:, r] for r in shown_ranks}
    frame = Table(columns, index=pd.Index(labels, name="option"))
    frame.attrs |= {
        "interval": ci,
        HEADINGS: {f"p_{r + 1}": f"P(rank {r + 1})" for r in shown_ranks[1:]},
    }
    return frame.iloc[np.argsort(frame["rank"].to_numpy(), kind="stable")]
