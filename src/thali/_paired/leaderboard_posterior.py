"""Density of a leaderboard's votes, settings of its estimation, tables of judges and periods."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._argument_checks import check_positive
from thali._data.choices import Choices
from thali._data.pairs import PairedComparisons
from thali._data.pairs.comparison_rows import list_finest_rows
from thali._data.pairs.dates import DAY, PERIODS, DatedComparisons, group_equal_rows
from thali._inference.numerics.ranks import fit_descending_means, sort_descending
from thali._inference.numerics.weight_shares import divide_positive, mix_with_guess
from thali._inference.random_seeds import build_generator
from thali._labels import choose_number, format_plural, shorten
from thali._people.people_argument import Individuals, chains_required_error
from thali._posterior.convergence_check import Advice, ConvergenceCheck, check_convergence
from thali._posterior.posterior_interval import (
    INTERVAL,
    compute_discrete_interval,
    compute_interval,
    format_sd,
    interval_tails,
)
from thali._posterior.summary_table import build_summary
from thali.errors import Argument, ArgumentError, DataError, InPython, Setting, Value

from .elo_scale import WorthScale
from .judge_table import sort_judges, tabulate_judges
from .leaderboard_target import check_target, describe_target, move_target_last
from .vote_counts import Judgements

if TYPE_CHECKING:
    import pandas

    from thali._worths.laplace_approximation import Marginal
    from thali._worths.posterior_density import Density, Spreads

# Settings -----------------------------------------------------------------------------------------


CHAIN_ADVICE = Advice(draws=None, stuck=(Setting("method", "laplace"), " needs no chains"))
# the standard deviations of `Spreads`, in this order
SPREADS = ("spread", "judge_sd", "drift", "bias_sd")
# comparisons of a judge below which Laplace's approximation of the discrimination is reported as
# rough
MIN_JUDGE_COMPARISONS = 30


def build_prior_error(name: str) -> ArgumentError:
    """Return the ArgumentError of an argument that requires a prior."""
    method_names = Setting("method", "laplace"), " or ", Value("method", "mcmc")
    return ArgumentError(Argument(name), " requires a prior; set ", *method_names, ".")


class BoardSettings(NamedTuple):
    """The arguments of `leaderboard` that say how worths are estimated and shown."""

    ties: str = ""  # empty: the data determine it
    method: str | None = None
    random_seed: Any = 0
    people: Any = None
    lapse: float = 0.0
    spread: float | None = None
    judges: bool = False
    judge_sd: float | None = None
    period: str | None = None
    drift: float | None = None
    since: Any = None
    until: Any = None
    judge_bias: bool = False
    target: str | None = None  # the judge whose worths are estimated; None: the typical judge
    ci: float = INTERVAL
    anchor_model: Any = None
    pool: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether neither judges nor periods are modelled."""
        return not self.judges and self.period is None

    @property
    def has_individuals(self) -> bool:
        """Whether each respondent has individual worths."""
        return isinstance(self.people, Individuals)

    @property
    def has_prior(self) -> bool:
        """Whether worths have a prior."""
        return self.method != "maximum-likelihood"

    def choose_method(self) -> "BoardSettings":
        """Return the settings with the default method unless one is named.

        Raises
        ------
        ArgumentError
            If individual worths are asked for by another method than chains.
        """
        if not self.has_individuals:
            if self.method is not None:
                return self
            return self._replace(method="laplace")
        if self.method not in (None, "mcmc"):
            raise chains_required_error(self.people, self.method)
        return self._replace(method="mcmc")

    def check(self) -> None:
        """Raise ArgumentError for settings that cannot be combined."""
        interval_tails(self.ci)
        for argument_name, is_set, required_argument, is_required_set in (
            ("judge_sd", self.judge_sd is not None, "judges", self.judges),
            ("drift", self.drift is not None, "period", self.period is not None),
            ("judge_bias", self.judge_bias, "judges", self.judges),
            ("target", self.target is not None, "judges", self.judges),
        ):
            if is_set and not is_required_set:
                raise ArgumentError(
                    Argument(argument_name),
                    " has no effect without ",
                    Argument(required_argument),
                    "; give both.",
                )
        for argument_name, prior_sd in (("judge_sd", self.judge_sd), ("drift", self.drift)):
            if prior_sd is not None:
                check_positive(argument_name, prior_sd, "a standard deviation")
        conflicting_argument = "period"
        if self.judges:
            conflicting_argument = "judges"
        has_people = not self.is_plain and self.people not in (None, "independent")
        has_target = self.target is not None
        for setting, argument_name, is_conflict in (
            (Argument("target"), "period", has_target and self.period is not None),
            (Argument("target"), "judge_bias", has_target and self.judge_bias),
            (Setting("people", self.people), conflicting_argument, has_people),
        ):
            if is_conflict:
                raise ArgumentError(
                    setting, " and ", Argument(argument_name), " cannot be combined; remove one."
                )
        if not self.is_plain and not self.has_prior:
            raise build_prior_error(conflicting_argument)

    def add_date_column(self, columns: dict[str, Any], is_data: bool) -> dict[str, Any]:
        """Return the named columns, with the date column that periods require.

        `finds_date` asks for the only column of dates of a table that names none.
        """
        if is_data:
            return columns
        if self.period is None or self.period in PERIODS:
            if self.period is None and self.since is None and self.until is None:
                return columns
            return columns | {"finds_date": columns.get("date") is None}
        if columns.get("date", self.period) != self.period:
            raise ArgumentError(
                Setting("period", self.period),
                " names a column of integer periods, but ",
                Setting("date", str(columns["date"])),
                " names another column; give only one of the two, or set the length of a period: ",
                Setting("period", "week"),
                ".",
            )
        return columns | {"date": self.period}

    def select_comparisons(self, data: Judgements) -> Judgements:
        """Return comparisons between the dates, dated if there are periods."""
        if self.judge_bias and data.covariates is None:
            raise DataError(
                Argument("judge_bias"),
                " requires covariates of comparisons, which these data lack; name columns with ",
                Argument("covariates"),
                ".",
            )
        if data.dates is None:
            for argument_name in ("period", "since", "until"):
                if getattr(self, argument_name) is not None:
                    raise DataError(
                        Argument(argument_name),
                        " requires comparisons with dates, which these data lack; give the name of"
                        " the column of dates with ",
                        Argument("date"),
                        InPython(" when reading them: from_trials(frame, date=...).", "."),
                    )
            return data
        if self.period is None and self.since is None and self.until is None:
            raise DataError(
                f"These comparisons have dates ({data.dates.name!r}), which would be ignored; set ",
                Setting("period", "week"),
                InPython(
                    ", or drop the dates with data.without_dates().", ", or exclude that column."
                ),
            )
        assert isinstance(data, PairedComparisons)
        if self.since is not None or self.until is not None:
            data = data.between(self.since, self.until)
        if self.period is not None:
            return data
        return data.without_dates()

    def check_period(self, dates: DatedComparisons) -> str:
        """Return the period; raise ArgumentError if the dates do not allow it."""
        assert self.period is not None
        if dates.unit == DAY and self.period not in PERIODS:
            raise DataError(
                f"{dates.name!r} contains dates, so the period must be a day, week, month or year;"
                " got ",
                Setting("period", self.period),
                ".",
            )
        if dates.unit != DAY and self.period != dates.name:
            raise DataError(
                f"{dates.name!r} contains integer periods, not dates; set ",
                Setting("period", dates.name),
                ".",
            )
        return self.period


