"""Leaderboards: options ranked by paired comparisons, with what is not known about their order."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from thali._arguments import one_of
from thali._described import Description
from thali._labels import plural, shorten
from thali._printed import Printed
from thali.data.choices import Choices
from thali.data.connectivity import check_finite
from thali.data.pairs import PairedComparisons
from thali.data.pairs.covariates import Covariates
from thali.errors import Argument, ArgumentError, DataError, Message, Setting
from thali.inference.files import atomic_write
from thali.inference.progress import Progress
from thali.inference.seeds import streams
from thali.inference.warn import is_quiet
from thali.posterior.dependence import RANDOM, Dependence
from thali.posterior.interval import INTERVAL, TAILS
from thali.posterior.view import Posterior

from .counted import Counted, comparisons_of, count
from .worths import CENTRE, SCALE, Asked, Seen, seen_by

if TYPE_CHECKING:
    import pandas

    from thali.aspects.bradley_terry import Density


# Groups of options that cannot be told apart --------------------------------------------------------------------------


CERTAIN = 0.95  # probability of an order from which on two options are told apart


def orders(rank: np.ndarray) -> np.ndarray:
    """The probability that the row stands above the column, from draws of ranks (draws, options) without ties."""
    draws, n = rank.shape
    rank = np.ascontiguousarray(rank.T, dtype=np.int32)
    found = np.zeros((n, n))
    for i in range(n - 1):
        found[i, i + 1 :] = np.count_nonzero(rank[i + 1 :] > rank[i], axis=1) / draws
    return found + np.tril(1.0 - found.T, -1)


def groups(order: np.ndarray) -> list[list[int]]:
    """Groups of options, the best first, so that two are in one group together if and only if no order is certain.

    Examples
    --------
    >>> groups(np.array([[0, 0.9, 0.99], [0.1, 0, 0.9], [0.01, 0.1, 0]]))
    [[0, 1], [1, 2]]
    """
    n = len(order)
    alike = np.maximum(order, order.T) < CERTAIN
    np.fill_diagonal(alike, True)
    covered = np.zeros((n, n), bool)
    found = []
    for i in range(n):
        for j in np.flatnonzero(alike[i, i:] & ~covered[i, i:]) + i:
            if covered[i, j]:
                continue
            members, room = [i, int(j)] if j > i else [i], alike[i] & alike[j]
            room[members] = False
            while room.any():  # the nearest to the two that is like all members
                candidates = np.flatnonzero(room)
                nearest = int(candidates[np.abs(2 * candidates - i - j).argmin()])
                members.append(nearest)
                room &= alike[nearest]
                room[nearest] = False
            covered[np.ix_(members, members)] = True
            found.append(sorted(members))
    return sorted(found)


def numbered(found: list[list[int]], n: int) -> list[str]:
    """For each option the numbers of its groups, from 1, such as "2-4, 7".

    Examples
    --------
    >>> numbered([[0, 1], [1, 2]], 3)
    ['1', '1-2', '2']
    """
    own: list[list[int]] = [[] for _ in range(n)]
    for number, members in enumerate(found, start=1):
        for member in members:
            own[member].append(number)
    return [", ".join(_runs(numbers)) for numbers in own]


def _runs(numbers: list[int]) -> list[str]:
    """Numbers in words, neighbours together."""
    begin = [k for k, number in enumerate(numbers) if k == 0 or numbers[k - 1] != number - 1]
    ends = [*(k - 1 for k in begin[1:]), len(numbers) - 1]
    return [str(numbers[a]) if a == b else f"{numbers[a]}-{numbers[b]}" for a, b in zip(begin, ends, strict=True)]


METHODS = ("laplace", "mcmc", "maximum-likelihood")
TIES = ("davidson", "half", "drop")
DRAWS, _BLOCK = 4000, 500
_FLAT = 1e-10  # curvature, beside that along single coordinates, of directions about which comparisons say nothing


@dataclass(frozen=True, repr=False, eq=False)
class Leaderboard(Printed):
    """A leaderboard; printed, it is `table` with a sentence.

    Attributes
    ----------
    table : pandas.DataFrame
        One row an option, the best first: `rank` (1 is the best, by the mean of the log worth) with the interval
        `rank_low` to `rank_high`; `group`, the numbers of the groups in which the option is: two options are in one
        group together if and only if neither is above the other with a probability of .95 or more; `rating` with its
        interval, 1000 + 400 log10(worth / geometric mean of the worths), so that 400 points more are odds of 10 to 1;
        `worth` with its interval (they sum to 1); `comparisons`, `wins`, `losses`, `ties`. Intervals hold 89 %. With
        covariates all of these are those of options that have the same covariates, and `rank_without` and
        `rating_without` are what the rank and the rating would be without control for covariates.
    order : pandas.DataFrame, options by options
        The probability that the row is above the column.
    groups : tuple of tuples of str
        The members of each group, the best first.
    tie : float
        nu, the parameter of ties: two equal options end in a tie with probability nu / (2 + nu). NaN without ties.
    data : PairedComparisons
        What was counted.
    effects : pandas.DataFrame or None
        What `covariate_effects` returns; None without covariates.
    boards : mapping from str to Leaderboard
        A leaderboard for each value of the column that divides the comparisons (`by`); named by column and value, such
        as "language de", if there are several columns. The leaderboard itself is that of all together.
    of_judges, in_time : pandas.DataFrame or None
        What `judges` and `worths_in_time` return; None without judges, or periods.
    made : Made
        What `update` begins with.
    people : Dependence or None
        What was made of the answers of the same people: `.model`, `.by`, `.number` of people, `.effect` (the design
        effect), `.warning`; None where nobody knows who answered.
    """

    order: "pandas.DataFrame"
    groups: tuple[tuple[str, ...], ...]
    tie: float
    data: PairedComparisons
    effects: "pandas.DataFrame | None" = None
    boards: "Mapping[str, Leaderboard]" = field(default_factory=dict)
    of_judges: "pandas.DataFrame | None" = None
    in_time: "pandas.DataFrame | None" = None
    made: "Made | None" = None
    people: Dependence | None = None

    @property
    def said_of_people(self) -> Message | None:
        """What was made of the answers of the same people, in a sentence; None where that is not worth a word."""
        return None if self.people is None else self.people.sentence

    def _description(self) -> Description:
        said = self.said_of_people
        note = self.note if said is None else f"{self.note} {said}"
        return Description(self.title, table=self.table, note=note)

    def judges(self) -> "pandas.DataFrame":
        r"""How sharply each judge sees the worths of options: a judge of discrimination d chooses i over k by

        .. math::
            \log \frac{P(i)}{P(k)} = d (\log w_i - \log w_k) + x' \beta, \qquad
            \log d \sim \mathrm{Normal}(0, \tau^2)

        Discrimination 0 is guessing, 1 that of the typical judge, and larger ones are sharper. Signs are not turned: a
        judge against everybody has one near 0, and a log score below that of chance.

        Returns
        -------
        pandas.DataFrame
            One row a judge, the sharpest first: `discrimination` (the median) with its 89 % interval from `low` to
            `high`; `log_discrimination`, the mean of its logarithm; `p_sharper`, the probability that it is above the
            median of all judges; `comparisons`; `log_score`, the mean log probability of the judge's answers as those
            of all others predict them for a judge of discrimination 1, beside that which such a judge has on the same
            comparisons on average (`log_score_typical`) and that of guesses (`log_score_chance`).

        Raises
        ------
        DataError
            If the leaderboard was made without judges.

        Examples
        --------
        >>> import pandas as pd, thali as th
        >>> rows = [("A", "B", "A", "Ann")] * 40 + [("A", "B", "B", "Ann")] * 5 + [("A", "B", "A", "Bo")] * 25
        >>> rows += [("A", "B", "B", "Bo")] * 20
        >>> battles = pd.DataFrame(rows, columns=["model_a", "model_b", "winner", "judge"])
        >>> th.leaderboard(battles, judges=True, progressbar=False).judges().index.tolist()
        ['Ann', 'Bo']
        """
        if self.of_judges is None:
            raise DataError("This leaderboard takes all judges for equals; set leaderboard(judges=True).")
        return self.of_judges.copy()

    def worths_in_time(self) -> "pandas.DataFrame":
        r"""The ratings of options in each period in which there are comparisons.

        .. math:: \log w_{it} \sim \mathrm{Normal}(\log w_{i,t-1}, s^2)

        Returns
        -------
        pandas.DataFrame
            One row a period and option that was there already: `option`, `period` (the first day of a week, the month,
            the year, the day, or the number), `rating` with its 89 % interval from `low` to `high`, `rank` with
            `rank_low` and `rank_high`; `p_better`, the probability that the rating is higher than in the period in
            which the option entered; `probability` of a judge of discrimination 1 to choose it over the first of
            ``data.labels``, ties aside. Ratings of all periods have a mean of 1000 over the options that are there in
            every period, or over all if none is: a change that is common to all is not seen.

        Raises
        ------
        DataError
            If the leaderboard was made without periods.

        Examples
        --------
        >>> import pandas as pd, thali as th
        >>> rows = [("A", "B", "A", 1)] * 8 + [("A", "B", "B", 1)] * 2
        >>> rows += [("A", "B", "A", 2)] + [("A", "B", "B", 2)] * 9
        >>> games = pd.DataFrame(rows, columns=["left", "right", "winner", "season"])
        >>> board = th.leaderboard(games, period="season", progressbar=False)
        >>> board.worths_in_time().query("period == '1' and rank == 1")["option"].tolist(), board.table.index[0]
        (['A'], 'B')
        """
        if self.in_time is None:
            raise DataError("This leaderboard has no periods; set leaderboard(period='week', date=...).")
        return self.in_time.copy()

    def update(self, more: Any, progressbar: bool = True, **columns: Any) -> "Leaderboard":
        """The leaderboard of these comparisons and further ones, which equals that of all of them together.

        Parameters
        ----------
        more : str, path, DataFrame, PairedComparisons or Choices
            Further comparisons, as `leaderboard` takes them. Their columns are those that were named then, by the same
            names; options may be new. If a column of identifiers was named (`id`), rows that were counted before are
            left out; else a row that is there twice counts twice.
        progressbar : bool
        **columns
            Columns that have other names now.

        Returns
        -------
        Leaderboard
            A new one; this one stays as it is.

        Raises
        ------
        DataError
            If the further comparisons cannot be read, have other covariates, or are all known.

        Examples
        --------
        >>> import thali as th
        >>> old = th.leaderboard(th.PairedComparisons.from_pairs([("A", "B"), ("B", "C")] * 9), progressbar=False)
        >>> old.update(th.PairedComparisons.from_pairs([("D", "A")] * 9), progressbar=False).table.index[0]
        'D'
        """
        assert self.made is not None
        return self.made.with_more(more, progressbar, columns).board(progressbar)

    def covariate_effects(self) -> "pandas.DataFrame":
        r"""What covariates of comparisons add to the log odds that the first option is chosen, per unit.

        .. math:: \log \frac{P(i)}{P(j)} = \log w_i - \log w_j + x' \beta

        Returns
        -------
        pandas.DataFrame
            One row a covariate: `effect` (the mean of its coefficient, by maximum likelihood the estimate; a log odds
            ratio), with its 89 % interval from `low` to `high`.

        Raises
        ------
        DataError
            If the comparisons have no covariates.

        Examples
        --------
        >>> import pandas as pd, thali as th
        >>> rows = [("ant", "bee", "ant", 1), ("ant", "bee", "bee", -1), ("ant", "bee", "ant", 0)] * 9
        >>> battles = pd.DataFrame(rows, columns=["model_a", "model_b", "winner", "length"])
        >>> board = th.leaderboard(battles, covariates=["length"])
        >>> bool(board.covariate_effects().loc["length", "low"] > 0.0)
        True
        """
        if self.effects is None:
            raise DataError("This leaderboard controls for no covariate; name columns: leaderboard(covariates=[...]).")
        return self.effects.copy()

    def by_part(self) -> "pandas.DataFrame":
        """The boards of all parts in one table.

        Returns
        -------
        pandas.DataFrame
            A row a part and option, the columns those of `table`, the index `part` and `option`.

        Raises
        ------
        DataError
            If the comparisons were not divided.
        """
        import pandas as pd

        if not self.boards:
            raise DataError("This leaderboard has no parts; name the column that divides it: leaderboard(by=...).")
        return pd.concat({name: part.table for name, part in self.boards.items()}, names=["part"])

    def save(self, path: Any) -> None:
        """Write the leaderboard itself to a file that `thali.load` reads and `update` goes on from, or its table.

        Parameters
        ----------
        path : str or path
            "board.nc" holds the leaderboard with what was counted (and 8-byte hashes of identifiers, if a column of
            them was named); "board.csv" the table, "board.json" the table with a row an object. A file that exists is
            replaced.

        Raises
        ------
        DataError
            If the name ends in none of these, or the file cannot be written.
        """
        path = Path(path)
        kinds = {".nc": as_netcdf, ".csv": as_csv, ".json": as_json}
        if path.suffix.lower() not in kinds:
            raise DataError(f"'{path}' must end in .nc, .csv or .json, which says how the leaderboard is written.")
        atomic_write(path, kinds[path.suffix.lower()](self))


class Made(NamedTuple):
    """How a leaderboard was made, and of what: all that an update begins with."""

    counted: Counted
    settings: dict[str, Any]  # of `leaderboard_of`
    columns: dict[str, Any]  # of the tables

    def board(self, progressbar: bool) -> Leaderboard:
        """The leaderboard."""
        board = leaderboard_of(self.counted.data, **self.settings, progressbar=progressbar, parts=self.counted.parts)
        if self.counted.repeated:
            left_out = f"{plural(self.counted.repeated, 'row')} whose identifier was there already were left out."
            board = replace(board, note=f"{board.note} {left_out}")
        return replace(board, made=self)

    def with_more(self, more: Any, progressbar: bool, columns: dict[str, Any]) -> "Made":
        """The same of what was counted and of more, whose columns may have other names."""
        new = count(more, progressbar, self.columns | columns, self.counted.ids)
        parts = dict(self.counted.parts)
        for name, part in new.parts.items():
            parts[name] = parts[name].with_more(part) if name in parts else part
        data = comparisons_of(self.counted.data).with_more(comparisons_of(new.data))
        repeated = self.counted.repeated + new.repeated
        return self._replace(counted=Counted(data, parts, new.ids, repeated, new.read_as))


def as_netcdf(board: Leaderboard) -> memoryview:
    """The leaderboard itself, as `thali.load` reads it."""
    from thali.model.saved import answer_as_netcdf

    assert board.made is not None
    seed = board.made.settings["random_seed"]
    settings = board.made.settings | {"random_seed": seed if isinstance(seed, int | np.random.SeedSequence) else 0}
    return answer_as_netcdf(replace(board, made=board.made._replace(settings=settings)))


def as_csv(board: Leaderboard) -> bytes:
    """The table as CSV."""
    return board.table.to_csv(lineterminator="\n").encode()


def as_json(board: Leaderboard) -> bytes:
    """The table as JSON, a row an object."""
    text = str(board.table.reset_index().to_json(orient="records", indent=1, force_ascii=False))
    return f"{text}\n".encode()


def leaderboard(
    source: Any,
    ties: Literal["davidson", "half", "drop"] = "davidson",
    method: Literal["laplace", "mcmc", "maximum-likelihood"] = "laplace",
    random_seed: Any = 0,
    progressbar: bool = True,
    covariates: Any = None,
    by: Any = None,
    id: str | None = None,
    people: Literal["independent", "adjusted", "random"] | None = None,
    judges: bool = False,
    judge_sd: float | None = None,
    period: str | None = None,
    drift: float | None = None,
    since: Any = None,
    until: Any = None,
    lapse: float = 0.0,
    **columns: Any,
) -> Leaderboard:
    r"""Rank options by comparisons of two, with intervals of their ranks and the groups that cannot be told apart.

    .. math::
        P(i \text{ over } j) = \frac{w_i}{w_i + w_j + \nu \sqrt{w_i w_j}}, \qquad
        P(\text{tie}) = \frac{\nu \sqrt{w_i w_j}}{w_i + w_j + \nu \sqrt{w_i w_j}}

    With covariates x of a comparison, :math:`w_i e^{x' \beta}` stands in place of :math:`w_i`. With judges, whose
    discriminations are d, worths are :math:`w_i^d`; with periods they change in time.

    Parameters
    ----------
    source : str, path, DataFrame, PairedComparisons or Choices
        A file (CSV, TSV, Excel or Parquet; large ones are read in batches, and only counts are kept), a data frame of
        pandas, polars or whatever has the Arrow interface, or data: the log of an arena (model_a, model_b, winner),
        winners and losers, results of games, a square of counts, and whatever else `thali fit` reads as pairs.
    ties : {"davidson", "half", "drop"}
        A tie is a third outcome whose odds are learned, half a win of either option, or nothing.
    method : {"laplace", "mcmc", "maximum-likelihood"}
        "laplace" and "mcmc": the posterior under Gamma(1, 1) priors of worths and nu, which keeps the worths of options
        that were never beaten, or never compared, finite, and Normal(0, 1) priors of the coefficients of covariates;
        see `EliminationByAspects`. "maximum-likelihood": estimates without a prior, with the normal distribution that
        they have in large samples.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the draws from which ranks and intervals are computed.
    progressbar : bool
    covariates : list of str, optional
        Columns of a file or a data frame that describe comparisons, with the sign of "first over second": numbers as
        they are, other columns as indicators of all categories but the first; "order" is 1 for the option that stands
        first. Of data, the names of those of its covariates that count; [] for none. None: those that data have.
    by : str or list of str, optional
        Columns, such as the language, for each value of which there is a leaderboard, too: `boards`. Rows whose cell is
        empty count for all together alone. Of data, columns that describe the people who answered.
    id : str, optional
        A column of a file or a data frame with an identifier of each row: of rows with the same one the first counts,
        also in an `update`. None: rows that are alike all count.
    people : {"independent", "adjusted", "random"}, optional
        What is made of people who answered more than once, where the source says who did (files that are read in
        batches do not). "independent": their answers count as so many people. "adjusted": intervals and orders hold
        for new samples of people, as `EliminationByAspects` adjusts draws. "random", by "mcmc": everybody has worths of
        their own about common ones, which are those of the board. None: "adjusted" where half of two people or more
        answered at least twice, "independent" by "mcmc".
    judges : bool
        Whether those who answered differ in how sharply they see worths; the ratings are those that a judge of
        discrimination 1 sees. See `Leaderboard.judges`. By "laplace" or "mcmc"; together with `period` by "mcmc".
    judge_sd : float, optional
        The standard deviation of log discriminations. None: learned, HalfNormal(.5) before.
    period : str, optional
        "day", "week", "month" or "year" of the dates, or a column of whole numbers such as a season: worths change
        from period to period, and the leaderboard is that of the last. See `Leaderboard.worths_in_time`. By "laplace"
        or "mcmc". An option enters with its first comparison.
    drift : float, optional
        The standard deviation of the change of a log worth from a period to the next. None: learned, HalfNormal(.5)
        before.
    since, until : str or int, optional
        The first and the last date that count, such as "2024-05-31", "2024-05" or "2024".
    lapse : float
        The share of choices that are made at random.
    **columns
        Names of columns that are not recognised, as `PairedComparisons.from_trials`, `from_results` and `from_frame`
        take them: first, second, chosen, rejected, count, losses, subject, date, home, away, result, coding. `where`:
        conditions on the rows of a file or a data frame, as `read_table` takes them.

    Returns
    -------
    Leaderboard

    Raises
    ------
    ArgumentError
        If `ties`, `method` or `people` is another word, a condition cannot be read, or columns are named of data that
        have none.
    DataError
        If the source cannot be read as paired comparisons; if a covariate is one of options; if answers are to be
        adjusted and nobody knows who gave them; or if by maximum likelihood some worth or coefficient is not finite.

    Warns
    -----
    DataWarning
        If comparisons do not connect all options, or rows that were counted say that they are practice.

    References
    ----------
    Bradley & Terry (1952); Davidson (1970), On extending the Bradley-Terry model to accommodate ties in paired
    comparison experiments.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> rows = [("A", "B", "model_a"), ("A", "B", "tie"), ("B", "C", "model_a"), ("A", "C", "model_a")] * 9
    >>> board = th.leaderboard(pd.DataFrame(rows, columns=["model_a", "model_b", "winner"]))
    >>> board.table["group"].to_dict()
    {'A': '1', 'B': '2', 'C': '3'}
    """
    one_of("ties", ties, TIES)
    one_of("method", method, METHODS)
    check_people_of(people, method)
    asked = Asked(judges, judge_sd, period, drift, since, until)
    asked.check(method, people)
    columns = asked.columns(columns, isinstance(source, PairedComparisons | Choices))
    named = columns | {"covariates": covariates, "by": by, "id": id}
    settings = {"ties": ties, "method": method, "random_seed": random_seed, "people": people, "lapse": lapse}
    settings |= asked._asdict()
    return Made(count(source, progressbar, named), settings, named).board(progressbar)


def check_people_of(people: Any, method: str) -> None:
    """Raise for people of whom each has worths of their own by a method that knows one group."""
    if people == RANDOM and method != "mcmc":
        raise ArgumentError(Setting("people", RANDOM), " needs ", Setting("method", "mcmc"), ".")


def leaderboard_of(
    source: Any,
    ties: str,
    method: str,
    random_seed: Any,
    progressbar: bool,
    parts: Mapping[str, PairedComparisons] | None = None,
    people: Any = None,
    lapse: float = 0.0,
    **asked: Any,
) -> Leaderboard:
    """The leaderboard of data, whatever `comparisons_of` takes, with those of parts of them; `asked`: see `Asked`."""
    wanted = Asked(**asked)

    def board_of(source: Any, is_part: bool) -> Leaderboard:
        data = wanted.of(comparisons_of(source))
        data = data if ties == "davidson" else data.without_ties(ties)
        if data.covariates is not None:
            _check_covariates(data.covariates)
        if method != "maximum-likelihood" and not is_part and not is_quiet():
            data.warn_if_unusual()
        shown = progressbar and (method == "mcmc" or not is_part)  # else parts take no time
        settings = method, lapse, random_seed, shown, people
        drawn = _drawn(data, wanted, *settings)
        without = None
        if data.covariates is not None:
            without = _drawn(data.with_covariates(()), wanted, *settings).middle
        return _board(data, drawn, without)

    whole, boards = board_of(source, False), {}
    for name, part in (parts or {}).items():
        try:
            boards[name] = board_of(part, True)
        except DataError as error:
            raise DataError(f"{name}: ", *error.args) from None
    return replace(whole, boards=boards)


def _check_covariates(covariates: Covariates) -> None:
    """Refuse covariates of options, which are part of their worths, and those that tell the outcome."""
    leave_out = " leave them out by ", Argument("covariates"), "."
    of_options = [name for name, one in zip(covariates.names, covariates.is_of_options, strict=True) if one]
    if of_options:
        raise DataError(
            f"{shorten(of_options)} describe options, and a leaderboard controls for what differs between comparisons "
            "of the same two; fit EliminationByAspects('unique'), or",
            *leave_out,
        )
    values, wins, losses = covariates.values, covariates.wins, covariates.losses
    agrees, differs = ((values[each > 0.0] * sign).T for each, sign in ((wins, 1.0), (losses, -1.0)))
    same = np.concatenate([agrees, differs], axis=1)
    is_outcome = ((same > 0.0).all(axis=1) | (same < 0.0).all(axis=1)) & (same.shape[1] > 0)
    outcomes = [name for name, one in zip(covariates.names, is_outcome, strict=True) if one]
    if outcomes:
        raise DataError(
            f"Of {shorten(outcomes)} the sign is that of the choice in every comparison, as if it were its outcome;",
            *leave_out,
        )


class _Drawn(NamedTuple):
    """What is known of the worths."""

    log_worths: np.ndarray  # (draws, options), the mean of each row 0
    nu: np.ndarray  # (draws,); empty if there are no ties
    beta: np.ndarray  # (draws, covariates)
    estimate: tuple[np.ndarray, np.ndarray] | None  # log worths and beta by maximum likelihood; None: means of draws
    people: Dependence | None  # what was made of them
    seen: Seen | None = None  # by judges, or in time

    @property
    def middle(self) -> np.ndarray:
        """The log worths by which options are ranked."""
        return self.log_worths.mean(axis=0) if self.estimate is None else self.estimate[0]

    @property
    def effects(self) -> np.ndarray:
        """The coefficients that are reported."""
        return self.beta.mean(axis=0) if self.estimate is None else self.estimate[1]


def _drawn(
    data: PairedComparisons, asked: Asked, method: str, lapse: float, random_seed: Any, progressbar: bool, people: Any
) -> _Drawn:
    """The draws by that method."""
    if not asked.is_plain:
        seen = seen_by(data, asked, method, lapse, random_seed, progressbar)
        return _Drawn(seen.log_worths, seen.nu, seen.beta, None, None, seen)
    if method == "mcmc":
        return _by_mcmc(data, lapse, random_seed, progressbar, people)
    from thali.aspects.bradley_terry import density_of
    from thali.aspects.dependence import worths_of

    estimates = method == "maximum-likelihood"
    if estimates:
        beats = data.wins + data.tied > 0, data.losses + data.tied > 0
        winner = np.append(data.first[beats[0]], data.second[beats[1]])
        loser = np.append(data.second[beats[0]], data.first[beats[1]])
        check_finite(
            data.labels, winner, loser, ("set ", Setting("method", "laplace"), ", whose prior keeps it finite.")
        )
    density = density_of(data, lapse, bool(data.n_ties), not estimates)
    if estimates and data.covariates is not None:
        _check_identified(density, data.covariates.names)
    normal, dependence = worths_of(people, data, density)
    (rng,) = streams(random_seed, 1)
    found = []
    with Progress(progressbar, "drawing", DRAWS, "draws") as progress:
        for begin in range(0, DRAWS, _BLOCK):
            found.append(normal.mode + normal.deviations(rng, _BLOCK) if estimates else normal.points(rng, _BLOCK))
            progress.update(begin + _BLOCK)
    u, log_nu, beta = density.parts_of(np.concatenate(found))
    mode = density.parts_of(normal.mode)
    return _Drawn(u, np.exp(log_nu).ravel(), beta, (mode[0], mode[2]) if estimates else None, dependence)


def _check_identified(density: "Density", names: tuple[str, ...]) -> None:
    """Refuse covariates whose effects the likelihood alone does not tell from worths."""
    from thali.aspects.bradley_terry import local

    curvature = local(density, np.zeros(density.size)).curvature
    scale = np.sqrt(np.diag(curvature))
    directions = np.linalg.eigvalsh(curvature / scale / scale[:, None])
    if np.count_nonzero(directions < _FLAT) > 1:  # a common change of all log worths is always one
        raise DataError(
            f"The effects of {shorten(names)} cannot be told from the worths of options, because they do not differ "
            "between comparisons of the same two, or are sums of one another; set ",
            Setting("method", "laplace"),
            ", whose prior decides, or name fewer by ",
            Argument("covariates"),
            ".",
        )


def _by_mcmc(data: PairedComparisons, lapse: float, random_seed: Any, progressbar: bool, people: Any) -> _Drawn:
    """The draws of the chains of the model."""
    from thali.aspects.models.elimination import EliminationByAspects

    model = EliminationByAspects("unique", lapse=lapse, people=people)
    model = model.fit(data, random_seed=random_seed, progressbar=progressbar)
    seen = Posterior(model.posterior_)
    worths = seen.draws["unique_weights"] if seen.common_worth is None else seen.common_worth
    log_worths = np.log(worths.values.reshape(-1, data.n_options))
    nu = np.zeros(0) if seen.tie is None else seen.tie.reshape(len(log_worths), -1).mean(axis=1)
    names = data.covariate_names
    beta = seen.draws["covariate"].values.reshape(-1, len(names)) if names else np.zeros((len(log_worths), 0))
    return _Drawn(log_worths - log_worths.mean(axis=1, keepdims=True), nu, beta, None, seen.dependence)


def _board(data: PairedComparisons, drawn: _Drawn, without: np.ndarray | None) -> Leaderboard:
    """The leaderboard that draws of log worths give; `without`: the log worths without control for covariates."""
    import pandas as pd

    middle = drawn.middle
    place = np.argsort(-middle, kind="stable")
    log_worths, middle, n = drawn.log_worths[:, place], middle[place], len(place)
    rank = np.argsort(np.argsort(-log_worths, axis=1, kind="stable"), axis=1) + 1
    order = orders(rank)
    found = groups(order)
    worth = _shares(log_worths)
    labels = pd.Index(np.array(data.labels, dtype=object)[place], name="option")
    low, high = np.quantile(rank, TAILS, axis=0, method="inverted_cdf").astype(int)
    columns: dict[str, Any] = {"rank": np.arange(1, n + 1), "rank_low": low, "rank_high": high}
    columns["group"] = numbered(found, n)
    columns["rating"] = CENTRE + SCALE / np.log(10.0) * middle
    low, high = CENTRE + SCALE / np.log(10.0) * np.quantile(log_worths, TAILS, axis=0)
    columns |= {"rating_low": low, "rating_high": high}
    if without is not None:
        columns["rank_without"] = (np.argsort(np.argsort(-without, kind="stable")) + 1)[place]
        columns["rating_without"] = CENTRE + SCALE / np.log(10.0) * without[place]
    columns["worth"] = worth.mean(axis=0) if drawn.estimate is None else _shares(middle)
    columns["worth_low"], columns["worth_high"] = np.quantile(worth, TAILS, axis=0)
    wins, losses, ties = _record(data)
    each = {"comparisons": wins + losses + ties, "wins": wins, "losses": losses, "ties": ties}
    columns |= {name: _whole(numbers[place]) for name, numbers in each.items()}
    nu = float(drawn.nu.mean()) if len(drawn.nu) else np.nan
    seen = drawn.seen
    note = _note(data, wins + ties, losses + ties, nu, seen is not None and seen.in_time is not None)
    return Leaderboard(
        title=f"Leaderboard: {data}",
        table=pd.DataFrame(columns, index=labels),
        note=note if seen is None else f"{note} {seen.note}",
        order=pd.DataFrame(order, labels, labels),
        groups=tuple(tuple(labels[members]) for members in found),
        tie=nu,
        data=data,
        effects=_effects(data, drawn),
        people=drawn.people,
        of_judges=None if seen is None else seen.judges,
        in_time=None if seen is None else seen.in_time,
    )


def _effects(data: PairedComparisons, drawn: _Drawn) -> "pandas.DataFrame | None":
    """The coefficients of covariates with their intervals; None without covariates."""
    import pandas as pd

    if data.covariates is None:
        return None
    low, high = np.quantile(drawn.beta, TAILS, axis=0)
    names = pd.Index(data.covariates.names, name="covariate")
    return pd.DataFrame({"effect": drawn.effects, "low": low, "high": high}, index=names)


def _shares(log_worths: np.ndarray) -> np.ndarray:
    """Worths that sum to 1 along the last axis."""
    worth = np.exp(log_worths - log_worths.max(axis=-1, keepdims=True))
    return worth / worth.sum(axis=-1, keepdims=True)


def _record(data: PairedComparisons) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How often each option was chosen, rejected, and neither."""
    n = data.n_options

    def added(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return np.bincount(data.first, first, n) + np.bincount(data.second, second, n)

    return added(data.wins, data.losses), added(data.losses, data.wins), added(data.tied, data.tied)


def _whole(numbers: np.ndarray) -> np.ndarray:
    """Counts as integers, fractional ones as they are."""
    return numbers.astype(np.int64) if np.array_equal(numbers, np.floor(numbers)) else numbers


def _note(data: PairedComparisons, not_lost: np.ndarray, not_won: np.ndarray, nu: float, is_in_time: bool) -> str:
    """What the numbers mean, and of whom the data say little."""
    sentences = [
        f"Intervals hold {INTERVAL:.0%}. Two options are in one group if neither is above the other with probability "
        f"{CERTAIN:g} or more. A rating of {SCALE:g} points more means odds of 10 to 1"
        + ("." if is_in_time else f"; {CENTRE:g} is the mean.")
    ]
    if not np.isnan(nu):
        sentences.append(f"Two equal options end in a tie with probability {nu / (2 + nu):.3g}.")
    names = np.array(data.labels, dtype=object)
    for never, only in (("beaten", (not_won == 0) & (not_lost > 0)), ("chosen", (not_lost == 0) & (not_won > 0))):
        if only.any():
            were = "was" if only.sum() == 1 else "were"
            sentences.append(f"{shorten(names[only].tolist())} {were} never {never}: how far off, the prior tells.")
    if len(data.components()) > 1:
        sentences.append(
            f"The options fall into {plural(len(data.components()), 'group')} never compared with each other."
        )
    return " ".join(sentences)
