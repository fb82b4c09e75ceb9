"""`leaderboard`, the function that ranks options by paired comparisons, and updates."""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from thali._argument_checks import check_allowed, check_spread
from thali._data.choices import Choices
from thali._data.connectivity import describe_disconnected
from thali._data.pairs import PairedComparisons
from thali._data.pairs.covariates import PairCovariates
from thali._inference.progress_display import Progress
from thali._inference.user_warnings import is_quiet, silence_warnings, warn
from thali._labels import choose_number, format_plural, shorten
from thali._people.people_argument import Individuals, check_people
from thali._posterior.posterior_interval import INTERVAL
from thali._posterior.respondent_dependence import POWER
from thali.errors import Argument, ArgumentError, DataError, DataWarning

from .elo_scale import WorthScale
from .leaderboard_posterior import BoardSettings, build_prior_error
from .leaderboard_predictive_check import check_votes
from .leaderboard_reliability import measure_reliability
from .leaderboard_result import Leaderboard
from .leaderboard_table import build_board, tabulate_differences
from .pooled_worths import PooledWorths, check_pool, pool_worths
from .side_advantage import measure_advantage
from .vote_counts import (
    DAVIDSON,
    CountedComparisons,
    Judgements,
    choose_tie_rule,
    convert_to_judgements,
    count_votes,
    list_names_argument,
    merge_judgements,
    name_parts,
    treat_ties,
)
from .vote_forecast import FIRST, forecast_separation
from .worth_estimates import WorthEstimates, estimate_worths, fit_individuals

if TYPE_CHECKING:
    import pandas

    from thali._inference.random_seeds import RandomSeed
    from thali._worths.laplace_approximation import Marginal

_MIN_DECIDED = 8  # from here on only the outcome itself predicts every choice
METHODS = ("laplace", "mcmc", "maximum-likelihood")
TIES = (DAVIDSON, "half", "drop")