# Density of comparisons ---------------------------------------------------------------------------


class BoardProblem(NamedTuple):
    """Density of a leaderboard's votes, with names of periods and judges."""

    data: Judgements
    settings: BoardSettings
    density: "Density"
    periods: list[str]  # with a target judge, the other judges
    judges: tuple[str, ...]  # without the target


def has_all_judges(data: Judgements) -> bool:
    """Return whether every answer has a known judge."""
    return bool(data.respondents) and not (
        isinstance(data, Choices) and (data.respondent < 0).any()
    )


def build_worth_problem(data: Judgements, settings: BoardSettings) -> BoardProblem:
    """Return the posterior density of the votes, with their periods and judges."""
    from thali._worths.density_from_data import build_density
    from thali._worths.set_choice_density import ChoiceSetDensity, count_distinct_answers

    if settings.judges and not has_all_judges(data):
        raise DataError(
            f"These {data.word_for_answers} do not identify judges; give the name of the column of"
            " judges with ",
            InPython("`respondent`", Argument("respondent")),
            ".",
        )
    if settings.is_plain:
        density = build_density(
            data, settings.lapse, bool(data.n_ties), has_prior=settings.has_prior
        )
        return BoardProblem(data, settings, density, [""], ())
    judges = ()
    if settings.judges:
        judges = data.respondents
    if settings.target is not None:
        check_target(settings.target, data)
    if isinstance(data, Choices):
        density = ChoiceSetDensity(
            count_distinct_answers(data, settings.lapse, with_judges=True),
            data.n_options,
            len(judges),
        )
        return BoardProblem(data, settings, density, [""], judges)
    return _build_problem_by_period(data, settings, judges)


