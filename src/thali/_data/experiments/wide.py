"""A choice experiment from a wide table: one row a task, one column for each attribute of each
alternative."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import as_label, shorten
from thali.errors import Argument, DataError, Setting

from ..columns import get_column, read_flags
from ..roles import (
    AVAILABLE,
    CHOSEN,
    NO_CHOICE,
    RESPONDENT_OF_TASKS,
    TASK,
    map_plain_names,
    column_names,
    find_no_answers,
    simplify_name,
)
from .dual import BOUGHT

if TYPE_CHECKING:
    import pandas as pd

ZERO_OR_NONE = ("0", *NO_CHOICE)  # what the column of choices holds where none was chosen
_BETWEEN = ("_", ".", ":", " ")
# between an attribute and the number of the alternative, as in pf1, pf2 of R's mlogit
_ATTACHED = ""
_NUMBERED = re.compile(r"(.*\D)(\d+)")
_NUMBERS = tuple(str(k) for k in range(1, 100))
LACKING = "(lacks it)"  # of an alternative that has no column of an attribute
_LONG = ("respondent", "task", "alternative", "chosen")  # columns of the long table that is made


class WideTasks(NamedTuple):
    """Which columns describe which alternative."""

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
        """All of them."""
        described = (
            name for each in (self.available, *self.attributes.values()) for name in each.values()
        )
        return {self.respondent, self.task, self.chosen, self.none, *described}

    def __str__(self) -> str:
        how = (
            f"one task per row, {shorten(list(self.attributes))} of the alternatives"
            f" {shorten(self.alternatives)}"
        )
        how += f", chosen alternative in {self.chosen!r}"
        return how + (
            f", offered alternatives marked in {next(iter(self.available.values()))!r} etc."
            if self.available
            else ""
        )


def wide_tasks(
    frame: "pd.DataFrame",
    given: Mapping[str, str | None],
    alternatives: Sequence[Any] | None = None,
) -> WideTasks | None:
    """The columns by their names, but for those given; None if they describe no alternatives.

    `alternatives`: their names, as they stand in those of the columns.
    """
    names = column_names(frame)
    own = map_plain_names(names)
    found = dict(given)
    for role, usual in (("respondent", RESPONDENT_OF_TASKS), ("task", TASK), ("chosen", CHOSEN)):
        if found.get(role) is None:
            found[role] = usual.among(own)
    chosen = found["chosen"]
    if chosen is None:
        return None
    none = _offers_none(names)
    taken = {name for name in (*found.values(), none) if name is not None}
    wanted = None if alternatives is None else tuple(map(as_label, alternatives))
    picked = {as_label(value) for value in frame[chosen].dropna().unique()}
    best = None
    for separator in (*_BETWEEN, _ATTACHED):
        # the alternative ends a name, or begins it
        for last in (True, False)[: 1 if separator == _ATTACHED else 2]:
            described = _described([name for name in names if name not in taken], separator, last)
            if separator == _ATTACHED:
                described = _numbered_alike(described, wanted, picked)
            known = tuple(dict.fromkeys(each for columns in described.values() for each in columns))
            if wanted is not None:
                fits = set(wanted) <= set(known)
            else:
                fits = _are_alternatives(known, picked) or any(
                    simplify_name(name) in AVAILABLE.sure for name in described
                )
            if described and fits and (best is None or len(described) > len(best[1])):
                best = (wanted or known, described, separator != _ATTACHED)
    if best is None:
        return None
    known, described, is_sure = best
    available = next(
        (dict(each) for name, each in described.items() if simplify_name(name) in AVAILABLE.sure), {}
    )
    attributes = {
        name: each for name, each in described.items() if simplify_name(name) not in AVAILABLE.sure
    }
    roles = found["respondent"], found["task"], chosen
    if len(attributes) < (1 if is_sure else 2):
        return None
    return WideTasks(known, attributes, available, *roles, wanted is not None, is_sure, none)


def bases_of(name: str) -> list[str]:
    """What an attribute may be called of which a column holds one alternative.

    Examples
    --------
    >>> bases_of("price_1"), bases_of("pf2")
    (['price', '1'], ['pf'])
    """
    found = [
        part
        for between in _BETWEEN
        if between in name
        for part in (name.rpartition(between)[0], name.partition(between)[2])
    ]
    numbered = _NUMBERED.fullmatch(name)
    return list(
        dict.fromkeys(
            part for part in (*found, *([numbered[1]] if numbered and not found else [])) if part
        )
    )


def numbered_attributes(names: list[str]) -> list[str]:
    """The columns price_1, price_2 and the like, where no column of a choice stands beside them."""
    if CHOSEN.among(map_plain_names(names)) is not None:
        return []
    for separator in _BETWEEN:
        described = _described(names, separator, True)
        if described and all(
            set(each) == set(_NUMBERS[: len(each)]) for each in described.values()
        ):
            return [name for each in described.values() for name in each.values()]
    return []


def _described(names: list[str], separator: str, last: bool) -> dict[str, dict[str, str]]:
    """Attribute -> alternative -> column, of all attributes that several alternatives have."""
    found: dict[str, dict[str, str]] = {}
    for name in names:
        if separator == _ATTACHED:
            numbered = _NUMBERED.fullmatch(name)
            start, between, end = (numbered[1], "1", numbered[2]) if numbered else ("", "", "")
        else:
            start, between, end = name.rpartition(separator) if last else name.partition(separator)
        if between and start and end:
            attribute, alternative = (start, end) if last else (end, start)
            found.setdefault(attribute, {})[alternative] = name
    return {attribute: columns for attribute, columns in found.items() if len(columns) > 1}


def _numbered_alike(
    described: dict[str, dict[str, str]], wanted: tuple[str, ...] | None, picked: set[str]
) -> dict[str, dict[str, str]]:
    """The attributes that have the numbers chosen from, else most of those alike; none where as
    many have others."""
    alike: dict[tuple[str, ...], dict[str, dict[str, str]]] = {}
    for attribute, columns in described.items():
        alike.setdefault(tuple(columns), {})[attribute] = columns
    choices = (
        {text for text in picked if simplify_name(text) not in ZERO_OR_NONE}
        if wanted is None
        else set(wanted)
    )
    groups = [each for numbers, each in alike.items() if set(numbers) == choices] or list(
        alike.values()
    )
    most = max(map(len, groups), default=0)
    found = [each for each in groups if len(each) == most]
    return found[0] if len(found) == 1 else {}


def _offers_none(names: list[str]) -> str | None:
    """The column of whether none may be chosen, where it is no alternative with attributes of its
    own."""
    own = map_plain_names(names)
    found = next(
        (own[word + each] for word in AVAILABLE.sure for each in NO_CHOICE if word + each in own),
        None,
    )
    others = [name for name in names if name != found]
    ends = {
        simplify_name(end)
        for separator in _BETWEEN
        for last in (True, False)
        for columns in _described(others, separator, last).values()
        for end in columns
    }
    return None if ends & set(NO_CHOICE) else found


def _are_alternatives(known: tuple[str, ...], picked: set[str]) -> bool:
    """Whether what was chosen are these, or they are numbered."""
    choices = {text for text in picked if simplify_name(text) not in ZERO_OR_NONE} - find_no_answers(
        picked, known
    )
    return bool(choices) and (choices <= set(known) or set(known) == set(_NUMBERS[: len(known)]))


def lacking_words(columns: WideTasks, missing: Any) -> Any:
    """What says that a product lacks an attribute: the word for alternatives without such a column,
    and the user's."""
    some = [
        name for name, each in columns.attributes.items() if set(each) != set(columns.alternatives)
    ]
    if not some:
        return missing
    every = dict(missing) if isinstance(missing, Mapping) else {}
    if missing is not None and not isinstance(missing, Mapping):
        every = dict.fromkeys(columns.attributes, missing)
    for name in some:
        own = every.get(name, [])
        every[name] = [*(own if isinstance(own, list | tuple) else [own]), LACKING]
    return every


