"""Which row of each task was chosen: 1 and 0, yes and no, or the alternative chosen in every row."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import DataError

from ..coded import NO, YES
from ..columns import column
from .levels import distinct_texts

if TYPE_CHECKING:
    import pandas as pd


def chosen_rows(frame: "pd.DataFrame", name: str, rows: Any) -> np.ndarray:
    """Whether each row is the alternative chosen; `rows` has the labels of person, task and alternative."""
    codes, texts = distinct_texts(column(frame, name))
    meaning = {text: int(text.casefold() in YES) for text in texts if text.casefold() in (*YES, *NO)}
    values = np.array([meaning.get(text, -1) for text in texts])[codes]
    if (values >= 0).all():
        return values.astype(bool)
    picked = np.array(texts, dtype=object)[codes]
    task = _tasks(rows)
    same = (picked == picked[_first(task)][task]).all()
    if same and rows.alternative is not None and set(picked) <= set(rows.alternative):
        return picked == rows.alternative
    place = _places(task)
    if same and rows.alternative is None and set(picked) <= set(map(str, np.unique(place))):
        return picked == place.astype(str)
    row = int((values < 0).argmax())
    what = f"is {texts[codes[row]]!r}" if texts[codes[row]] else "is empty"
    raise DataError(
        f"Column {name!r} {what} {rows.where_task(row)}; it must be 1 for the alternative chosen and 0 for the others."
    )


def _tasks(rows: Any) -> np.ndarray:
    """The number of the task of each row."""
    import pandas as pd

    person, task = pd.factorize(rows.person)[0], pd.factorize(rows.task)[0]
    return np.unique(person * (int(task.max()) + 1) + task, return_inverse=True)[1]


def _first(task: np.ndarray) -> np.ndarray:
    """The first row of each task."""
    return np.unique(task, return_index=True)[1]


def _places(task: np.ndarray) -> np.ndarray:
    """The place of each row in its task, from 1."""
    order = np.argsort(task, kind="stable")
    start = np.flatnonzero(np.diff(task[order], prepend=-1))
    sizes = np.diff(np.append(start, len(task)))
    place = np.empty(len(task), np.int64)
    place[order] = np.arange(len(task)) - np.repeat(start, sizes) + 1
    return place
