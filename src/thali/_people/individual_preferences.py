"""Preferences of each respondent with intervals, from posterior draws."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from thali._inference.indexing import iterate_slices
from thali._posterior.interval import interval_tails

if TYPE_CHECKING:
    import pandas


def tabulate_individuals(
    read_draws: Callable[[slice], np.ndarray],
    draws: int,
    respondents: Sequence[str],
    options: Sequence[str],
    option_name: str,
    ci: float,
) -> "pandas.DataFrame":
    """Tabulate mean and interval of each respondent's preference, per option.

    `read_draws(slice)` returns draws of a block of respondents, shape (draws, respondents,
    options), NaN if missing. `option_name` is the name of the option column.
    """
    import pandas as pd

    from thali._exportable_table import Table

    tails, (mean, low, high) = interval_tails(ci), np.empty((3, len(respondents), len(options)))
    for block in iterate_slices(len(respondents), draws * len(options)):
        block_draws = read_draws(block)
        mean[block] = np.nanmean(block_draws, axis=0)
        low[block], high[block] = np.nanquantile(block_draws, tails, axis=0)
    index = pd.MultiIndex.from_product([respondents, options], names=["respondent", option_name])
    table = Table({"mean": mean.ravel(), "low": low.ravel(), "high": high.ravel()}, index)
    table.attrs["interval"] = ci
    return table
