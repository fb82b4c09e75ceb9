"""Leaderboards: options ranked by paired comparisons, with what is not known about their order."""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from thali._arguments import check_allowed, check_positive
from thali._data.choices import Choices
from thali._data.connectivity import describe_disconnected
from thali._data.pairs import PairedComparisons
from thali._data.pairs.covariates import PairCovariates
from thali._inference.warn import is_quiet, silence_warnings, warn
from thali._labels import format_plural, shorten
from thali._people.populations import ADJUSTED, Individuals, check_people
from thali._posterior.dependence import POWER
from thali._posterior.interval import INTERVAL
from thali.errors import Argument, ArgumentError, DataError, DataWarning

from .board import Leaderboard
from .check import check_votes
from .counted import (
    DAVIDSON,
    CountedComparisons,
    Judgements,
    count,
    counting_ties,
    judgements_of,
    listed,
    named_parts,
    with_more,
)
from .estimates import WorthEstimates, drawn_of, worths_of_individuals
from .more_votes import FIRST, more_votes
from .pooled import Pooled, check_pool, pooled
from .ranked import board_of
from .reliability import reliability_of_board
from .scale import WorthScale
from .worths import WorthsRequest, without_prior

if TYPE_CHECKING:
    import pandas

    from thali._worths.laplace import Marginal

_NO_CHANCE = 8  # comparisons in which no covariate but the outcome tells every choice
METHODS = ("laplace", "mcmc", "maximum-likelihood")
TIES = (DAVIDSON, "half", "drop")


