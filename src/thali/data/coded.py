"""Columns of a table in numbers: labels as positions among what they stand for, and marks of yes and no."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import as_label, checked_labels, suggest
from thali.errors import DataError

from .columns import column

if TYPE_CHECKING:
    import pandas as pd

YES = {"1", "true", "t", "yes", "y"}
NO = {"0", "false", "f", "no", "n"}


def coded(frame: "pd.DataFrame", name: str, labels: Iterable[Any] | None = None) -> tuple[np.ndarray, tuple[Any, ...]]:
    """A column as numbers, and what they stand for: `labels`, the categories, or the values in their order."""
    import pandas as pd

    values = column(frame, name)
    codes, distinct = pd.factorize(values)
    texts = [as_label(value) for value in distinct]
    empty = (codes < 0) | np.isin(codes, [k for k, text in enumerate(texts) if not text])
    if empty.any():
        raise DataError(
            f"A label is missing in row {frame.index[int(empty.argmax())]}, column {name!r}; fill it in or remove the "
            "row."
        )
    if labels is not None:
        names = checked_labels(labels)
    elif isinstance(values.dtype, pd.CategoricalDtype):
        names = tuple(dict.fromkeys(as_label(value) for value in values.cat.categories))
    else:
        names = in_order(list(dict.fromkeys(texts)))
    place = {label: k for k, label in enumerate(names)}
    numbers = np.array([place.get(text, -1) for text in texts], np.int64)[codes]
    if (numbers < 0).any():
        row = int((numbers < 0).argmax())
        text = texts[codes[row]]
        raise DataError(
            f"{text!r} in row {frame.index[row]}, column {name!r}, is not among `labels`.{suggest(text, names)}"
        )
    return numbers, names


def in_order(texts: list[str]) -> tuple[str, ...]:
    """Numbers by size, names as they first appear."""
    try:
        return tuple(sorted(texts, key=lambda text: (float(text), text)))
    except ValueError:
        return tuple(texts)


def flags(frame: "pd.DataFrame", name: str) -> np.ndarray:
    """A column of yes and no."""
    values = column(frame, name)
    yes, wrong = yes_no(values)
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(
            f"Column {name!r} must hold 1 (yes) or 0 (no); row {frame.index[row]} holds {as_label(values.iloc[row])!r}."
        )
    return yes


def yes_no(values: "pd.Series") -> tuple[np.ndarray, np.ndarray]:
    """Whether each cell is a yes, and whether it is neither yes nor no."""
    import pandas as pd

    codes, distinct = pd.factorize(values)
    texts = [as_label(value).casefold() for value in distinct]
    yes = np.array([*(text in YES for text in texts), False])
    known = np.array([*(text in YES or text in NO for text in texts), False])
    return yes[codes], ~known[codes]
