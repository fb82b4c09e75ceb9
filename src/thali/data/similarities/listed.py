"""Lists of pairs with their similarity: which columns hold them, and the mean of repeated rows."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import shorten
from thali.errors import DataError, InPython

from ..checks import checked_numbers
from ..columns import column, count_column, encode
from ..roles import COUNT, DISSIMILARITY, ROW_COLUMN, SIDES, SIMILARITY, STEMS_OF_SIDES, by_plain_name
from .symmetric import Measured

if TYPE_CHECKING:
    import pandas as pd

EXPECTED = (
    "expected a square table of similarities (the first column repeats the labels of the header), whole or one "
    "triangle of it, or the columns 'first', 'second' and 'similarity' (or a and b, i and j, item1 and item2, row "
    "and column; sim, rating, proximity) and, if rows stand for several judgements, 'count'"
)


class PairColumns(NamedTuple):
    """Which columns hold the two objects, their similarity, and how many judgements a row stands for."""

    first: str
    second: str
    similarity: str
    count: str | None  # type: ignore[override]

    def __str__(self) -> str:
        weighted = f", rows weighted by {self.count!r}" if self.count else ""
        return f"table of pairs, {self.similarity!r} of {self.first!r} and {self.second!r}{weighted}"


def pair_columns(
    names: list[str],
    first: str | None = None,
    second: str | None = None,
    similarity: str | None = None,
    count: str | None = None,
) -> PairColumns:
    """The columns of a list of pairs: those named, and for the others those that bear one of the usual names."""
    own = by_plain_name(names)
    if (first is None) != (second is None):
        raise DataError("Name both columns of objects, `first` and `second`, or neither.")
    if first is None or second is None:
        pairs = [(a.format(side), a.format(other)) for side, other in SIDES for a in STEMS_OF_SIDES]
        found = [(own[a], own[b]) for a, b in (*pairs, *ROW_COLUMN) if a in own and b in own]
        if not found:
            raise DataError(*_not_similarities(names, own))
        _only_one([f"{a!r} and {b!r}" for a, b in found], "the two objects")
        first, second = found[0]
    free = {short: name for short, name in own.items() if name not in (first, second, count)}
    if similarity is None:
        found = list(SIMILARITY.surely(free)) or list(SIMILARITY.each(free))
        if not found:
            raise DataError(*_not_similarities(names, free))
        _only_one(list(map(repr, found)), "the similarity")
        similarity = found[0]
    if count is None:
        found = list(COUNT.each(free, (similarity,)))
        _only_one(list(map(repr, found)), "how many judgements a row stands for")
        count = found[0] if found else None
    return PairColumns(first, second, similarity, count)


def tells_similarities(names: list[str], vaguely: bool) -> bool:
    """Whether these are the columns of such a list; `vaguely`: a column called "rating" will do."""
    own = by_plain_name(names)
    if next(SIMILARITY.each(own) if vaguely else SIMILARITY.surely(own), None) is None:
        return False
    try:
        pair_columns(names)
    except DataError:
        return False
    return True


def listed_pairs(frame: "pd.DataFrame", columns: PairColumns, labels: Iterable[Any] | None) -> Measured:
    """The pairs of a list; rows of the same two objects, in either order, are averaged."""
    if not len(frame):
        raise DataError("There is not a single similarity; the table has no rows.")
    given = column(frame, columns.similarity)
    where = f"column {columns.similarity!r}"
    raw = given.to_numpy(dtype=object) if given.hasnans else given.to_numpy()
    values = checked_numbers(raw, lambda k: f"in row {frame.index[k]}, {where}", "similarity")
    if np.isinf(values).any():
        k = int(np.isinf(values).argmax())
        raise DataError(f"The similarity in row {frame.index[k]}, {where} is infinite; similarities must be finite.")
    counts = np.ones(len(frame)) if columns.count is None else count_column(frame, columns.count, weights=True)
    first, second = column(frame, columns.first), column(frame, columns.second)

    def place(row: int, is_first: bool) -> str:
        return f"in row {frame.index[row]}, column {columns.first if is_first else columns.second!r}"

    # an object beside itself is the diagonal, which is not read; encode refuses it only where it counts
    names, i, j, _ = encode(first, second, np.zeros(len(frame)), labels, place)
    read = (i != j) & (counts > 0) & ~np.isnan(values)
    return _averaged(names, i[read], j[read], values[read], counts[read])


def _averaged(names: tuple[str, ...], i: np.ndarray, j: np.ndarray, values: np.ndarray, counts: np.ndarray) -> Measured:
    n = len(names)
    key = np.minimum(i, j) * n + np.maximum(i, j)
    pairs, where_first, place = np.unique(key, return_index=True, return_inverse=True)
    base = values[where_first]  # so that the mean of equal numbers is that number to the last bit
    excess = np.bincount(place, weights=counts * (values - base[place]), minlength=len(pairs))
    total = np.bincount(place, weights=counts, minlength=len(pairs))
    judgements = total / 2.0 if _written_twice(i < j, place, values == base[place], counts) else total
    return Measured(names, pairs // n, pairs % n, base + excess / total, judgements, "table of pairs")


def _written_twice(forward: np.ndarray, place: np.ndarray, as_first: np.ndarray, counts: np.ndarray) -> bool:
    """Whether the list is a symmetric square written out: every pair in both orders, with the same numbers."""
    pairs = int(place.max(initial=-1)) + 1
    one_each = np.bincount(place[forward], minlength=pairs), np.bincount(place[~forward], minlength=pairs)
    if not pairs or not as_first.all() or any((times != 1).any() for times in one_each):
        return False
    of_pair = counts[forward][np.argsort(place[forward])], counts[~forward][np.argsort(place[~forward])]
    return np.array_equal(*of_pair)


def _only_one(found: list[str], what: str) -> None:
    if len(found) > 1:
        raise DataError(f"{', '.join(found)} could each tell {what}; say which, or rename those that are not meant.")


def _not_similarities(names: list[str], own: dict[str, str]) -> tuple[Any, ...]:
    if (name := DISSIMILARITY.among(own)) is not None:
        return (
            f"Column {name!r} holds dissimilarities; make similarities of them first",
            InPython(", as Similarities.from_dissimilarities does of a square table"),
            ".",
        )
    return (f"The columns {shorten(names, 12)} are not similarities; {EXPECTED}.",)