def leaderboard(
    source: Any,
    ties: Literal["davidson", "half", "drop"] = "davidson",
    method: Literal["laplace", "mcmc", "maximum-likelihood"] | None = None,
    random_seed: Any = 0,
    progressbar: bool = True,
    covariates: Any = None,
    by: Any = None,
    id: str | None = None,
    pool: bool = False,
    people: "Literal['independent', 'adjusted'] | Individuals | None" = None,
    judges: bool = False,
    judge_sd: float | None = None,
    judge_bias: bool = False,
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
    r"""Rank options by comparisons of two, rankings, or choices from sets, with intervals of their
    ranks and the groups that cannot be told apart.

    .. math::
        P(i \text{ over } j) = \frac{w_i}{w_i + w_j + \nu \sqrt{w_i w_j}}, \qquad
        P(\text{tie}) = \frac{\nu \sqrt{w_i w_j}}{w_i + w_j + \nu \sqrt{w_i w_j}}

    With covariates x of a comparison, :math:`w_i e^{x' \beta}` stands in place of :math:`w_i`. With
    judges, whose discriminations are d, worths are :math:`w_i^d`; with periods they change in time.
    Out of a set S

    .. math:: P(i \mid S) = \frac{w_i}{\sum_{k \in S} w_k}

    is chosen; a ranking is such choices one after another (Plackett 1975), and the best and the
    worst of a set are those of any ranking that begins and ends with them.

    Parameters
    ----------
    source : str, path, DataFrame, PairedComparisons or Choices
        A file (CSV, TSV, Excel, Parquet or JSON Lines; large ones but of JSON are read in batches,
        and only counts are kept), a data frame of pandas, polars or whatever has the Arrow
        interface, or data: the log of an arena (model_a, model_b, winner), winners and losers,
        results of games, a square of counts, and whatever else `thali fit` reads as pairs; or
        rankings, choices from sets, the best and the worst of sets of at most six. These have
        neither ties nor covariates nor periods; their judges are those who answered.
    ties : {"davidson", "half", "drop"}
        A tie is a third outcome whose odds are learned, half a win of either option, or nothing.
    method : {None, "laplace", "mcmc", "maximum-likelihood"}
        None: "laplace", but "mcmc" with `people=Individuals()`. "laplace" and "mcmc": the posterior
        under Normal(0, spread²) priors of log worths, which keep the worths of options that were
        never beaten, or never compared, finite, Normal(0, 4) of log nu and Normal(0, 1) of the
        coefficients of covariates. "laplace": Laplace's approximation, which short chains correct
        where there are few comparisons per option. "maximum-likelihood": estimates without a prior,
        with the normal distribution that they have in large samples.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the draws from which ranks and intervals are computed.
    progressbar : bool
    covariates : list of str, optional
        Columns of a file or a data frame that describe comparisons, with the sign of "first over
        second": numbers as they are, other columns as indicators of all categories but the first;
        "order" is 1 for the option that stands first. Of data, the names of those of its covariates
        that count; [] for none. None: those that data have.
    by : str or list of str, optional
        Columns, such as the language, for each value of which there is a leaderboard, too:
        `boards`. Rows whose cell is empty count for all together alone. Of data, columns that
        describe the people who answered.
    id : str, optional
        A column of a file or a data frame with an identifier of each answer, the same in all of its
        rows: of answers with the same one the first counts, also in an `update`. None: rows that
        are alike all count.
    pool : bool
        Whether the boards of the values of one column (`by`) borrow strength from each other, which
        helps where a value has few comparisons. The log worths of a part are Normal about those
        common to all, with a standard deviation that is HalfNormal(.5); nu and the coefficients of
        covariates are common. By "laplace" or "mcmc". If answers are adjusted for people, the
        likelihood is raised to one over the design effect of all.
    people : {"independent", "adjusted"} or thali.people.Individuals, optional
        How respondents differ, where the source contains who answered (files that are read in
        batches do not). `Individuals()`: each respondent has individual worths, as in
        `BradleyTerryLuce`, and the board is of the mean worths of the population; by "mcmc",
        without covariates. "independent": as many answers as of different respondents. "adjusted":
        intervals and orders hold for new samples of respondents, as `EliminationByAspects` adjusts
        draws. None: "adjusted" where half of two respondents or more answered at least twice,
        "independent" by "mcmc".
    judges : bool
        Whether those who answered differ in how sharply they see worths; the ratings are those that
        a judge of discrimination 1 sees. See `Leaderboard.judges`. By "laplace" or "mcmc".
    judge_sd : float, optional
        The standard deviation of log discriminations. None: learned, HalfNormal(.5) before.
    judge_bias : bool
        Whether each judge also has coefficients of covariates of their own, Normal about the common
        ones with a standard deviation that is HalfNormal(.5): who likes long answers, or their own.
        With `judges` and covariates.
    period : str, optional
        "day", "week", "month" or "year" of the dates, or a column of whole numbers such as a
        season: worths change from period to period, and the leaderboard is that of the last. See
        `Leaderboard.worths_in_time`. By "laplace" or "mcmc". An option enters with its first
        comparison.
    drift : float, optional
        The standard deviation of the change of a log worth from a period to the next. None:
        learned, HalfNormal(.5) before.
    since, until : str or int, optional
        The first and the last date that count, such as "2024-05-31", "2024-05" or "2024".
    anchor_model : str or {str: float}, optional
        The option whose rating is 1000, or the option with its rating, such as {"m1": 1114}; the
        intervals of ratings are then those of differences from it, and in periods it stands still.
        In a part (`by`) without it the mean is that of the same options among all. None: the mean
        of ratings is 1000.
    spread : float, optional
        The standard deviation of log worths, 1.3 for options that are typically 2.5 times as good
        as their neighbours in a random pair. None: learned, log spread ~ Normal(log 1.3, 1). If
        pairs were matched by an order known in advance (seeds, leagues, a chain), neighbours are
        close and the learned spread is too small: give a number.
    lapse : float
        The share of choices that are made at random.
    ci : float in (0, 1)
        Probability of the intervals.
    **columns
        Names of columns that are not recognised, as `PairedComparisons.from_trials`, `from_results`
        and `from_frame` take them: first, second, chosen, rejected, count, losses, respondent,
        date, home, away, result, coding; of choices from sets option, rank, unranked, best, worst
        (`Choices.from_rankings`, `from_best_worst`). `where`: conditions on the rows of a file or a
        data frame, as `read_table` takes them.

    Returns
    -------
    Leaderboard

    Raises
    ------
    ArgumentError
        If `ties`, `method` or `people` is another word, a condition cannot be read, or columns are
        named of data that have none.
    DataError
        If the source cannot be read as paired comparisons or choices from sets, or best and worst
        are of more than six; if a covariate is one of options, or by it alone all choices are
        known; if answers are to be adjusted and nobody knows who gave them; or if by maximum
        likelihood some worth or coefficient is not finite.

    Warns
    -----
    DataWarning
        If comparisons do not connect all options, rows that were counted say that they are
        practice, or the choice goes with a covariate wherever it is not 0.

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
    check_allowed("ties", ties, TIES)
    of_run = method, random_seed, people, lapse, spread
    asked = WorthsRequest(*of_run, judges, judge_sd, period, drift, since, until, judge_bias, ci)
    settings = checked_settings(asked, by, ties, anchor_model, pool)
    columns = asked.columns(columns, isinstance(source, Judgements))
    named = columns | {"covariates": covariates, "by": by, "id": id}
    return Made(count(source, progressbar, named), settings, named).board(progressbar)


def checked_settings(
    asked: WorthsRequest, by: Any, ties: str, anchor_model: Any, pool: Any
) -> dict[str, Any]:
    """Return the settings of a leaderboard; raise for those that cannot be, whatever its data
    are."""
    check_people(asked.people, (Individuals,))
    asked = asked.with_method()
    check_allowed("method", asked.method, METHODS)
    if asked.spread is not None:
        check_positive("spread", asked.spread, "a standard deviation")
        if not asked.has_prior:
            raise without_prior("spread")
    asked.check()
    WorthScale.of(anchor_model)
    check_pool(pool, by, asked)
    return {"ties": ties} | asked._asdict() | {"anchor_model": anchor_model, "pool": pool}


class Made(NamedTuple):
    """How a leaderboard was made, and of what: all that an update begins with."""

    counted: CountedComparisons
    settings: dict[str, Any]  # of `leaderboard_of`
    columns: dict[str, Any]  # of the tables

    def board(self, progressbar: bool) -> Leaderboard:
        """The leaderboard."""
        parts = {name: part for name, (_, part) in named_parts(self.counted.parts).items()}
        board = leaderboard_of(
            self.counted.data, **self.settings, progressbar=progressbar, parts=parts
        )
        if self.counted.repeated:
            were = "was" if self.counted.repeated == 1 else "were"
            left_out = (
                f"{format_plural(self.counted.repeated, 'answer')} whose identifier was already"
                f" counted {were} excluded."
            )
            board = replace(board, note=f"{board.note} {left_out}")
        return replace(board, made=self)

    def with_more(self, more: Any, progressbar: bool, columns: dict[str, Any]) -> "Made":
        """The same of what was counted and of more, whose columns may have other names."""
        self._check_named(columns)
        new = count(more, progressbar, self.columns | columns, self.counted.ids)
        ties, parts = (
            self.settings["ties"],
            {column: dict(own) for column, own in self.counted.parts.items()},
        )
        data = with_more(judgements_of(self.counted.data), judgements_of(new.data), ties)
        with silence_warnings():  # which all comparisons together gave
            # columns may have other names
            for own, others in zip(parts.values(), new.parts.values(), strict=True):
                own |= {
                    value: with_more(own[value], part, ties) if value in own else part
                    for value, part in others.items()
                }
        repeated, files = self.counted.repeated + new.repeated, (*self.counted.files, *new.files)
        return self._replace(
            counted=CountedComparisons(data, parts, new.ids, repeated, new.read_as, files)
        )

    def _check_named(self, columns: dict[str, Any]) -> None:
        """Raise for columns that the leaderboard was made without, or for lack of those that it was
        made with."""
        before = {name: len(listed(self.columns[name])) for name in ("by", "id")}
        before["covariates"] = len(judgements_of(self.counted.data).covariate_names)
        for name in before.keys() & columns.keys():
            named = len(listed(columns[name]))
            if named and not before[name]:
                raise ArgumentError(
                    "The leaderboard was made without ",
                    Argument(name),
                    ", which an update cannot add; make a new leaderboard from all votes.",
                )
            if name != "covariates" and named != before[name]:
                raise ArgumentError(
                    f"The leaderboard was made with {format_plural(before[name], 'column')} in ",
                    Argument(name),
                    f", but the update has {named or 'none'}; give the same columns in the same"
                    " order, or omit ",
                    Argument(name),
                    ".",
                )


def leaderboard_of(
    source: Any,
    ties: str,
    progressbar: bool,
    parts: Mapping[str, Judgements] | None = None,
    anchor_model: Any = None,
    pool: bool = False,
    **asked: Any,
) -> Leaderboard:
    """Return the leaderboard of data, and those of parts of them; `asked` has the fields of
    `WorthsRequest`."""
    wanted, scale, parts = WorthsRequest(**asked), WorthScale.of(anchor_model), parts or {}

    def prepared(source: Any) -> Judgements:
        return counting_ties(wanted.of(judgements_of(source)), ties)

    whole = judgements_of(source)
    if isinstance(whole, PairedComparisons) and whole.covariates is not None:
        _check_covariates(whole, whole.covariates)
    data = prepared(whole)
    scale.place(data.labels)
    if wanted.has_prior and not is_quiet():
        if message := describe_disconnected(data.components(), data.never_judged):
            warn(DataWarning(message))

    drawn = _drawn_by(data, wanted, scale, progressbar)
    effect = (
        1.0
        if drawn.people is None or drawn.people.model != ADJUSTED
        else max(1.0, drawn.people.effect)
    )
    board, boards = board_of(data, drawn, scale, wanted.ci), {}
    board = replace(board, **_checked(drawn, wanted))
    if drawn.individuals is None:
        board = replace(board, of_more_votes=_forecast(board, drawn, wanted, effect))
        board = replace(board, of_reliability=reliability_of_board(drawn))
    ready: dict[str, Judgements] = {}
    for name, part in parts.items():
        with _named(name):
            ready[name] = prepared(part)
    shared: dict[str, WorthEstimates] = {}
    if pool and len(ready) > 1:
        shared, sentence = _shared(ready, data, wanted, 1.0 / effect, progressbar)
        board = replace(board, note=f"{board.note} {sentence}")
    shows = progressbar and wanted.method == "mcmc"  # others take no time
    for name, part in ready.items():
        own = scale.of_part(part.labels, board.table)
        with _named(name):
            boards[name] = board_of(
                part, shared.get(name) or _drawn_by(part, wanted, own, shows), own, wanted.ci
            )
    return replace(board, boards=boards)


def _drawn_by(
    data: Judgements, asked: WorthsRequest, scale: WorthScale, progressbar: bool
) -> WorthEstimates:
    """The worths, with those without control for covariates."""
    if asked.has_individuals:
        return worths_of_individuals(data, asked, progressbar)
    drawn = drawn_of(data, asked, scale, progressbar)
    if data.covariates is None:
        return drawn
    return drawn._replace(without=drawn_of(data.with_covariates(()), asked, scale, progressbar))


def _forecast(
    board: Leaderboard, drawn: WorthEstimates, asked: WorthsRequest, effect: float
) -> "pandas.DataFrame":
    """What more votes would teach about the first options."""
    assert drawn.marginal is not None
    first = [board.data.labels.index(label) for label in board.table.index[:FIRST]]
    draws = drawn.log_worths if drawn.with_variance is None else drawn.with_variance
    so_far = None
    if asked.period is None:
        is_raised = drawn.people is not None and drawn.people.by == POWER
        so_far = information_so_far(
            drawn.marginal, first, board.data.n_answers, 1.0 if is_raised else effect
        )
    return more_votes(draws[:, first], so_far, board.tie, asked.lapse, effect)


def _checked(drawn: WorthEstimates, asked: WorthsRequest) -> dict[str, Any]:
    """Return the fields of a board that say whether the model describes the votes."""
    try:
        if drawn.individuals is None:
            table = check_votes(drawn)
        else:
            table = drawn.individuals.check(asked.random_seed, asked.ci)
    except DataError as error:
        return {"check_facts": {"missing": str(error)}}
    return {"of_check": table, "check_facts": dict(table.attrs)}


def information_so_far(
    marginal: "Marginal", options: list[int], votes: float, effect: float
) -> Callable[[float], np.ndarray]:
    """Return the information of so many more votes, in the proportions so far, of the differences
    of neighbours."""
    contrasts = np.zeros((marginal.density.size, len(options) - 1))
    for k, (above, below) in enumerate(itertools.pairwise(options)):
        contrasts[[above, below], k] = 1.0, -1.0
    at = marginal.contrast_precision(contrasts)
    now = at(1.0 / effect)

    @cache
    def each(power: int) -> np.ndarray:  # a factor of all options takes long
        return (at((1.0 + 10.0**power / votes) / effect) - now) / 10.0**power

    def gained(n: float) -> np.ndarray:
        part, power = math.modf(math.log10(max(n, 1.0)))
        return n * ((1.0 - part) * each(int(power)) + part * each(int(power) + 1))

    return gained


def _shared(parts: Mapping[str, Any], whole: Judgements, *how: Any) -> Pooled:
    """What pooled boards of parts are made of."""
    if isinstance(whole, Choices):
        raise DataError(
            Argument("pool"),
            f" requires paired comparisons, but these data are {whole.kind}; remove ",
            Argument("pool"),
            ".",
        )
    together = pooled(parts, whole, *how)
    if whole.covariates is None:
        return together
    plain = {name: part.with_covariates(()) for name, part in parts.items()}
    alone = pooled(plain, whole.with_covariates(()), *how).parts
    return together._replace(
        parts={name: drawn._replace(without=alone[name]) for name, drawn in together.parts.items()}
    )


@contextmanager
def _named(part: str) -> Iterator[None]:
    """Errors are of that part."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{part}: ", *error.args) from None


