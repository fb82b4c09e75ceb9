"""A leaderboard: its table, what is not known about the order, and how it is saved and goes on."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.checks import convert_whole_counts
from thali._data.choices import Choices
from thali._data.choices.choices import list_row_members
from thali._described import Description
from thali._inference.files import atomic_write
from thali._posterior.certain_signs import select_certain_signs
from thali._posterior.convergence import ConvergenceCheck
from thali._posterior.dependence import Dependence
from thali._posterior.interval import INTERVAL
from thali._printed import PrintedResult
from thali.errors import DataError, Message

from .counted import Judgements

if TYPE_CHECKING:
    import pandas

    from .leaderboard import Made


@dataclass(frozen=True, repr=False, eq=False)
class Leaderboard(PrintedResult):
    """A leaderboard; printed, it is `table` with a sentence.

    Attributes
    ----------
    table : pandas.DataFrame
        One row an option, the best first: `rank` (1 is the best, by the most probable log worth
        given the standard deviations, averaged over these, which no seed changes) with the interval
        `rank_low` to `rank_high`; `p_1`, the probability that it is the first; `tier`, the numbers
        of the tiers in which the option is: two options are in one tier together if and only if
        neither is above the other with a probability of .95 or more; `rating` with its interval,
        from mean log worths (neighbours in whose means the noise of draws reverses the order share
        a rating), 1000 + 400 log10(worth / geometric mean of the worths), so that 400 points more
        are odds of 10 to 1, or, with an anchor (`anchor_model`), its rating + 400 log10(worth /
        worth of the anchor); `worth` with its interval (they sum to 1); `comparisons`, `wins`,
        `losses`, `ties`. Of choices from sets, also those of which rankings consist, `comparisons`
        are the sets in which the option was offered, `wins` those in which it was chosen and
        `losses` the others; of best and worst it is best in `wins` and worst in `losses`, and
        neither in `ties`. Intervals contain `ci` of the draws. With covariates all of these are
        those of options that have the same covariates, and `rank_without` and `rating_without` are
        what the rank and the rating would be without control for covariates.
    order : pandas.DataFrame, options by options
        The probability that the row is above the column.
    groups : tuple of tuples of str
        The members of each tier, the best first.
    tie : float
        nu, the parameter of ties: two equal options end in a tie with probability nu / (2 + nu).
        NaN without ties.
    data : PairedComparisons or Choices
        What was counted.
    effects : pandas.DataFrame or None
        What `covariate_effects` returns; None without covariates.
    boards : mapping from str to Leaderboard
        A leaderboard for each value of the column that divides the comparisons (`by`); named by
        column and value, such as "language de", if there are several columns. The leaderboard
        itself is that of all together.
    of_judges, in_time : pandas.DataFrame or None
        What `judges` and `worths_in_time` return; None without judges, or periods.
    of_more_votes : pandas.DataFrame or None
        What `more_votes` returns; None of a part.
    made : Made
        What `update` begins with.
    of_chains : ConvergenceCheck or None
        What `convergence` returns; None where there are no chains.
    people : Dependence or None
        What was made of the answers of the same people: `.model`, `.by`, `.number` of people,
        `.effect` (the design effect), `.warning`; None where nobody knows who answered.
    ci : float
        The probability of intervals.
    of_check : pandas.DataFrame or None
        What was observed of each pair, or of each member of a set, beside what the model predicts,
        as `EliminationByAspects.check` returns it; None of a part, of fractional counts, and of
        very many comparisons.
    check_facts : mapping
        The p-value of the check and what else its sentence needs, or why there is none.
    of_reliability : pandas.DataFrame or None
        What `reliability` returns; None of a part, of two options, and by maximum likelihood.
    """

    order: "pandas.DataFrame"
    groups: tuple[tuple[str, ...], ...]
    tie: float
    data: Judgements
    effects: "pandas.DataFrame | None" = None
    boards: "Mapping[str, Leaderboard]" = field(default_factory=dict)
    of_judges: "pandas.DataFrame | None" = None
    in_time: "pandas.DataFrame | None" = None
    of_more_votes: "pandas.DataFrame | None" = None
    made: "Made | None" = None
    people: Dependence | None = None
    of_chains: ConvergenceCheck | None = None
    ci: float = INTERVAL
    of_check: "pandas.DataFrame | None" = None
    check_facts: Mapping[str, Any] = field(default_factory=dict)
    of_reliability: "pandas.DataFrame | None" = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.of_check is not None:
            facts: dict[Any, Any] = dict(self.check_facts)
            self.of_check.attrs = facts
        for table in (self.table, self.effects, self.of_judges, self.in_time, self.of_reliability):
            if table is not None:
                table.attrs["interval"] = self.ci
        self.table.attrs["tiers"] = [members for members in self.groups if len(members) > 1]

    @property
    def said_of_people(self) -> Message | None:
        """What was made of the answers of the same people, in a sentence; None where that is not
        worth a word."""
        return None if self.people is None else self.people.sentence

    def _description(self) -> Description:
        said = self.said_of_people
        note = self.note if said is None else f"{self.note} {said}"
        return Description(self.title, table=self.table, note=note)

    def convergence(self) -> ConvergenceCheck:
        """Whether the chains agree and are long enough: R-hat at most 1.01 and effective sample
        sizes of 100 a chain.

        Returns
        -------
        ConvergenceCheck
            `.agrees`, `.facts`, and as text a sentence. It is about log worths, discriminations,
            coefficients and standard deviations, or, where judges are alike and nothing changes in
            time, about the probabilities of choices.

        Raises
        ------
        DataError
            If the leaderboard was made without chains.

        Examples
        --------
        >>> import thali as th
        >>> pairs = [("A", "B"), ("B", "C")] * 9 + [("B", "A"), ("C", "B")] * 4
        >>> data = th.PairedComparisons.from_pairs(pairs)
        >>> th.leaderboard(
        ...     data, method="mcmc", random_seed=1, progressbar=False
        ... ).convergence().agrees
        True
        """
        if self.of_chains is None:
            raise DataError(
                "This leaderboard was fitted without chains; set leaderboard(method='mcmc')."
            )
        return self.of_chains

    def judges(self) -> "pandas.DataFrame":
        r"""How sharply each judge sees the worths of options: a judge of discrimination d chooses i
        over k by

        .. math::
            \log \frac{P(i)}{P(k)} = d (\log w_i - \log w_k) + x' \beta, \qquad
            \log d \sim \mathrm{Normal}(0, \tau^2)

        Discrimination 0 is guessing, 1 that of the typical judge, and larger ones are sharper.
        Signs are not turned: a judge against everybody has one near 0, and a log score below that
        of chance.

        Returns
        -------
        pandas.DataFrame
            One row a judge, the sharpest first: `discrimination` (the median) with its interval
            from `low` to `high`; `log_discrimination`, the mean of its logarithm; `p_sharper`, the
            probability that it is above the median of all judges; `comparisons`; `log_score`, the
            mean log probability of the judge's answers as those of all others predict them for a
            judge of discrimination 1, beside that which such a judge has on the same comparisons on
            average (`log_score_typical`) and that of guesses (`log_score_chance`); with
            `judge_bias` for each covariate `bias_NAME`, the judge's own coefficient, with its
            interval.

        Raises
        ------
        DataError
            If the leaderboard was made without judges.

        Examples
        --------
        >>> import pandas as pd, thali as th
        >>> rows = (
        ...     [("A", "B", "A", "Ann")] * 40
        ...     + [("A", "B", "B", "Ann")] * 5
        ...     + [("A", "B", "A", "Bo")] * 25
        ... )
        >>> rows += [("A", "B", "B", "Bo")] * 20
        >>> battles = pd.DataFrame(rows, columns=["model_a", "model_b", "winner", "judge"])
        >>> th.leaderboard(battles, judges=True, progressbar=False).judges().index.tolist()
        ['Ann', 'Bo']
        """
        if self.of_judges is None:
            raise DataError("This leaderboard has no judge effects; set leaderboard(judges=True).")
        table = self.of_judges.copy()
        table.attrs["answers"] = self.data.word_for_answers
        return table

    def worths_in_time(self) -> "pandas.DataFrame":
        r"""The ratings of options in each period in which there are comparisons.

        .. math:: \log w_{it} \sim \mathrm{Normal}(\log w_{i,t-1}, s^2)

        Returns
        -------
        pandas.DataFrame
            One row a period and option that was there already: `option`, `period` (the first day of
            a week, the month, the year, the day, or the number), `rating` with its interval from
            `low` to `high`, `rank` with `rank_low` and `rank_high`; `p_better`, the probability
            that the rating is higher than in the period in which the option entered; `probability`
            of a judge of discrimination 1 to choose it over the first of ``data.labels``, ties
            aside. Ratings of all periods have a mean of 1000 over the options that are there in
            every period, or over all if none is, unless an option is the anchor (`anchor_model`),
            which stands still: a change that is common to all is not seen.

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
        >>> (
        ...     board.worths_in_time().query("period == '1' and rank == 1")["option"].tolist(),
        ...     board.table.index[0],
        ... )
        (['A'], 'B')
        """
        if self.in_time is None:
            raise DataError(
                "This leaderboard has no periods; set leaderboard(period='week', date=...)."
            )
        table = self.in_time.copy()
        last = table[table["period"] == table["period"].iloc[-1]].set_index("option")
        table.attrs["better"], table.attrs["worse"] = (
            last.index[each].tolist() for each in select_certain_signs(last["p_better"])
        )
        return table

    def more_votes(self) -> "pandas.DataFrame":
        r"""Are there enough votes? How probable it is that more of them tell the first three
        options apart.

        Three options are told apart if of each two one is above the other with probability .95 or
        more. Truths are drawn from the posterior, and what votes say of them from these, as normal
        distributions of log worths: with the precision :math:`\Lambda` of their differences, after
        n votes each of which is expected to have the information J (Fisher's), it is :math:`\Lambda
        + n J`.

        Returns
        -------
        pandas.DataFrame
            Indexed by the number of more votes, from 0 to where either probability reaches .9:
            `as_so_far`, if votes go to pairs in the proportions that they have so far (absent with
            periods, of which the last has the fewest); `among_these`, if all are on pairs of these
            three, on each pair equally many.

        Raises
        ------
        DataError
            Of the leaderboard of a part.

        Examples
        --------
        >>> import thali as th
        >>> pairs = [("A", "B"), ("B", "C")] * 9 + [("B", "A"), ("C", "B")] * 4
        >>> board = th.leaderboard(th.PairedComparisons.from_pairs(pairs), progressbar=False)
        >>> table = board.more_votes()
        >>> float(table.loc[0, "as_so_far"]), bool(table["as_so_far"].iloc[-1] > 0.5)
        (0.0, True)
        """
        if self.of_more_votes is None:
            raise DataError(
                "more_votes applies only to the leaderboard of all comparisons, of respondents"
                " with the same worths; call it on that leaderboard, not on one of a subset."
            )
        return self.of_more_votes.copy()

    def reliability(self) -> "pandas.DataFrame":
        r"""How well the ratings agree with the worths themselves, from 0 to 1, as comparative
        judgement reports it.

        Returns
        -------
        pandas.DataFrame
            A row a measure, `reliability` with its interval from `low` to `high`: `r_squared`, the
            posterior mean of the squared correlation of mean log worths m with a draw of log
            worths; `separation`, Var(m) / (Var(m) + v) with the mean v of posterior variances,
            without an interval; `split_half_judges`, or `split_half_comparisons` where judges are
            not known, the correlation of estimates from random halves (Spearman and Brown; the
            median of 20 splits), without an interval; absent above 500 options.

        Raises
        ------
        DataError
            Of the leaderboard of a part, of two options, and by maximum likelihood.

        References
        ----------
        Pollitt (2012), The method of adaptive comparative judgement; Bramley (2015), Investigating
        the reliability of adaptive comparative judgment.

        Examples
        --------
        >>> import thali as th
        >>> board = th.leaderboard(th.datasets.celebrities(), progressbar=False)
        >>> bool(board.reliability().loc["r_squared", "reliability"] > 0.9)
        True
        """
        if self.of_reliability is None:
            raise DataError(
                "Reliability requires the leaderboard of all comparisons, three or more options"
                " and a prior, and respondents with the same worths; set"
                " leaderboard(method='laplace')."
            )
        return self.of_reliability.copy()

    def update(self, more: Any, progressbar: bool = True, **columns: Any) -> "Leaderboard":
        """The leaderboard of these comparisons and further ones, which equals that of all of them
        together.

        Parameters
        ----------
        more : str, path, DataFrame, PairedComparisons or Choices
            Further comparisons, as `leaderboard` takes them. Their columns are those that were
            named then, by the same names; options may be new. If a column of identifiers was named
            (`id`), answers that were counted before are left out; else a row that is there twice
            counts twice. Between comparisons of two and choices out of larger sets ties count as
            `ties` says, "half" or "drop".
        progressbar : bool
        **columns
            Columns that have other names now, as `leaderboard` takes them.

        Returns
        -------
        Leaderboard
            A new one; this one stays as it is.

        Raises
        ------
        ArgumentError
            If `by`, `id` or `covariates` is named that the leaderboard was made without, or is no
            longer.
        DataError
            If the further comparisons cannot be read, have other covariates, or are all known; if
            some rows of an answer are known and others are not; if comparisons with ties (of
            `ties="davidson"`), covariates or dates meet choices out of larger sets.

        Warns
        -----
        DataWarning
            If one of the two does not say who answered, which is then forgotten of all; if a column
            of people has another value of somebody than before; or if new labels differ from old
            ones in capitals or blanks alone.

        Examples
        --------
        >>> import thali as th
        >>> old = th.leaderboard(
        ...     th.PairedComparisons.from_pairs([("A", "B"), ("B", "C")] * 9), progressbar=False
        ... )
        >>> old.update(
        ...     th.PairedComparisons.from_pairs([("D", "A")] * 9), progressbar=False
        ... ).table.index[0]
        'D'
        """
        assert self.made is not None
        return self.made.with_more(more, progressbar, columns).board(progressbar)

    def covariate_effects(self) -> "pandas.DataFrame":
        r"""What covariates of comparisons add to the log odds that the first option is chosen, per
        unit.

        .. math:: \log \frac{P(i)}{P(j)} = \log w_i - \log w_j + x' \beta

        Returns
        -------
        pandas.DataFrame
            One row a covariate: `effect` (the mean of its coefficient, by maximum likelihood the
            estimate; a log odds ratio), with its interval from `low` to `high`.

        Raises
        ------
        DataError
            If the comparisons have no covariates.

        Examples
        --------
        >>> import pandas as pd, thali as th
        >>> rows = [
        ...     ("ant", "bee", "ant", 1),
        ...     ("ant", "bee", "bee", -1),
        ...     ("ant", "bee", "ant", 0),
        ... ] * 9
        >>> rows += [("ant", "bee", "bee", 1)]
        >>> battles = pd.DataFrame(rows, columns=["model_a", "model_b", "winner", "length"])
        >>> board = th.leaderboard(battles, covariates=["length"])
        >>> bool(board.covariate_effects().loc["length", "low"] > 0.0)
        True
        """
        if self.effects is None:
            raise DataError(
                "This leaderboard has no covariates; name columns with"
                " leaderboard(covariates=[...])."
            )
        return self.effects.copy()

    def votes_by_pair(self) -> "pandas.DataFrame":
        """How many comparisons each two options have, or in how many sets of these they are
        together; options by options in the order of the table."""
        import pandas as pd

        data, n = self.data, self.data.n_options
        found = np.zeros((n, n))
        if isinstance(data, Choices):
            row, place = list_row_members(data)
            offered = np.zeros((len(data.times), n))
            offered[row, data.members[place]] = 1.0
            found = (offered.T * data.times) @ offered * (1.0 - np.eye(n))
        else:
            found[data.first, data.second] = found[data.second, data.first] = (
                data.wins + data.losses + data.tied
            )
        place = [data.labels.index(label) for label in self.table.index]
        labels = self.table.index
        return pd.DataFrame(convert_whole_counts(found)[np.ix_(place, place)], labels, labels)

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
            raise DataError(
                "This leaderboard has no subsets; name the column that defines them with"
                " leaderboard(by=...)."
            )
        return pd.concat({name: part.table for name, part in self.boards.items()}, names=["part"])

    def save(self, path: Any) -> None:
        """Write the leaderboard itself to a file that `thali.load` reads and `update` goes on from,
        or its table.

        Parameters
        ----------
        path : str or path
            "board.nc" holds the leaderboard with what was counted (and 8-byte hashes of
            identifiers, if a column of them was named); "board.csv" the table, "board.json" the
            table with a row an object. A file that exists is replaced.

        Raises
        ------
        DataError
            If the name ends in none of these, or the file cannot be written.
        """
        path = Path(path)
        kinds = {".nc": as_netcdf, ".csv": as_csv, ".json": as_json}
        if path.suffix.lower() not in kinds:
            raise DataError(
                f"'{path}' must end in .nc, .csv or .json, which selects the file format."
            )
        atomic_write(path, kinds[path.suffix.lower()](self))


def as_netcdf(board: Leaderboard) -> memoryview:
    """The leaderboard itself, as `thali.load` reads it."""
    from thali._model.model_files import encode_result

    assert board.made is not None
    seed = board.made.settings["random_seed"]
    settings = board.made.settings | {
        "random_seed": seed if isinstance(seed, int | np.random.SeedSequence) else 0
    }
    return encode_result(replace(board, made=board.made._replace(settings=settings)))


def as_csv(board: Leaderboard) -> bytes:
    """The table as CSV."""
    return board.table.to_csv(lineterminator="\n").encode()


def as_json(board: Leaderboard) -> bytes:
    """The table as JSON, a row an object."""
    text = str(board.table.reset_index().to_json(orient="records", indent=1, force_ascii=False))
    return f"{text}\n".encode()
