"""Reliability table of a leaderboard, as comparative judgement reports it."""

from typing import TYPE_CHECKING

from thali._data.respondent_answers import Answers

from .leaderboard_posterior import build_worth_problem, has_all_judges
from .worth_estimates import WorthEstimates

if TYPE_CHECKING:
    import pandas


def measure_reliability(estimates: WorthEstimates) -> "pandas.DataFrame | None":
    """Return a table of reliability measures; None without prior or for two options."""
    from thali._worths.reliability import (
        MAX_ROWS,
        estimate_split_halves,
        tabulate_reliability,
    )

    assert estimates.pose is not None
    data, settings, density, *_ = estimates.pose
    judge_index = None
    judge_word = "judge"
    if data.scores is not None:
        judge_word = "item"
    if not density.has_prior or density.n_options < 3:
        return None
    if isinstance(data.answers, Answers) and len(data.answers.respondent) > MAX_ROWS:
        return tabulate_reliability(estimates.log_worths, {}, settings.ci)
    if settings.target is not None:
        return tabulate_reliability(estimates.log_worths, {}, settings.ci)
    if settings.judges:
        judge_index = density.rows.judge
    elif has_all_judges(data) and len(data.respondents) > 1:
        judged_rows = build_worth_problem(data, settings._replace(judges=True)).density.rows
        density = density.with_rows(judged_rows._replace(judge=0 * judged_rows.judge))
        judge_index = judged_rows.judge
    split_half_reliabilities = estimate_split_halves(
        estimates, density, judge_index, settings.random_seed, judge_word
    )
    return tabulate_reliability(estimates.log_worths, split_half_reliabilities, settings.ci)