def _check_covariates(data: PairedComparisons, covariates: PairCovariates) -> None:
    """Refuse covariates of options, and those that tell all outcomes; warn of those that do
    wherever they are not 0."""
    covariates.refuse_options("a leaderboard")
    wins, losses = covariates.wins > 0.0, covariates.losses > 0.0
    # of the chosen over the other
    over = np.concatenate([covariates.values[wins], -covariates.values[losses]])
    times = np.concatenate([covariates.wins[wins], covariates.losses[losses]])
    side = np.concatenate([covariates.pair[wins], covariates.pair[losses] + data.n_pairs])
    decided = times.sum()
    if decided < _NO_CHANCE:
        return
    lower = _one_outcome(data)
    if outcomes := [
        name
        for name, x in zip(covariates.names, over.T, strict=True)
        if _tells(x, times, side, lower)
    ]:
        raise DataError(
            f"{'Each of ' * (len(outcomes) > 1)}{shorten(outcomes)} alone predicts the choice in"
            f" all {decided:,.0f} comparisons without ties, as if it were the outcome; remove"
            f" {shorten(outcomes)} from ",
            Argument("covariates"),
            ".",
        )
    for name, x in zip(covariates.names, over.T, strict=True):
        above, below = times @ (x > 0.0), times @ (x < 0.0)
        if min(above, below) == 0.0 and above + below >= _NO_CHANCE:
            warn(
                DataWarning(
                    f"Whenever {name!r} is not 0 ({above + below:,.0f} of {decided:,.0f}"
                    " comparisons without ties), it predicts the choice perfectly, so its effect"
                    " is bounded only by the prior."
                )
            )


def _one_outcome(data: PairedComparisons) -> list[np.ndarray]:
    """How often each side of each pair was chosen: none of these; while it was first; while it was
    second."""
    # The first alone where either place was hardly ever chosen, or nobody knows which was first.
    every = np.concatenate([data.wins, data.losses])
    if data.forward is None:
        return [0.0 * every]
    first = np.concatenate([data.forward[0], data.losses - data.forward[1]])
    places = [first, every - first]
    return [0.0 * every, *(places if min(each.sum() for each in places) >= _NO_CHANCE / 2 else ())]


def _tells(over: np.ndarray, times: np.ndarray, side: np.ndarray, lower: list[np.ndarray]) -> bool:
    """Whether a covariate is above some value in all comparisons of one outcome, and not above it
    in all others."""
    # `over` is that of the chosen option over the other: above the value t in the one outcome, not
    # below -t in the other, so that all between -t and t must be of the other. `lower`: see
    # `_one_outcome`.
    for each in (over, -over):
        low = each <= max(0.0, -each.min())  # the least t there may be
        if any(
            (np.bincount(side[low], times[low], len(most)) <= most + 1e-9).all() for most in lower
        ):
            return True
    return False
