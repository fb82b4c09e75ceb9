"""The data class `Triplets`: which pair of several objects is the most similar."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.index_arithmetic import (
    part_bounds,
    part_positions,
    part_slice,
    repeat_indices,
    sum_parts,
)
from thali._inference.user_warnings import warn
from thali._labels import (
    choose_number,
    format_plural,
    list_names,
    shorten,
    simplify_number,
)
from thali._number_format import format_percent
from thali._object_descriptions import Facts
from thali.errors import DataError, DataWarning

from ..base_classes import JudgedByPeople, build_from_fields, copy_with_fields
from ..column_readers import convert_frame, rename_as_text, select_answered_rows
from ..connectivity import describe_groups, list_components
from ..kinds import TRIPLETS
from ..noise_ceiling import predict_from_other_answers
from ..number_checks import convert_whole_counts
from ..questions import MOST_SIMILAR, GivenAnswers, Questions, ReportRows, build_report_rows
from ..report_facts import MAX_LISTED, format_extremes, format_pair_share, format_value_range
from ..respondent_answers import ChosenPlaces, RowRespondents, read_respondents
from ..respondent_table import group_people, list_people_facts
from .triplet_tables import (
    EXPECTED,
    build_anchored_questions,
    build_set_questions,
    build_triplet_fields,
    check_three_columns,
    find_triplet_columns,
    read_answers,
    read_objects,
    read_responses,
    read_sets,
)

if TYPE_CHECKING:
    import pandas as pd


class Triplets(JudgedByPeople):
    """Counts of which pair of objects was the most similar, in each set of pairs.

    An odd one out of three objects names the other two as the most similar pair of the three. A set
    may contain all pairs of four objects or more, the two pairs of an anchor with either of two
    objects, or any two pairs and more. Answers to the same set are counted. Nothing can be changed
    after construction.

    Parameters
    ----------
    triplets : array, shape (questions, 3)
        Rows (i, j, k): of these objects k is the odd one out. Integers are positions, from 0;
        text is names.
    labels : sequence of str, optional
        Names of the objects, those never asked about included. None: "0", "1", ..., or the names in
        `triplets`, numbers in their order, others as they first appear.
    counts : array, shape (questions,), optional
        How often the row was answered; None: once.

    Attributes
    ----------
    labels : tuple of str
    start : int64 array, shape (sets + 1,)
        Set v has the pairs ``start[v]`` to ``start[v + 1] - 1``; small sets first.
    first, second : int64 arrays, shape (places,)
        The objects of each pair, first < second.
    counts : float64 array, shape (places,)
        Times that this pair of that set was chosen.
    answers : ChosenPlaces or None
        How often each respondent chose each pair of each set, if known.

    Raises
    ------
    DataError
        If no question was answered, a row does not have three different objects, an object has no
        name, or a count is not an integer of 0 or more.

    References
    ----------
    Zheng, Pereira, Baker & Hebart (2019), Revealing interpretable object representations from human
    behavior; Navarro & Griffiths (2007), section 6.

    Examples
    --------
    >>> data = Triplets(
    ...     [("tea", "coffee", "brick"), ("tea", "coffee", "brick"), ("tea", "brick", "coffee")]
    ... )
    >>> data
    Triplets(3 objects, 1 set of 3 pairs, 3 answers)
    >>> data.to_frame()
            a       b  set  count
    0     tea  coffee    0      2
    1     tea   brick    0      1
    2  coffee   brick    0      0
    """

    kind = TRIPLETS
    _DATA_WORD = "triplets"
    option_word = "object"
    add_up = True
    _FIELDS = ("labels", "start", "first", "second", "counts", "answers")
    _IF_KNOWN = ("answers",)

    labels: tuple[str, ...]
    start: np.ndarray
    first: np.ndarray
    second: np.ndarray
    counts: np.ndarray
    answers: ChosenPlaces | None = None

    def __init__(
        self,
        triplets: Any,
        labels: Iterable[Any] | None = None,
        counts: Iterable[float] | None = None,
    ) -> None:
        triplet_array = check_three_columns(triplets)
        members, object_labels, times = read_objects(triplet_array, labels, counts)
        n = len(object_labels)
        odd_index = np.full(len(triplet_array), 2)
        questions = build_set_questions(n, members, (odd_index + 1) % 3, (odd_index + 2) % 3, times)
        self._freeze(*build_triplet_fields(object_labels, [questions]))

    @classmethod
    def from_frame(
        cls,
        frame: "pd.DataFrame",
        objects: Sequence[str] | None = None,
        odd: str | None = None,
        chosen: tuple[str, str] | None = None,
        anchor: str | None = None,
        nearer: str | None = None,
        farther: str | None = None,
        count: str | None = None,
        question: str | None = None,
        respondent: str | None = None,
        *,
        labels: Iterable[Any] | None = None,
        weights: bool = False,
    ) -> "Triplets":
        """Read triplets from a table with one question per row.

        Parameters
        ----------
        frame : DataFrame
            Other columns are ignored.
        objects : sequence of str, optional
            Columns with the objects of a question, three or more. None: object1, object2, ...;
            image1, ...; item1, ...; a, b, c; i, j, k; first, second, third.
        odd : str, optional
            Column with the odd one out of three: its label, the name of its column, or its number
            from 1. None: odd, odd_one_out, outlier, ...; choice, next to three images or words.
        chosen : (str, str), optional
            Columns with the two objects that are the most similar of the set. None: chosen1 and
            chosen2, pair1 and pair2, similar1 and similar2.
        anchor, nearer, farther : str, optional
            Columns of questions which of two objects is more like the anchor; instead of `objects`.
        count : str, optional
            Column with the number of such answers. None: count, n, freq, times or weight if there
            is one.
        question : str, optional
            Column that names the question: then answers to one question must be out of the same
            set.
        respondent : str, optional
            Column of respondents. None: respondent, participant, person, ... if there is
            one.
        labels : sequence of str, optional
            All objects in the required order. None: numbers in their order, names as they first
            appear.
        weights : bool
            Fractional counts are meant; otherwise they are an error.

        Returns
        -------
        Triplets

        Raises
        ------
        DataError
            If a column is unknown or cannot be recognised, a label is missing, a question names an
            object twice, or the answer is not one of its objects.

        Examples
        --------
        >>> import pandas as pd
        >>> rows = [("tea", "coffee", "brick", "brick"), ("tea", "wall", "brick", "tea")]
        >>> Triplets.from_frame(
        ...     pd.DataFrame(rows, columns=["object1", "object2", "object3", "odd"])
        ... )
        Triplets(4 objects, 2 sets of 3 pairs, 2 answers)
        """
        frame = rename_as_text(convert_frame(frame))
        named_columns = {
            "objects": objects,
            "odd": odd,
            "chosen": chosen,
            "anchor": anchor,
            "nearer": nearer,
            "farther": farther,
            "count": count,
            "question": question,
            "respondent": respondent,
        }
        columns = find_triplet_columns(list(frame.columns), named_columns)
        if columns is None:
            raise DataError(
                f"The columns {shorten(list(frame.columns), 12)} are not enough for triplets;"
                f" expected {EXPECTED}."
            )
        frame = select_answered_rows(frame, columns.chosen or [columns.odd], columns.objects)
        object_labels, questions = read_answers(frame, columns, labels, weights)
        row_respondents = read_respondents(frame, columns.who, columns.used)
        return build_from_fields(
            cls, *build_triplet_fields(object_labels, [questions], row_respondents)
        )

    @classmethod
    def from_anchored(
        cls,
        anchor: Sequence[Any],
        nearer: Sequence[Any],
        farther: Sequence[Any],
        labels: Iterable[Any] | None = None,
        counts: Iterable[float] | None = None,
        *,
        responses: Iterable[Any] | None = None,
    ) -> "Triplets":
        """Read answers to "which of the two is more like the anchor?".

        Parameters
        ----------
        anchor, nearer, farther : sequences, shape (questions,)
            Positions, from 0, or names.
        labels, counts
            As of `Triplets`.
        responses : sequence, shape (questions,), optional
            Above 0 or True where `nearer` was said to be the nearer one, below 0 or False where
            `farther` was. None: `nearer` always.

        Returns
        -------
        Triplets

        Raises
        ------
        DataError
            As of `Triplets`, or if a response is neither.

        Examples
        --------
        Queries and responses as in cblearn, where each query begins with the anchor:

        >>> queries, responses = np.array([[0, 1, 2], [2, 1, 0]]), [1, -1]
        >>> Triplets.from_anchored(*queries.T, responses=responses)
        Triplets(3 objects, 2 sets of 2 pairs, 2 answers)
        """
        if len({len(objects) for objects in (anchor, nearer, farther)}) > 1:
            raise DataError(
                "`anchor`, `nearer` and `farther` must have the same length, one entry per"
                " question."
            )
        triplet_array = check_three_columns(
            np.stack([np.asarray(objects) for objects in (anchor, nearer, farther)], axis=1)
        )
        if responses is not None:
            triplet_array = triplet_array.copy()
            is_reversed = ~read_responses(responses, len(triplet_array))
            triplet_array[is_reversed] = triplet_array[is_reversed][:, [0, 2, 1]]
        members, object_labels, times = read_objects(triplet_array, labels, counts)
        questions = build_anchored_questions(len(object_labels), members, times)
        return build_from_fields(cls, *build_triplet_fields(object_labels, [questions]))

    @classmethod
    def from_sets(
        cls,
        sets: Iterable[Iterable[Any]],
        chosen: Iterable[Iterable[Any]],
        labels: Iterable[Any] | None = None,
        counts: Iterable[float] | None = None,
    ) -> "Triplets":
        """Read the most similar pair out of sets of any size.

        Parameters
        ----------
        sets : sequence
            Each is a list of three objects or more, all of whose pairs are meant, or a list of
            pairs (a, b), two or more.
        chosen : sequence of (a, b)
            The pair that was chosen out of each.
        labels, counts
            As of `Triplets`.

        Returns
        -------
        Triplets

        Raises
        ------
        DataError
            As of `Triplets`, or if a pair was chosen that its set does not contain.

        Examples
        --------
        >>> sets = [["tea", "coffee", "brick", "wall"], [("tea", "coffee"), ("brick", "wall")]]
        >>> Triplets.from_sets(sets, [("brick", "wall"), ("tea", "coffee")])
        Triplets(4 objects, 2 sets of 2 to 6 pairs, 2 answers)
        """
        object_labels, questions = read_sets(sets, chosen, labels, counts)
        return build_from_fields(cls, *build_triplet_fields(object_labels, questions))

    def to_frame(self) -> "pd.DataFrame":
        """Return one row for each pair of each set: a, b, set, count.

        Returns
        -------
        DataFrame
            The labels are categorical, and so keep their order and the objects that were never
            asked about.

        Examples
        --------
        >>> Triplets.from_anchored(["tea"], ["coffee"], ["brick"]).to_frame()
             a       b  set  count
        0  tea  coffee    0      1
        1  tea   brick    0      0
        """
        import pandas as pd

        labels = list(self.labels)
        first_labels = pd.Categorical.from_codes(self.first, labels)
        second_labels = pd.Categorical.from_codes(self.second, labels)
        return pd.DataFrame(
            {
                "a": first_labels,
                "b": second_labels,
                "set": self.set_of,
                "count": convert_whole_counts(self.counts),
            }
        )

    def take(self, sets: np.ndarray) -> "Triplets":
        """Return the answers to some sets, given by mask or index, with all objects."""
        set_indices = np.arange(self.n_sets)[sets]
        set_sizes = self.sizes[set_indices]
        start = part_bounds(set_sizes)
        pair_positions = np.repeat(self.start[set_indices], set_sizes) + part_positions(set_sizes)
        answers = self.answers
        if answers is not None:
            new_positions = np.full(len(self.counts), -1)
            new_positions[pair_positions] = np.arange(len(pair_positions))
            answers = answers.select_positions(new_positions >= 0, new_positions)
        return build_from_fields(
            type(self),
            self.labels,
            start,
            self.first[pair_positions],
            self.second[pair_positions],
            self.counts[pair_positions],
            answers,
        )

    def with_answers(self, counts: np.ndarray) -> "Triplets":
        """Return the same sets with other counts, of unknown respondents."""
        return copy_with_fields(self, counts=np.array(counts, float), answers=None)

    def _select_people(self, members: np.ndarray) -> "Triplets":
        """Keep the answers of respondents with these indices, with all objects."""
        answers = self.require_answers()
        place, times = answers.place, answers.times
        respondents = RowRespondents(answers.respondents, answers.respondent, answers.people)
        is_selected = np.isin(respondents.number, members)
        place = place[is_selected]
        times = times[is_selected]
        respondents = respondents.select_rows(is_selected).select_members(members)
        answers = ChosenPlaces.from_rows(respondents, place, times)
        counts = np.bincount(place, times, len(self.counts))
        selected_data = copy_with_fields(self, counts=counts, answers=answers)
        return selected_data.take(sum_parts(selected_data.counts, self.start) > 0)

    def by_respondent(self) -> dict[str, "Triplets"]:
        """Split the answers by respondent; return a dict of `Triplets` by name.

        Returns
        -------
        dict
            From the name of each respondent to their `Triplets`.

        Raises
        ------
        DataError
            If respondents are unknown.
        """
        answers = self.require_answers()
        return {
            answers.respondents[k]: self._select_people(np.array([k]))
            for k in np.unique(answers.respondent)
        }

    def by_group(self, column: str) -> dict[str, "Triplets"]:
        """Split the answers by a column of respondents; return a dict by group.

        Parameters
        ----------
        column : str
            A column of `people`; respondents with an empty cell are in no group.

        Returns
        -------
        dict
            From the name of each group to its `Triplets`.

        Raises
        ------
        DataError
            If respondents are unknown, or no column of `people` has this name.

        Examples
        --------
        >>> import pandas as pd
        >>> rows = [
        ...     ("tea", "coffee", "brick", "brick", 1, "f"),
        ...     ("tea", "wall", "brick", "tea", 2, "m"),
        ... ]
        >>> frame = pd.DataFrame(
        ...     rows, columns=["object1", "object2", "object3", "odd", "person", "sex"]
        ... )
        >>> Triplets.from_frame(frame).by_group("sex")["m"]
        Triplets(4 objects, 1 set of 3 pairs, 1 answer, 1 respondent)
        """
        members_by_group = group_people(self.people, column, self.require_answers().respondent)
        return {name: self._select_people(members) for name, members in members_by_group.items()}

    def __str__(self) -> str:
        parts = [
            format_plural(self.n_options, "object"),
            f"{format_plural(self.n_sets, 'set')} of {format_extremes(self.sizes)} pairs",
            format_plural(self.n_answers, "answer"),
        ]
        if self.answers is not None:
            parts.append(str(self.answers))
        return ", ".join(parts)

    def _details(self) -> Facts:
        """Return (name, labels) facts that a notebook shows below the size."""
        return (
            ("objects", self.labels),
            ("example", self.example()),
            *list_people_facts(self.people),
        )

    def _facts(self) -> Facts:
        """Return (name, text) facts about the triplets for a report."""
        n_shown_pairs = len(np.unique(self.first * self.n_options + self.second))
        repeated_fact = ()
        hit_rate, n_repeated = predict_from_other_answers(self.counts, self.start)
        if n_repeated:
            hit_text = f"{format_percent(hit_rate)} of {n_repeated:,} answers"
            repeated_fact = (("Predicted by the other answers to the same question", hit_text),)
        return (
            ("Objects", f"{self.n_options:,}: {list_names(self.labels, MAX_LISTED)}"),
            ("Sets", f"{self.n_sets:,}, each with {format_value_range(self.sizes)} pairs"),
            ("Answers", f"{self.n_answers:,}"),
            ("Answers per set", format_value_range(sum_parts(self.counts, self.start))),
            ("Pairs shown in a set", format_pair_share(n_shown_pairs, self.n_options)),
            *repeated_fact,
        )

    @property
    def n_sets(self) -> int:
        """Number of distinct sets."""
        return len(self.start) - 1

    @property
    def n_answers(self) -> int | float:
        """Number of answers; their total weight when counts are fractional."""
        return simplify_number(self.counts.sum())

    @property
    def sizes(self) -> np.ndarray:
        """Number of pairs of each set."""
        return np.diff(self.start)

    @property
    def set_of(self) -> np.ndarray:
        """Index of the set that each pair belongs to, shape (places,)."""
        return repeat_indices(self.sizes)

    @property
    def never_judged(self) -> list[str]:
        """Labels of the objects that are in no set."""
        return self._list_absent_labels(self.first, self.second)

    def questions(self, ties: bool | None = None) -> Questions:
        """Return one question per set, whose possible answers are its pairs."""

        def list_given_answers() -> GivenAnswers | None:
            """Return the answers of each respondent; None if respondents are unknown."""
            if (answers := self.answers) is None:
                return None
            is_positive = answers.times > 0.0
            return GivenAnswers(
                answers.respondents,
                answers.respondent[is_positive],
                answers.place[is_positive],
                answers.times[is_positive],
            )

        def build_rows() -> ReportRows:
            """Build the rows of a predictive check: one per pair of objects."""
            keys, pair = np.unique(self.first * self.n_options + self.second, return_inverse=True)
            labels = np.array(self.labels)
            names = {
                "a": labels[keys // self.n_options],
                "b": labels[keys % self.n_options],
                "sets": np.bincount(pair),
            }
            return build_report_rows(MOST_SIMILAR, pair, names, self.n_sets)

        return Questions(self.start, self.counts, list_given_answers, build_rows)

    def pairs_of(self, number: int) -> list[tuple[str, str]]:
        """Return the label pairs of set `number`."""
        set_slice = part_slice(self.start, number)
        index_pairs = zip(
            self.first[set_slice].tolist(), self.second[set_slice].tolist(), strict=True
        )
        return [(self.labels[a], self.labels[b]) for a, b in index_pairs]

    def example(self) -> str:
        """Describe one answer in words.

        Examples
        --------
        >>> Triplets([("tea", "coffee", "brick")]).example()
        "'tea' and 'coffee' chosen as most similar from 'tea', 'coffee' and 'brick'"
        """
        answer_position = self.counts.argmax()
        set_index = int(np.searchsorted(self.start, answer_position, side="right")) - 1
        pairs = self.pairs_of(set_index)
        first_label, second_label = pairs[answer_position - int(self.start[set_index])]
        members = list(dict.fromkeys(label for pair in pairs for label in pair))
        return (
            f"{first_label!r} and {second_label!r} chosen as most similar from {shorten(members)}"
        )

    def warn_if_unusual(self) -> None:
        """Warn, with a `DataWarning`, of objects that were never shown, or not together.

        Models call this.
        """
        if sentence := describe_groups(
            "objects", list_components(self.labels, self.first, self.second), "shown together"
        ):
            warn(DataWarning(f"{sentence} Similarities between groups depend only on the prior."))
        if unshown_objects := self.never_judged:
            verb = choose_number(len(unshown_objects), "was", "were")
            pronoun = choose_number(len(unshown_objects), "its", "their")
            warn(
                DataWarning(
                    f"{shorten(unshown_objects)} {verb} never shown, so {pronoun} features depend"
                    " only on the prior."
                )
            )
