"""The data class `Choices`: choices of one option from sets of options."""

from collections.abc import Iterable
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from thali._inference.index_arithmetic import part_bounds, part_slice, repeat_indices, sum_parts
from thali._inference.user_warnings import warn
from thali._labels import choose_number, format_plural, list_names, shorten, simplify_number
from thali._object_descriptions import Facts
from thali.errors import Argument, DataError, DataWarning, InPython

from ..base_classes import Judged, build_from_fields, copy_with_fields
from ..connectivity import describe_disconnected, list_components
from ..kinds import CHOICES
from ..number_checks import convert_whole_counts
from ..option_covariates import OptionCovariates
from ..pairs import PairedComparisons
from ..pairs.data_subsets import describe_options
from ..questions import GivenAnswers, Questions
from ..report_facts import (
    MAX_LISTED,
    count_component_facts,
    count_respondent_facts,
    format_extremes,
    format_value_range,
    list_name_facts,
)
from ..respondent_answers import (
    Answers,
    RowRespondents,
    find_first_answers,
    list_possible_answers,
    number_given_answers,
)
from ..respondent_table import list_people_facts
from . import data_subsets, table_constructors
from .data_subsets import list_row_members
from .long_and_wide_tables import RawOccasions, read_long_occasions

if TYPE_CHECKING:
    import pandas as pd


# Rows of choices and of best-worst choices --------------------------------------------------------


def convert_to_rankings(data: "Choices") -> RawOccasions:
    """Convert best-worst choices from sets of 2 or 3 to successive choices of the best.

    The choices are the best of all, and the best of the rest.
    """
    if data.worst is None:
        raise DataError(
            "These are choices of a single option, not best-worst choices; use them unchanged,"
            " because only best-worst choices can be converted to rankings."
        )
    if (largest_size := int(data.sizes.max())) > 3:
        raise DataError(
            f"Best and worst of {largest_size} options do not determine a ranking; convert only"
            " sets of two or three options."
        )
    set_index = data.set_of[data.choice]
    row_index, member_index = list_row_members(data)
    is_second_choice = (data.sizes[set_index] == 3)[row_index] & (
        member_index != data.choice[row_index]
    )
    member_indices = np.concatenate([member_index, member_index[is_second_choice]])
    row_indices = np.concatenate([row_index, row_index[is_second_choice]])
    occasion = np.concatenate(
        [row_index, len(set_index) + np.unique(row_index[is_second_choice], return_inverse=True)[1]]
    )
    is_best = np.concatenate(
        [
            member_index == data.choice[row_index],
            (member_index != data.worst[row_index])[is_second_choice],
        ]
    )
    return RawOccasions(
        data.labels,
        occasion,
        data.members[member_indices],
        is_best,
        RowRespondents(data.respondents, data.respondent[row_indices], data.people),
        data.times[row_indices],
        lambda _: "a ranking",
    )


def build_long_table(data: "Choices") -> "pd.DataFrame":
    """Build a table with one row per offered option of each choice."""
    import pandas as pd

    row_index, member_index = list_row_members(data)
    chosen = data.are_chosen(row_index, member_index).astype(np.int64)
    table: dict[str, Any] = {
        "choice_id": row_index + 1,
        "alternative": pd.Categorical.from_codes(data.members[member_index], pd.Index(data.labels)),
    }
    if data.worst is None:
        table["chosen"] = chosen
    else:
        table |= {"best": chosen, "worst": (member_index == data.worst[row_index]).astype(np.int64)}
    table["count"] = convert_whole_counts(data.times)[row_index]
    if data.respondents:
        table["respondent"] = pd.Categorical.from_codes(
            data.respondent[row_index], pd.Index(data.respondents)
        )
    return pd.DataFrame(table)