def _build_problem_by_period(
    data: PairedComparisons, settings: BoardSettings, judges: tuple[str, ...]
) -> BoardProblem:
    """Return the posterior density of paired comparisons, with their periods and judges."""
    from thali._worths.posterior_density import Density, DistinctComparisons, TargetDensity

    finest_rows = list_finest_rows(data)
    has_ties = bool(data.n_ties)
    zeros = np.zeros(len(finest_rows.first), np.int64)
    judge_index = zeros
    if settings.judges and finest_rows.respondents is not None:
        judge_index = finest_rows.respondents.number
    row_x = np.zeros((len(zeros), 0))
    if finest_rows.covariates is not None:
        row_x = finest_rows.covariates.compute_effects(finest_rows.first, finest_rows.second)
    row_periods = zeros
    period_names = [""]
    if settings.period is not None:
        assert data.dates is not None
        row_periods, period_names = data.dates.periods(settings.check_period(data.dates))
    if settings.target is not None:
        judges, judge_index = move_target_last(judges, settings.target, judge_index)
        # each other judge is a part of the votes; the part of the target's votes does not matter
        row_periods = judge_index % (len(judges) - 1)
        period_names = list(judges[:-1])
    distinct_periods, period_index = np.unique(row_periods, return_inverse=True)
    row_columns = [period_index, finest_rows.first, finest_rows.second, judge_index]
    row_index, outcome_counts = group_equal_rows(row_columns, row_x, finest_rows.counts)
    period, first_index, second_index, judge_index = (column[row_index] for column in row_columns)
    first_period = np.full(data.n_options, len(distinct_periods))  # the first period of each option
    np.minimum.at(first_period, np.append(first_index, second_index), np.append(period, period))
    first_period[first_period == len(distinct_periods)] = 0  # never compared
    wins, losses, ties = outcome_counts
    comparisons = DistinctComparisons(
        first_index,
        second_index,
        period,
        judge_index,
        row_x[row_index],
        wins,
        losses,
        ties,
        settings.lapse,
        has_ties,
    )
    if settings.target is not None:
        target_density = TargetDensity(comparisons, data.n_options, len(judges))
        return BoardProblem(data, settings, target_density, period_names, judges[:-1])
    density = Density(
        comparisons,
        data.n_options,
        len(judges),
        np.diff(distinct_periods).astype(float),
        first_period,
        settings.judge_bias,
    )
    return BoardProblem(data, settings, density, period_names, judges)


# Results of draws ---------------------------------------------------------------------------------


class JudgedWorths(NamedTuple):
    """Tables of judges and of worths by period."""

    judges: "pandas.DataFrame | None" = None
    in_time: "pandas.DataFrame | None" = None
    note: str = ""
    target_sentence: str = ""  # what the votes of judges other than the target are worth


def tabulate_judged_worths(
    problem: BoardProblem,
    scale: WorthScale,
    marginal: "Marginal",
    points: np.ndarray,
    spreads: "Spreads",
) -> JudgedWorths:
    """Return tables of judges and of worths by period, from draws."""
    density = problem.density
    data = problem.data
    judge_table = None
    period_table = None
    if problem.settings.target is not None:
        judge_table, target_sentence, note = describe_target(problem, points, spreads)
        return JudgedWorths(judge_table, None, note, target_sentence)
    if problem.judges:
        judge_table = _tabulate_judges(problem, points, marginal)
    if problem.settings.period is not None:
        worths = scale.subtract_anchor(density.centre_by_period(points), data.labels, axis=1)
        mode_worths = density.worths_by_period(marginal.mean_mode[:, None])[..., 0]
        z = _test_changes(problem, scale, marginal)
        period_table = _tabulate_periods(problem, worths, mode_worths, z, scale)
    note = _describe_worths(problem, scale, spreads, judge_table)
    if judge_table is not None and isinstance(data, Choices) and data.n_ties:
        note += " Log scores of judges do not count ties in rankings."
    if judge_table is None and data.respondents:
        note += " Answers of the same respondent are treated as independent."
    return JudgedWorths(judge_table, period_table, note)


