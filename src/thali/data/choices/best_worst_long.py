"""Long tables of best-worst choices: a row for each option of each set, with a mark for the best and for the worst."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali._labels import as_label
from thali.errors import DataError

from ..coded import coded
from ..columns import column
from ..roles import ALTERNATIVE, BEST, COUNT, RESPONDENT, TASK, WORST, by_plain_name
from .best_worst import BestWorstColumns

if TYPE_CHECKING:
    import pandas as pd

ROLES = ("subject", "count")  # columns that say the same in all rows of a set
_CHOSEN = {"1": True, "1.0": True, "true": True, "yes": True, "x": True}
_BLANKS = {"": False, "0": False, "0.0": False, "false": False, "no": False}


class LongBestWorst(NamedTuple):
    """The columns of such a table."""

    best: str
    worst: str
    option: str
    task: str
    subject: str | None
    count: str | None

    def __str__(self) -> str:
        how = f"one option a row, {self.option!r}, of a set {self.task!r}, marked in {self.best!r} and {self.worst!r}"
        return how + (f", subjects {self.subject!r}" if self.subject is not None else "")


def long_columns(frame: "pd.DataFrame", given: Mapping[str, str | None]) -> LongBestWorst | None:
    """The columns by their names, but for those given (best, worst, subject, count); None: another shape."""
    own = by_plain_name([str(name) for name in frame.columns])
    best, worst = given.get("best") or BEST.among(own), given.get("worst") or WORST.among(own)
    task = TASK.among(own)
    option = ALTERNATIVE.among(own, (best, worst, task))
    if best is None or worst is None or task is None or option is None:
        return None
    cells = {as_label(value).lower() for name in (best, worst) for value in column(frame, name)}
    if not cells <= set(_CHOSEN) | set(_BLANKS):
        return None
    subject = given.get("subject") or RESPONDENT.among(own, (best, worst, task, option))
    count = given.get("count") or COUNT.among(own, (best, worst, task, option, subject))
    return LongBestWorst(best, worst, option, task, subject, count)


def widened(frame: "pd.DataFrame", columns: LongBestWorst) -> tuple["pd.DataFrame", BestWorstColumns]:
    """The same with a set a row, under the number of its first row, and its columns."""
    import pandas as pd

    key, _ = coded(frame, columns.task)
    if columns.subject is not None:
        people, names = coded(frame, columns.subject)
        key = key * len(names) + people
    labels = np.array([as_label(value) for value in frame[columns.option]], object)
    marks = {
        name: np.array([_CHOSEN.get(as_label(value).lower(), False) for value in frame[name]])
        for name in (columns.best, columns.worst)
    }
    further = {role: name for role in ROLES if (name := getattr(columns, role)) is not None}
    rows, numbers = [], []
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    most = int(np.bincount(which).max())
    options = tuple(f"option {k + 1}" for k in range(most))
    for number in np.argsort(first):
        places = np.flatnonzero(which == number)
        row = dict(zip(options, labels[places], strict=False))
        begins = frame.index[places[0]]
        if len(set(labels[places])) < len(places):
            raise DataError(f"An option is listed twice in the set that begins in row {begins}; list each once.")
        for role, name in (("best", columns.best), ("worst", columns.worst)):
            marked = places[marks[name][places]]
            if len(marked) != 1:
                raise DataError(
                    f"{len(marked) or 'No'} option{'s are' if len(marked) > 1 else ' is'} marked in column {name!r} of "
                    f"the set that begins in row {begins}; mark one as the {role}."
                )
            row[role] = labels[marked[0]]
        row |= {role: frame[name].iloc[places[0]] for role, name in further.items()}
        rows.append(row)
        numbers.append(begins)
    wide = pd.DataFrame(rows, index=numbers, columns=[*options, "best", "worst", *further])
    return wide, BestWorstColumns("best", "worst", options, *(role if role in further else None for role in ROLES))
