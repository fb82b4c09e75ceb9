"""The no-choice option of a long table: which rows it has, and rows that look like it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from thali._labels import as_label, shorten, suggest
from thali.errors import Argument, ArgumentError, DataError, Setting

from ..columns import column
from .levels import distinct_texts, row_texts

if TYPE_CHECKING:
    import pandas as pd


class Rows(Protocol):
    """The labels of each row."""

    @property
    def person(self) -> np.ndarray: ...

    @property
    def task(self) -> np.ndarray: ...

    @property
    def alternative(self) -> np.ndarray | None: ...

    def where(self, row: int) -> str:
        """The place of a row, in words."""
        ...


def none_where(frame: "pd.DataFrame", none: Any, alternative: str | None) -> tuple[tuple[str, str], ...]:
    """Which columns hold which labels in rows of the no-choice option."""
    if none is None:
        return ()
    if isinstance(none, Mapping):
        if not none:
            raise ArgumentError(
                Argument("none"), " is an empty mapping; give a column and its value, such as {'brand': 'none'}."
            )
        return tuple((str(column(frame, str(name)).name), as_label(value)) for name, value in none.items())
    label = as_label(none)
    labels = [] if alternative is None else distinct_texts(column(frame, alternative))[1]
    if label in frame.columns and label not in labels:
        if not set(row_texts(column(frame, label))) <= {"0", "1", "True", "False", "true", "false"}:
            raise DataError(
                f"Column {label!r}, named by ",
                Argument("none"),
                ", must hold 1 for the no-choice option and 0 elsewhere.",
            )
        return ((label, "1"),)
    if label in frame.columns:
        raise DataError(
            Setting("none", label),
            " is a column and also an alternative; rename one, or name the column and its value.",
        )
    if alternative is None:
        raise DataError(
            Setting("none", label),
            " names no column, and there is no column of alternatives; name that by ",
            Argument("alternative"),
            ".",
        )
    return ((alternative, label),)


def never_none(where: tuple[tuple[str, str], ...], frame: "pd.DataFrame", alternative: str | None) -> str:
    name, label = where[0]
    known = [text for text in distinct_texts(column(frame, name))[1] if text]
    if len(where) == 1 and name == alternative:
        return f"No alternative is called {label!r}, as none= says; they are {shorten(known)}.{suggest(label, known)}"
    cells = " and ".join(f"{label!r} in column {name!r}" for name, label in where)
    return f"No row has {cells}, by which none= marks the no-choice option."


def _empty(series: "pd.Series") -> np.ndarray:
    """Whether each cell is empty."""
    codes, texts = distinct_texts(series)
    return np.isin(codes, [k for k, text in enumerate(texts) if not text])


def refuse_unnamed_none(frame: "pd.DataFrame", names: list[str], rows: Rows) -> None:
    """Refuse a row a task, at most, that lacks several attributes which all others have: `none` does not name it."""
    empty = np.array([_empty(column(frame, name)) for name in names])
    lacking = empty.any(axis=1)
    looks = empty[lacking].all(axis=0)
    if lacking.sum() < 2 or (empty[lacking].any(axis=0) & ~looks).any():
        return
    tasks = list(zip(rows.person[looks], rows.task[looks], strict=True))
    if len(set(tasks)) < len(tasks):
        return
    labels = set() if rows.alternative is None else set(rows.alternative[looks])
    option = Setting("none", str(labels.pop())) if len(labels) == 1 else Argument("none")
    without = shorten([names[place] for place in np.flatnonzero(lacking)])
    raise DataError(
        f"Attributes {without} {rows.where(int(looks.argmax()))} are missing; if that is the no-choice option, say so "
        "by ",
        option,
        ", else fill them in.",
    )
