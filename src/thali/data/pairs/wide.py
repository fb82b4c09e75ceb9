"""Comparisons from a wide table: one column a pair, one row a subject or a pattern of answers with its count."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import as_label, checked_labels, plural, shorten
from thali.errors import Argument, DataError, DataWarning, Message
from thali.inference.warn import warn

from ..answers import Who, who_answered
from ..columns import count_column
from ..people import people_table
from ..roles import TIE_WORDS, WEIGHTS, plain
from .trials import Outcomes
from .verdicts import FIRST, SECOND, TIE, meanings
from .wide_columns import Pair, WideColumns

if TYPE_CHECKING:
    import pandas as pd

_SIGNS = {">": FIRST, "<": SECOND, "=": TIE, "first": FIRST, "second": SECOND, "left": FIRST, "right": SECOND}
_CODES: tuple[dict[str, float], ...] = (
    {"1": FIRST, "2": SECOND},
    {"1": FIRST, "-1": SECOND, "0": TIE},
    {"0": FIRST, "1": TIE, "2": SECOND},
)
_NAMES = {FIRST: "the first", SECOND: "the second", TIE: "a tie"}


def outcomes_of_wide(
    frame: "pd.DataFrame", columns: WideColumns, coding: Mapping[Any, str] | None, labels: Any, weights: bool
) -> Outcomes:
    """The comparisons in the cells; empty ones were not answered."""
    pairs = columns.pairs
    own = list(dict.fromkeys(label for pair in pairs.values() for label in pair))
    names = _names(own, columns, labels)
    place = {label: k for k, label in enumerate(own)}
    outcome, coded = _outcomes(frame, pairs, coding)
    row, number = np.nonzero(~np.isnan(outcome))
    if not row.size:
        raise DataError(f"The columns {shorten(list(pairs))} hold no answer.")
    sides = np.array([[place[label] for label in pair] for pair in pairs.values()], np.int64)
    given = outcome[row, number]
    won = given != SECOND
    first, second = sides[number].T
    times, who = np.ones(len(frame)), None
    if columns.count is not None:
        times = count_column(frame, columns.count, weights or plain(columns.count) in WEIGHTS)
    if columns.count is None or columns.subject is not None:
        who = _who(frame, columns)
    tied = np.where(given == TIE, times[row], 0.0)
    cells = np.where(won, first, second), np.where(won, second, first), times[row] - tied, tied
    return Outcomes(names, *cells, None if who is None else who.of_rows(row), None, _words(columns, coded))


def _who(frame: "pd.DataFrame", columns: WideColumns) -> Who:
    """The subjects: those of their column, or the rows."""
    if (who := who_answered(frame, columns.subject, columns.used)) is not None:
        return who
    number, names = np.arange(len(frame)), tuple(map(as_label, range(1, len(frame) + 1)))
    further = [name for name in frame.columns if name not in columns.used]
    return Who(names, number, people_table(frame.loc[:, further], number, names))


def _names(own: list[str], columns: WideColumns, labels: Any) -> tuple[str, ...]:
    """The labels of the options, which those given replace where columns have numbers alone."""
    if labels is None:
        return tuple(own)
    names = checked_labels(labels)
    if len(names) != len(own):
        raise DataError(f"`labels` must name the {len(own)} options of the columns; got {plural(len(names), 'label')}.")
    if set(names) == set(own):
        return tuple(own)
    ordered = sorted(own, key=lambda text: (len(text), text))
    return tuple(names[ordered.index(label)] for label in own)


def _outcomes(
    frame: "pd.DataFrame", pairs: dict[str, Pair], coding: Mapping[Any, str] | None
) -> tuple[np.ndarray, str]:
    """Of each row and column FIRST, SECOND, TIE or NaN; and in which code."""
    import pandas as pd

    cells = [pd.factorize(frame[name]) for name in pairs]
    texts = [[as_label(value) for value in values] for _, values in cells]
    texts_found = {text for each in texts for text in each if text}
    by_text, how = _code(texts_found, pairs, coding)
    outcome = np.full((len(frame), len(pairs)), np.nan)
    for k, ((name, pair), (codes, _), own) in enumerate(zip(pairs.items(), cells, texts, strict=True)):
        meaning = by_text if by_text is not None else {pair[0]: FIRST, pair[1]: SECOND}
        known = {text: meaning.get(text, TIE if plain(text) in TIE_WORDS else np.nan) for text in own}
        for text, value in known.items():
            if text and np.isnan(value):
                row = frame.index[int((codes == own.index(text)).argmax())]
                raise DataError(
                    f"Column {name!r} holds {text!r} in row {row}, which is neither {pair[0]!r} nor {pair[1]!r}, a "
                    "code such as 1 and 2 nor a word for a tie; mend it, or say what it means by ",
                    Argument("coding"),
                    ".",
                )
        outcome[:, k] = np.array([*(known[text] for text in own), np.nan])[codes]
    return outcome, how


def _code(
    texts_found: set[str], pairs: dict[str, Pair], coding: Mapping[Any, str] | None
) -> tuple[dict[str, float] | None, str]:
    """What the texts mean in every column, None if they are labels; and the same in words."""
    if coding is not None:
        return meanings(coding), "by the coding given"
    answers = {text for text in texts_found if plain(text) not in TIE_WORDS}
    if answers and answers <= {label for pair in pairs.values() for label in pair} and not answers <= {"1", "2"}:
        return None, "the label chosen"
    if answers <= set(_SIGNS):
        return _SIGNS, "the side chosen"
    for code in _CODES:
        if answers <= set(code) and not answers <= {"0", "1"}:
            if code is _CODES[-1]:
                warn(
                    DataWarning(
                        Message(
                            "The columns of pairs hold 0, 1 and 2, read as R's prefmod writes them: 0 the first, 1 "
                            "a tie, 2 the second; if they mean something else, say so by ",
                            Argument("coding"),
                            ".",
                        )
                    )
                )
            return code, "; ".join(f"{text} {_NAMES[value]}" for text, value in code.items() if text in texts_found)
    if answers <= {"0", "1"}:
        raise DataError(
            f"The columns of pairs hold {' and '.join(sorted(answers)) or 'ties'} alone, which does not say which "
            "option was chosen; say what they mean by ",
            Argument("coding"),
            ".",
        )
    return None, "the label chosen"


def _words(columns: WideColumns, coded: str) -> str:
    pairs = columns.pairs
    names = list(pairs)
    how = f"{plural(len(names), 'column')} of pairs, {shorten(names, 3)} ({coded})"
    if columns.order == "numbered":
        shown = ", ".join(f"{name!r} {' and '.join(pair)}" for name, pair in list(pairs.items())[:3])
        how += f", in the order of R's prefmod, {shown}"
    if columns.count is not None:
        how += f", counted by {columns.count!r}"
    return how + (f", subjects {columns.subject!r}" if columns.subject is not None else "")