def _refuse_orders(columns: WideTasks) -> None:
    """Refuse numbers of alternatives that stand in different orders among the columns."""
    groups = {
        next(iter(each.values())): tuple(each)
        for each in (columns.available, *columns.attributes.values())
        if each
    }
    for name, order in groups.items():
        places = [
            columns.alternatives.index(label) for label in order if label in columns.alternatives
        ]
        if not columns.is_listed and places != sorted(places):
            raise DataError(
                f"Column {columns.chosen!r} contains numbers of alternatives, but the columns list"
                f" the alternatives in different orders (first {shorten(columns.alternatives)};"
                f" from column {name!r} on {shorten(order)}); list the alternatives in the order"
                " of these numbers with ",
                Argument("alternatives"),
                ".",
            )


def word_for_none(picked: Iterable[str], labels: Collection[str]) -> str | None:
    """The word among those chosen that stands for none of the alternatives."""
    return next(
        (str(text) for text in picked if simplify_name(text) in ZERO_OR_NONE and text not in labels), None
    )


def long_frame(
    frame: "pd.DataFrame", columns: WideTasks, none: Any, bought: str | None
) -> tuple["pd.DataFrame", Any]:
    """The same as a long table, one row an alternative that was available; and the label of the
    no-choice option."""
    import pandas as pd

    picked = np.array([as_label(value) for value in get_column(frame, columns.chosen)], dtype=object)
    labels = columns.alternatives
    nothing = None if none is None else as_label(none)
    if none is None:
        nothing = word_for_none(picked, labels)
    counted = labels if columns.none is None else (*labels, NO_CHOICE[0])
    if (
        nothing is None
        and set(picked) <= set(_NUMBERS[: len(counted)])
        and not set(picked) <= set(labels)
    ):
        _refuse_orders(columns)
        # their numbers
        picked = np.array([counted[int(text) - 1] for text in picked], dtype=object)
    if nothing is None and columns.none is not None:
        nothing = NO_CHOICE[0]  # which nobody chose
    for row, text in enumerate(picked):
        if text not in labels and text != nothing:
            raise DataError(
                f"Column {columns.chosen!r} contains {text!r} in row {frame.index[row]}, which is"
                f" not one of the alternatives {shorten(labels)}. If this means that no"
                " alternative was chosen, set ",
                Setting("none", text),
                ".",
            )
    rows = np.arange(len(frame))
    who = (
        frame[columns.respondent]
        if columns.respondent is not None
        else pd.Series(rows + 1, frame.index)
    )
    task = frame[columns.task] if columns.task is not None else who.groupby(who).cumcount() + 1
    if taken := {*_LONG, BOUGHT} & {*columns.attributes}:
        raise DataError(
            f"The attribute {min(taken)!r} has the same name as a task column; rename the columns"
            " of the attribute."
        )
    parts, places = [], []
    offered: list[str] = [*labels, *([] if nothing is None else [nothing])]
    for label in offered:
        offers = columns.none if label == nothing else columns.available.get(label)
        there = np.ones(len(frame), bool) if offers is None else read_flags(frame, offers)
        if (picked[~there] == label).any():
            row = frame.index[np.flatnonzero(~there & (picked == label))[0]]
            raise DataError(
                f"{label!r} was chosen in row {row}, but was not available; correct or remove the"
                " row."
            )
        made = {
            "respondent": who,
            "task": task,
            "alternative": label,
            "chosen": (picked == label).astype(int),
        }
        without = LACKING if label in labels else None
        cells = {
            name: frame[each[label]] if label in each else without
            for name, each in columns.attributes.items()
        }
        made |= {} if bought is None else {BOUGHT: frame[bought]}
        parts.append(pd.DataFrame(made | cells).loc[there])
        places.append(rows[there])
    order = np.argsort(np.concatenate(places), kind="stable")
    return pd.concat(parts, ignore_index=True).iloc[order].reset_index(drop=True), nothing
