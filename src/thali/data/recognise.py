"""Which layout of paired comparisons a table has: a square of counts, or a list of choices or of pairs."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from thali.data.cells import MISSING
from thali.data.check import as_label, shorten
from thali.data.columns import count_column
from thali.data.layouts import is_bare_square, labelled_square, refuse_other_labels
from thali.data.names import COUNTS, OPTION, SIDES, TIES, WEIGHTS, by_plain_name, plain
from thali.data.pairs import PairedComparisons
from thali.data.suspicious import percentages, warn_of
from thali.errors import DataError

# Names are compared as names.plain makes them.
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
    if (labelled := labelled_square(frame)) is not None:
        return _square(*labelled, weights)
    found = readings(list(frame.columns))
    if is_bare_square(frame) and (not found or not _diagonal_told(frame)):
        return _square(frame.to_numpy(), frame.columns, weights)
    if len(found) > 1:
        several = "; or ".join(str(reading) for reading in found)
        raise DataError(
            f"The columns can be read in several ways: {several}. Remove or rename those that are not meant."
        )
    if found:
        return _listed(frame, found[0], weights)
    refuse_other_labels(frame)
    raise DataError(f"The columns {shorten(list(frame.columns), 12)} are not paired comparisons; {EXPECTED}.")


def _diagonal_told(frame: pd.DataFrame) -> bool:
    """Whether a number other than 0 stands on the diagonal."""
    return any(as_label(value) not in MISSING | {"0"} for value in np.diag(frame.to_numpy(dtype=object)))


def readings(names: list[str]) -> list[Reading]:
    """All ways to read these columns as a list; those with times for both sides outdo those without."""
    own = by_plain_name(names)

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
    weights = weights or any(plain(name) in WEIGHTS for name in reading.times)
    used = {*reading.options, *reading.times}
    unused = [name for name in frame.columns if name not in used and not name.startswith("column ")]
    read = frame.loc[:, [a, b, *reading.times]]
    if len(reading.times) == 2:
        for name in reading.times:
            count_column(frame, name, weights)  # so that an error names the file's own column
        both = [
            pd.DataFrame({a: frame[won], b: frame[lost], "times": frame[times]})
            for won, lost, times in zip((a, b), (b, a), reading.times, strict=True)
        ]
        data = PairedComparisons.from_frame(pd.concat(both), a, b, "times", weights=weights)
    elif reading.times:
        data = PairedComparisons.from_frame(read, a, b, reading.times[0], weights=weights)
    else:
        data = PairedComparisons.from_frame(read, a, b)
    ignored = f"; columns not used: {shorten(unused)}" if unused else ""
    return data, f"{reading}: {data}{ignored}"


def _refuse_ties(frame: pd.DataFrame) -> None:
    """How a tie counts is the user's decision, so a table that holds some is an error."""
    for name in frame.columns:
        if plain(name) in (*TIES, "tij"):
            values = frame[name]
            told = (values.notna() & (pd.to_numeric(values, errors="coerce") != 0)).to_numpy()
            if told.any():
                raise DataError(
                    f"Column {name!r} tells of ties, first in row {frame.index[told.argmax()]}; what becomes "
                    "of them is for you to decide: remove the column to leave them out, or give each option "
                    "half of them as weights."
                )


def _square(counts: np.ndarray, labels, weights: bool) -> tuple[PairedComparisons, str]:
    data = PairedComparisons(counts, labels, weights=weights)
    warn_of(percentages(data.wins, data.losses))
    return data, f"square count matrix, row over column: {data}"
