"""A small table as people of a trade write it, with what it contains."""

import csv
import io
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from thali._input_files import Source

Tables = dict[str, Callable[[], "FieldTable"]]


@dataclass(frozen=True)
class FieldTable:
    """A table, and the data that it contains."""

    header: Sequence[str]
    rows: list[list[Any]]
    kind: str  # a class of thali
    answers: int
    telling: tuple[str, float]  # an option and its count, or an attribute and its sum when chosen
    marks: tuple[str, ...]  # columns of the answers, of which some may be empty
    size: int = 1  # rows of an answer
    # of an answer, of rankings one for each place but the last; 0 if answers differ
    choices: int = 1
    attributes: tuple[str, ...] = ()  # of experiments, but for those in `free`
    free: tuple[str, ...] = ()  # columns that may be attributes
    asked: tuple[str, ...] = ()  # facts of the message, if two readings are sensible
    # that the message names: the first lead to this reading, the others to one of another kind
    options: tuple[dict[str, Any], ...] = ({},)
    second_header: Sequence[str] | None = None
    is_json: bool = False

    def source(self, blank: tuple[int, ...] = (), waves: bool = False) -> Source:
        """Return the file; the answers with these numbers are empty.

        `waves` adds a column with 0, 1, 2, 0, ... for each answer.
        """
        rows = [list(row) for row in self.rows]
        headers = [list(header) for header in (self.header, self.second_header) if header]
        if waves:
            rows = [[k // self.size % 3, *row] for k, row in enumerate(rows)]
            headers = [["wave", *headers[0]], *(["", *header] for header in headers[1:])]
        for number in blank:
            for row in rows[number * self.size : (number + 1) * self.size]:
                for place, name in enumerate(headers[0]):
                    if name in self.marks:
                        row[place] = None
        if self.is_json:
            objects = [dict(zip(headers[0], row, strict=True)) for row in rows]
            return Source("table.json", json.dumps(objects).encode())
        lines = io.StringIO()
        csv.writer(lines).writerows([*headers, *rows])
        return Source("table.csv", lines.getvalue().encode())


def register(tables: Tables) -> Callable[[Callable[[random.Random], FieldTable]], None]:
    """Return a decorator that keeps a table under the name of its function."""

    def keep(function: Callable[[random.Random], FieldTable]) -> None:
        tables[function.__name__] = lambda: function(random.Random(function.__name__))

    return keep
