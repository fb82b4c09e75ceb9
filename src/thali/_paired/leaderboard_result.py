"""`Leaderboard`, the result that users see: tables, uncertainty, saving and updating."""

import os
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.choices import Choices
from thali._data.choices.choices import list_row_members
from thali._data.number_checks import convert_whole_counts
from thali._inference.checksummed_files import atomic_write, is_intact
from thali._inference.replaced_files import begins_like, check_replaced
from thali._object_descriptions import Description
from thali._posterior.convergence_check import ConvergenceCheck
from thali._posterior.effects_with_certain_sign import select_certain_signs
from thali._posterior.posterior_interval import INTERVAL
from thali._posterior.respondent_dependence import Dependence
from thali._printed_result import PrintedResult, printed_dataclass
from thali.errors import DataError, Message

from .vote_counts import Judgements

if TYPE_CHECKING:
    import pandas

    from .leaderboard import LeaderboardRecipe
    from .leaderboard_audit import LeaderboardAudit

MEAN_SCORE = ("mean_score", "mean_score_low", "mean_score_high")  # columns of a board of scores


@printed_dataclass
class Leaderboard(PrintedResult):
    """A leaderboard; it prints as `table` with a sentence.

    Attributes
    ----------
    table : pandas.DataFrame
        One row per option, the best first: `rank` (1 is best, by the most probable log worth given
        the standard deviations, averaged over these; independent of the seed) with the interval
        `rank_low` to `rank_high`; `p_1`, the probability of rank 1; `tier`, the numbers of the
        tiers of the option (two options share a tier if neither is above the other with
        probability .95 or more); `rating` with its interval, 1000 + 400 log10(worth / geometric
        mean of the worths), so that 400 points are odds of 10 to 1, or with an anchor
        (`anchor_model`) its rating + 400 log10(worth / worth of the anchor), from mean log worths
        (neighbours whose means are reversed by noise of the draws share a rating); `worth` with
        its interval (worths sum to 1); `comparisons`, `wins`, `losses`, `ties`. For choices from
        sets, rankings included, `comparisons` counts the sets that offered the option, `wins` the
        sets in which it was chosen and `losses` the others; for best and worst, `wins` counts
        best, `losses` worst and `ties` neither. For scores, `mean_score` with its interval for new
        items, from `mean_score_low` to `mean_score_high`. Intervals contain `ci` of the draws. With
        covariates, all numbers refer to options with equal covariates, and `rank_without` and
        `rating_without` are rank and rating without control for covariates.
    order : pandas.DataFrame, options by options
        The probability that the row is above the column.
    groups : tuple of tuples of str
        The members of each tier, the best first.
    tie : float
        nu, the parameter of ties: two equal options tie with probability nu / (2 + nu).
        NaN without ties.
    data : PairedComparisons or Choices
        The counted data.
    effects : pandas.DataFrame or None
        Result of `covariate_effects`; None without covariates.
    boards : mapping from str to Leaderboard
        A leaderboard for each value of the column that divides the comparisons (`by`); named by
        column and value, such as "language de", if there are several columns. The leaderboard
        itself includes all comparisons.
    of_judges, in_time : pandas.DataFrame or None
        Results of `judges` and `worths_in_time`; None without judges, or periods.
    target_sentence : str
        What the votes of the other judges are worth; empty without `target`.
    of_more_votes : pandas.DataFrame or None
        Result of `more_votes`; None for a part.
    made : Made
        Counts and settings, for `update`.
    of_chains : ConvergenceCheck or None
        Result of `convergence`; None without chains.
    people : Dependence or None
        Treatment of repeated answers of respondents: `.model`, `.by`, `.number` of respondents,
        `.effect` (the design effect), `.warning`; None if respondents are unknown.
    ci : float
        The probability of intervals.
    of_check : pandas.DataFrame or None
        Observed and predicted proportions of each pair, or of each member of a set, as
        `EliminationByAspects.check` returns them; None for a part, for fractional counts, and for
        very many comparisons.
    check_facts : mapping
        The p-value and other facts of the check, or the reason why there is no check.
    of_reliability : pandas.DataFrame or None
        Result of `reliability`; None for a part, for two options, and by maximum likelihood.
    of_advantage : pandas.DataFrame or None
        One row: `advantage` of the option shown first (or at home) in log odds, with its interval
        from `low` to `high`; `share_first`, the share of comparisons in which the `option` with the
        least balanced sides was first, and whether it is `unbalanced` (by more than four standard
        errors). None for a part, if sides are unknown, and with the covariate "order".
    differences : pandas.DataFrame or None
        One row per pair of options, the better first: the `probability` that the first is above,
        and the `difference` of log worths with its interval from `low` to `high`. None for a part.
    """

    order: "pandas.DataFrame"
    groups: tuple[tuple[str, ...], ...]
    tie: float
    data: Judgements
    effects: "pandas.DataFrame | None" = None
    boards: "Mapping[str, Leaderboard]" = field(default_factory=dict)
    of_judges: "pandas.DataFrame | None" = None
    target_sentence: str = ""
    in_time: "pandas.DataFrame | None" = None
    of_more_votes: "pandas.DataFrame | None" = None
    recipe: "LeaderboardRecipe | None" = None
    people: Dependence | None = None
    of_chains: ConvergenceCheck | None = None
    ci: float = INTERVAL
    of_check: "pandas.DataFrame | None" = None
    check_facts: Mapping[str, Any] = field(default_factory=dict)
    of_reliability: "pandas.DataFrame | None" = None
    of_advantage: "pandas.DataFrame | None" = None
    differences: "pandas.DataFrame | None" = None

    def __post_init__(self) -> None:
        """Store interval probability, tiers and facts in the attributes of the tables."""
        super().__post_init__()
        if self.of_check is not None:
            facts: dict[Any, Any] = dict(self.check_facts)
            self.of_check.attrs = facts
        for table in (self.table, self.effects, self.of_judges, self.in_time, self.of_reliability):
            if table is not None:
                table.attrs["interval"] = self.ci
        self.table.attrs["tiers"] = [members for members in self.groups if len(members) > 1]

    @property
    def dependence_sentence(self) -> Message | None:
        """Sentence on repeated answers of respondents; None if not worth reporting."""
        if self.people is None:
            return None
        return self.people.sentence

    def _description(self) -> Description:
        """Return title, table and note, as printed and shown in notebooks."""
        note = self.note
        if self.dependence_sentence is not None:
            note = f"{note} {self.dependence_sentence}"
        return Description(self.title, table=self.table, note=note)

    def convergence(self) -> ConvergenceCheck:
        """Return the check that chains agree: R-hat ≤ 1.01 and ESS ≥ 100 per chain.

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
                "This leaderboard has no chains; fit it again with leaderboard(..., method='mcmc')."
            )
        return self.of_chains

    def audit(self) -> "LeaderboardAudit":
        """Return what the first place rests on.

        How many votes, if turned, would take it away (an upper bound from a greedy search, and a
        lower bound that is proved from the score equations); respondents or items without whom
        another option is first; whether ties decide; the share of circular triads with its
        expectation; votes that repeat a pair. Worths are the most probable ones, with ties counted
        half.

        Returns
        -------
        LeaderboardAudit
            It prints as sentences; `table` has the numbers.

        Raises
        ------
        DataError
            If the data are not comparisons of two options, or there are covariates.

        Examples
        --------
        >>> import thali as th
        >>> pairs = [("A", "B")] * 9 + [("B", "A")] * 4
        >>> board = th.leaderboard(th.PairedComparisons.from_pairs(pairs))
        >>> board.audit().table["result"].astype(int)["votes turned"].item()
        3
        """
        from .leaderboard_audit import audit_leaderboard

        return audit_leaderboard(self)

    def judges(self) -> "pandas.DataFrame":
        r"""Return the discrimination of each judge.

        A judge of discrimination d chooses i over k by

        .. math:: P(i \text{ over } k) = \frac{w_i^d}{w_i^d + w_k^d}

        Discrimination 0 is guessing, 1 the typical judge; larger values are sharper. Signs are not
        reversed: a judge who contradicts all others has a discrimination near 0, and a log score
        below chance.

        Returns
        -------
        pandas.DataFrame
            One row per judge, the sharpest first: `discrimination` (median) with its interval from
            `low` to `high`; `log_discrimination`, the mean of its logarithm; `p_sharper`, the
            probability that it is above the median of all judges; `comparisons`; `log_score`, the
            mean log probability of the judge's answers, predicted from all other judges for
            discrimination 1 and its share of ties; the expected score of such a judge on the same
            comparisons (`log_score_typical`) and the score of guesses (`log_score_chance`); with
            `judge_bias`, the individual coefficient `bias_NAME` of each covariate, with its
            interval. With `target`, discriminations are relative to the target's, log scores are of
            predictions from its worths, and `deviation` is the root mean square of the judge's
            deviations from its log worths.

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
        judge_table = _copy_result(
            self.of_judges,
            "This leaderboard has no judge effects; use leaderboard(..., judges=True).",
        )
        judge_table.attrs["answers"] = self.data.word_for_answers
        return judge_table

    def worths_in_time(self) -> "pandas.DataFrame":
        r"""Return the ratings of options in each period with comparisons.

        .. math:: \log w_{it} \sim \mathrm{Normal}(\log w_{i,t-1}, s^2)

        Returns
        -------
        pandas.DataFrame
            One row per period and option present: `option`, `period` (the first day of a week, the
            month, the year, the day, or the number), `rating` with its interval from
            `rating_low` to `rating_high`, `rank` with `rank_low` and `rank_high`; `p_better`, the
            probability that the rating is higher than in the first period of the option; `z`, the
            change of the log worth since then over its standard error, with a prior of changes so
            wide that it does not shrink them, by which ``attrs["better"]`` and ``attrs["worse"]``
            are chosen (a change is named if a test of all options at .05 finds it);
            `probability` of a judge of discrimination 1 to choose it over the first of
            ``data.labels``, ties excluded. In all periods the mean rating is 1000 over the options
            that are always present, or over all options if none is, unless an option is the anchor
            (`anchor_model`), whose rating is constant: a change common to all options is not
            identified.

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
        from scipy.special import ndtr

        table = _copy_result(
            self.in_time,
            "This leaderboard has no periods; use leaderboard(..., period='week', date=...).",
        )
        last_period = table[table["period"] == table["period"].iloc[-1]].set_index("option")
        table.attrs["better"], table.attrs["worse"] = (
            last_period.index[option_indices].tolist()
            for option_indices in select_certain_signs(ndtr(last_period["z"]))
        )
        return table

    def more_votes(self) -> "pandas.DataFrame":
        r"""Return the probability that more votes separate the first three options.

        Three options are separated if of each two one is above the other with probability .95 or
        more. Truths are drawn from the posterior, and the information of votes from these, as
        normal distributions of log worths: the precision :math:`\Lambda` of their differences
        becomes :math:`\Lambda + n J` after n votes, each with the expected (Fisher) information J.

        Returns
        -------
        pandas.DataFrame
            Indexed by the number of more votes, from 0 to where either probability reaches .9:
            `as_so_far`, if votes go to pairs in the current proportions (absent with periods, of
            which the last has the fewest votes); `among_these`, if all votes are on pairs of these
            three, equally often.

        Raises
        ------
        DataError
            For the leaderboard of a part.

        Examples
        --------
        >>> import thali as th
        >>> pairs = [("A", "B"), ("B", "C")] * 9 + [("B", "A"), ("C", "B")] * 4
        >>> board = th.leaderboard(th.PairedComparisons.from_pairs(pairs), progressbar=False)
        >>> table = board.more_votes()
        >>> float(table.loc[0, "as_so_far"]), bool(table["as_so_far"].iloc[-1] > 0.5)
        (0.0, True)
        """
        return _copy_result(
            self.of_more_votes,
            "more_votes requires the leaderboard of all comparisons, with the same worths for all"
            " respondents; a leaderboard of a subset does not support it.",
        )

    def reliability(self) -> "pandas.DataFrame":
        r"""Return how well ratings agree with the true worths, from 0 to 1.

        Returns
        -------
        pandas.DataFrame
            One row per measure, `reliability` with its interval from `low` to `high`: `r_squared`,
            the posterior mean of the squared correlation of mean log worths m with a draw of log
            worths; `separation`, Var(m) / (Var(m) + v) with the mean v of posterior variances,
            without an interval; `split_half_judges`, or `split_half_comparisons` if judges are
            unknown, the correlation of estimates from random halves (Spearman and Brown; the median
            of 20 splits), without an interval; absent above 500 options.

        Raises
        ------
        DataError
            For the leaderboard of a part, for two options, and by maximum likelihood.

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
        reason = "a prior; use leaderboard(..., method='laplace')"
        if self.recipe is None:
            reason = "the leaderboard of all comparisons; that of a part does not support it"
        elif len(self.table) < 3:
            reason = "at least three options"
        elif self.recipe.settings.has_prior:
            reason = "the same worths for all respondents; use leaderboard(..., people='adjusted')"
        return _copy_result(self.of_reliability, f"Reliability requires {reason}.")

    def update(self, more: Any, progressbar: bool = True, **columns: Any) -> "Leaderboard":
        """Return the leaderboard of the old comparisons and more.

        Parameters
        ----------
        more : str, path, DataFrame, PairedComparisons or Choices
            More comparisons, as `leaderboard` takes them, with the same column names; options may
            be new. If a column of identifiers was named (`id`), answers that were counted before
            are skipped; otherwise a repeated row counts twice. If comparisons of two are merged
            with choices from larger sets, `ties` must be "half" or "drop".
        progressbar : bool
        **columns
            Columns that have other names now, as `leaderboard` takes them.

        Returns
        -------
        Leaderboard
            A new leaderboard; this one is unchanged.

        Raises
        ------
        ArgumentError
            If `by`, `id` or `covariates` is named but the leaderboard was made without it, or the
            reverse.
        DataError
            If the new comparisons cannot be read, have other covariates, or were all counted
            before; if some rows of an answer were counted and others were not; if comparisons with
            ties (for `ties="davidson"`), covariates or dates are merged with choices from larger
            sets.

        Warns
        -----
        DataWarning
            If old or new comparisons do not identify respondents, who are then ignored; if a
            respondent has another value in a column of respondents than before; or if new labels
            differ from old labels only in case or blanks.

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
        assert self.recipe is not None
        return self.recipe.add_votes(more, columns).build_board(progressbar)

    def covariate_effects(self) -> "pandas.DataFrame":
        r"""Return effects of covariates on the log odds of the first option, per unit.

        .. math:: \log \frac{P(i)}{P(j)} = \log w_i - \log w_j + x' \beta

        Returns
        -------
        pandas.DataFrame
            One row per covariate: `effect` (the mean of its coefficient, by maximum likelihood the
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
        return _copy_result(
            self.effects,
            "This leaderboard has no covariates; name columns with leaderboard(covariates=[...]).",
        )

    def votes_by_pair(self) -> "pandas.DataFrame":
        """Return comparisons, or sets offering both, per pair, (options, options).

        Options are in the order of the table.
        """
        import pandas as pd

        data = self.data
        n = self.data.n_options
        vote_counts = np.zeros((n, n))
        if isinstance(data, Choices):
            set_indices, member_index = list_row_members(data)
            is_offered = np.zeros((len(data.times), n))
            is_offered[set_indices, data.members[member_index]] = 1.0
            vote_counts = (is_offered.T * data.times) @ is_offered * (1.0 - np.eye(n))
        else:
            vote_counts[data.first, data.second] = vote_counts[data.second, data.first] = (
                data.wins + data.losses + data.tied
            )
        labels = self.table.index
        row_order = [data.labels.index(label) for label in labels]
        return pd.DataFrame(
            convert_whole_counts(vote_counts)[np.ix_(row_order, row_order)], labels, labels
        )

    def by_part(self) -> "pandas.DataFrame":
        """Return one table with the rows of all parts' leaderboards.

        Returns
        -------
        pandas.DataFrame
            One row per part and option, with the columns of `table` and the index `part`, `option`.

        Raises
        ------
        DataError
            If the comparisons were not divided.
        """
        import pandas as pd

        if not self.boards:
            raise DataError(
                "This leaderboard has no subsets; give the name of the column that defines them"
                " with leaderboard(by=...)."
            )
        return pd.concat({name: part.table for name, part in self.boards.items()}, names=["part"])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the leaderboard, or its table, to a file.

        `thali.load` reads a leaderboard, which `update` can extend.

        Parameters
        ----------
        path : str or path
            "board.nc" stores the leaderboard with its counts (and 8-byte hashes of identifiers, if
            their column was named); "board.csv" the table, "board.json" the table with one object
            per row. An existing file is replaced.

        Raises
        ------
        DataError
            If the name ends in none of these, or the file cannot be written.
        """
        path = Path(path)
        encoders = {".nc": encode_netcdf, ".csv": encode_csv, ".json": encode_json}
        encode_board = encoders.get(path.suffix.lower())
        if encode_board is None:
            raise DataError(
                f"'{path}' must end in .nc, .csv or .json, which selects the file format."
            )
        content = encode_board(self)
        is_own = is_intact
        if encode_board is not encode_netcdf:
            is_own = begins_like(content)
        check_replaced(path, is_own=is_own)
        atomic_write(path, content)


def _copy_result(table: "pandas.DataFrame | None", absence_reason: str) -> "pandas.DataFrame":
    """Return a copy of a table; raise DataError with `absence_reason` if None."""
    if table is None:
        raise DataError(absence_reason)
    return table.copy()


def encode_netcdf(board: Leaderboard) -> memoryview:
    """Encode the leaderboard as netCDF, which `thali.load` reads."""
    from thali._model.model_files import encode_result

    assert board.recipe is not None
    settings = board.recipe.settings
    if not isinstance(settings.random_seed, int | np.random.SeedSequence):
        settings = settings._replace(random_seed=0)
    return encode_result(replace(board, recipe=board.recipe._replace(settings=settings)))


def encode_csv(board: Leaderboard) -> bytes:
    """Encode the table as CSV."""
    return board.table.to_csv(lineterminator="\n").encode()


def encode_json(board: Leaderboard) -> bytes:
    """Encode the table as JSON, one object per row."""
    text = board.table.reset_index().to_json(orient="records", indent=1, force_ascii=False)
    return f"{text}\n".encode()
