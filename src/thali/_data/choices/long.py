"""Choices from long and wide tables: columns by their many names, and the checks of each
occasion."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import as_label, checked_labels, positions, shorten, suggest
from thali.errors import Argument, DataError

from ..answers import read_any_respondents
from ..columns import select_answered_rows, convert_frame, encode_column, get_column, read_counts, read_flags, sort_texts, classify_yes_no
from ..roles import (
    ALTERNATIVE,
    AVAILABLE,
    CHOSEN,
    COUNT,
    RESPONDENT_OF_TASKS,
    TASK,
    map_plain_names,
    column_names,
)

if TYPE_CHECKING:
    import pandas as pd

# the roles in a long table
LONG_ROLES = ("choice_id", "alternative", "chosen", "available", "respondent", "count")


@dataclass
class RawOccasions:
    """The rows of a long table in numbers, before any check of an occasion as a whole."""

    labels: tuple[str, ...]
    occasion: np.ndarray  # (rows,) int64
    alternative: np.ndarray  # (rows,) int64 positions in labels
    chosen: np.ndarray  # (rows,) bool
    available: np.ndarray  # (rows,) bool
    respondents: tuple[str, ...]
    respondent: np.ndarray  # (rows,) int64 positions in respondents; -1 if they are not known
    count: np.ndarray  # (rows,) how many such occasions there were
    name: Callable[[int], str]  # of an occasion, for errors
    people: "pd.DataFrame | None" = None  # a row a respondent
    worst: np.ndarray | None = None  # (rows,) bool: what was worst, where that was asked, too
    has_ties: bool = False  # whether several may be chosen together


def long_occasions(
    frame: "pd.DataFrame", names: dict[str, str | None], labels: Iterable[Any] | None, weights: bool
) -> RawOccasions:
    """The rows of a long table; `names` gives the columns, None where they are to be found by their
    usual names."""
    frame = convert_frame(frame)
    if not len(frame):
        raise DataError("The table has no rows, so it contains no choices.")
    found = roles(frame, names)
    frame = _answered(frame, found, True)
    alternative, known = encode_column(frame, _sure(found["alternative"], "alternative"), labels)
    whole, task_names = encode_column(frame, _sure(found["choice_id"], "choice_id"))
    who = read_any_respondents(frame, found["respondent"], found.values())
    # the same number may name occasions of several respondents
    key = (who.number + 1) * len(task_names) + whole
    keys, occasion = np.unique(key, return_inverse=True)
    several = found["respondent"] not in (None, found["choice_id"])

    def name(number: int) -> str:
        person, task = divmod(int(keys[number]), len(task_names))
        of = f" of respondent {who.names[person - 1]!r}" if several else ""
        return f"choice set {task_names[task]!r}{of}"

    return RawOccasions(
        known,
        occasion,
        alternative,
        _chosen(frame, found["chosen"], alternative, known),
        np.ones(len(frame), bool)
        if found["available"] is None
        else read_flags(frame, found["available"]),
        who.names,
        who.number,
        count_occasions(frame, found["count"], weights, occasion, name),
        name,
        who.people,
    )


def _answered(frame: "pd.DataFrame", found: Mapping[str, Any], is_noted: bool) -> "pd.DataFrame":
    """Return the rows of occasions with an answer."""
    keys = found["choice_id"], found["respondent"]
    return select_answered_rows(
        frame, [found["chosen"]], [found["alternative"]], task_columns=keys, is_reported=is_noted
    )


def wide_occasions(
    frame: "pd.DataFrame",
    chosen: str | None,
    alternatives: Sequence[str] | None,
    available: Mapping[Any, str] | None,
    others: dict[str, str | None],
    labels: Iterable[Any] | None,
    weights: bool,
) -> RawOccasions:
    """The rows of a wide table, one an occasion, as those of a long one."""
    frame = convert_frame(frame)
    if not len(frame):
        raise DataError("The table has no rows, so it contains no choices.")
    if alternatives is not None and available is not None:
        raise DataError(
            "`alternatives` (columns with the options offered) and `available` cannot be combined;"
            " remove one."
        )
    if isinstance(alternatives, str):
        raise DataError(
            f"`alternatives` must be a list of columns; got the string {alternatives!r}."
        )
    if not isinstance(available, Mapping | None):
        raise DataError(
            "`available` must map each alternative to a column, {label: column}; got"
            f" {available!r}."
        )
    wanted: dict[str, str | None] = {"chosen": chosen, **others}
    found = roles(frame, wanted)
    winner = _sure(found["chosen"], "chosen")
    options = alternatives or ([winner] if available is None else ())
    frame = select_answered_rows(frame, [winner], options, map(as_label, available or ()))
    winners = [as_label(value) for value in frame[winner]]
    for row, winner in enumerate(winners):
        if not winner:
            raise DataError(
                f"Row {frame.index[row]} has no chosen alternative; fill it in or remove the row."
            )
    offered = [[as_label(v) for v in get_column(frame, name)] for name in alternatives or ()]
    if available is not None:
        texts = {as_label(label): read_flags(frame, name) for label, name in available.items()}
        offered = [[label if there else "" for there in row] for label, row in texts.items()]
    seen = [text for cells in (winners, *offered) for text in cells if text]
    known = (
        checked_labels(labels) if labels is not None else _wide_labels(frame, found["chosen"], seen)
    )
    if not offered:
        offered = [[label] * len(frame) for label in known]
    place = positions(known)
    filled = [(r, cell) for cells in offered for r, cell in enumerate(cells) if cell]
    if not filled:
        raise DataError(
            "No alternative was offered in any row; check the columns that mark offers."
        )
    row, text = zip(*filled, strict=True)
    for r, cell in [*zip(row, text, strict=True), *enumerate(winners)]:
        if cell not in place:
            raise DataError(
                f"{cell!r} in row {frame.index[r]} is not in `labels`.{suggest(cell, known)}"
            )
    occasion = np.array(row, np.int64)
    used = (*found.values(), *(alternatives or ()), *(available or {}).values())
    who = read_any_respondents(frame, found["respondent"], used)
    count = read_counts(frame, found["count"], weights)
    cells = {(r, cell) for r, cell in zip(row, text, strict=True)}
    for r, winner in enumerate(winners):
        if (r, winner) not in cells:
            raise DataError(
                f"{winner!r} was chosen in row {frame.index[r]}, but was not available; correct or"
                " remove the row."
            )
    return RawOccasions(
        known,
        occasion,
        np.array([place[cell] for cell in text], np.int64),
        np.array([winners[r] == cell for r, cell in zip(row, text, strict=True)], bool),
        np.ones(len(row), bool),
        who.names,
        who.number[occasion],
        count[occasion],
        lambda number: f"row {frame.index[number]}",
        who.people,
    )


def _wide_labels(frame: "pd.DataFrame", chosen: str | None, seen: list[str]) -> tuple[str, ...]:
    """The categories of the column of chosen alternatives, if it has any, and whatever else there
    is."""
    import pandas as pd

    kind = get_column(frame, _sure(chosen, "chosen")).dtype
    if not isinstance(kind, pd.CategoricalDtype):
        return sort_texts(list(dict.fromkeys(seen)))
    return tuple(dict.fromkeys([*(as_label(value) for value in kind.categories), *seen]))


def roles(frame: "pd.DataFrame", names: Mapping[str, str | None]) -> dict[str, str | None]:
    """The columns by role: those that were named, and those that bear a usual name; None for what
    may be missing."""
    usual = {
        role.name: role
        for role in (TASK, ALTERNATIVE, CHOSEN, AVAILABLE, RESPONDENT_OF_TASKS, COUNT)
    }
    own = map_plain_names(column_names(frame))
    found: dict[str, str | None] = {}
    taken = set(filter(None, names.values()))
    for role, name in names.items():
        if name is None:
            likely = list(usual[role].each(own, taken))
            # a long table has several rows of each: not row numbers
            if role == "respondent" and "choice_id" in names:
                likely = [each for each in likely if not get_column(frame, each).is_unique]
            name = likely[0] if likely else None
        if name is not None:
            taken.add(name)
        found[role] = name
    if "choice_id" in found and found["choice_id"] is None:
        found["choice_id"] = found["respondent"]  # everybody chose once
    for role in ("choice_id", "alternative", "chosen"):
        if role in found and found[role] is None:
            raise DataError(
                f"No column was recognised as {role!r}; name one with ",
                Argument(role),
                f". The columns are {shorten(column_names(frame), 12)}.",
            )
    return found


def is_long_table(frame: "pd.DataFrame") -> bool:
    """Whether columns with usual names say who or what chose which alternative, in rows of yes and
    no."""
    try:
        found = roles(frame, dict.fromkeys(LONG_ROLES))
        frame = _answered(frame, found, False)
        alternative, known = encode_column(frame, _sure(found["alternative"], "alternative"))
        encode_column(frame, _sure(found["choice_id"], "choice_id"))
        chosen = _chosen(frame, found["chosen"], alternative, known)
    except DataError:
        return False
    return bool(chosen.any() and not chosen.all())


def _sure(name: str | None, role: str) -> str:
    if name is None:
        raise DataError(
            "The chosen alternative is ambiguous; name the column ", Argument(role), "."
        )
    return name


def count_occasions(
    frame: "pd.DataFrame",
    count: str | None,
    weights: bool,
    occasion: np.ndarray,
    name: Callable[[int], str],
) -> np.ndarray:
    """Return how many such occasions there were, by row; an error unless all rows of one say the
    same."""
    import pandas as pd

    if count is None:
        return np.ones(len(frame))
    values = get_column(frame, count)
    first = np.unique(occasion, return_index=True)[1][occasion]
    codes, _ = pd.factorize(values)
    if (uneven := codes != codes[first]).any():
        k = int(uneven.argmax())
        pair = " and ".join(as_label(values.iloc[row]) or "none" for row in (first[k], k))
        raise DataError(
            f"The rows of {name(occasion[k])} have different counts, {pair}, in column {count!r};"
            " give one count, or rename the column if it describes the alternatives."
        )
    return read_counts(frame, count, weights)


def _chosen(
    frame: "pd.DataFrame", name: str | None, alternative: np.ndarray, known: tuple[str, ...]
) -> np.ndarray:
    """The rows of chosen alternatives: marked by 1, or by the label of the chosen one in every row
    of an occasion."""
    values = get_column(frame, _sure(name, "chosen"))
    yes, wrong = classify_yes_no(values)
    if not wrong.any():
        return yes
    texts = np.array([as_label(value) for value in values])
    if set(texts) <= set(known):
        return texts == np.array(known)[alternative]
    return read_flags(frame, _sure(name, "chosen"))