def leaderboard(
    source: Any,
    ties: Literal["davidson", "half", "drop"] | None = None,
    method: Literal["laplace", "mcmc", "maximum-likelihood"] | None = None,
    random_seed: "RandomSeed" = 0,
    progressbar: bool = True,
    covariates: Iterable[str] | None = None,
    by: str | Sequence[str] | None = None,
    id: str | None = None,
    pool: bool = False,
    people: "Literal['independent', 'adjusted'] | Individuals | None" = None,
    judges: bool = False,
    judge_sd: float | None = None,
    judge_bias: bool = False,
    target: str | None = None,
    period: str | None = None,
    drift: float | None = None,
    since: Any = None,
    until: Any = None,
    anchor_model: "str | Mapping[str, float] | None" = None,
    spread: float | None = None,
    lapse: float = 0.0,
    ci: float = INTERVAL,
    **columns: Any,
) -> Leaderboard:
    r"""Rank options by paired comparisons, rankings, or choices from sets.

    The result has intervals of ranks and ratings, and tiers of options that are not separated.

    .. math::
        P(i \text{ over } j) = \frac{w_i}{w_i + w_j + \nu \sqrt{w_i w_j}}, \qquad
        P(\text{tie}) = \frac{\nu \sqrt{w_i w_j}}{w_i + w_j + \nu \sqrt{w_i w_j}}

    With covariates x of a comparison, :math:`w_i e^{x' \beta}` replaces :math:`w_i`. With judges of
    discrimination d, worths are :math:`w_i^d`, and log nu of a judge is Normal about a common value
    with a standard deviation of 1; with periods worths change over time. From a set S,

    .. math:: P(i \mid S) = \frac{w_i}{\sum_{k \in S} w_k}

    is the probability of choosing i; a ranking is a sequence of such choices (Plackett 1975), and
    best and worst of a set are the ends of any ranking.

    Parameters
    ----------
    source : str, path, DataFrame, PairedComparisons or Choices
        A file (CSV, TSV, Excel, Parquet or JSON Lines), a data frame of pandas, polars or another
        library with the Arrow interface, or data: the log of an arena (model_a, model_b, winner),
        winners and losers, results of games, a square of counts, and other pairs that `thali fit`
        reads; or rankings, choices from sets, best and worst of sets of at most six. Sets have
        neither ties nor covariates nor periods; their judges are the respondents. Or a table of
        scores of options on the same items: one row per item and one column per option, or the
        columns item, model and score. On each item, every two options are compared; the higher
        score wins. The item is the respondent, so intervals hold for new items; scores of several
        runs are averaged.
    ties : {None, "davidson", "half", "drop"}
        A tie is a third outcome with estimated odds, half a win of either option, or ignored. None:
        "half" for scores, "davidson" for votes.
    method : {None, "laplace", "mcmc", "maximum-likelihood"}
        None: "laplace", but "mcmc" with `people=Individuals()`. "laplace" and "mcmc": the posterior
        with the priors Normal(0, spread²) of log worths, which keeps worths finite for options that
        were never beaten or never compared, Normal(0, 4) of log nu and Normal(0, 1) of coefficients
        of covariates. "laplace": Laplace's approximation, corrected by short chains if there are
        few comparisons per option. "maximum-likelihood": estimates without a prior, with their
        normal distribution in large samples.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Seed of the draws from which ranks and intervals are computed.
    progressbar : bool
    covariates : list of str, optional
        Columns of a file or a data frame that describe comparisons, with the sign of "first over
        second": numbers unchanged, other columns as indicators of all categories except the first;
        "order" is 1 for the option shown first. For data, the names of the covariates to use; []
        for none. None: all covariates of the data.
    by : str or list of str, optional
        Columns, such as the language; each of their values has an additional leaderboard, in
        `boards`. Rows with an empty cell count towards the overall leaderboard only. For data,
        columns that describe respondents.
    id : str, optional
        A column of a file or a data frame with an identifier of each answer, equal in all of its
        rows: only the first answer with an identifier counts, also in an `update`. None: equal rows
        all count.
    pool : bool
        Whether the boards of the values of one column (`by`) are partially pooled, which helps if a
        value has few comparisons. The log worths of a part are Normal about common ones, with a
        HalfNormal(.5) standard deviation; nu and the coefficients of covariates are common.
        Requires "laplace" or "mcmc". If answers are adjusted for respondents, the likelihood is
        raised to one over the design effect of all answers, and to less if few respondents gave
        most of them.
    people : {"independent", "adjusted"} or thali.people.Individuals, optional
        Differences between respondents, if the source identifies them. `Individuals()`: each
        respondent has individual worths, as in `BradleyTerryLuce`, and the board shows the mean
        worths of the population; requires "mcmc", without covariates. "independent": all answers
        are treated as independent. "adjusted": intervals and orders generalise to new respondents,
        as in `EliminationByAspects`. None: "adjusted" if at least half of two or more respondents
        answered twice, but "independent" for "mcmc".
    judges : bool
        Whether respondents differ in discrimination; ratings refer to a judge of discrimination 1.
        See `Leaderboard.judges`. Requires "laplace" or "mcmc".
    judge_sd : float, optional
        The standard deviation of log discriminations. None: learned, with a HalfNormal(.5) prior.
    judge_bias : bool
        Whether each judge also has individual coefficients of covariates, Normal about the common
        ones with a HalfNormal(.5) standard deviation, such as a preference for long answers.
        Requires `judges` and covariates.
    target : str, optional
        The judge, such as "human", whose worths are estimated; the votes of the other judges make
        them more certain. Judge j, of discrimination :math:`d_j` relative to the target, sees
        :math:`d_j (\log w_i + e_{ji})` with deviations :math:`e_{ji} \sim \mathrm{Normal}(0,
        \delta^2)`, and both standard deviations have HalfNormal(1) priors. As votes of the target
        grow, the board becomes that of its votes alone. Requires `judges`; paired comparisons only.
    period : str, optional
        "day", "week", "month" or "year" of the dates, or a column of integers such as a season:
        worths change from period to period, and the leaderboard refers to the last period. See
        `Leaderboard.worths_in_time`. Requires "laplace" or "mcmc". An option enters with its first
        comparison.
    drift : float, optional
        The standard deviation of the change of a log worth from a period to the next. None:
        learned, with a HalfNormal(.5) prior.
    since, until : str or int, optional
        The first and the last date to include, such as "2024-05-31", "2024-05" or "2024".
    anchor_model : str or {str: float}, optional
        The option whose rating is 1000, or the option with its rating, such as {"m1": 1114}; the
        intervals of ratings then refer to differences from it, and its rating is constant over
        periods. In a part (`by`) without it, the mean rating equals that of the same options in the
        overall leaderboard. None: the mean rating is 1000.
    spread : float, optional
        The standard deviation of log worths, 1.3 for options that are typically 2.5 times as good
        as their neighbours in a random pair. None: learned, log spread ~ Normal(log 1.3, 1). If
        pairs were matched by an order known in advance (seeds, leagues, a chain), neighbours are
        close and the learned spread is too small: give a number.
    lapse : float
        The share of random choices.
    ci : float in (0, 1)
        Probability of the intervals.
    **columns
        Names of columns that are not recognised, as `PairedComparisons.from_trials`, `from_results`
        and `from_frame` take them: first, second, chosen, rejected, count, losses, respondent,
        date, home, away, result, coding; of choices from sets option, rank, unranked, best,
        worst, trait (`Choices.from_rankings`, `from_best_worst`); of scores item, option, score.
        `where`: conditions on the rows of a file or a data frame, as `read_table` takes them.

    Returns
    -------
    Leaderboard

    Raises
    ------
    ArgumentError
        If `ties`, `method` or `people` is another word, a condition cannot be read, or columns are
        named for data without columns.
    DataError
        If the source cannot be read as paired comparisons or choices from sets, or sets of best and
        worst have more than six options; if a covariate describes options, or predicts all choices;
        if answers are to be adjusted but respondents are unknown; if there are too many judges for
        memory; or if by maximum likelihood a worth or coefficient is not finite.

    Warns
    -----
    DataWarning
        If comparisons do not connect all options, counted rows are marked as practice, or a
        covariate predicts the choice wherever it is not 0.

    References
    ----------
    Bradley & Terry (1952); Davidson (1970), On extending the Bradley-Terry model to accommodate
    ties in paired comparison experiments; Plackett (1975), The analysis of permutations.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> rows = [
    ...     ("A", "B", "model_a"),
    ...     ("A", "B", "tie"),
    ...     ("B", "C", "model_a"),
    ...     ("A", "C", "model_a"),
    ... ] * 9
    >>> board = th.leaderboard(pd.DataFrame(rows, columns=["model_a", "model_b", "winner"]))
    >>> board.table["tier"].to_dict()
    {'A': '1', 'B': '2', 'C': '3'}
    """
    if ties is not None:
        check_allowed("ties", ties, TIES)
    settings = BoardSettings(
        ties=ties or "",
        method=method,
        random_seed=random_seed,
        people=people,
        lapse=lapse,
        spread=spread,
        judges=judges,
        judge_sd=judge_sd,
        period=period,
        drift=drift,
        since=since,
        until=until,
        judge_bias=judge_bias,
        target=target,
        ci=ci,
        anchor_model=anchor_model,
        pool=pool,
    )
    settings = check_settings(settings, by)
    columns = settings.add_date_column(columns, isinstance(source, Judgements))
    column_arguments = columns | {"covariates": covariates, "by": by, "id": id}
    counted_votes = count_votes(source, column_arguments)
    recipe = LeaderboardRecipe.from_votes(counted_votes, settings, column_arguments)
    return recipe.build_board(progressbar)


