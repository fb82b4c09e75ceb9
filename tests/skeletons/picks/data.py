"""Picks of two options out of sets."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from thali._data.base_classes import Frozen, build_from_fields
from thali._data.questions import Questions, build_report_rows
from thali._labels import format_label, format_plural
from thali.errors import DataError

from .spec import KIND, PICKED


class Picks(Frozen):
    """Which two options were picked out of the sets that were shown.

    Attributes
    ----------
    labels : tuple of str
    start : int64 array, shape (sets + 1,)
        The pairs of set v are at places start[v] to start[v + 1] - 1.
    first, second : int64 arrays, shape (places,)
        The options of each pair of members of each set, first < second.
    counts : float64 array, shape (places,)
        How often that pair was picked out of that set.
    """

    _FIELDS = ("labels", "start", "first", "second", "counts")
    kind = KIND
    labels: tuple[str, ...]
    start: np.ndarray
    first: np.ndarray
    second: np.ndarray
    counts: np.ndarray

    def __init__(self, shown: Iterable[Iterable[Any]], picked: Iterable[Iterable[Any]]) -> None:
        sets = [tuple(map(format_label, each)) for each in shown]
        labels = tuple(dict.fromkeys(label for each in sets for label in each))
        # of each set how often each pair was picked
        place: dict[tuple[int, ...], dict[tuple[int, ...], int]] = {}
        for number, (each, pair) in enumerate(zip(sets, picked, strict=True)):
            members = tuple(sorted({labels.index(label) for label in each}))
            two = tuple(
                sorted(labels.index(label) for label in map(format_label, pair) if label in each)
            )
            if len(members) < 3 or len(set(two)) != 2:
                raise DataError(
                    f"Answer {number} must pick two of at least three options; got {pair!r} of"
                    f" {each!r}."
                )
            counts = place.setdefault(members, dict.fromkeys(_pairs_of(members), 0))
            counts[two] += 1
        pairs = np.array([pair for counts in place.values() for pair in counts], np.int64).reshape(
            -1, 2
        )
        times = np.array([n for counts in place.values() for n in counts.values()], float)
        start = np.cumsum([0, *map(len, place.values())])
        self._freeze(labels, start, pairs[:, 0].copy(), pairs[:, 1].copy(), times)

    def questions(self, ties: bool | None = None) -> Questions:
        """Return a question for each set, answered by each pair of its members; a row for each pair
        of options."""

        def rows() -> Any:
            keys, row = np.unique(self.first * len(self.labels) + self.second, return_inverse=True)
            sides = (np.array(self.labels)[each] for each in np.divmod(keys, len(self.labels)))
            return build_report_rows(
                PICKED, row, dict(zip("ab", sides, strict=True)), len(self.start) - 1
            )

        return Questions(self.start, self.counts, find_rows=rows)

    def take(self, sets: np.ndarray) -> "Picks":
        """Return some of the sets, by a mask; all options stay."""
        sizes = np.diff(self.start)
        there = np.repeat(sets, sizes)
        start = np.cumsum([0, *sizes[sets]])
        return build_from_fields(
            type(self),
            self.labels,
            start,
            self.first[there],
            self.second[there],
            self.counts[there],
        )

    def __str__(self) -> str:
        options, sets = (
            format_plural(len(self.labels), "option"),
            format_plural(len(self.start) - 1, "set"),
        )
        return f"{options}, {sets}, {format_plural(int(self.counts.sum()), 'answer')}"

    def _details(self) -> Any:
        return (("options", self.labels),)


def _pairs_of(members: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the pairs of the members of a set."""
    return [(a, b) for k, a in enumerate(members) for b in members[k + 1 :]]