def check_worth_chains(
    quantity_draws: np.ndarray,
    marginal: "Marginal",
    options: Sequence[str],
    periods: Sequence[str],
    judges: Sequence[str],
    covariates: Sequence[str],
    other_names: Sequence[str] = (),
    spreads: Sequence[str] = SPREADS,
) -> ConvergenceCheck:
    """Return the convergence check of all quantities a leaderboard reports.

    `other_names` names trailing entries of a point.
    """
    from thali._worths.posterior_density import BIAS

    density = marginal.density
    period_suffixes = [""]
    if len(periods) > 1 or other_names:
        period_suffixes = [f", {period}" for period in periods]
    quantity_names = [
        f"log_worth[{options[k]}{period_suffixes[t]}]"
        for t, k in np.argwhere(density.present).tolist()
    ]
    if density.rows.has_ties:
        quantity_names += ["tie", *(f"tie[{judge}]" for judge in judges)]
    quantity_names += [f"covariate[{name}]" for name in covariates]
    quantity_names += [f"discrimination[{judge}]" for judge in judges]
    quantity_names += [
        f"bias[{name}, {judge}]"
        for judge in judges
        for name in covariates
        if BIAS in density.spread_kinds
    ]
    quantity_names += [*other_names, *(spreads[k] for k in marginal.learned)]
    return check_convergence(
        build_summary(dict(zip(quantity_names, quantity_draws, strict=True))), CHAIN_ADVICE
    )


def _tabulate_judges(
    problem: BoardProblem, points: np.ndarray, marginal: "Marginal"
) -> "pandas.DataFrame":
    """Return a table of judges' discriminations, sharpest first."""
    from thali._worths.judge_agreement import measure_agreement

    density = problem.density
    ci = problem.settings.ci
    covariates = problem.data.covariate_names
    log_discriminations = density.log_discriminations(points)
    median_judge = np.median(log_discriminations, axis=0)
    table = tabulate_judges(
        problem.judges,
        log_discriminations,
        median_judge,
        density.rows,
        measure_agreement(marginal),
        ci,
    )
    if density.n_bias:
        deviations = points[density.bias].reshape(density.n_judges, len(covariates), -1)
        individual_coefficients = (
            deviations / density.covariate_scales[:, None] + points[density.beta]
        )
        coefficient_limits = compute_interval(individual_coefficients, ci, axis=2)
        for k, covariate_name in enumerate(covariates):
            table[f"bias_{covariate_name}"] = individual_coefficients[:, k].mean(axis=1)
            low, high = coefficient_limits[:, :, k]
            table[f"bias_{covariate_name}_low"] = low
            table[f"bias_{covariate_name}_high"] = high
    return sort_judges(table)


def check_anchor(problem: BoardProblem, scale: WorthScale) -> None:
    """Raise ArgumentError if the anchor option is absent from the first period."""
    anchor_index = scale.anchor_index(problem.data.labels)
    if anchor_index is not None and problem.density.entry[anchor_index] > 0:
        raise DataError(
            Argument("anchor_model"),
            f" is {scale.anchor!r}, which first appears in period"
            f" {problem.periods[problem.density.entry[anchor_index]]}, but the anchor must be"
            " present from the"
            f" first period ({problem.periods[0]}); choose another anchor, or start later with ",
            Argument("since"),
            ".",
        )


_FREE_DRIFT = 3.0  # sd of a change of log worths in one period that the prior does not shrink
_TEST_DRAWS = 2_000


def _test_changes(problem: BoardProblem, scale: WorthScale, marginal: "Marginal") -> np.ndarray:
    """Return z of changes since an option's first period, shape (periods, options)."""
    # The learned prior of changes supposes that every option changes by about the same amount: if
    # one changes and the others do not, it makes changes of the others that are chance look
    # certain. So this test has a prior that is nearly flat.
    from thali._worths.laplace_approximation import Marginal

    density = problem.density
    spreads, _ = marginal.best
    free_marginal = Marginal(density, float(spreads.worths), float(spreads.judges), _FREE_DRIFT)
    _, mode = free_marginal.best
    deviations = free_marginal.draw_deviations(mode, build_generator(0), _TEST_DRAWS)
    points = np.column_stack([mode.point, mode.point[:, None] + deviations])
    worths = density.centre_by_period(points)
    changes = worths - worths[density.entry, np.arange(density.n_options)]
    if scale.anchor is None:
        # the change of one option alters the mean, but not the median of changes
        present_changes = np.where(density.present[..., None], changes, np.nan)
        changes -= np.nanmedian(present_changes, axis=1, keepdims=True)
    else:
        changes = scale.subtract_anchor(changes, problem.data.labels, axis=1)
    return divide_positive(changes[..., 0], changes[..., 1:].std(axis=-1, ddof=1), np.nan)