def check_settings(settings: BoardSettings, by: str | Sequence[str] | None) -> BoardSettings:
    """Return the settings with a method; raise ArgumentError for invalid ones."""
    check_people(settings.people)
    settings = settings.choose_method()
    check_allowed("method", settings.method, METHODS)
    if settings.spread is not None:
        check_spread(settings.spread)
        if not settings.has_prior:
            raise build_prior_error("spread")
    settings.check()
    WorthScale.from_argument(settings.anchor_model)
    check_pool(settings, by)
    return settings


class LeaderboardRecipe(NamedTuple):
    """Counted votes and settings, from which a leaderboard is built or updated."""

    counted: CountedComparisons
    settings: BoardSettings
    columns: dict[str, Any]  # names of columns of the tables

    @classmethod
    def from_votes(
        cls, counted: CountedComparisons, settings: BoardSettings, columns: dict[str, Any]
    ) -> "LeaderboardRecipe":
        """Return the recipe; unless `ties` is set, the data determine it."""
        tie_rule = settings.ties or choose_tie_rule(convert_to_judgements(counted.data))
        return cls(counted, settings._replace(ties=tie_rule), columns)

    def build_board(self, progressbar: bool) -> Leaderboard:
        """Estimate worths from the counted votes and return the `Leaderboard`."""
        part_data = {name: part for name, (_, part) in name_parts(self.counted.parts).items()}
        board = build_leaderboard(self.counted.data, self.settings, part_data, progressbar)
        if self.counted.repeated:
            verb = choose_number(self.counted.repeated, "was", "were")
            exclusion_note = (
                f"{format_plural(self.counted.repeated, 'answer')} whose identifier was already"
                f" counted {verb} excluded."
            )
            board = replace(board, note=f"{board.note} {exclusion_note}")
        return replace(board, recipe=self)

    def add_votes(self, more: Any, columns: dict[str, Any]) -> "LeaderboardRecipe":
        """Return a copy of the recipe that also counts the votes `more`."""
        self._check_columns(columns)
        new_votes = count_votes(more, self.columns | columns, self.counted.ids)
        for counted in (self.counted, new_votes):
            if convert_to_judgements(counted.data).scores is not None:
                raise DataError(
                    "A leaderboard of scores cannot be extended, because options of different"
                    " tables were not compared on the same items; put all scores in one table."
                )
        tie_rule = self.settings.ties
        parts_by_column = {
            column: dict(part_votes) for column, part_votes in self.counted.parts.items()
        }
        data = merge_judgements(
            convert_to_judgements(self.counted.data),
            convert_to_judgements(new_votes.data),
            tie_rule,
        )
        with silence_warnings():  # all comparisons together have warned already
            # columns may have other names
            for part_votes, new_parts in zip(
                parts_by_column.values(), new_votes.parts.values(), strict=True
            ):
                for part_value, part_data in new_parts.items():
                    if part_value in part_votes:
                        part_data = merge_judgements(part_votes[part_value], part_data, tie_rule)
                    part_votes[part_value] = part_data
        n_repeated = self.counted.repeated + new_votes.repeated
        files = (*self.counted.files, *new_votes.files)
        return self._replace(
            counted=CountedComparisons(
                data, parts_by_column, new_votes.ids, n_repeated, new_votes.read_as, files
            )
        )

    def _check_columns(self, columns: dict[str, Any]) -> None:
        """Raise ArgumentError unless an update names the same columns."""
        n_before = {name: len(list_names_argument(self.columns[name])) for name in ("by", "id")}
        n_before["covariates"] = len(convert_to_judgements(self.counted.data).covariate_names)
        for name in n_before.keys() & columns.keys():
            n_named = len(list_names_argument(columns[name]))
            if n_named and not n_before[name]:
                raise ArgumentError(
                    "The leaderboard was made without ",
                    Argument(name),
                    ", which an update cannot add; make a new leaderboard from all votes.",
                )
            if name != "covariates" and n_named != n_before[name]:
                raise ArgumentError(
                    f"The leaderboard was made with {format_plural(n_before[name], 'column')} in ",
                    Argument(name),
                    f", but the update has {n_named or 'none'}; give the same columns in the same"
                    " order, or omit ",
                    Argument(name),
                    ".",
                )


