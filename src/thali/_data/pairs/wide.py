"""Comparisons from a wide table: one column a pair, one row a respondent or a pattern of answers
with its count."""

import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.warn import warn
from thali._labels import as_label, checked_labels, is_number, plural, positions, shorten
from thali.errors import Argument, DataError, DataWarning

from ..answers import RowRespondents, read_respondents
from ..columns import describe_columns, read_counts, note_omission
from ..people import build_people_table
from ..roles import (
    COUNT,
    RESPONDENT,
    TIE_WORDS,
    UNKNOWN_WORDS,
    WEIGHTS,
    map_plain_names,
    column_names,
    find_no_answers,
    simplify_name,
)
from .trials import FIRST, SECOND, TIE, TrialOutcomes, meanings, without_missing

if TYPE_CHECKING:
    import pandas as pd


# Which columns of a wide table are pairs: one column a pair, one row a respondent or a pattern of
# answers


_BETWEEN = (
    r"\s*>\s*",
    r"\s*:\s*",
    r"\s*/\s*",
    r"[\s_.]+vs\.?[\s_.]+",
    r"[\s_.]+versus[\s_.]+",
    r"[\s_.]+over[\s_.]+",
)
# that also stand in other names: all pairs must be there
_WEAK = (r"\s+-\s+", r"\s*\|\s*", r"-", r"__", r"_", r"\.")
_TWO_DIGITS = re.compile(r"([^\W\d]*)[_.]?(\d)[_.,]?(\d)")
_TWO_NUMBERS = re.compile(r"([^\W\d]*)[_.]?(\d+)[_.,](\d+)")
_NUMBERED = re.compile(r"([^\d]*?)[_. ]?(\d{1,9})")
# different cells of a column, which then holds no answers, whatever the others are
MAX_DIFFERENT = 1_000
_TYPICAL = ({"1", "2"}, {"1", "0", "-1"}, {"0", "1", "2"})

Pair = tuple[str, str]


class WideColumns(NamedTuple):
    """The columns of pairs, with their two options."""

    pairs: dict[str, Pair]
    order: str  # how their options are known: "named", "numbered" or "chosen"
    respondent: str | None
    count: str | None  # type: ignore[override]

    @property
    def used(self) -> set[str | None]:
        """All of them."""
        return {*self.pairs, self.respondent, self.count}


def wide_columns(
    frame: "pd.DataFrame", given: Mapping[str, str | None], coding: Mapping[Any, str] | None
) -> WideColumns | None:
    """The columns of pairs by their names, or by what they hold besides what is coded; None if
    there are none."""
    names = column_names(frame)
    own = map_plain_names(names)
    respondent = given.get("respondent") or RESPONDENT.among(own)
    count = given.get("count") or COUNT.among(own)
    rest = [name for name in names if name not in (respondent, count)]
    known = {"", *map(as_label, coding or ())}
    texts = {
        name: {as_label(value) for value in frame[name].dropna().unique()[:MAX_DIFFERENT]} - known
        for name in rest
    }
    for order, found in (
        ("named", _by_labels(rest)),
        ("named", _by_two_numbers(rest)),
        ("numbered", _by_running_number(rest)),
    ):
        answers = [_answers(texts[name], pair) for name, pair in found.items()]
        enough = any(answers) if found and order == "named" else all(answers)
        if found and enough:
            return WideColumns(found, order, respondent, count)
    if chosen := _by_answers(rest, texts):
        return WideColumns(chosen, "chosen", respondent, count)
    return None


def called_like_pairs(names: list[str]) -> list[str]:
    """The columns called "tea > coffee" and the like."""
    return list(_by_labels(names))


def numbered_answers(frame: "pd.DataFrame") -> list[str]:
    """The numbered columns V1, V2, ... that hold codes of answers but are no number of pairs."""
    for numbered in _numbered(column_names(frame)).values():
        texts = [{as_label(value) for value in frame[name].dropna().unique()} for name in numbered]
        codes = ({"1", "2"}, {"1", "0", "-1"})
        if len(numbered) > 2 and any(all(each <= code for each in texts) for code in codes):
            return numbered
    return []


