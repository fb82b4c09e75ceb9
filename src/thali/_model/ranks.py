"""The posterior of the ranks of options."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from thali._inference.numerics.ranks import rank_bounds
from thali._posterior.interval import tails_of

from .table_columns import HEADINGS

if TYPE_CHECKING:
    import pandas

AT_ONCE = 2**21  # numbers held at once


def tabulate_ranks(
    utility: np.ndarray, labels: Sequence[str], every_rank: bool, ci: float
) -> "pandas.DataFrame":
    """Return rank, interval and the probability of the first rank, or of all, by utility (draws,
    options)."""
    import pandas as pd

    from thali._tables import Table

    n = utility.shape[1]
    rank = np.empty_like(utility)
    share = np.zeros((n, n + 1))  # differences along the ranks
    options = np.broadcast_to(np.arange(n), (1, n))
    step = max(1, AT_ONCE // n)
    for start in range(0, len(utility), step):
        block = -utility[start : start + step]
        best, worst = rank_bounds(block)
        rank[start : start + step] = (best + worst) / 2.0 + 1.0
        each = 1.0 / (worst - best + 1)
        who = np.broadcast_to(options, block.shape)
        np.add.at(share, (who, best), each)
        np.add.at(share, (who, worst + 1), -each)
    probability = np.clip(np.cumsum(share[:, :n], axis=1) / len(utility), 0.0, 1.0)
    low, high = np.quantile(rank, tails_of(ci), axis=0, method="inverted_cdf")
    table = {"rank": rank.mean(axis=0), "rank_low": low, "rank_high": high}
    shown = range(n if every_rank else 1)
    table |= {f"p_{r + 1}": probability[:, r] for r in shown}
    frame = Table(table, index=pd.Index(labels, name="option"))
    frame.attrs |= {"interval": ci, HEADINGS: {f"p_{r + 1}": f"P(rank {r + 1})" for r in shown[1:]}}
    return frame.iloc[np.argsort(frame["rank"].to_numpy(), kind="stable")]