def build_leaderboard(
    source: Any, settings: BoardSettings, parts: Mapping[str, Judgements], progressbar: bool
) -> Leaderboard:
    """Build the leaderboard of all data and of each part."""
    scale = WorthScale.from_argument(settings.anchor_model)

    def prepare_data(source: Any) -> Judgements:
        """Return the votes between the dates, with ties converted or kept."""
        return treat_ties(settings.select_comparisons(convert_to_judgements(source)), settings.ties)

    all_data = convert_to_judgements(source)
    if all_data.covariates is not None:
        all_data.covariates.refuse_options("a leaderboard")
    if isinstance(all_data, PairedComparisons) and all_data.covariates is not None:
        _check_covariates(all_data, all_data.covariates)
    data = prepare_data(all_data)
    scale.anchor_index(data.labels)
    if settings.has_prior and not is_quiet():
        if disconnected_message := describe_disconnected(data.components(), data.never_judged):
            warn(DataWarning(disconnected_message))

    estimates = _estimate_with_and_without(data, settings, scale, progressbar)
    board = build_board(data, estimates, scale, settings.ci)
    boards = {}
    board = replace(
        board,
        **_run_check(estimates, settings),
        of_advantage=measure_advantage(data, estimates, settings),
        differences=tabulate_differences(board, estimates.log_worths),
    )
    if estimates.individuals is None:
        with Progress(progressbar, "checking", 1, "boards") as progress:
            progress.note("splitting votes into halves")
            reliability = measure_reliability(estimates)
        board = replace(
            board,
            of_more_votes=_forecast_votes(board, estimates, settings),
            of_reliability=reliability,
        )
    data_by_part: dict[str, Judgements] = {}
    for part_name, part_data in parts.items():
        with _prefix_errors(part_name):
            data_by_part[part_name] = prepare_data(part_data)
    estimates_by_part: dict[str, WorthEstimates] = {}
    if settings.pool and len(data_by_part) > 1:
        estimates_by_part, sentence = _pool_parts(
            data_by_part, data, settings, estimates.power, progressbar
        )
        board = replace(board, note=f"{board.note} {sentence}")
    part_progressbar = progressbar and settings.method == "mcmc"  # other methods are fast
    for part_name, part_data in data_by_part.items():
        part_scale = scale.adapt_to_part(part_data.labels, board.table)
        with _prefix_errors(part_name):
            boards[part_name] = build_board(
                part_data,
                estimates_by_part.get(part_name)
                or _estimate_with_and_without(part_data, settings, part_scale, part_progressbar),
                part_scale,
                settings.ci,
            )
    return replace(board, boards=boards)


