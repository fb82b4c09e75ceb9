"""Which layout of paired comparisons a table has: a square of counts, or a list of choices or of pairs."""

import re
from typing import NamedTuple

import numpy as np
import pandas as pd

from thali.data.check import as_label, checked_labels, shorten
from thali.data.columns import count_column, mismatch
from thali.data.pairs import PairedComparisons
from thali.errors import DataError

# Names are compared in lower case, without blanks, dots, hyphens and underscores.
CHOSEN_REJECTED = (
    ("chosen", "rejected"),
    ("chosen", "notchosen"),
    ("winner", "loser"),
    ("won", "lost"),
    ("preferred", "other"),
    ("preferred", "notpreferred"),
    ("selected", "rejected"),
    ("better", "worse"),
    ("topitem", "bottomitem"),
    ("i", "j"),
)
COUNTS = ("count", "counts", "n", "freq", "frequency", "times", "weight", "weights")
WEIGHTS = ("weight", "weights")
TIES = ("tie", "ties", "tied", "draw", "draws", "undecided", "nopreference", "tij")

SIDES = (("a", "b"), ("i", "j"), ("1", "2"), ("first", "second"), ("left", "right"), ("home", "away"))
OPTION = ("{0}", "option{0}", "item{0}", "alternative{0}", "stimulus{0}", "object{0}", "player{0}", "team{0}")
OPTION += ("{0}option", "{0}item", "{0}team")
TIMES = (
    "{0}over{1}",
    "{0}wins",
    "{0}win",
    "wins{0}",
    "win{0}",
    "count{0}",
    "{0}count",
    "chose{0}",
    "{0}chosen",
)
TIMES += ("n{0}{1}", "w{0}{1}", "x{0}{1}", "wins{0}{1}")

EXPECTED = (
    "expected a square table of counts (row over column; the first column repeats the labels of the header), "
    "or the columns 'chosen' and 'rejected' (or winner and loser, preferred and other, i and j) and, if rows "
    "stand for several comparisons, 'count' (or n, freq, times, weight), or the columns 'a', 'b', 'a_over_b' "
    "and 'b_over_a' (or item1, item2, wins1, wins2)"
)


class Reading(NamedTuple):
    """One way to read a list: which columns hold the options, and which how often each was chosen."""

    options: tuple[str, str]
    times: tuple[str, ...]  # none: each row is one choice; one: of the first over the second; two: of each

    def __str__(self) -> str:
        a, b = self.options
        if len(self.times) == 2:
            over, under = self.times
            return f"table of pairs, {a!r} over {b!r} counted by {over!r}, the reverse by {under!r}"
        how = f"counted by {self.times[0]!r}" if self.times else "one comparison a row"
        return f"long table, {a!r} chosen over {b!r}, {how}"


def recognised(frame: pd.DataFrame, named: bool = True, weights: bool = False) -> tuple[PairedComparisons, str]:
    """The comparisons in a table, and a sentence that tells how it was read.

    `named`: False if the columns bear no names, as in a bare square of counts.
    """
    if not named:
        return _square(frame.to_numpy(), None, weights)
    # squares come first: among the options of one may be I, J and N, which would also make a list
    if (labelled := _labelled_square(frame)) is not None:
        return _square(*labelled, weights)
    readings = _readings(list(frame.columns))
    bare = frame.shape[0] == frame.shape[1] and all(map(pd.api.types.is_numeric_dtype, frame.dtypes))
    if bare and (not readings or not np.nansum(np.abs(np.diag(frame)))):
        return _square(frame.to_numpy(), frame.columns, weights)
    if len(readings) > 1:
        several = "; or ".join(str(reading) for reading in readings)
        raise DataError(
            f"The columns can be read in several ways: {several}. Remove or rename those that are not meant."
        )
    if readings:
        return _listed(frame, readings[0], weights)
    numeric = [pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]
    if not numeric[0] and all(numeric[1:]) and len(frame) + 1 == len(numeric):
        raise DataError(mismatch(map(as_label, frame.iloc[:, 0]), frame.columns[1:]))
    raise DataError(f"The columns {shorten(list(frame.columns), 12)} are not paired comparisons; {EXPECTED}.")