def describe_best_worst(data: "Choices") -> str:
    """Return a sentence on the most frequent (best, worst) answer."""
    assert data.worst is not None
    top_row = data.times.argmax()
    set_index = int(data.set_of[data.choice[top_row]])
    best_label = data.labels[data.members[data.choice[top_row]]]
    worst_label = data.labels[data.members[data.worst[top_row]]]
    is_same_answer = (data.choice == data.choice[top_row]) & (data.worst == data.worst[top_row])
    n_answers = data.counts[part_slice(data.start, set_index)].sum()
    n_times = simplify_number(data.times[is_same_answer].sum())
    return (
        f"{best_label!r} chosen as best and {worst_label!r} as worst from"
        f" {shorten(data.sets[set_index])}: {n_times:,} of {simplify_number(n_answers):,} times"
    )


def build_ties_error(data: Any) -> DataError:
    """Build the error for rankings with ties in a model that allows none."""
    verb = choose_number(data.n_ties, "is a tie", "are ties")
    return DataError(
        f"{data.n_ties:,} of {data.answers_in_words} {verb} in rankings, which are not supported"
        " here; use ",
        InPython("th.BradleyTerryLuce or th.leaderboard", "--model BTL, or thali leaderboard"),
        ".",
    )


class Choices(Judged):
    """Counts of choices of one option, or of best and worst, from sets of options.

    Occasions with the same respondent, set and choice are counted, not kept one by one. Nothing can
    be changed after construction.

    Parameters
    ----------
    frame : DataFrame
        A long table: one row for each alternative of each occasion. Other columns are ignored.
    choice_id, alternative, chosen : str, optional
        Columns of the occasion of a row, of the alternative that it describes, and
        whether that was chosen (1 or 0; or the label of the chosen alternative in every row of the
        occasion). None: the column of that name, or one of its usual names elsewhere (obsID, chid,
        ids; alt, alts; choice). Without any choice_id every respondent made one choice.
    available : str, optional
        Column with 0 for alternatives that were not offered (avail).
    respondent : str, optional
        Column of respondents (panels, panelID, id); occasions are numbered within respondents
        or across them.
    count : str, optional
        Column with the number of such occasions (count, weight).
    labels : sequence of str, optional
        All options in the required order, including options never offered. None: the categories of
        a categorical column; else numbers in their order, names as they first appear.
    weights : bool
        Fractional counts are meant; otherwise they are an error.

    Attributes
    ----------
    labels : tuple of str
    start : int64 array, shape (sets + 1,)
        Set v has the members ``members[start[v]:start[v + 1]]``; small sets first.
    members : int64 array, shape (places,)
        Options, ascending within a set; in a set with a tie, tied options come first.
    counts : float64 array, shape (places,)
        Times that member of that set was chosen.
    respondents : tuple of str
        Empty if respondents are unknown.
    respondent, choice, times : arrays, shape (rows,)
        Respondent (a position in `respondents`, or -1), chosen index in `members`, and count.
    people : DataFrame or None
        One row per respondent: the columns that are constant within each respondent.
    worst : int64 array, shape (rows,), or None
        Of best-worst choices (`from_best_worst`) the place of `members` that was worst; `choice` is
        then the best option.
    n_tied : int64 array, shape (sets,)
        1; for a set of which tied options of a ranking were chosen together, the number of
        these options. Every choice from it includes all of them, and `choice` is the index of the
        first.
    covariates : OptionCovariates or None
        Columns that describe options, such as price (`with_option_covariates`).

    Raises
    ------
    DataError
        If a column is unknown or a label is missing; if no alternative of an occasion was chosen,
        or two, or one that was not available; if an occasion lists one alternative alone, or one
        twice.

    References
    ----------
    Tversky (1972), Elimination by aspects: a theory of choice.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame(
    ...     {
    ...         "obsID": [1, 1, 1, 2, 2],
    ...         "alt": ["tea", "coffee", "milk", "tea", "milk"],
    ...         "choice": [1, 0, 0, 0, 1],
    ...     }
    ... )
    >>> data = Choices(frame)
    >>> data
    Choices(3 options, 2 sets of 2 to 3 options, 2 choices)
    >>> data.sets
    [('tea', 'milk'), ('tea', 'coffee', 'milk')]
    """

    kind = CHOICES
    _ANSWER = ("choice", "choices")
    are_choices = add_up = True
    _FIELDS = (
        "labels",
        "respondents",
        "start",
        "members",
        "respondent",
        "choice",
        "times",
        "worst",
        "people",
        "n_tied",
        "covariates",
    )
    _IF_KNOWN = ("covariates",)

    labels: tuple[str, ...]
    respondents: tuple[str, ...]
    start: np.ndarray
    members: np.ndarray
    respondent: np.ndarray
    choice: np.ndarray
    times: np.ndarray
    people: "pd.DataFrame | None"
    worst: np.ndarray | None = None
    n_tied: np.ndarray
    covariates: OptionCovariates | None = None
    counts: np.ndarray

    def __init__(
        self,
        frame: "pd.DataFrame",
        choice_id: str | None = None,
        alternative: str | None = None,
        chosen: str | None = None,
        available: str | None = None,
        respondent: str | None = None,
        count: str | None = None,
        *,
        labels: Iterable[Any] | None = None,
        weights: bool = False,
    ) -> None:
        column_by_role = {
            "choice_id": choice_id,
            "alternative": alternative,
            "chosen": chosen,
            "available": available,
            "respondent": respondent,
            "count": count,
        }
        self._freeze(
            *table_constructors.build_choice_fields(
                read_long_occasions(frame, column_by_role, labels, weights)
            )
        )

    from_frame: Final = classmethod(table_constructors.from_frame)
    from_wide: Final = classmethod(table_constructors.from_wide)
    from_rankings: Final = classmethod(table_constructors.from_rankings)
    from_best_worst: Final = classmethod(table_constructors.from_best_worst)
    by_respondent: Final = data_subsets.by_respondent
    by_group: Final = data_subsets.by_group
    with_covariates: Final = data_subsets.with_covariates
    with_option_covariates: Final = data_subsets.with_option_covariates
    with_more: Final = data_subsets.with_more
    together: Final = data_subsets.together

    @classmethod
    def from_comparisons(cls, data: PairedComparisons) -> "Choices":
        """Convert paired comparisons to choices from sets of two.

        Parameters
        ----------
        data : PairedComparisons

        Returns
        -------
        Choices

        Examples
        --------
        >>> pairs = PairedComparisons([[0, 3], [1, 0]], labels=["tea", "milk"])
        >>> Choices.from_comparisons(pairs).counts
        array([3., 1.])
        """
        if not isinstance(data, PairedComparisons):
            raise DataError(
                f"from_comparisons requires PairedComparisons; got {type(data).__name__}."
            )
        data.refuse_ties()
        members = np.column_stack([data.first, data.second]).ravel()
        start = 2 * np.arange(data.n_pairs + 1)
        counted_answers: Any = data
        respondent = np.full(data.n_pairs, -1)
        pair = np.arange(data.n_pairs)
        if data.answers is not None:
            counted_answers = data.answers
            respondent = counted_answers.respondent.astype(np.int64)
            pair = counted_answers.pair.astype(np.int64)
        answer_counts = np.column_stack([counted_answers.wins, counted_answers.losses])
        row_index, side_index = np.nonzero(answer_counts)
        respondent = respondent[row_index]
        pair = pair[row_index]
        covariates = None
        if data.covariates is not None:
            covariates = data.covariates.of_options()
        return build_from_fields(
            cls,
            data.labels,
            data.respondents,
            start,
            members,
            respondent,
            2 * pair + side_index,
            answer_counts[row_index, side_index],
            None,
            counted_answers.people,
            np.ones(data.n_pairs, np.int64),
            covariates,
        )

    def to_comparisons(self) -> PairedComparisons:
        """Convert choices from sets of two to paired comparisons.

        Returns
        -------
        PairedComparisons

        Raises
        ------
        DataError
            If a set has more than two members.

        Examples
        --------
        >>> pairs = PairedComparisons([[0, 3], [1, 0]], labels=["tea", "milk"])
        >>> Choices.from_comparisons(pairs).to_comparisons() == pairs
        True
        """
        if not self.is_paired:
            largest_set = self.sets[self.sizes.argmax()]
            raise DataError(
                "Paired comparisons require choices between two options, but one choice was among"
                f" {shorten(largest_set)}; remove such choices."
            )
        first_indices, second_indices = self.members.reshape(-1, 2).T
        wins, losses = self.counts.reshape(-1, 2).T
        answers = None
        if self.respondents and (self.respondent >= 0).all():
            row_respondents = RowRespondents(self.respondents, self.respondent, self.people)
            pair_index = self.choice // 2
            is_first = self.choice % 2 == 0
            answers = Answers.from_rows(
                row_respondents,
                pair_index,
                self.times * is_first,
                self.times * ~is_first,
                0.0 * self.times,
            )
        comparisons = build_from_fields(
            PairedComparisons,
            self.labels,
            first_indices.copy(),
            second_indices.copy(),
            wins.copy(),
            losses.copy(),
            np.zeros(len(first_indices)),
            None,
            answers,
            None,
        )
        if self.covariates is None:
            return comparisons
        return describe_options(comparisons, self.covariates)

    def to_frame(self) -> "pd.DataFrame":
        """Return a long table: choice_id, alternative, chosen, count, and respondent if known.

        `Choices(frame)` reads the table back. Best-worst choices have the columns best and worst
        instead of chosen, and `Choices.from_best_worst(frame, labels=data.labels)` reads the table
        back.

        Returns
        -------
        DataFrame
            One occasion for each respondent, set and choice. The labels are categorical, and so
            keep their order and the options that were never offered.

        Examples
        --------
        >>> Choices.from_comparisons(
        ...     PairedComparisons([[0, 3], [0, 0]], labels=["tea", "milk"])
        ... ).to_frame()
           choice_id alternative  chosen  count
        0          1         tea       1      3
        1          1        milk       0      3
        """
        return build_long_table(self)

    def with_answers(self, counts: np.ndarray) -> "Choices":
        """Return the same sets with other counts of answers, of unknown respondents."""
        answer_indices = np.flatnonzero(counts)
        best_positions, worst_positions = self.places_of(answer_indices)
        unknown_respondents = np.full(answer_indices.size, -1)
        return copy_with_fields(
            self,
            respondents=(),
            respondent=unknown_respondents,
            choice=best_positions,
            times=counts[answer_indices],
            worst=worst_positions,
            people=None,
        )

    def places_of(self, answers: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the index in `members` of each answer's best, and of its worst if recorded."""
        if self.worst is None:
            return answers, None
        possible = list_possible_answers(self.start)
        return possible.best[answers], possible.worst[answers]

    def as_rankings(self) -> "Choices":
        """Convert best-worst choices from sets of two or three to rankings.

        Returns
        -------
        Choices

        Raises
        ------
        DataError
            If best and worst were not asked for, or not out of two or three options.

        Examples
        --------
        >>> import pandas as pd
        >>> rows = {
        ...     "item1": ["tea"],
        ...     "item2": ["milk"],
        ...     "item3": ["water"],
        ...     "best": ["milk"],
        ...     "worst": ["tea"],
        ... }
        >>> Choices.from_best_worst(pd.DataFrame(rows)).as_rankings().sets
        [('tea', 'water'), ('tea', 'milk', 'water')]
        """
        occasions = convert_to_rankings(self)
        rankings = build_from_fields(
            type(self),
            self.labels,
            self.respondents,
            *table_constructors.aggregate_occasions(occasions)[:-1],
            self.people,
        )
        return copy_with_fields(rankings, covariates=self.covariates)

    def _freeze(self, *fields: Any) -> "Choices":
        """Set the fields in the order of `_FIELDS`, count the answers and return the object."""
        defaults = np.ones(len(fields[2]) - 1, np.int64), None
        fields = (*fields, *defaults[len(fields) - len(self._FIELDS) + len(defaults) :])
        super()._freeze(*fields)
        answer_counts = np.bincount(self.choice, weights=self.times, minlength=self.members.size)
        answer_counts.flags.writeable = False
        object.__setattr__(self, "counts", answer_counts)
        return self

    def __str__(self) -> str:
        parts = [
            format_plural(self.n_options, "option"),
            f"{format_plural(self.n_sets, 'set')} of {format_extremes(self.sizes)} options",
        ]
        choices_text = format_plural(self.n_choices, "choice")
        if self.worst is not None:
            choices_text = (
                f"{format_plural(self.n_choices, 'answer')} (a best and a worst option each)"
            )
        if self.n_ties:
            choices_text += f" ({format_plural(self.n_ties, 'tie')})"
        parts.append(choices_text)
        if self.covariates is not None:
            parts.append(str(self.covariates))
        if self.respondents:
            parts.append(format_plural(len(self.respondents), "respondent"))
        return ", ".join(parts)

    def _details(self) -> Facts:
        """Return (name, labels) facts that a notebook shows below the size."""
        return (
            ("options", self.labels),
            ("components", str(len(self.components()))),
            *list_people_facts(self.people),
        )

    def _facts(self) -> Facts:
        """Return (name, text) facts about the choices for a report."""
        return (
            ("Options", f"{self.n_options:,}: {list_names(self.labels, MAX_LISTED)}"),
            (
                "Sets offered",
                f"{self.n_sets:,}, each with {format_value_range(np.diff(self.start))} options",
            ),
            ("Choices", f"{self.n_choices:,}"),
            *list_name_facts("Covariates", self.covariate_names),
            *count_component_facts(self.components()),
            *count_respondent_facts(self.respondents, self.people),
        )

    @property
    def n_sets(self) -> int:
        """Number of distinct sets."""
        return len(self.start) - 1

    @property
    def n_choices(self) -> int | float:
        """Number of choice occasions; their total weight when counts are fractional."""
        return simplify_number(self.times.sum())

    @property
    def n_answers(self) -> int | float:
        """Number of choices; their total weight when counts are fractional."""
        return self.n_choices

    @property
    def n_ties(self) -> int | float:
        """Number of choices in which several options tie, by their counts."""
        return simplify_number(self.times[self.n_tied[self.set_of[self.choice]] > 1].sum())

    def are_chosen(self, row: np.ndarray, member_index: np.ndarray) -> np.ndarray:
        """Return whether each offered option was chosen, alone or tied, shape (row,)."""
        offset = member_index - self.choice[row]
        return (offset >= 0) & (offset < self.n_tied[self.set_of[member_index]])

    def without_ties(self, how: str, /) -> "Choices":
        """Return the choices unchanged; raise DataError if rankings have ties."""
        if self.n_ties:
            raise DataError(
                f"Ties in rankings leave the order of options open, so they cannot count as"
                f" {how!r}; remove ",
                Argument("ties"),
                ".",
            )
        return self

    @property
    def sizes(self) -> np.ndarray:
        """Number of members of each set."""
        return np.diff(self.start)

    @property
    def answers(self) -> np.ndarray:
        """Number of possible answers to each set, shape (sets,)."""
        if self.worst is None:
            return self.sizes
        return self.sizes * (self.sizes - 1)

    @property
    def set_of(self) -> np.ndarray:
        """Index of the set that each entry of `members` belongs to, shape (places,)."""
        return repeat_indices(self.sizes)

    @property
    def sets(self) -> list[tuple[str, ...]]:
        """Labels of the members of each distinct set."""
        member_labels = np.array(self.labels, object)[self.members].tolist()
        start = self.start.tolist()
        return [tuple(member_labels[set_start:set_end]) for set_start, set_end in pairwise(start)]

    @property
    def is_paired(self) -> bool:
        """Whether every set has two members."""
        return bool((self.sizes == 2).all())

    @property
    def never_judged(self) -> list[str]:
        """Labels of the options that are in no set."""
        return self._list_absent_labels(self.members)

    def questions(self, ties: bool | None = None) -> Questions:
        """Return one question per set, whose answers are its options or (best, worst) pairs.

        Sets with ties are dropped, because their possible answers are too many. If `ties` is true,
        each is a question with the given answer as its only answer.
        """
        if self.n_ties and not ties:
            return data_subsets.drop_tied_sets(self).questions()
        start = self.start
        answer_index = self.choice
        if self.worst is not None:
            start = find_first_answers(start)
            answer_index = number_given_answers(self)
        if self.n_ties:
            start = part_bounds(np.where(self.n_tied > 1, 1, self.sizes))
            answer_index = answer_index + (start - self.start)[self.set_of[answer_index]]

        def list_given_answers() -> GivenAnswers | None:
            """Return the answers of each respondent; None if respondents are unknown."""
            if not self.respondents or (self.respondent < 0).any():
                return None
            row_indices = np.argsort(
                self.respondent.astype(np.int64) * start[-1] + answer_index, kind="stable"
            )
            row_indices = row_indices[self.times[row_indices] > 0.0]
            return GivenAnswers(
                self.respondents,
                self.respondent[row_indices],
                answer_index[row_indices],
                self.times[row_indices],
            )

        build_rows = data_subsets.build_member_rows
        if self.worst is not None:
            build_rows = data_subsets.build_option_rows
        counts = np.bincount(answer_index, self.times, start[-1])
        return Questions(start, counts, list_given_answers, partial(build_rows, self))

    def example(self) -> str:
        """Return a sentence on the most frequent choice, to check how data were read.

        Examples
        --------
        >>> Choices.from_comparisons(
        ...     PairedComparisons([[0, 3], [1, 0]], labels=["tea", "milk"])
        ... ).example()
        "'tea' chosen from 'tea' and 'milk' 3 of 4 times"
        """
        if self.worst is not None:
            return describe_best_worst(self)
        n_choices_by_set = sum_parts(self.counts, self.start)
        set_index = int(n_choices_by_set.argmax())
        set_slice = part_slice(self.start, set_index)
        counts = self.counts[set_slice]
        members = self.members[set_slice]
        chosen_index = counts.argmax()
        chosen_text = " = ".join(
            repr(self.labels[i])
            for i in members[chosen_index : chosen_index + self.n_tied[set_index]]
        )
        offered_text = shorten([self.labels[i] for i in members])
        return (
            f"{chosen_text} chosen from {offered_text} {simplify_number(counts[chosen_index]):,} of"
            f" {simplify_number(n_choices_by_set[set_index]):,} times"
        )

    def components(self) -> list[list[str]]:
        """Return the groups of option labels that sets connect, the largest first.

        Examples
        --------
        >>> Choices.from_comparisons(
        ...     PairedComparisons.from_pairs([("a", "b"), ("c", "d")])
        ... ).components()
        [['a', 'b'], ['c', 'd']]
        """
        first_members = np.repeat(self.members[self.start[:-1]], self.sizes)
        return list_components(self.labels, first_members, self.members)

    def warn_if_unusual(self) -> None:
        """Warn, with a `DataWarning`, of unconnected options, and of a single set.

        Models call this at fit.
        """
        if message := describe_disconnected(self.components(), self.never_judged):
            warn(DataWarning(message))
        if self.covariates is not None:
            self.covariates.warn_if_collinear()
        if self.n_sets == 1 and self.sizes[0] > 2:
            warn(
                DataWarning(
                    f"All choices are from the same set, {shorten(self.sets[0])}, so the results"
                    " about shared aspects depend only on the prior; collect choices from"
                    " different sets."
                )
            )