def _estimate_with_and_without(
    data: Judgements, settings: BoardSettings, scale: WorthScale, progressbar: bool
) -> WorthEstimates:
    """Estimate worths with control for covariates and without."""
    if settings.has_individuals:
        return fit_individuals(data, settings, progressbar)
    estimates = estimate_worths(data, settings, scale, progressbar)
    if data.covariates is None:
        return estimates
    return estimates._replace(
        without=estimate_worths(data.with_covariates(()), settings, scale, progressbar)
    )


def _forecast_votes(
    board: Leaderboard, estimates: WorthEstimates, settings: BoardSettings
) -> "pandas.DataFrame":
    """Return a table: probability that the leaders separate after more votes."""
    assert estimates.marginal is not None
    leaders = [board.data.labels.index(label) for label in board.table.index[:FIRST]]
    worth_draws = estimates.with_variance
    if worth_draws is None:
        worth_draws = estimates.log_worths
    current_information = None
    n_votes = board.data.n_answers
    if board.data.scores is not None:
        n_votes = len(board.data.respondents)  # further items, with scores of all options
    if settings.period is None and settings.target is None:
        design_effect = estimates.design_effect
        if estimates.people is not None and estimates.people.by == POWER:
            # the likelihood of the current votes is raised to its inverse already
            design_effect = 1.0
        current_information = forecast_information(
            estimates.marginal, leaders, n_votes, design_effect
        )
    return forecast_separation(
        worth_draws[:, leaders],
        current_information,
        board.tie,
        settings.lapse,
        estimates.design_effect,
        has_pairs=board.data.scores is None,
    )


def _run_check(estimates: WorthEstimates, settings: BoardSettings) -> dict[str, Any]:
    """Return the fields of a leaderboard that the posterior predictive check fills."""
    try:
        if estimates.individuals is None:
            check_table = check_votes(estimates)
        else:
            check_table = estimates.individuals.check(settings.random_seed, settings.ci)
    except DataError as error:
        return {"check_facts": {"missing": str(error)}}
    return {"of_check": check_table, "check_facts": dict(check_table.attrs)}


def forecast_information(
    marginal: "Marginal", options: list[int], n_votes: float, design_effect: float
) -> Callable[[float], np.ndarray]:
    """Return a function from n votes to the information they add.

    The information is about differences of neighbouring options.
    """
    contrasts = np.zeros((marginal.density.size, len(options) - 1))
    for k, (better, worse) in enumerate(itertools.pairwise(options)):
        contrasts[[better, worse], k] = 1.0, -1.0
    precision = marginal.contrast_precision(contrasts)
    current_precision = precision(1.0 / design_effect)

    @cache
    def information_per_vote(
        exponent: int,
    ) -> np.ndarray:  # factorising the matrix of all options is slow
        """Return the information per vote at 10**power votes."""
        return (
            precision((1.0 + 10.0**exponent / n_votes) / design_effect) - current_precision
        ) / 10.0**exponent

    def interpolate_information(n: float) -> np.ndarray:
        """Return the information of n votes, interpolated between powers of ten."""
        fraction, exponent = math.modf(math.log10(max(n, 1.0)))
        return n * (
            (1.0 - fraction) * information_per_vote(int(exponent))
            + fraction * information_per_vote(int(exponent) + 1)
        )

    return interpolate_information


