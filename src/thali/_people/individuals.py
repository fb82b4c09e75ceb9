"""What each person prefers, with its error: a row a person and option, from draws of people by
options."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from thali._inference.indexing import iterate_slices
from thali._posterior.interval import tails_of

if TYPE_CHECKING:
    import pandas


def individuals_table(
    drawn: Callable[[slice], np.ndarray],
    draws: int,
    people: Sequence[str],
    options: Sequence[str],
    of: str,
    ci: float,
) -> "pandas.DataFrame":
    """Mean and interval over draws of each person and option, which are called `of`.

    `drawn` gives the draws of some of the people, shape (draws, people, options), NaN where there
    is nothing to count.
    """
    import pandas as pd

    from thali._tables import Table

    tails, (mean, low, high) = tails_of(ci), np.empty((3, len(people), len(options)))
    for some in iterate_slices(len(people), draws * len(options)):
        values = drawn(some)
        mean[some] = np.nanmean(values, axis=0)
        low[some], high[some] = np.nanquantile(values, tails, axis=0)
    index = pd.MultiIndex.from_product([people, options], names=["respondent", of])
    table = Table({"mean": mean.ravel(), "low": low.ravel(), "high": high.ravel()}, index)
    table.attrs["interval"] = ci
    return table
