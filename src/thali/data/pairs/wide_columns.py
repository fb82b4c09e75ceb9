"""Which columns of a wide table are pairs: one column a pair, one row a subject or a pattern of answers."""

import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from thali._labels import as_label

from ..roles import COUNT, RESPONDENT, TIE_WORDS, by_plain_name, plain

if TYPE_CHECKING:
    import pandas as pd

_BETWEEN = (r"\s*>\s*", r"\s*:\s*", r"\s*/\s*", r"[\s_.]+vs\.?[\s_.]+", r"[\s_.]+versus[\s_.]+", r"[\s_.]+over[\s_.]+")
_WEAK = (r"\s+-\s+", r"\s*\|\s*", r"-", r"__", r"_", r"\.")  # that also stand in other names: all pairs must be there
_TWO_DIGITS = re.compile(r"([^\W\d]*)[_.]?(\d)[_.,]?(\d)")
_TWO_NUMBERS = re.compile(r"([^\W\d]*)[_.]?(\d+)[_.,](\d+)")
_NUMBERED = re.compile(r"([^\d]*?)[_. ]?(\d{1,9})")
MAX_DIFFERENT = 1_000  # different cells of a column, which then holds no answers, whatever the others are
_TYPICAL = ({"1", "2"}, {"1", "0", "-1"}, {"0", "1", "2"})

Pair = tuple[str, str]


class WideColumns(NamedTuple):
    """The columns of pairs, with their two options."""

    pairs: dict[str, Pair]
    order: str  # how their options are known: "named", "numbered" or "chosen"
    subject: str | None
    count: str | None

    @property
    def used(self) -> set[str | None]:
        """All of them."""
        return {*self.pairs, self.subject, self.count}


def wide_columns(frame: "pd.DataFrame", given: Mapping[str, str | None]) -> WideColumns | None:
    """The columns of pairs by their names, or by what they hold; None if there are none."""
    names = [str(name) for name in frame.columns]
    own = by_plain_name(names)
    subject = given.get("subject") or RESPONDENT.among(own)
    count = given.get("count") or COUNT.among(own)
    rest = [name for name in names if name not in (subject, count)]
    texts = {name: {as_label(value) for value in frame[name].dropna().unique()[:MAX_DIFFERENT]} - {""} for name in rest}
    for order, found in (
        ("named", _by_labels(rest)),
        ("named", _by_two_numbers(rest)),
        ("numbered", _by_running_number(rest)),
    ):
        answers = [_answers(texts[name], pair) for name, pair in found.items()]
        enough = any(answers) if found and order == "named" else all(answers)
        if found and enough:
            return WideColumns(found, order, subject, count)
    if chosen := _by_answers(rest, texts):
        return WideColumns(chosen, "chosen", subject, count)
    return None


def called_like_pairs(names: list[str]) -> list[str]:
    """The columns called "tea > coffee" and the like."""
    return list(_by_labels(names))


def numbered_answers(frame: "pd.DataFrame") -> list[str]:
    """The numbered columns V1, V2, ... that hold codes of answers but are no number of pairs."""
    for numbered in _numbered([str(name) for name in frame.columns]).values():
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
    """Columns called "tea > coffee", "tea:coffee", "tea vs coffee"; or "tea_coffee", if all pairs are there."""
    for between in (*_BETWEEN, *_WEAK):
        found: dict[str, Pair] = {}
        for name in names:
            parts = [part.strip() for part in re.split(between, name, flags=re.IGNORECASE)]
            if len(parts) == 2 and all(parts) and parts[0] != parts[1]:
                found[name] = (parts[0], parts[1])
        twice = len({frozenset(pair) for pair in found.values()}) < len(found)  # counts of either side
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
            if _is_complete(pairs) and {label for pair in pairs.values() for label in pair} == _numbers(len(pairs)):
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
    """Columns that hold two labels each, every label in several of them and not the same two in all."""
    found: dict[str, Pair] = {}
    for name in names:
        labels = sorted(text for text in texts[name] if plain(text) not in TIE_WORDS)
        if len(labels) == 2 and not any(_is_number(label) for label in labels):
            found[name] = (labels[0], labels[1])
    shared = [label for pair in set(found.values()) for label in pair]
    found = {name: pair for name, pair in found.items() if all(shared.count(label) > 1 for label in pair)}
    return found if len(set(found.values())) > 2 else {}


def _is_complete(pairs: Mapping[str, Pair]) -> bool:
    """Whether each pair of the labels is there once."""
    labels = sorted({label for pair in pairs.values() for label in pair})
    there = sorted(tuple(sorted(pair)) for pair in pairs.values())
    return len(labels) > 2 and there == sorted(combinations(labels, 2))


def _answers(texts: set[str], pair: Pair) -> bool:
    """Whether a column may hold answers about the two options."""
    if any(texts <= codes for codes in _TYPICAL):
        return True
    labels = {text for text in texts if plain(text) not in TIE_WORDS}
    return labels <= set(pair) or labels <= {">", "<"} or labels <= {"first", "second"} or labels <= {"left", "right"}


def _is_number(text: Any) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