def _pool_parts(parts: Mapping[str, Any], all_data: Judgements, *settings: Any) -> PooledWorths:
    """Return pooled worths of the parts, with and without covariates."""
    if isinstance(all_data, Choices):
        raise DataError(
            Argument("pool"),
            f" requires paired comparisons, but these data are {all_data.kind}; remove ",
            Argument("pool"),
            ".",
        )
    pooled_worths = pool_worths(parts, all_data, *settings)
    if all_data.covariates is None:
        return pooled_worths
    parts_without = {name: part.with_covariates(()) for name, part in parts.items()}
    estimates_without = pool_worths(parts_without, all_data.with_covariates(()), *settings).parts
    return pooled_worths._replace(
        parts={
            name: estimates._replace(without=estimates_without[name])
            for name, estimates in pooled_worths.parts.items()
        }
    )


@contextmanager
def _prefix_errors(part: str) -> Iterator[None]:
    """Add the name of the part to errors raised inside the `with` block."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{part}: ", *error.args) from None


def _check_covariates(data: PairedComparisons, covariates: PairCovariates) -> None:
    """Raise DataError for covariates that predict choices perfectly; warn if nearly."""
    is_win = covariates.wins > 0.0
    is_loss = covariates.losses > 0.0
    # chosen minus rejected option
    covariate_differences = np.concatenate([covariates.values[is_win], -covariates.values[is_loss]])
    answer_counts = np.concatenate([covariates.wins[is_win], covariates.losses[is_loss]])
    side_index = np.concatenate([covariates.pair[is_win], covariates.pair[is_loss] + data.n_pairs])
    n_decided = answer_counts.sum()
    if n_decided < _MIN_DECIDED:
        return
    lower_bounds = _list_constant_outcomes(data)
    if perfect_predictors := [
        covariate_name
        for covariate_name, difference in zip(
            covariates.names, covariate_differences.T, strict=True
        )
        if _is_perfect_predictor(difference, answer_counts, side_index, lower_bounds)
    ]:
        raise DataError(
            f"{'Each of ' * (len(perfect_predictors) > 1)}{shorten(perfect_predictors)} alone"
            " predicts the choice in"
            f" all {n_decided:,.0f} comparisons without ties, as if it were the outcome; remove"
            f" {shorten(perfect_predictors)} from ",
            Argument("covariates"),
            ".",
        )
    for covariate_name, difference in zip(covariates.names, covariate_differences.T, strict=True):
        n_above = answer_counts @ (difference > 0.0)
        n_below = answer_counts @ (difference < 0.0)
        if min(n_above, n_below) == 0.0 and n_above + n_below >= _MIN_DECIDED:
            warn(
                DataWarning(
                    f"Whenever {covariate_name!r} is not 0 ({n_above + n_below:,.0f} of"
                    f" {n_decided:,.0f}"
                    " comparisons without ties), it predicts the choice perfectly, so its effect"
                    " is bounded only by the prior."
                )
            )


def _list_constant_outcomes(data: PairedComparisons) -> list[np.ndarray]:
    """Return choice counts by pair side that a perfect predictor may leave unexplained."""
    # The cases are none, all while the option was first, and all while it was second.
    # Only the first case applies if a position was rarely chosen, or the order is unknown.
    choice_counts = np.concatenate([data.wins, data.losses])
    if data.forward is None:
        return [0.0 * choice_counts]
    first_counts = np.concatenate([data.forward[0], data.losses - data.forward[1]])
    second_counts = choice_counts - first_counts
    if min(first_counts.sum(), second_counts.sum()) < _MIN_DECIDED / 2:
        return [0.0 * choice_counts]
    return [0.0 * choice_counts, first_counts, second_counts]


def _is_perfect_predictor(
    differences: np.ndarray,
    answer_counts: np.ndarray,
    side_index: np.ndarray,
    lower_bounds: list[np.ndarray],
) -> bool:
    """Return whether a threshold on one covariate's difference predicts every choice."""
    # `differences` are chosen minus rejected: above a value t for one outcome, at least -t for the
    # other, so all differences between -t and t belong to the other. `lower_bounds`: see
    # `_list_constant_outcomes`.
    for signed_differences in (differences, -differences):
        # the smallest possible t
        is_below_threshold = signed_differences <= max(0.0, -signed_differences.min())
        if any(
            (
                np.bincount(
                    side_index[is_below_threshold],
                    answer_counts[is_below_threshold],
                    len(lower_bound),
                )
                <= lower_bound + 1e-9
            ).all()
            for lower_bound in lower_bounds
        ):
            return True
    return False