def _tabulate_periods(
    problem: BoardProblem,
    worths: np.ndarray,
    modes: np.ndarray,
    z: np.ndarray,
    scale: WorthScale,
) -> "pandas.DataFrame":
    """Return a table of worths and ratings by period."""
    # `modes` order the options; `z` tests changes since the first period.
    import pandas as pd
    from scipy.special import expit

    density = problem.density
    period_tables = []
    ci = problem.settings.ci
    lapse = float(density.rows.lapse)
    labels = np.array(problem.data.labels, dtype=object)
    for t, period_name in enumerate(problem.periods):
        present_options = np.flatnonzero(density.present[t])
        present_worths = worths[t, present_options]
        rating_draws = scale.compute_ratings(present_worths)
        low, high = compute_interval(rating_draws, ci, axis=1)
        rank_draws = np.argsort(np.argsort(-present_worths, axis=0, kind="stable"), axis=0) + 1
        rank_low, rank_high = compute_discrete_interval(rank_draws, ci, axis=1).astype(int)
        rating_order = sort_descending(modes[t, present_options])
        mean_rating = fit_descending_means(rating_order, rating_draws.mean(axis=1))
        entry_worths = worths[density.entry[present_options], present_options]
        can_change = (density.entry[present_options] < t) & (
            labels[present_options] != scale.anchor
        )
        p_better = (present_worths > entry_worths).mean(axis=1)
        p = mix_with_guess(expit(present_worths - worths[t, 0]), lapse)
        is_compared = (present_options != 0) & (density.entry[0] <= t)
        period_columns = {
            "option": labels[present_options],
            "period": period_name,
            "rating": mean_rating,
            "rating_low": low,
            "rating_high": high,
            "rank": np.argsort(rating_order) + 1,
            "rank_low": rank_low,
            "rank_high": rank_high,
            "p_better": np.where(can_change, p_better, np.nan),
            "z": np.where(can_change, z[t, present_options], np.nan),
            "probability": np.where(is_compared, p.mean(axis=1), np.nan),
        }
        period_tables.append(pd.DataFrame(period_columns))
    return pd.concat(period_tables, ignore_index=True)


def _describe_worths(
    problem: BoardProblem, scale: WorthScale, spreads: "Spreads", judges: "pandas.DataFrame | None"
) -> str:
    """Return sentences about the table's columns and standard deviations."""
    settings = problem.settings
    density = problem.density
    sentences = []
    if judges is not None:
        judge_sd_text = format_sd(settings.judge_sd, spreads.judges, settings.ci)
        sentences.append(
            "Worths and ratings are those of the typical judge of this panel"
            " (discrimination 1); the standard deviation of log discriminations is"
            f" {judge_sd_text}."
        )
        if density.n_bias:
            sentences.append(
                "Covariate effects apply to a typical judge; the effect of a typical difference"
                " (the root mean square of a covariate) varies between judges by a standard"
                f" deviation of {format_sd(None, spreads.bias, settings.ci)}."
            )
        few_judges = [
            str(name)
            for name, count in zip(judges.index, judges["comparisons"].tolist(), strict=True)
            if count < MIN_JUDGE_COMPARISONS
        ]
        if few_judges and settings.method == "laplace":
            verb = choose_number(len(few_judges), "has", "have")
            sentences.append(
                "Discriminations are approximate, because"
                f" {format_plural(len(few_judges), 'judge')}"
                f" ({shorten(few_judges, 5)}) {verb} fewer than {MIN_JUDGE_COMPARISONS}"
                f" {problem.data.word_for_answers}; the method mcmc avoids this approximation."
            )
    if settings.period is not None:
        drift_text = format_sd(settings.drift, spreads.drift, settings.ci)
        anchor_sentence = scale.sentence
        if scale.anchor is None:
            n_present = int(density.is_always_present.sum())
            scope = f"the {format_plural(n_present, 'option')} present throughout"
            if density.is_always_present.all():
                scope = "all options"
            anchor_sentence = f"the mean rating of {scope} is {scale.rating:.0f}"
        sentences.append(
            f"Ratings and ranks are for the last of {format_plural(len(problem.periods), 'period')}"
            " with"
            f" comparisons ({problem.periods[-1]}); in each period, {anchor_sentence}. Log worths"
            f" change by a standard deviation of {drift_text} per period."
        )
    return " ".join(sentences)
