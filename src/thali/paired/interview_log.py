"""The log of an interview: a table of the answers, which `thali fit` reads.

Of pairs a row an answer: first, second, chosen. Of larger sets a row an option that was shown: choice_id (the number of
the question), alternative, chosen (1 or 0).
"""

import csv
import io
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from thali.errors import DataError, Setting
from thali.inference.files import atomic_write

TIE = "tie"
COLUMNS = {2: ("first", "second", "chosen"), 3: ("choice_id", "alternative", "chosen")}  # by how many are shown
MANY = {2: "two", 3: "three"}


class Answer(NamedTuple):
    """The options that were shown, in this order, and which one was chosen; of two also "tie"."""

    shown: tuple[str, ...]
    chosen: str


def write_log(path: Path, answers: Sequence[Answer], shown: int) -> None:
    """Write the answers, all or none."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS[shown])
    for number, answer in enumerate(answers, start=1):
        if shown == 2:
            rows.writerow((*answer.shown, answer.chosen))
        else:
            rows.writerows((number, option, int(option == answer.chosen)) for option in answer.shown)
    atomic_write(path, text.getvalue().encode())


def read_log(path: Path, options: Sequence[str], shown: int) -> list[Answer]:
    """The answers in a log; none if there is no file."""
    if not os.path.lexists(path):
        return []
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"The log {path} cannot be read: {error}.") from None
    rows = list(csv.reader(io.StringIO(text)))
    head = tuple(rows[0]) if rows else ()
    for other, columns in COLUMNS.items():
        if head == columns and other != shown:
            raise DataError(
                f"{path} is the log of an interview that shows {MANY[other]} options at a time, and this one shows "
                f"{MANY[shown]}; give ",
                Setting("shown", other),
                ", or name another file.",
            )
    if head != COLUMNS[shown]:
        raise DataError(
            f"{path} is no log of an interview, whose first line is {','.join(COLUMNS[shown])!r}; name another file, "
            "or move this one away."
        )
    found, known = [], set(options)
    for number, row, answer in (_of_pairs if shown == 2 else _of_sets)(rows[1:], shown):
        if answer is None:
            holds = (
                "a line holds two different options and the chosen one of them or tie"
                if shown == 2
                else f"an answer has {shown} lines, each with its number, another option, and 1 or 0, one of them 1"
            )
            raise DataError(
                f"Line {number} of the log {path} is damaged, {','.join(row)!r}; {holds}. Correct it, or remove it."
            )
        for label in answer.shown:
            if label not in known:
                raise DataError(
                    f"Line {number} of the log {path} names {label!r}, which is not among the options; name another "
                    "file for the log of other options."
                )
        found.append(answer)
    return found


def _of_pairs(rows: list[list[str]], shown: int) -> Iterator[tuple[int, list[str], Answer | None]]:
    """Line, row and answer of each row; no answer where it is damaged."""
    for number, row in enumerate(rows, start=2):
        good = len(row) == 3 and row[0] != row[1] and row[2] in (row[0], row[1], TIE)
        yield number, row, Answer((row[0], row[1]), row[2]) if good else None


def _of_sets(rows: list[list[str]], shown: int) -> Iterator[tuple[int, list[str], Answer | None]]:
    """Line and row where each answer begins, and the answer."""
    for number, begin in enumerate(range(0, len(rows), shown), start=1):
        part = rows[begin : begin + shown]
        good = len(part) == shown and all(len(row) == 3 and row[0] == str(number) for row in part)
        good = good and len({row[1] for row in part}) == shown and sorted(row[2] for row in part)[-2:] == ["0", "1"]
        chosen = [row[1] for row in part if row[2:] == ["1"]]
        yield begin + 2, part[0], Answer(tuple(row[1] for row in part), chosen[0]) if good else None
