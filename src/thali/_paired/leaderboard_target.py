"""Worths for one judge, the target, that the votes of other judges make more certain."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.pairs import PairedComparisons
from thali._labels import format_plural, shorten
from thali._posterior.posterior_interval import format_sd
from thali.errors import Argument, DataError

from .judge_table import sort_judges, tabulate_judges

if TYPE_CHECKING:
    import pandas

    from thali._worths.posterior_density import Spreads

    from .leaderboard_posterior import BoardProblem
    from .vote_counts import Judgements

_MAX_FACTOR = 1e6  # largest multiple of the target's votes that is searched
_N_BISECTIONS = 40


def check_target(target: str, data: "Judgements") -> None:
    """Raise DataError unless a judge of paired comparisons is the target."""
    if not isinstance(data, PairedComparisons):
        raise DataError(
            Argument("target"),
            f" requires paired comparisons, but these data are {data.kind}; remove ",
            Argument("target"),
            ".",
        )
    judge_names = [str(judge) for judge in data.respondents]
    if target not in judge_names:
        raise DataError(
            f"There is no judge {target!r} for ",
            Argument("target"),
            f"; the judges are {shorten(judge_names)}.",
        )
    if len(judge_names) < 2:
        raise DataError(
            Argument("target"),
            f" requires votes of other judges, but {target!r} is the only judge; remove ",
            Argument("target"),
            ".",
        )


def move_target_last(
    judges: tuple[Any, ...], target: str, judge_index: np.ndarray
) -> tuple[tuple[Any, ...], np.ndarray]:
    """Return the judges with the target last, and the judge of each row in this order."""
    order = sorted(range(len(judges)), key=lambda j: str(judges[j]) == target)
    return tuple(judges[j] for j in order), np.argsort(order)[judge_index]


def describe_target(
    problem: "BoardProblem", points: np.ndarray, spreads: "Spreads"
) -> "tuple[pandas.DataFrame, str, str]":
    """Return a table of the other judges, a sentence on their votes, and a note on worths."""
    density = problem.density
    settings = problem.settings
    is_target = density.rows.judge == density.n_judges - 1
    n_target_votes = float(density.rows.total[is_target].sum())
    n_other_votes = float(density.rows.total[~is_target].sum())
    n_equivalent = n_target_votes * (_find_equivalent_factor(problem, points, spreads) - 1.0)
    deviation_text = format_sd(None, spreads.drift, settings.ci)
    discrimination_text = format_sd(settings.judge_sd, spreads.judges, settings.ci)
    target_sentence = (
        f"Ratings are those of {settings.target}"
        f" ({format_plural(round(n_target_votes), 'vote')}); the {n_other_votes:,.0f} votes of"
        f" {format_plural(len(problem.judges), 'other judge')} narrow the intervals as much as"
        f" {_round_votes(n_equivalent)} more votes of {settings.target} would."
    )
    note = (
        f"{target_sentence} Log worths of the other judges deviate by a standard deviation of"
        f" {deviation_text}; the standard deviation of log discriminations is"
        f" {discrimination_text}."
    )
    return _tabulate_other_judges(problem, points), target_sentence, note


def _round_votes(n_votes: float) -> str:
    """Return a number of votes with two significant digits."""
    if n_votes < 1.0:
        return "0"
    digits = 1 - math.floor(math.log10(n_votes))
    return f"{round(n_votes, digits):,.0f}"


def _find_equivalent_factor(
    problem: "BoardProblem", points: np.ndarray, spreads: "Spreads"
) -> float:
    """Return how many times the target's votes alone give the same mean variance."""
    from thali._worths.laplace_approximation import Marginal
    from thali._worths.posterior_density import Density

    density = problem.density
    rows = density.rows.select(density.rows.judge == density.n_judges - 1)
    rows = rows._replace(judge=0 * rows.judge, period=0 * rows.period)
    target_density = Density(rows, density.n_options)
    target_marginal = Marginal(target_density, float(np.median(spreads.worths)))
    contrasts = np.zeros((target_density.size, density.n_options))
    contrasts[: density.n_options] = np.eye(density.n_options) - 1.0 / density.n_options
    compute_precision = target_marginal.contrast_precision(contrasts)
    variance = float(density.centre_by_period(points)[-1].var(axis=1).sum())
    low = 0.0
    high = math.log(_MAX_FACTOR)
    for _ in range(_N_BISECTIONS):
        middle = 0.5 * (low + high)
        precision = compute_precision(math.exp(middle))
        if float(np.trace(np.linalg.pinv(precision, hermitian=True))) > variance:
            low = middle
        else:
            high = middle
    return math.exp(0.5 * (low + high))


def _tabulate_other_judges(problem: "BoardProblem", points: np.ndarray) -> "pandas.DataFrame":
    """Return a table of the other judges' discriminations and deviations, sharpest first."""
    from thali._worths.judge_agreement import average_predictions

    density: Any = problem.density
    n_others = len(problem.judges)
    log_discriminations = density.log_discriminations(points)[:n_others]
    target_point = points.mean(axis=1)
    target_worths = target_point[density.common]
    discrimination = np.exp(log_discriminations.mean(axis=1))
    target_point[density.worths] = np.outer(discrimination, target_worths).ravel()
    agreement = average_predictions(density, np.tile(target_point[:, None], density.n_judges))
    table = tabulate_judges(
        problem.judges, log_discriminations, 0.0, density.rows, agreement, problem.settings.ci
    )
    deviations = density.deviations(points)
    deviations -= deviations.mean(axis=1, keepdims=True)
    root_mean_squares = np.sqrt((deviations**2).mean(axis=(1, 2)))
    table.insert(list(table).index("comparisons"), "deviation", root_mean_squares)
    return sort_judges(table)
