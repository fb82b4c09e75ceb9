"""The reliability of a board, as comparative judgement reports it."""

from typing import TYPE_CHECKING

import numpy as np

from thali._inference.seeds import streams
from thali._posterior.interval import tails_of

from .estimates import WorthEstimates
from .worths import knows_judges, posed

if TYPE_CHECKING:
    import pandas

BY_JUDGES, BY_COMPARISONS = "split_half_judges", "split_half_comparisons"
_MOST_ROWS, _MOST_COORDINATES = 100_000, 500  # above, splits take longer than the leaderboard


def reliability_table(drawn: WorthEstimates) -> "pandas.DataFrame | None":
    """Return measures of reliability; None of estimates without a prior, which are not shrunk, and of two options."""
    import pandas as pd

    from thali._worths.reliability import separation, split_half, squared_correlations

    assert drawn.marginal is not None and drawn.pose is not None
    data, asked, density, *_ = drawn.pose
    judge = None
    if not density.has_prior or density.n_options < 3:
        return None
    squared = squared_correlations(drawn.log_worths)
    found = {"r_squared": (squared.mean(), *np.quantile(squared, tails_of(asked.ci)))}
    found["separation"] = separation(drawn.log_worths), np.nan, np.nan
    if asked.judges:
        judge = density.rows.judge
    elif knows_judges(data) and len(data.respondents) > 1:
        rows = posed(data, asked._replace(judges=True)).density.rows
        density, judge = density.with_rows(rows._replace(judge=0 * rows.judge)), rows.judge
    if density.n_rows <= _MOST_ROWS and density.size <= _MOST_COORDINATES:
        (rng,) = streams(asked.random_seed, 1)
        spreads, mode = drawn.marginal.best
        value = split_half(density, spreads, mode.point, rng, judge)
        found[BY_COMPARISONS if judge is None else BY_JUDGES] = value, np.nan, np.nan
    return pd.DataFrame.from_dict(found, orient="index", columns=["reliability", "low", "high"]).rename_axis("measure")
