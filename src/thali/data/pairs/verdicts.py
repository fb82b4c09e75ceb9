"""Which of two options was chosen: the many ways in which a column says so."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import as_label, shorten, suggest
from thali.errors import Argument, DataError

from ..columns import stood_for
from ..roles import MORE_SIDES, SIDES, TIE_WORDS, plain

if TYPE_CHECKING:
    import pandas as pd

FIRST, SECOND, TIE = 1.0, -1.0, 0.0
_MEANINGS = {"first": FIRST, "second": SECOND, "tie": TIE}
_GAME = {"h": FIRST, "home": FIRST, "w": FIRST, "win": FIRST, "heim": FIRST, "a": SECOND, "away": SECOND, "l": SECOND}
_GAME |= {"loss": SECOND}
_TIED_GAME = ("d", "x")
_NO_ANSWER = ("None", "null")  # as PsychoPy and jsPsych write it


class Verdicts(NamedTuple):
    """What a column says of each row."""

    outcome: np.ndarray  # (rows,) FIRST, SECOND or TIE; NaN where there is no answer
    how: str  # in which way, in words
    ties: tuple[str, ...]  # the words for a tie


def decoded(
    frame: "pd.DataFrame",
    sides: tuple[str, str],
    chosen: str,
    coding: Mapping[Any, str] | None,
    game: bool = False,
    count: str | None = None,
) -> Verdicts:
    """The column `chosen` of two columns of options, by a coding or by what its cells must mean.

    `count`: the column of how many comparisons a row stands for, if there is one.

    A cell may hold the label of an option, a side (left, right, first, second, the name of the column, ...), a number,
    or a word for a tie. `game`: the first side plays at home, so that H, D, A and 1, X, 2 are results.
    """
    import pandas as pd

    codes, values = pd.factorize(frame[chosen])
    texts = ["" if value in _NO_ANSWER else as_label(value) for value in values]
    if coding is not None:
        meaning = _by_coding(texts, coding, frame, chosen, codes)
        return _found(codes, texts, meaning, "by the coding given")
    labels = [pd.factorize(frame[name]) for name in sides]
    known = {as_label(value) for _, values in labels for value in values}
    words = (*TIE_WORDS, *_TIED_GAME) if game else TIE_WORDS
    ties = {text for text in texts if plain(text) in words and text not in known}
    by_side = _by_side(texts, ties, sides, game)
    by_label = _by_label(codes, texts, ties, labels)
    answered = np.array([*(bool(text) for text in texts), False])[codes]
    unread = answered & np.isnan(by_label)
    if not unread.any() and answered.any():
        if by_side is not None:
            other = _outcome(codes, texts, by_side)
            if not np.array_equal(other, by_label, equal_nan=True):
                raise DataError(
                    f"Column {chosen!r} may hold labels of options or sides (1, 2, left, right), and the two "
                    "differ; give the options other names, or say what its values mean by ",
                    Argument("coding"),
                    ".",
                )
        return Verdicts(by_label, "the label chosen", tuple(sorted(ties)))
    if by_side is not None:
        return _found(codes, texts, by_side, "the side chosen")
    raise _unreadable(frame, sides, chosen, unread, set(texts), game, count)


def meanings(coding: Mapping[Any, str]) -> dict[str, float]:
    """What each text means by a coding {value: "first", "second" or "tie"}."""
    meaning = {}
    for value, word in coding.items():
        if word not in _MEANINGS:
            raise DataError(Argument("coding"), f" must give first, second or tie for each value; got {word!r}.")
        meaning[as_label(value)] = _MEANINGS[word]
    return meaning


def _by_coding(
    texts: list[str], coding: Mapping[Any, str], frame: "pd.DataFrame", chosen: str, codes: np.ndarray
) -> dict[str, float]:
    meaning = meanings(coding)
    if unknown := [text for text in texts if text and text not in meaning]:
        row = int((codes == texts.index(unknown[0])).argmax())
        raise DataError(
            f"Column {chosen!r} holds {unknown[0]!r} in row {frame.index[row]}, of which ",
            Argument("coding"),
            " does not say what it means.",
        )
    return meaning


def _by_label(codes: np.ndarray, texts: list[str], ties: set[str], labels: list[Any]) -> np.ndarray:
    """The outcome where a cell holds a word for a tie or the label of one of the two options, else NaN."""
    number: dict[str, int] = {}

    def numbered(codes: np.ndarray, texts: list[str]) -> np.ndarray:
        return np.array([*(number.setdefault(text, len(number)) for text in texts), -1])[codes]

    verdict = numbered(codes, texts)
    first, second = (numbered(codes, [as_label(value) for value in values]) for codes, values in labels)
    tied = np.array([*(text in ties for text in texts), False])[codes]
    outcome = np.where((verdict == first) & (verdict >= 0), FIRST, np.where(verdict == second, SECOND, np.nan))
    outcome[tied] = TIE
    outcome[verdict < 0] = np.nan
    return outcome


def _by_side(texts: list[str], ties: set[str], sides: tuple[str, str], game: bool) -> dict[str, float] | None:
    """What each text means if all are sides, numbers or ties; None if some are not."""
    answers = [text for text in texts if text and text not in ties]
    if not answers:
        return None
    if numbers := _by_number(set(answers), game, bool(ties)):
        return numbers | dict.fromkeys(ties, TIE)
    words = _words_of(sides, game)
    meaning = {text: words.get(plain(text)) for text in answers}
    if any(value is None for value in meaning.values()):
        return None
    return {text: float(value) for text, value in meaning.items() if value is not None} | dict.fromkeys(ties, TIE)


def _words_of(sides: tuple[str, str], game: bool) -> dict[str, float]:
    """The words for either side, those of the columns among them."""
    words: dict[str, float] = {}
    for one, other in (*MORE_SIDES, *SIDES):
        for spelled in ("{}", "option{}", "arrow{}", "{}arrow", "model{}", "assistant{}", "response{}", "{}wins"):
            words |= {spelled.format(one): FIRST, spelled.format(other): SECOND}
    words |= _GAME if game else {}
    words |= {plain(sides[0]): FIRST, plain(sides[1]): SECOND}
    return words


def _by_number(texts: set[str], game: bool, ties: bool) -> dict[str, float] | None:
    """What numbers mean: 1 and 2; 1, 0 and -1; 1, 0.5 and 0; of a game also 1 and 0."""
    if texts <= {"1", "2"}:
        return {"1": FIRST, "2": SECOND}
    if texts <= {"1", "0", "-1"} and "-1" in texts:
        return {"1": FIRST, "0": TIE, "-1": SECOND}
    if texts <= {"1", "0"} and (game or ties):
        return {"1": FIRST, "0": SECOND}
    return None


def _outcome(codes: np.ndarray, texts: list[str], meaning: Mapping[str, float]) -> np.ndarray:
    return np.array([*(meaning.get(text, np.nan) for text in texts), np.nan])[codes]


def _found(codes: np.ndarray, texts: list[str], meaning: dict[str, float], how: str) -> Verdicts:
    ties = tuple(sorted(text for text, value in meaning.items() if value == TIE and text in texts))
    return Verdicts(_outcome(codes, texts, meaning), how, ties)


def _unreadable(
    frame: "pd.DataFrame",
    sides: tuple[str, str],
    chosen: str,
    unread: np.ndarray,
    texts: set[str],
    game: bool,
    count: str | None,
) -> DataError:
    """The error about a column of which some cells mean nothing."""
    if not unread.any():
        return DataError(f"Column {chosen!r} holds no answer; name another column by ", Argument("chosen"), ".")
    if (answers := texts - {""}) <= {"0", "1"} or answers <= {"0", "1", "2"}:
        found = " and ".join(filter(None, [", ".join(sorted(answers)[:-1]), sorted(answers)[-1]]))
        return DataError(
            f"Column {chosen!r} holds {found}, which do not say which side was chosen; say what they mean by ",
            Argument("coding"),
            f", or write {sides[0]!r} and {sides[1]!r}.",
        )
    words = _words_of(sides, game)
    strange = unread & np.array([plain(as_label(value)) not in words for value in frame[chosen]])
    faults = strange if strange.any() else unread
    row = int(faults.argmax())
    text = as_label(frame[chosen].iloc[row])
    alike = frame.loc[faults & (frame[chosen].astype(str).str.strip() == text).to_numpy()]
    number = stood_for(alike, count)
    further = f" and {number - 1:,.0f} more" if number > 1 else ""
    options = [as_label(frame[name].iloc[row]) for name in sides]
    words = "H, D, A, 1, X, 2 or 1, 0, -1" if game else "a side (left, right, first, second, 1, 2)"
    return DataError(
        f"Column {chosen!r} holds {text!r} in row {frame.index[row]}{further}, which is none of "
        f"its two options ({shorten(options)}), {words} or a word for a tie; mend it, or say what it means by ",
        Argument("coding"),
        f".{suggest(text, [*options, *sides, *filter(str.isalpha, TIE_WORDS)])}",
    )