def prefmod_pairs(labels: Sequence[str]) -> list[Pair]:
    """All pairs in the order of R's prefmod: (1, 2), (1, 3), (2, 3), (1, 4), (2, 4), (3, 4), ...

    Examples
    --------
    >>> prefmod_pairs("abc")
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    return [(labels[i], labels[j]) for j in range(1, len(labels)) for i in range(j)]


def number_of_options(pairs: int) -> int | None:
    """The k of k (k - 1) / 2 pairs; None if that is no number of all pairs."""
    k = round((1 + (1 + 8 * pairs) ** 0.5) / 2)
    return k if k * (k - 1) // 2 == pairs and k > 2 else None


def _by_labels(names: list[str]) -> dict[str, Pair]:
    """Columns called "tea > coffee", "tea:coffee", "tea vs coffee"; or "tea_coffee", if all pairs
    are there."""
    for between in (*_BETWEEN, *_WEAK):
        found: dict[str, Pair] = {}
        for name in names:
            parts = [part.strip() for part in re.split(between, name, flags=re.IGNORECASE)]
            if len(parts) == 2 and all(parts) and parts[0] != parts[1]:
                found[name] = (parts[0], parts[1])
        # counts of either side
        twice = len({frozenset(pair) for pair in found.values()}) < len(found)
        if found and not twice and (between in _BETWEEN or _is_complete(found)):
            return found
    return {}


def _by_two_numbers(names: list[str]) -> dict[str, Pair]:
    """Columns called V12, V13, V23 or X1.2, X1.3, X2.3, if all pairs are there."""
    for shape in (_TWO_DIGITS, _TWO_NUMBERS):
        stems: dict[str, dict[str, Pair]] = {}
        for name in names:
            if (found := shape.fullmatch(name)) and found[2] != found[3]:
                stems.setdefault(found[1], {})[name] = (found[2], found[3])
        for pairs in stems.values():
            if _is_complete(pairs) and {
                label for pair in pairs.values() for label in pair
            } == _numbers(len(pairs)):
                return pairs
    return {}


def _numbers(pairs: int) -> set[str]:
    return {str(k + 1) for k in range(number_of_options(pairs) or 0)}


def _numbered(names: list[str]) -> dict[str, list[str]]:
    """The columns called V1, V2, ... by what stands before the number."""
    stems: dict[str, list[str]] = {}
    for name in names:
        if found := _NUMBERED.fullmatch(name):
            numbered = stems.setdefault(found[1], [])
            if int(found[2]) == len(numbered) + 1:
                numbered.append(name)
    return stems


def _by_running_number(names: list[str]) -> dict[str, Pair]:
    """Columns called V1, V2, ... as many as there are pairs of some number of options."""
    for numbered in _numbered(names).values():
        if k := number_of_options(len(numbered)):
            return dict(zip(numbered, prefmod_pairs([str(i + 1) for i in range(k)]), strict=True))
    return {}


def _by_answers(names: list[str], texts: dict[str, set[str]]) -> dict[str, Pair]:
    """Columns that hold two labels each, every label in several of them and not the same two in
    all."""
    found: dict[str, Pair] = {}
    for name in names:
        labels = sorted(text for text in texts[name] if simplify_name(text) not in _NO_LABELS)
        labels = labels if len(labels) < 3 else sorted(set(labels) - find_no_answers(labels, ()))
        if len(labels) == 2 and not any(is_number(label) for label in labels):
            found[name] = (labels[0], labels[1])
    shared = [label for pair in set(found.values()) for label in pair]
    found = {
        name: pair for name, pair in found.items() if all(shared.count(label) > 1 for label in pair)
    }
    return found if len(set(found.values())) > 2 else {}


def _is_complete(pairs: Mapping[str, Pair]) -> bool:
    """Whether each pair of the labels is there once."""
    labels = sorted({label for pair in pairs.values() for label in pair})
    there = sorted(tuple(sorted(pair)) for pair in pairs.values())
    return len(labels) > 2 and there == sorted(combinations(labels, 2))


def _answers(texts: set[str], pair: Pair) -> bool:
    """Whether a column may hold answers about the two options."""
    texts = texts - find_no_answers(texts, pair)
    if any(texts <= codes for codes in _TYPICAL):
        return True
    labels = {text for text in texts if simplify_name(text) not in _NO_LABELS or text in pair}
    return (
        labels <= set(pair)
        or labels <= {">", "<"}
        or labels <= {"first", "second"}
        or labels <= {"left", "right"}
    )


_SIGNS = {
    ">": FIRST,
    "<": SECOND,
    "=": TIE,
    "first": FIRST,
    "second": SECOND,
    "left": FIRST,
    "right": SECOND,
}
_CODES: tuple[dict[str, float], ...] = (
    {"1": FIRST, "2": SECOND},
    {"1": FIRST, "-1": SECOND, "0": TIE},
    {"0": FIRST, "1": TIE, "2": SECOND},
)
_NO_LABELS = (*TIE_WORDS, *UNKNOWN_WORDS)
_NAMES = {FIRST: "the first", SECOND: "the second", TIE: "a tie"}


def outcomes_of_wide(
    frame: "pd.DataFrame",
    columns: WideColumns,
    coding: Mapping[Any, str] | None,
    labels: Any,
    weights: bool,
) -> TrialOutcomes:
    """The comparisons in the cells; empty ones were not answered."""
    pairs = columns.pairs
    own = list(dict.fromkeys(label for pair in pairs.values() for label in pair))
    names = _names(own, columns, labels)
    place = positions(own)
    outcome, coded = _outcomes(frame, pairs, coding)
    row, number = np.nonzero(~np.isnan(outcome))
    if not row.size:
        raise DataError(f"The columns {shorten(list(pairs))} contain no answers; check the table.")
    sides = np.array([[place[label] for label in pair] for pair in pairs.values()], np.int64)
    given = outcome[row, number]
    won = given != SECOND
    first, second = sides[number].T
    times, who = np.ones(len(frame)), None
    if columns.count is not None:
        times = read_counts(frame, columns.count, weights or simplify_name(columns.count) in WEIGHTS)
    if columns.count is None or columns.respondent is not None:
        who = _who(frame, columns)
    tied = np.where(given == TIE, times[row], 0.0)
    cells = np.where(won, first, second), np.where(won, second, first), times[row] - tied, tied
    who = None if who is None else who.of_rows(row)
    note_omission(np.isnan(outcome).all(axis=1).sum())
    return TrialOutcomes(names, *cells, who, None, _words(columns, coded))


def _who(frame: "pd.DataFrame", columns: WideColumns) -> RowRespondents:
    """The respondents: those of their column, or the rows."""
    if (who := read_respondents(frame, columns.respondent, columns.used)) is not None:
        return who
    number, names = np.arange(len(frame)), tuple(map(as_label, range(1, len(frame) + 1)))
    return RowRespondents(names, number, build_people_table(frame, columns.used, number, names))


def _names(own: list[str], columns: WideColumns, labels: Any) -> tuple[str, ...]:
    """The labels of the options, which those given replace where columns have numbers alone."""
    if labels is None:
        return tuple(own)
    names = checked_labels(labels)
    if len(names) != len(own):
        raise DataError(
            f"`labels` must name the {len(own)} options of the columns; got"
            f" {plural(len(names), 'label')}."
        )
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
    coding, missing = without_missing(coding)
    known_words = {*meanings(coding or {}), *(label for pair in pairs.values() for label in pair)}
    unknown = find_no_answers((text for each in texts for text in each), known_words) | missing
    texts_found = {text for each in texts for text in each if text} - unknown
    by_text, how = _code(texts_found, pairs, coding)
    outcome, left_out = np.full((len(frame), len(pairs)), np.nan), 0
    for k, ((name, pair), (codes, _), own) in enumerate(
        zip(pairs.items(), cells, texts, strict=True)
    ):
        labels = {pair[0]: FIRST, pair[1]: SECOND}
        meaning = labels if by_text is None else by_text
        if coding is not None and not any(map(is_number, pair)):
            meaning = labels | meaning
        left_out += int(np.array([*(text in unknown for text in own), False])[codes].sum())
        own = ["" if text in unknown else text for text in own]
        known = {
            text: meaning.get(text, TIE if simplify_name(text) in TIE_WORDS else np.nan) for text in own
        }
        for text, value in known.items():
            if text and np.isnan(value):
                row = frame.index[int((codes == own.index(text)).argmax())]
                raise DataError(
                    f"Column {name!r} contains {text!r} in row {row}, which is neither {pair[0]!r}"
                    f" nor {pair[1]!r}, nor a code such as 1 and 2, nor a word for a tie; correct"
                    " it, or define it with ",
                    Argument("coding"),
                    " (as missing if it is not an answer).",
                )
        outcome[:, k] = np.array([*(known[text] for text in own), np.nan])[codes]
    said = (
        f"; {plural(left_out, 'answer')} ({shorten(sorted(unknown))}) dropped" if left_out else ""
    )
    return outcome, how + said


def _code(
    texts_found: set[str], pairs: dict[str, Pair], coding: Mapping[Any, str] | None
) -> tuple[dict[str, float] | None, str]:
    """What the texts mean in every column, None if they are labels; and the same in words."""
    if coding is not None:
        return meanings(coding), "coded values"
    labels = {label for pair in pairs.values() for label in pair}
    answers = {text for text in texts_found if simplify_name(text) not in _NO_LABELS or text in labels}
    if answers and answers <= labels and not answers <= {"1", "2"}:
        return None, "the chosen label"
    if answers <= set(_SIGNS):
        return _SIGNS, "the chosen side"
    for code in _CODES:
        if answers <= set(code) and not answers <= {"0", "1"}:
            if code is _CODES[-1]:
                warn(
                    DataWarning(
                        "The pair columns contain 0, 1 and 2, which were read as in R's prefmod: 0"
                        " for the first, 1 for a tie, 2 for the second. If this is wrong, define"
                        " the codes with ",
                        Argument("coding"),
                        ".",
                    )
                )
            return code, "; ".join(
                f"{text} for {_NAMES[value]}" for text, value in code.items() if text in texts_found
            )
    if answers <= {"0", "1"}:
        raise DataError(
            f"The pair columns contain only {' and '.join(sorted(answers)) or 'ties'}, so it is"
            " unclear which option was chosen; define the values with ",
            Argument("coding"),
            ".",
        )
    return None, "the chosen label"


def _words(columns: WideColumns, coded: str) -> str:
    pairs = columns.pairs
    names = list(pairs)
    how = f"{plural(len(names), 'column')} of pairs ({shorten(names, 3)}) with {coded}"
    if columns.order == "numbered":
        shown = ", ".join(
            f"{name!r} for {' and '.join(pair)}" for name, pair in list(pairs.items())[:3]
        )
        how += f", in the order of R's prefmod ({shown})"
    return how + describe_columns(columns.count, columns.respondent)
