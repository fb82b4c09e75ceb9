"""Sets of objects or of pairs, by their labels, with the pair that was chosen out of each."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from thali._labels import as_label, checked_labels, plural, suggest
from thali.errors import DataError

from .choice_table import in_order
from .triplet_rows import Questions, pair_keys, row_name, times_of

Pair = tuple[str, str]


def questions_of_sets(
    sets: Iterable[Iterable[Any]], chosen: Iterable[Iterable[Any]], labels: Iterable[Any] | None, counts: Any
) -> tuple[tuple[str, ...], list[Questions]]:
    """The labels, and the questions of each number of pairs."""
    asked = [pairs_in(number, each) for number, each in enumerate(sets)]
    answers = [tuple(map(as_label, pair)) for pair in chosen]
    if len(answers) != len(asked):
        raise DataError(f"There are {len(asked):,} sets, but {len(answers):,} chosen pairs; give one for each set.")
    names = _names_in(asked, labels)
    place, n = {label: k for k, label in enumerate(names)}, len(names)
    times, parts = times_of(counts, len(asked), row_name), []
    for m in sorted({len(pairs) for pairs in asked}):
        rows = [k for k, pairs in enumerate(asked) if len(pairs) == m]
        keys = np.array([[_key(place, n, pair, k) for pair in asked[k]] for k in rows], np.int64)
        wanted = np.array([_key(place, n, answers[k], k) for k in rows], np.int64)
        if (twice := (np.diff(np.sort(keys, axis=1), axis=1) == 0).any(axis=1)).any():
            raise DataError(f"A pair is named twice {row_name(rows[int(twice.argmax())])}; give different pairs.")
        held = keys == wanted[:, None]
        if (absent := ~held.any(axis=1)).any():
            k = rows[int(absent.argmax())]
            raise DataError(f"The pair {answers[k]} {row_name(k)} is not of its set; correct the pair or the set.")
        parts.append(Questions(keys, held.argmax(axis=1), times[rows]))
    return names, parts


def pairs_in(number: int, members: Iterable[Any]) -> list[Pair]:
    """The pairs of a set that is given as objects or as pairs; `number` says which set it is."""
    entries = list(members)
    if entries and all(isinstance(entry, tuple | list) for entry in entries):
        if len(entries) < 2 or any(len(entry) != 2 for entry in entries):
            raise DataError(f"Set {number} must be two pairs (a, b) or more, or three objects or more.")
        pairs = [(as_label(a), as_label(b)) for a, b in entries]
    else:
        names = [as_label(entry) for entry in entries]
        if len(names) < 3:
            raise DataError(
                f"Set {number} has {plural(len(names), 'object')}; a most similar pair takes three or more."
            )
        if len(set(names)) < len(names):
            twice = next(name for k, name in enumerate(names) if name in names[:k])
            raise DataError(f"Set {number} names {twice!r} twice; give different objects.")
        pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    for a, b in pairs:
        if a == b or not a or not b:
            raise DataError(f"Set {number} holds the pair ({a!r}, {b!r}); a pair is two different objects with names.")
    return pairs


def _names_in(asked: list[list[Pair]], labels: Iterable[Any] | None) -> tuple[str, ...]:
    """The labels, or all names in their order."""
    if labels is not None:
        return checked_labels(labels)
    return in_order(list(dict.fromkeys(name for pairs in asked for pair in pairs for name in pair)))


def _key(place: dict[str, int], n: int, pair: tuple[str, ...], row: int) -> int:
    """The number of a pair of labels."""
    if len(pair) != 2:
        raise DataError(f"The chosen pair {row_name(row)} is {pair}; give two objects.")
    for name in pair:
        if name not in place:
            raise DataError(f"{name!r} {row_name(row)} is not an object of the sets.{suggest(name, list(place))}")
    return int(pair_keys(n, *(np.array(place[name]) for name in pair)))
