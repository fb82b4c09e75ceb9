"""Rows that say of themselves that they are practice, training, a warm-up, a catch trial or a
demonstration."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from thali._data.roles import plain
from thali._inference.warn import warn
from thali._labels import as_label, plural
from thali.errors import DataWarning, Message, Setting

from .where import Condition, Where

if TYPE_CHECKING:
    from .table import RawTable

# Without a number or one of _PARTS behind them.
_WORDS = (
    "practice practise practicing pract prac training warmup warmingup catch attentioncheck demo"
    " demonstration tutorial familiarization familiarisation übung übungen uebung uebungen probe"
    " probedurchlauf vorübung eingewöhnung aufwärmen aufwaermen entraînement échauffement démo"
    " démonstration práctica entrenamiento ensayodepráctica calentamiento"
)
_MAX_DIFFERENT = 200  # different cells of a column that says something else of its rows
_PARTS = (
    "trials trial blocks block phase rounds round session run task loop durchgänge durchgang"
    " durchlauf essai essais ensayo bloque bloc"
)
_PLAIN_WORDS, _PLAIN_PARTS = (tuple(map(plain, text.split())) for text in (_WORDS, _PARTS))


class Marked(NamedTuple):
    """A column some of whose rows say so."""

    column: str
    words: tuple[str, ...]  # the cells that say so
    rows: int

    def message(self) -> Message:
        """What was counted, and how to leave it out."""
        left_out = Where(tuple(Condition(self.column, "!=", (word,)) for word in self.words))
        return Message(
            f"The data include {plural(self.rows, 'row')} in which {self.column!r} is"
            f" {' or '.join(map(repr, self.words))}; exclude such rows with ",
            Setting("where", str(left_out)),
            ".",
        )


def says_practice(text: str) -> bool:
    """Whether a cell says that its row is no data.

    Examples
    --------
    >>> [
    ...     says_practice(text)
    ...     for text in ("Practice", "training_2", "Übungsblock", "main", "practical", "2")
    ... ]
    [True, True, True, False, False, False]
    """
    word = plain(text).rstrip("0123456789")
    ends = [word, *(word.removesuffix(part) for part in _PLAIN_PARTS)]
    return any(end in _PLAIN_WORDS or end.removesuffix("s") in _PLAIN_WORDS for end in ends)


def marked(table: "RawTable", data: Any) -> list[Marked]:
    """The columns of text some of whose cells say so, unless a condition names them or they hold
    names of the data."""
    names = _names_in(data)
    found = []
    for name, values in table.frame.items():
        kind = values.dtype
        if (
            str(name) in table.conditioned
            or pd.api.types.is_numeric_dtype(kind)
            or kind.kind in "mM"
        ):
            continue
        try:
            codes, different = pd.factorize(values)
        except TypeError:  # cells that hold lists
            continue
        texts = [as_label(value) for value in different] if len(different) <= _MAX_DIFFERENT else []
        places = [k for k, text in enumerate(texts) if says_practice(text)]
        words = tuple(dict.fromkeys(texts[k] for k in places))
        if words and not names & set(words):
            found.append(Marked(str(name), words, int(np.isin(codes, places).sum())))
    return found


def warn_of_practice(table: "RawTable", data: Any) -> None:
    """Warn of rows that say so and became data, if there are others."""
    for each in marked(table, data):
        if each.rows < len(table.frame):
            warn(DataWarning(each.message()))


def _names_in(data: Any) -> frozenset[str]:
    """What options, alternatives, levels and those who answered are called."""
    names: set[str] = set()
    for field in ("labels", "respondents", "alternative_labels"):
        values = getattr(data, field, None)
        names |= {as_label(value) for value in (() if values is None else values)}
    scheme = getattr(data, "scheme", None)
    for attribute in () if scheme is None else scheme.attributes:
        names |= set(map(as_label, attribute.levels))
    return frozenset(names)