def _plain(name: str) -> str:
    return re.sub(r"[\s._-]+", "", name.casefold())


def _readings(names: list[str]) -> list[Reading]:
    """All ways to read these columns as a list; those with times for both sides outdo those without."""
    own = {}
    for name in names:
        own.setdefault(_plain(name), name)

    def there(*plain: str) -> bool:
        return all(each in own for each in plain)

    two_sided = [
        Reading((own[a], own[b]), (own[times_a], own[times_b]))
        for side, other in SIDES
        for a, b in ((option.format(side), option.format(other)) for option in OPTION)
        for times_a, times_b in [(times.format(side, other), times.format(other, side)) for times in TIMES]
        + [("wins", "losses"), ("win", "loss"), ("won", "lost")]
        if there(a, b, times_a, times_b)
    ]
    if two_sided:
        return two_sided
    counts = [(own[count],) for count in COUNTS if count in own] or [()]
    return [
        Reading((own[chosen], own[rejected]), times)
        for chosen, rejected in CHOSEN_REJECTED
        if there(chosen, rejected)
        for times in counts
    ]


def _listed(frame: pd.DataFrame, reading: Reading, weights: bool) -> tuple[PairedComparisons, str]:
    """The comparisons in a list, and how it was read."""
    _refuse_ties(frame)
    a, b = reading.options
    weights = weights or any(_plain(name) in WEIGHTS for name in reading.times)
    used = {*reading.options, *reading.times}
    unused = [name for name in frame.columns if name not in used and not name.startswith("column ")]
    if len(reading.times) == 2:
        for name in reading.times:
            count_column(frame, name, weights)  # so that an error names the file's own column
        both = [
            pd.DataFrame({a: frame[won], b: frame[lost], "times": frame[times]})
            for won, lost, times in zip((a, b), (b, a), reading.times, strict=True)
        ]
        data = PairedComparisons.from_frame(pd.concat(both), a, b, "times", weights=weights)
    elif reading.times:
        data = PairedComparisons.from_frame(frame, a, b, reading.times[0], weights=weights)
    else:
        data = PairedComparisons.from_frame(frame, a, b)
    ignored = f"; columns not used: {shorten(unused)}" if unused else ""
    return data, f"{reading}: {data}{ignored}"


def _refuse_ties(frame: pd.DataFrame) -> None:
    """How a tie counts is the user's decision, so a table that holds some is an error."""
    for name in frame.columns:
        if _plain(name) in TIES:
            values = frame[name]
            told = (values.notna() & (pd.to_numeric(values, errors="coerce") != 0)).to_numpy()
            if told.any():
                raise DataError(
                    f"Column {name!r} tells of ties, first in row {frame.index[told.argmax()]}; what becomes "
                    "of them is for you to decide: remove the column to leave them out, or give each option "
                    "half of them as weights."
                )


def _labelled_square(frame: pd.DataFrame) -> tuple[np.ndarray, tuple[str, ...]] | None:
    """Counts and labels of a square table whose first column repeats the labels of the header."""
    header = list(frame.columns)
    numbered = pd.api.types.is_numeric_dtype(frame.dtypes.iloc[0])  # then "1.0" in the header is 1 beside it
    header = [as_label(_number(name)) if numbered else as_label(name) for name in header]
    rows = [as_label(value) for value in frame.iloc[:, 0]]
    shared = len(set(rows) & set(header[1:]))
    if 2 * shared <= max(len(rows), len(header) - 1):
        return None
    own = checked_labels(header[1:], "Labels in the header")
    place = {name: k for k, name in enumerate(checked_labels(rows, "Labels in the first column"))}
    if set(place) != set(own):
        raise DataError(mismatch(place, own))
    return frame.iloc[[place[name] for name in own], 1:].to_numpy(), own


def _number(name: str) -> float | str:
    try:
        return float(name.replace(",", "."))
    except ValueError:
        return name


def _square(counts: np.ndarray, labels, weights: bool) -> tuple[PairedComparisons, str]:
    data = PairedComparisons(counts, labels, weights=weights)
    return data, f"square count matrix, row over column: {data}"
