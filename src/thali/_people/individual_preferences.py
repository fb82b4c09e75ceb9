"""Preferences of each respondent with intervals, from posterior draws."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from thali._exportable_table import Table
from thali._inference.index_arithmetic import iterate_slices
from thali._posterior.posterior_interval import interval_tails


def tabulate_individuals(
    read_draws: Callable[[slice], np.ndarray],
    n_draws: int,
    respondents: Sequence[str],
    options: Sequence[str],
    option_name: str,
    ci: float,
) -> pd.DataFrame:
    """Tabulate mean and interval of each respondent's preference, per option.

    `read_draws(slice)` returns draws of a block of respondents, shape (draws, respondents,
    options), NaN if missing. `option_name` is the name of the option column.
    """
    tail_probabilities = interval_tails(ci)
    mean, low, high = np.empty((3, len(respondents), len(options)))
    for respondent_slice in iterate_slices(len(respondents), n_draws * len(options)):
        block_draws = read_draws(respondent_slice)
        mean[respondent_slice] = np.nanmean(block_draws, axis=0)
        low[respondent_slice], high[respondent_slice] = np.nanquantile(
            block_draws, tail_probabilities, axis=0
        )
    index = pd.MultiIndex.from_product([respondents, options], names=["respondent", option_name])
    table = Table({"mean": mean.ravel(), "low": low.ravel(), "high": high.ravel()}, index)
    table.attrs["interval"] = ci
    return table
