"""Best-worst choices: of each set the best and the worst option, in wide and in long tables."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import as_label, checked_labels, positions, shorten, suggest
from thali.errors import Argument, DataError

from ..answers import read_any_respondents
from ..columns import select_answered_rows, encode_column, get_column, describe_columns, read_counts, sort_texts
from ..roles import (
    ALTERNATIVE,
    BEST,
    COUNT,
    RANK,
    RESPONDENT,
    TASK,
    WORST,
    map_plain_names,
    column_names,
    simplify_name,
)
from .long import RawOccasions

if TYPE_CHECKING:
    import pandas as pd

_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_MARKS = ("abcdefghijklmnopqrstuvwxyz", [str(k) for k in range(1, 40)], [str(k) for k in range(40)])


class BestWorstColumns(NamedTuple):
    """The columns of best-worst choices, or of choices of the best alone."""

    best: str
    worst: str | None
    options: tuple[str, ...]
    respondent: str | None
    count: str | None  # type: ignore[override]

    @property
    def used(self) -> set[str | None]:
        """All of them."""
        return {self.best, self.worst, *self.options, self.respondent, self.count}

    def __str__(self) -> str:
        picked = (
            f"choice in {self.best!r}"
            if self.worst is None
            else f"choices in {self.best!r} and {self.worst!r}"
        )
        how = f"one set per row, options in {self.options[0]!r} to {self.options[-1]!r}, {picked}"
        return how + describe_columns(None, self.respondent)


def best_worst_columns(
    frame: "pd.DataFrame", given: Mapping[str, str | None], options: Sequence[str] | None = None
) -> BestWorstColumns:
    """The columns by their names, but for those given: best, worst, respondent and count."""
    names = column_names(frame)
    for name in (*given.values(), *(options or ())):
        if name is not None:
            get_column(frame, name)
    own = map_plain_names(names)
    found = {role: given.get(role) for role in ("best", "worst", "respondent", "count")}
    for role, usual in (
        ("best", BEST),
        ("worst", WORST),
        ("respondent", RESPONDENT),
        ("count", COUNT),
    ):
        found[role] = found[role] or usual.among(own)
    best, worst = found["best"], found["worst"]
    for role, name in (("best", best), ("worst", worst)):
        if name is None:
            raise DataError(
                f"No column of {role} options was recognised; name one with ", Argument(role), "."
            )
    assert best is not None and worst is not None
    taken = {name for name in found.values() if name is not None}
    groups = (
        [tuple(options)]
        if options is not None
        else series([name for name in names if name not in taken])
    )
    if not groups:
        raise DataError(
            "No columns such as 'option1', 'option2', 'option3' contain the options offered in"
            f" addition to {best!r} and {worst!r}; rename those columns, or name them with"
            " `options`."
        )
    likely = [group for group in groups if _fits(frame, group, best)]
    return BestWorstColumns(best, worst, (likely or groups)[0], found["respondent"], found["count"])


def best_columns(frame: "pd.DataFrame", given: Mapping[str, str | None]) -> BestWorstColumns | None:
    """The columns of sets of three or more options and of the best, where no other column may hold
    the worst."""
    names = column_names(frame)
    own = map_plain_names(names)
    best, respondent = BEST.among(own), given.get("respondent") or RESPONDENT.among(own)
    count = given.get("count") or COUNT.among(own, (best, respondent))
    if best is None or WORST.among(own) is not None:
        return None
    rest = [name for name in names if name not in (best, respondent, count)]
    for options in series(rest):
        if len(options) < 3 or not len(frame) or not _fits(frame, options, best):
            continue
        answered = select_answered_rows(frame, [best], options, is_reported=False)
        if simplify_name(options[0])[:-1] in RANK.sure:
            continue  # rankings, a column a rank
        rows = [
            [as_label(value) for value in row]
            for row in answered[list(options)].itertuples(index=False)
        ]
        texts = [as_label(value) for value in answered[best]]
        if _are_numbers(rows) and not all(
            text in row for text, row in zip(texts, rows, strict=True)
        ):
            continue  # ratings or ranks, of which the best names a column
        if are_ranks(rows):
            continue
        tops = [row[_place(text, row, options, "")] for text, row in zip(texts, rows, strict=True)]
        further = [
            [as_label(value) for value in answered[name]] for name in rest if name not in options
        ]
        if not any(_may_be_worst(cells, rows, tops) for cells in further):
            return BestWorstColumns(best, None, options, respondent, count)
    return None


def are_ranks(rows: Iterable[Sequence[str]]) -> bool:
    """Whether each row holds 1, 2, ... in some order, as the ranks of all options do."""
    own = [[cell for cell in row if cell] for row in rows]
    return all(sorted(map(str, range(1, len(row) + 1))) == sorted(row) for row in own)


def _are_numbers(rows: list[list[str]]) -> bool:
    """Whether all that was offered are numbers."""
    return all(_NUMBER.fullmatch(cell) for row in rows for cell in row if cell)


def _may_be_worst(cells: list[str], rows: list[list[str]], tops: list[str]) -> bool:
    """Whether a column holds in every row another of the options there than the best."""
    return all(
        cell in row and cell != top for cell, row, top in zip(cells, rows, tops, strict=True)
    )


def series(names: list[str]) -> list[tuple[str, ...]]:
    """Columns that differ in a last letter or number alone, which go a, b, ..., or 1, 2, ..., or 0,
    1, ..."""
    own = map_plain_names(names)
    found = []
    for name in own:
        for marks in _MARKS:
            if name.endswith(marks[0]):
                stem, series = name[: -len(marks[0])], []
                for mark in marks:
                    if stem + mark not in own:
                        break
                    series.append(own[stem + mark])
                if len(series) > 1:
                    found.append(tuple(series))
    return found


def _fits(frame: "pd.DataFrame", options: tuple[str, ...], best: str) -> bool:
    """Whether what is best stands in every row among these options."""
    try:
        frame = select_answered_rows(frame, [best], options, is_reported=False)
        offered = [[as_label(value) for value in frame[name]] for name in options]
        for row, text in enumerate(as_label(value) for value in frame[best]):
            _place(text, [cells[row] for cells in offered], options, "")
    except DataError:
        return False
    return True


def _position(text: str, offered: list[str], columns: tuple[str, ...]) -> int | None:
    """Which of those offered a cell means by its column, or the letter or number of that; None if
    it means none."""
    for k, name in enumerate(columns):
        ends = re.search(r"(?<!\d)\d{1,9}$", name)
        number = str(k + 1) if ends is None else str(int(ends[0]))
        if offered[k] and simplify_name(text) in (simplify_name(name), _MARKS[0][k], number) and simplify_name(text):
            return k
    return None


def _are_positions(
    columns: Iterable[list[str]], rows: list[list[str]], names: tuple[str, ...]
) -> bool:
    """Whether every cell names a column, where some are no label of what was offered: numbers may
    be either."""
    pairs = [(text, there) for cells in columns for text, there in zip(cells, rows, strict=True)]
    if all(text in there for text, there in pairs):
        return False
    return all(_position(text, there, names) is not None for text, there in pairs)


def _place(
    text: str, offered: list[str], columns: tuple[str, ...], where: str, by_position: bool = False
) -> int:
    """Which of those offered a cell means: by its label, its column, or the letter or number of
    that."""
    if text in offered and not by_position:
        return offered.index(text)
    position = _position(text, offered, columns)
    if position is not None:
        return position
    what = repr(text) if text else "an empty cell"
    raise DataError(
        f"Found {what} {where}; expected one of {shorten([each for each in offered if each])}."
    )


def occasions_of_best_worst(
    frame: "pd.DataFrame", columns: BestWorstColumns, labels: Any, weights: bool
) -> RawOccasions:
    """The rows of what was offered, of which one is the best and perhaps one the worst."""
    if not len(frame):
        raise DataError("The table has no rows, so it contains no choices.")
    frame = select_answered_rows(frame, (columns.best, columns.worst), columns.options)
    offered = [[as_label(value) for value in frame[name]] for name in columns.options]
    best = [as_label(value) for value in frame[columns.best]]
    worst = None if columns.worst is None else [as_label(value) for value in frame[columns.worst]]
    seen = [cells[row] for row in range(len(frame)) for cells in offered]
    names = (
        checked_labels(labels)
        if labels is not None
        else sort_texts(list(dict.fromkeys(filter(None, seen))))
    )
    place = positions(names)
    occasion, alternative, is_best, is_worst = [], [], [], []
    rows = [[cells[row] for cells in offered] for row in range(len(frame))]
    by_position = _are_positions([best] if worst is None else [best, worst], rows, columns.options)
    for row, there in enumerate(rows):
        number = frame.index[row]
        top = _place(
            best[row],
            there,
            columns.options,
            f"in row {number}, column {columns.best!r}",
            by_position,
        )
        bottom = -1
        if worst is not None:
            where = f"in row {number}, column {columns.worst!r}"
            bottom = _place(worst[row], there, columns.options, where, by_position)
        if top == bottom:
            raise DataError(
                f"{there[top]!r} is both the best and the worst in row {number}; correct one of"
                " them."
            )
        for k in filter(there.__getitem__, range(len(there))):
            if there[k] not in place:
                raise DataError(
                    f"{there[k]!r} in row {number} is not in `labels`.{suggest(there[k], names)}"
                )
            occasion.append(row)
            alternative.append(place[there[k]])
            is_best.append(k == top)
            is_worst.append(k == bottom)
    at = np.array(occasion, np.int64)
    count = read_counts(frame, columns.count, weights)
    who = read_any_respondents(frame, columns.respondent, columns.used)
    return RawOccasions(
        names,
        at,
        np.array(alternative, np.int64),
        np.array(is_best, bool),
        np.ones(len(at), bool),
        who.names,
        who.number[at],
        count[at],
        lambda number: f"row {frame.index[number]}",
        who.people,
        None if worst is None else np.array(is_worst, bool),
    )


# Long tables of best-worst choices: a row for each option of each set, with a mark for the best and
# for the worst


ROLES = ("respondent", "count")  # columns that say the same in all rows of a set
_CHOSEN = {"1": True, "1.0": True, "true": True, "yes": True, "x": True}
_BLANKS = {"": False, "0": False, "0.0": False, "false": False, "no": False}


class LongBestWorst(NamedTuple):
    """The columns of such a table."""

    best: str
    worst: str
    option: str
    task: str
    respondent: str | None
    count: str | None  # type: ignore[override]

    def __str__(self) -> str:
        how = (
            f"one option ({self.option!r}) of a set ({self.task!r}) per row, marked in"
            f" {self.best!r} and {self.worst!r}"
        )
        return how + describe_columns(None, self.respondent)


def long_columns(frame: "pd.DataFrame", given: Mapping[str, str | None]) -> LongBestWorst | None:
    """The columns by their names, but for those given (best, worst, respondent, count); None:
    another shape."""
    own = map_plain_names(column_names(frame))
    best, worst = given.get("best") or BEST.among(own), given.get("worst") or WORST.among(own)
    task = TASK.among(own)
    option = ALTERNATIVE.among(own, (best, worst, task))
    if best is None or worst is None or task is None or option is None:
        return None
    cells = {as_label(value).lower() for name in (best, worst) for value in get_column(frame, name)}
    if not cells <= set(_CHOSEN) | set(_BLANKS):
        return None
    respondent = given.get("respondent") or RESPONDENT.among(own, (best, worst, task, option))
    count = given.get("count") or COUNT.among(own, (best, worst, task, option, respondent))
    return LongBestWorst(best, worst, option, task, respondent, count)


def widened(
    frame: "pd.DataFrame", columns: LongBestWorst
) -> tuple["pd.DataFrame", BestWorstColumns]:
    """The same with a set a row, under the number of its first row, and its columns."""
    import pandas as pd

    key, _ = encode_column(frame, columns.task)
    if columns.respondent is not None:
        people, names = encode_column(frame, columns.respondent)
        key = key * len(names) + people
    option_codes, option_names = encode_column(frame, columns.option)
    labels = np.array(option_names, object)[option_codes]
    marks = {
        name: np.array([_CHOSEN.get(as_label(value).lower(), False) for value in frame[name]])
        for name in (columns.best, columns.worst)
    }
    further = {role: name for role in ROLES if (name := getattr(columns, role)) is not None}
    rows, numbers = [], []
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    most = int(np.bincount(which).max())
    options = tuple(f"option {k + 1}" for k in range(most))
    used = {*columns, "best", "worst", *further, *options}
    others = [
        name
        for name in frame.columns
        if name not in used and _is_constant(frame[name], first, which)
    ]
    for number in np.argsort(first):
        places = np.flatnonzero(which == number)
        row = dict(zip(options, labels[places], strict=False))
        begins = frame.index[places[0]]
        if len(set(labels[places])) < len(places):
            raise DataError(
                f"An option is listed twice in the set that starts in row {begins}; list each once."
            )
        for role, name in (("best", columns.best), ("worst", columns.worst)):
            marked = places[marks[name][places]]
            if len(marked) != 1:
                raise DataError(
                    f"{len(marked) or 'No'} option{'s are' if len(marked) > 1 else ' is'} marked"
                    f" in column {name!r} of the set that starts in row {begins}; mark one as the"
                    f" {role}."
                )
            row[role] = labels[marked[0]]
        row |= {role: frame[name].iloc[places[0]] for role, name in further.items()}
        rows.append(row | {name: frame[name].iloc[places[0]] for name in others})
        numbers.append(begins)
    wide = pd.DataFrame(rows, index=numbers, columns=[*options, "best", "worst", *further, *others])
    return wide, BestWorstColumns(
        "best", "worst", options, *(role if role in further else None for role in ROLES)
    )


def _is_constant(column: Any, first: np.ndarray, which: np.ndarray) -> bool:
    """Return whether a column holds the same in all rows of each set, whose first rows are
    `first`."""
    import pandas as pd

    codes, _ = pd.factorize(column)
    return np.array_equal(codes, codes[first][which])
