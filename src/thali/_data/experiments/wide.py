"""A choice experiment from a wide table: one row a task, one column for each attribute of each
alternative."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import format_label, shorten
from thali.errors import Argument, DataError, Setting

from ..columns import get_column, match_codes, read_flags
from ..roles import (
    AVAILABLE,
    CHOSEN,
    NO_CHOICE,
    RESPONDENT_OF_TASKS,
    TASK,
    column_names,
    find_no_answers,
    map_plain_names,
    simplify_name,
)
from .dual import BOUGHT

if TYPE_CHECKING:
    import pandas as pd

ZERO_OR_NONE = ("0", *NO_CHOICE)  # cells of the column of choices if none was chosen
_SEPARATORS = ("_", ".", ":", " ")
# between an attribute and the number of the alternative, as in pf1, pf2 of R's mlogit
_ATTACHED = ""
_NUMBERED = re.compile(r"(.*\D)(\d+)")
_NUMBERS = tuple(str(k) for k in range(1, 100))
LACKING = "(lacks it)"  # cell of an alternative without a column of the attribute
_LONG = ("respondent", "task", "alternative", "chosen")  # columns of the long table that is made


class WideTasks(NamedTuple):
    """The columns that describe each alternative of a wide table."""

    alternatives: tuple[str, ...]
    attributes: dict[str, dict[str, str]]  # attribute -> alternative -> column
    available: dict[str, str]  # alternative -> column
    respondent: str | None
    task: str | None
    chosen: str
    is_listed: bool = False  # whether the user listed the alternatives
    is_sure: bool = True  # whether the names of the columns say so beyond doubt
    # the column of whether none of them may be chosen, such as available_none
    none: str | None = None

    @property
    def used(self) -> set[str | None]:
        """All columns in use."""
        groups = (self.available, *self.attributes.values())
        described = (name for columns in groups for name in columns.values())
        return {self.respondent, self.task, self.chosen, self.none, *described}

    def __str__(self) -> str:
        description = (
            f"one task per row, {shorten(list(self.attributes))} of the alternatives"
            f" {shorten(self.alternatives)}"
        )
        description += f", chosen alternative in {self.chosen!r}"
        if self.available:
            first_mark = next(iter(self.available.values()))
            description += f", offered alternatives marked in {first_mark!r} etc."
        return description


def find_wide_tasks(
    frame: "pd.DataFrame",
    named_columns: Mapping[str, str | None],
    alternatives: Sequence[Any] | None = None,
) -> WideTasks | None:
    """Find the columns by their names, unless given; None if they describe no alternatives.

    `alternatives` are their names, as in the names of columns.
    """
    names = column_names(frame)
    name_by_plain = map_plain_names(names)
    column_by_role = dict(named_columns)
    for role, column_role in (
        ("respondent", RESPONDENT_OF_TASKS),
        ("task", TASK),
        ("chosen", CHOSEN),
    ):
        if column_by_role.get(role) is None:
            column_by_role[role] = column_role.find_column(name_by_plain)
    chosen = column_by_role["chosen"]
    if chosen is None:
        return None
    none_column = _find_none_offer(names)
    role_columns = {name for name in (*column_by_role.values(), none_column) if name is not None}
    listed_names = None if alternatives is None else tuple(map(format_label, alternatives))
    picked = {format_label(value) for value in frame[chosen].dropna().unique()}
    numbers = match_codes(_drop_none_words(picked), _NUMBERS)
    best = None
    for separator in (*_SEPARATORS, _ATTACHED):
        # the alternative ends a name, or begins it
        for is_suffix in (True, False)[: 1 if separator == _ATTACHED else 2]:
            described = _group_columns(
                [name for name in names if name not in role_columns], separator, is_suffix
            )
            if separator == _ATTACHED and (by_ending := _group_endings(names, listed_names or ())):
                described = by_ending
            elif separator == _ATTACHED:
                described = _select_numbered(described, listed_names, picked | {*numbers.values()})
            alternatives_found = tuple(
                dict.fromkeys(name for group in described.values() for name in group)
            )
            if listed_names is not None:
                fits = set(listed_names) <= set(alternatives_found)
            else:
                fits = (
                    _are_alternatives(alternatives_found, picked)
                    or bool(match_codes(_drop_none_words(picked), alternatives_found))
                    or any(simplify_name(name) in AVAILABLE.sure for name in described)
                )
            if described and fits and (best is None or len(described) > len(best[1])):
                best = (listed_names or alternatives_found, described, separator != _ATTACHED)
    if best is None:
        return None
    alternatives_found, described, is_sure = best
    marks = [name for name in described if simplify_name(name) in AVAILABLE.sure]
    available = dict(described[marks[0]]) if marks else {}
    attributes = {name: group for name, group in described.items() if name not in marks}
    roles = column_by_role["respondent"], column_by_role["task"], chosen
    if len(attributes) < (1 if is_sure or numbers else 2):
        return None
    return WideTasks(
        alternatives_found,
        attributes,
        available,
        *roles,
        listed_names is not None,
        is_sure,
        none_column,
    )


def list_attribute_names(name: str) -> list[str]:
    """List the possible attribute names of a column that describes one alternative.

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
    numbered = _NUMBERED.fullmatch(name)
    return list(
        dict.fromkeys(
            part
            for part in (*name_parts, *([numbered[1]] if numbered and not name_parts else []))
            if part
        )
    )


