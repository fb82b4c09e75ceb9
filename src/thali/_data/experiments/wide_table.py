"""Reading a choice experiment from a wide table, one row per task."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.index_arithmetic import find_first
from thali._labels import format_label, shorten
from thali.errors import Argument, DataError, Setting

from ..column_readers import list_texts, match_codes, read_flags
from ..column_roles import (
    AVAILABLE,
    CHOSEN,
    NO_CHOICE,
    RESPONDENT_OF_TASKS,
    STEMS,
    TASK_OF_RESPONDENT,
    column_names,
    find_named_columns,
    find_no_answers,
    map_plain_names,
    simplify_name,
)
from .dual_response import BOUGHT

if TYPE_CHECKING:
    import pandas as pd

ZERO_OR_NONE = ("0", *NO_CHOICE)  # cells of the column of choices if none was chosen
_SEPARATORS = ("_", ".", ":", " ")
# an attribute and the number of the alternative, as in pf1, pf2 of R's mlogit
_NUMBERED = re.compile(r"(.*\D)(\d+)")
_NUMBERS = tuple(str(k) for k in range(1, 100))
LACKING = "(lacks it)"  # cell of an alternative without a column of the attribute
_LONG = ("respondent", "task", "alternative", "chosen")  # columns of the long table that is made


ColumnGroups = dict[str, dict[str, str]]  # attribute -> alternative -> column


class WideTasks(NamedTuple):
    """Columns of a wide table: choice, and attributes of each alternative."""

    alternatives: tuple[str, ...]
    attributes: ColumnGroups
    available: dict[str, str]  # alternative -> column
    respondent: str | None
    task: str | None
    chosen: str
    is_listed: bool = False  # whether the user listed the alternatives
    is_sure: bool = True  # whether the names of the columns are unambiguous
    # the column of whether none of them may be chosen, such as available_none
    none: str | None = None

    @property
    def used(self) -> set[str | None]:
        """Set of all column names that are not None."""
        column_groups = (self.available, *self.attributes.values())
        described_columns = (name for columns in column_groups for name in columns.values())
        return {self.respondent, self.task, self.chosen, self.none, *described_columns}

    @property
    def has_only_options(self) -> bool:
        """Whether the only attribute is the name of an option, as in option_1 and option_2."""
        return {*map(simplify_name, self.attributes)} <= STEMS and len(self.attributes) == 1

    def __str__(self) -> str:
        description = (
            f"one task per row, {shorten(list(self.attributes))} of the alternatives"
            f" {shorten(self.alternatives)}, chosen alternative in {self.chosen!r}"
        )
        if self.available:
            first_mark = next(iter(self.available.values()))
            description += f", offered alternatives marked in {first_mark!r} etc."
        return description


def find_wide_tasks(
    frame: "pd.DataFrame",
    named_columns: Mapping[str, str | None],
    alternatives: Sequence[Any] | None = None,
) -> WideTasks | None:
    """Find the columns of alternatives' attributes and of the choice; None if there are none.

    `alternatives` are their names, as in the names of columns.
    """
    all_columns = column_names(frame)
    respondent_column, task_column, chosen_column = find_named_columns(
        map_plain_names(all_columns),
        named_columns,
        (RESPONDENT_OF_TASKS, TASK_OF_RESPONDENT, CHOSEN),
    )
    if chosen_column is None:
        return None
    none_column = _find_none_offer(all_columns)
    role_columns = {respondent_column, task_column, chosen_column, none_column}
    other_columns = [name for name in all_columns if name not in role_columns]
    listed_names: tuple[str, ...] = ()
    if alternatives is not None:
        listed_names = tuple(map(format_label, alternatives))
    chosen_texts = {format_label(value) for value in frame[chosen_column].dropna().unique()}
    number_by_text = match_codes(_drop_none_words(chosen_texts), _NUMBERS)
    columns_by_attribute: ColumnGroups = {}
    alternative_names, is_sure = listed_names, True
    for candidate_groups, is_separated in _list_groupings(
        other_columns, listed_names, chosen_texts | {*number_by_text.values()}
    ):
        alternative_labels = tuple(
            dict.fromkeys(name for group in candidate_groups.values() for name in group)
        )
        if len(candidate_groups) > len(columns_by_attribute) and _fit_choices(
            candidate_groups, alternative_labels, listed_names, chosen_texts
        ):
            columns_by_attribute = candidate_groups
            is_sure = is_separated
            alternative_names = listed_names or alternative_labels
    availability_attributes = [
        name for name in columns_by_attribute if simplify_name(name) in AVAILABLE.sure
    ]
    attributes = {
        name: group
        for name, group in columns_by_attribute.items()
        if name not in availability_attributes
    }
    # without separators and numbers, a single attribute may be due to chance
    if not attributes or (len(attributes) < 2 and not (is_sure or number_by_text)):
        return None
    available_columns: dict[str, str] = {}
    if availability_attributes:
        available_columns = dict(columns_by_attribute[availability_attributes[0]])
    return WideTasks(
        alternative_names,
        attributes,
        available_columns,
        respondent_column,
        task_column,
        chosen_column,
        alternatives is not None,
        is_sure,
        none_column,
    )


def _list_groupings(
    columns: list[str], listed_names: tuple[str, ...], chosen_texts: set[str]
) -> Iterator[tuple[ColumnGroups, bool]]:
    """Yield (columns by attribute and alternative, whether a separator joins the two)."""
    for separator in _SEPARATORS:
        for is_suffix in (True, False):  # the alternative ends a name, or begins it
            yield _group_columns(columns, separator, is_suffix), True
    column_groups = _group_endings(columns, listed_names)
    if not column_groups:
        number_matches = filter(None, map(_NUMBERED.fullmatch, columns))
        numbered_groups = _group_splits((match[1], match[2], match[0]) for match in number_matches)
        column_groups = _select_numbered(numbered_groups, listed_names, chosen_texts)
    yield column_groups, False


def _fit_choices(
    column_groups: ColumnGroups,
    alternative_labels: tuple[str, ...],
    listed_names: tuple[str, ...],
    chosen_texts: set[str],
) -> bool:
    """Return whether a column grouping has the alternatives that were listed or chosen."""
    if listed_names:
        return set(listed_names) <= set(alternative_labels)
    choices = _drop_none_words(chosen_texts)
    labels = set(alternative_labels)
    if chosen_labels := choices - find_no_answers(chosen_texts, alternative_labels):
        if chosen_labels <= labels or labels == set(_NUMBERS[: len(alternative_labels)]):
            return True
    return bool(match_codes(choices, alternative_labels)) or any(
        simplify_name(name) in AVAILABLE.sure for name in column_groups
    )


def list_attribute_names(name: str) -> list[str]:
    """List attribute names that a column such as "price_car" may belong to.

    Examples
    --------
    >>> list_attribute_names("price_1"), list_attribute_names("pf2")
    (['price', '1'], ['pf'])
    """
    name_parts = [
        part
        for separator in _SEPARATORS
        if separator in name
        for part in (name.rpartition(separator)[0], name.partition(separator)[2])
    ]
    if not name_parts and (number_match := _NUMBERED.fullmatch(name)):
        name_parts = [number_match[1]]
    return list(dict.fromkeys(filter(None, name_parts)))


def list_numbered_columns(names: list[str]) -> list[str]:
    """List columns price_1, price_2, ... that describe numbered alternatives.

    The list is empty if numbers have gaps or a column of choices exists.
    """
    if CHOSEN.find_column(map_plain_names(names)) is not None:
        return []
    for separator in _SEPARATORS:
        column_groups = _group_columns(names, separator, True).values()
        if column_groups and all(
            set(group) == set(_NUMBERS[: len(group)]) for group in column_groups
        ):
            return [name for group in column_groups for name in group.values()]
    return []


def _group_columns(columns: list[str], separator: str, is_suffix: bool) -> ColumnGroups:
    """Group columns named attribute + separator + alternative (or reversed)."""
    name_splits = []
    for column in columns:
        attribute, _, alternative = column.rpartition(separator)
        if not is_suffix:
            alternative, _, attribute = column.partition(separator)
        name_splits.append((attribute, alternative, column))
    return _group_splits(name_splits)


def _group_endings(columns: list[str], alternatives: Sequence[str]) -> ColumnGroups:
    """Group columns such as pbeach and pboat by attribute, given the alternatives."""
    return _group_splits(
        (name.removesuffix(label), label, name)
        for name in columns
        for label in alternatives
        if name.endswith(label) and not label.isdigit()
    )


def _group_splits(name_splits: Iterable[tuple[str, str, str]]) -> ColumnGroups:
    """Group (attribute, alternative, column) triples by attribute; drop single ones."""
    columns_by_attribute: ColumnGroups = {}
    for attribute, alternative, name in name_splits:
        if attribute and alternative:
            columns_by_attribute.setdefault(attribute, {})[alternative] = name
    return {name: columns for name, columns in columns_by_attribute.items() if len(columns) > 1}


def _select_numbered(
    columns_by_attribute: ColumnGroups, listed_names: tuple[str, ...], chosen_texts: set[str]
) -> ColumnGroups:
    """Select attributes whose numbered columns match the chosen numbers."""
    # Return none if two groups are equally large.
    groups_by_numbers: dict[tuple[str, ...], ColumnGroups] = {}
    for attribute, columns in columns_by_attribute.items():
        groups_by_numbers.setdefault(tuple(columns), {})[attribute] = columns
    chosen_labels = set(listed_names) or _drop_none_words(chosen_texts)
    matching_groups = [
        group
        for column_numbers, group in groups_by_numbers.items()
        if set(column_numbers) == chosen_labels
    ]
    matching_groups = matching_groups or list(groups_by_numbers.values())
    largest_size = max(map(len, matching_groups), default=0)
    largest_groups = [group for group in matching_groups if len(group) == largest_size]
    if len(largest_groups) != 1:
        return {}
    return largest_groups[0]


def _drop_none_words(chosen_texts: Iterable[str]) -> set[str]:
    """Return the chosen labels without words for "none of these"."""
    return {text for text in chosen_texts if simplify_name(text) not in ZERO_OR_NONE}


def _find_none_offer(names: list[str]) -> str | None:
    """Find the column that states whether "none" was offered; else None."""
    # Return None if "none" is an alternative with attributes.
    name_by_simplified = map_plain_names(names)
    none_column = next(
        (
            name_by_simplified[word + no_choice_word]
            for word in AVAILABLE.sure
            for no_choice_word in NO_CHOICE
            if word + no_choice_word in name_by_simplified
        ),
        None,
    )
    other_names = [name for name in names if name != none_column]
    alternative_names = {
        simplify_name(alternative)
        for separator in _SEPARATORS
        for is_suffix in (True, False)
        for columns in _group_columns(other_names, separator, is_suffix).values()
        for alternative in columns
    }
    if alternative_names & set(NO_CHOICE):
        return None
    return none_column


def add_lacking_word(columns: WideTasks, missing: Any) -> Any:
    """Return `missing` with the word for attributes that an alternative lacks."""
    alternatives = set(columns.alternatives)
    incomplete_attributes = [
        attribute for attribute, group in columns.attributes.items() if set(group) != alternatives
    ]
    if not incomplete_attributes:
        return missing
    words_by_attribute: dict[Any, Any] = {}
    if isinstance(missing, Mapping):
        words_by_attribute = dict(missing)
    elif missing is not None:
        words_by_attribute = dict.fromkeys(columns.attributes, missing)
    for attribute in incomplete_attributes:
        missing_words = words_by_attribute.get(attribute, [])
        if not isinstance(missing_words, list | tuple):
            missing_words = [missing_words]
        words_by_attribute[attribute] = [*missing_words, LACKING]
    return words_by_attribute


def _check_column_order(columns: WideTasks) -> None:
    """Raise DataError if choices are numbers but column order is ambiguous."""
    order_by_column = {
        next(iter(group.values())): tuple(group)
        for group in (columns.available, *columns.attributes.values())
        if group
    }
    for first_column, column_order in order_by_column.items():
        alternative_indices = [
            columns.alternatives.index(label)
            for label in column_order
            if label in columns.alternatives
        ]
        if not columns.is_listed and alternative_indices != sorted(alternative_indices):
            raise DataError(
                f"Column {columns.chosen!r} contains numbers of alternatives, but the columns list"
                f" the alternatives in different orders (first {shorten(columns.alternatives)};"
                f" from column {first_column!r} on {shorten(column_order)}); list the alternatives"
                " in the order of these numbers with ",
                Argument("alternatives"),
                ".",
            )


def find_none_word(picked: Iterable[str], labels: Collection[str]) -> str | None:
    """Return the chosen word that means "none of these"; else None."""
    return next(
        (
            str(text)
            for text in picked
            if simplify_name(text) in ZERO_OR_NONE and text not in labels
        ),
        None,
    )


def build_long_frame(
    frame: "pd.DataFrame", columns: WideTasks, none: Any, bought: str | None
) -> tuple["pd.DataFrame", Any]:
    """Convert a wide table of tasks to a long one, one row per offered alternative.

    Return the table and the label of the no-choice option.
    """
    import pandas as pd

    chosen_labels, none_label = _read_chosen_labels(frame, columns, none)
    if clashing_names := {*_LONG, BOUGHT} & {*columns.attributes}:
        raise DataError(
            f"The attribute {min(clashing_names)!r} has the same name as a task column; rename the"
            " columns of the attribute."
        )
    respondents = pd.Series(np.arange(len(frame)) + 1, frame.index)
    if columns.respondent is not None:
        respondents = frame[columns.respondent]
    task_labels = respondents.groupby(respondents).cumcount() + 1
    if columns.task is not None:
        task_labels = frame[columns.task]
    task_columns: dict[str, Any] = {"respondent": respondents, "task": task_labels}
    if bought is not None:
        task_columns[BOUGHT] = frame[bought]
    alternative_frames = []
    row_indices = []
    for alternative in filter(None, (*columns.alternatives, none_label)):
        offer_column = columns.available.get(alternative)
        missing_cell = LACKING
        if alternative == none_label:
            offer_column = columns.none
            missing_cell = None
        is_offered = np.ones(len(frame), bool)
        is_chosen = chosen_labels == alternative
        if offer_column is not None:
            is_offered = read_flags(frame, offer_column)
        if (row := find_first(is_chosen & ~is_offered)) is not None:
            raise DataError(
                f"{alternative!r} was chosen in row {frame.index[row]}, but was not"
                " available; correct or remove the row."
            )
        task_cells = task_columns | {"alternative": alternative, "chosen": is_chosen.astype(int)}
        attribute_cells = dict.fromkeys(columns.attributes, missing_cell) | {
            name: frame[group[alternative]]
            for name, group in columns.attributes.items()
            if alternative in group
        }
        alternative_frames.append(pd.DataFrame(task_cells | attribute_cells).loc[is_offered])
        row_indices.append(np.flatnonzero(is_offered))
    row_order = np.argsort(np.concatenate(row_indices), kind="stable")
    return pd.concat(alternative_frames, ignore_index=True).iloc[row_order].reset_index(
        drop=True
    ), none_label


def _read_chosen_labels(
    frame: "pd.DataFrame", columns: WideTasks, none: Any
) -> tuple[np.ndarray, str | None]:
    """Return the chosen alternative of each row, and the label of the no-choice option."""
    alternatives = columns.alternatives
    chosen_texts = list_texts(frame, columns.chosen)
    none_label = find_none_word(chosen_texts, alternatives)
    if none is not None:
        none_label = format_label(none)
    label_by_text = match_codes({*chosen_texts} - {*alternatives, none_label}, alternatives)
    chosen_labels = [label_by_text.get(text, text) for text in chosen_texts]
    if none_label is None:
        numbered_labels = alternatives
        if columns.none is not None:
            none_label = NO_CHOICE[0]  # perhaps offered but never chosen
            numbered_labels = (*alternatives, none_label)
        if set(chosen_labels) <= set(_NUMBERS[: len(numbered_labels)]) and not set(
            chosen_labels
        ) <= set(alternatives):
            _check_column_order(columns)
            chosen_labels = [numbered_labels[int(text) - 1] for text in chosen_labels]
    for row_label, text in zip(frame.index, chosen_labels, strict=True):
        if text not in alternatives and text != none_label:
            raise DataError(
                f"Column {columns.chosen!r} contains {text!r} in row {row_label}, which is not one"
                " of the"
                f" alternatives {shorten(alternatives)}. If this means that no alternative was"
                " chosen, set ",
                Setting("none", text),
                ".",
            )
    return np.array(chosen_labels, object), none_label
