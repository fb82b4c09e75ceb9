"""The reliability of a board, as comparative judgement reports it."""

from typing import TYPE_CHECKING

from .estimates import WorthEstimates
from .worths import knows_judges, posed

if TYPE_CHECKING:
    import pandas


def reliability_of_board(drawn: WorthEstimates) -> "pandas.DataFrame | None":
    """Return measures of reliability; None of estimates without a prior, which are not shrunk, and
    of two options."""
    from thali._worths.reliability import estimate_split_halves, tabulate_reliability

    assert drawn.pose is not None
    data, asked, density, *_ = drawn.pose
    judge = None
    if not density.has_prior or density.n_options < 3:
        return None
    if asked.judges:
        judge = density.rows.judge
    elif knows_judges(data) and len(data.respondents) > 1:
        rows = posed(data, asked._replace(judges=True)).density.rows
        density, judge = density.with_rows(rows._replace(judge=0 * rows.judge)), rows.judge
    halves = estimate_split_halves(drawn, density, judge, asked.random_seed)
    return tabulate_reliability(drawn.log_worths, halves, asked.ci)