def list_numbered_columns(names: list[str]) -> list[str]:
    """List the columns price_1, price_2, ... of a table without a column of choices."""
    if CHOSEN.find_column(map_plain_names(names)) is not None:
        return []
    for separator in _SEPARATORS:
        described = _group_columns(names, separator, True)
        groups = described.values()
        if groups and all(set(group) == set(_NUMBERS[: len(group)]) for group in groups):
            return [name for group in groups for name in group.values()]
    return []


def _group_columns(names: list[str], separator: str, is_suffix: bool) -> dict[str, dict[str, str]]:
    """Return {attribute: {alternative: column}} of attributes with several alternatives."""
    columns_by_attribute: dict[str, dict[str, str]] = {}
    for name in names:
        if separator == _ATTACHED:
            numbered = _NUMBERED.fullmatch(name)
            start, mark, end = (numbered[1], "1", numbered[2]) if numbered else ("", "", "")
        else:
            start, mark, end = (
                name.rpartition(separator) if is_suffix else name.partition(separator)
            )
        if mark and start and end:
            attribute, alternative = (start, end) if is_suffix else (end, start)
            columns_by_attribute.setdefault(attribute, {})[alternative] = name
    return {
        attribute: columns
        for attribute, columns in columns_by_attribute.items()
        if len(columns) > 1
    }


def _group_endings(names: list[str], alternatives: Sequence[str]) -> dict[str, dict[str, str]]:
    """Group columns such as pbeach and pboat by attribute, for listed alternatives."""
    labels = [label for label in alternatives if not label.isdigit()]
    columns_by_attribute: dict[str, dict[str, str]] = {}
    for name in names:
        for label in labels:
            if len(name) > len(label) and name.endswith(label):
                columns_by_attribute.setdefault(name.removesuffix(label), {})[label] = name
    return {k: columns for k, columns in columns_by_attribute.items() if len(columns) > 1}


def _select_numbered(
    described: dict[str, dict[str, str]], listed_names: tuple[str, ...] | None, picked: set[str]
) -> dict[str, dict[str, str]]:
    """Select the attributes with the chosen numbers, or the largest group with equal numbers."""
    # Return none if two groups are equally large.
    groups_by_numbers: dict[tuple[str, ...], dict[str, dict[str, str]]] = {}
    for attribute, columns in described.items():
        groups_by_numbers.setdefault(tuple(columns), {})[attribute] = columns
    choices = _drop_none_words(picked) if listed_names is None else set(listed_names)
    groups = [group for numbers, group in groups_by_numbers.items() if set(numbers) == choices]
    groups = groups or list(groups_by_numbers.values())
    largest = max(map(len, groups), default=0)
    largest_groups = [group for group in groups if len(group) == largest]
    return largest_groups[0] if len(largest_groups) == 1 else {}


def _drop_none_words(picked: Iterable[str]) -> set[str]:
    """Return the choices that are not words for none of the alternatives."""
    return {text for text in picked if simplify_name(text) not in ZERO_OR_NONE}


def _find_none_offer(names: list[str]) -> str | None:
    """Find the column of whether none may be chosen."""
    # Return None if "none" is an alternative with attributes.
    name_by_plain = map_plain_names(names)
    none_column = next(
        (
            name_by_plain[word + no]
            for word in AVAILABLE.sure
            for no in NO_CHOICE
            if word + no in name_by_plain
        ),
        None,
    )
    other_names = [name for name in names if name != none_column]
    ends = {
        simplify_name(end)
        for separator in _SEPARATORS
        for is_suffix in (True, False)
        for columns in _group_columns(other_names, separator, is_suffix).values()
        for end in columns
    }
    return None if ends & set(NO_CHOICE) else none_column


def _are_alternatives(alternatives: tuple[str, ...], picked: set[str]) -> bool:
    """Return whether the choices are these alternatives, or the alternatives are numbered."""
    choices = _drop_none_words(picked) - find_no_answers(picked, alternatives)
    return bool(choices) and (
        choices <= set(alternatives) or set(alternatives) == set(_NUMBERS[: len(alternatives)])
    )


def add_lacking_word(columns: WideTasks, missing: Any) -> Any:
    """Add the word for alternatives without a column to the words for missing attributes."""
    alternatives = set(columns.alternatives)
    incomplete = [name for name, group in columns.attributes.items() if set(group) != alternatives]
    if not incomplete:
        return missing
    words_by_attribute = dict(missing) if isinstance(missing, Mapping) else {}
    if missing is not None and not isinstance(missing, Mapping):
        words_by_attribute = dict.fromkeys(columns.attributes, missing)
    for name in incomplete:
        words = words_by_attribute.get(name, [])
        words_by_attribute[name] = [
            *(words if isinstance(words, list | tuple) else [words]),
            LACKING,
        ]
    return words_by_attribute


def _check_column_order(columns: WideTasks) -> None:
    """Raise if choices are numbers, and columns list the alternatives in different orders."""
    groups = {
        next(iter(group.values())): tuple(group)
        for group in (columns.available, *columns.attributes.values())
        if group
    }
    for name, order in groups.items():
        indices = [
            columns.alternatives.index(label) for label in order if label in columns.alternatives
        ]
        if not columns.is_listed and indices != sorted(indices):
            raise DataError(
                f"Column {columns.chosen!r} contains numbers of alternatives, but the columns list"
                f" the alternatives in different orders (first {shorten(columns.alternatives)};"
                f" from column {name!r} on {shorten(order)}); list the alternatives in the order"
                " of these numbers with ",
                Argument("alternatives"),
                ".",
            )


def find_none_word(picked: Iterable[str], labels: Collection[str]) -> str | None:
    """Find the word among the choices that means none of the alternatives."""
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
    """Convert to a long table with one row per offered alternative.

    Return the table and the label of the no-choice option.
    """
    import pandas as pd

    picked = np.array(
        [format_label(value) for value in get_column(frame, columns.chosen)], dtype=object
    )
    labels = columns.alternatives
    none_label = None if none is None else format_label(none)
    if none is None:
        none_label = find_none_word(picked, labels)
    codes = match_codes({*picked} - {*labels, none_label}, labels)
    picked = np.array([codes.get(text, text) for text in picked], dtype=object)
    counted = labels if columns.none is None else (*labels, NO_CHOICE[0])
    if (
        none_label is None
        and set(picked) <= set(_NUMBERS[: len(counted)])
        and not set(picked) <= set(labels)
    ):
        _check_column_order(columns)
        # their numbers
        picked = np.array([counted[int(text) - 1] for text in picked], dtype=object)
    if none_label is None and columns.none is not None:
        none_label = NO_CHOICE[0]  # offered but never chosen
    for row, text in enumerate(picked):
        if text not in labels and text != none_label:
            raise DataError(
                f"Column {columns.chosen!r} contains {text!r} in row {frame.index[row]}, which is"
                f" not one of the alternatives {shorten(labels)}. If this means that no"
                " alternative was chosen, set ",
                Setting("none", text),
                ".",
            )
    rows = np.arange(len(frame))
    respondents = pd.Series(rows + 1, frame.index)
    if columns.respondent is not None:
        respondents = frame[columns.respondent]
    task = (
        frame[columns.task]
        if columns.task is not None
        else respondents.groupby(respondents).cumcount() + 1
    )
    if clashes := {*_LONG, BOUGHT} & {*columns.attributes}:
        raise DataError(
            f"The attribute {min(clashes)!r} has the same name as a task column; rename the columns"
            " of the attribute."
        )
    parts, row_indices = [], []
    offered: list[str] = [*labels, *([] if none_label is None else [none_label])]
    for label in offered:
        offers = columns.none if label == none_label else columns.available.get(label)
        is_offered = np.ones(len(frame), bool) if offers is None else read_flags(frame, offers)
        if (picked[~is_offered] == label).any():
            row = frame.index[np.flatnonzero(~is_offered & (picked == label))[0]]
            raise DataError(
                f"{label!r} was chosen in row {row}, but was not available; correct or remove the"
                " row."
            )
        row_values = {
            "respondent": respondents,
            "task": task,
            "alternative": label,
            "chosen": (picked == label).astype(int),
        }
        missing_cell = LACKING if label in labels else None
        cells = {
            name: frame[group[label]] if label in group else missing_cell
            for name, group in columns.attributes.items()
        }
        row_values |= {} if bought is None else {BOUGHT: frame[bought]}
        parts.append(pd.DataFrame(row_values | cells).loc[is_offered])
        row_indices.append(rows[is_offered])
    order = np.argsort(np.concatenate(row_indices), kind="stable")
    return pd.concat(parts, ignore_index=True).iloc[order].reset_index(drop=True), none_label
