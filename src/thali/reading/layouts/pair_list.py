"""Paired comparisons as a list: a winner and a loser a row, or a pair a row with the times each was chosen."""

from typing import NamedTuple

import pandas as pd

from thali._labels import shorten
from thali.data.column_names import COUNTS, OPTION, SIDES, TIES, WEIGHTS, by_plain_name, plain
from thali.data.columns import count_column
from thali.data.kinds import PAIRS
from thali.data.pairs import PairedComparisons
from thali.data.similar_pairs import tells_similarities
from thali.errors import DataError

from ..layout import Layout, Reading
from ..table import Table

NAME = "list of comparisons"

# Names are compared as column_names.plain makes them.
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


class PairColumns(NamedTuple):
    """Which columns hold the options, and which how often each was chosen."""

    options: tuple[str, str]
    times: tuple[str, ...]  # none: each row is one choice; one: of the first over the second; two: of each

    def __str__(self) -> str:
        a, b = self.options
        if len(self.times) == 2:
            over, under = self.times
            return f"table of pairs, {a!r} over {b!r} counted by {over!r}, the reverse by {under!r}"
        how = f"counted by {self.times[0]!r}" if self.times else "one comparison a row"
        return f"long table, {a!r} chosen over {b!r}, {how}"


def match(table: Table, weights: bool = False) -> Reading | None:
    """A table whose columns have the names of such a list; `weights`: fractional counts are meant."""
    found = choice_columns(table.names) if table.named else []
    both_ways = any(len(columns.times) == 2 for columns in found)
    if not found or (not both_ways and tells_similarities(table.names, vaguely=False)):
        return None
    # squares come first: among the options of one may be I, J and N, which would also make a list
    if table.square is not None and not (table.square.bare and table.square.has_diagonal):
        return None
    how = "; or ".join(map(str, found))
    return Reading(PAIRS, NAME, how, table, lambda: _converted(table.frame, found, weights))


def choice_columns(names: list[str]) -> list[PairColumns]:
    """All ways to read these columns as a list; those with times for both sides outdo those without."""
    own = by_plain_name(names)

    def there(*plain: str) -> bool:
        return all(each in own for each in plain)

    two_sided = [
        PairColumns((own[a], own[b]), (own[times_a], own[times_b]))
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
        PairColumns((own[chosen], own[rejected]), times)
        for chosen, rejected in CHOSEN_REJECTED
        if there(chosen, rejected)
        for times in counts
    ]


def _converted(frame: pd.DataFrame, found: list[PairColumns], weights: bool) -> tuple[PairedComparisons, str]:
    """The comparisons in a list, and how it was read."""
    if len(found) > 1:
        several = "; or ".join(map(str, found))
        raise DataError(
            f"The columns can be read in several ways: {several}. Remove or rename those that are not meant."
        )
    columns = found[0]
    a, b = columns.options
    weights = weights or any(plain(name) in WEIGHTS for name in columns.times)
    ties = _ties(frame, columns)
    used = {*columns.options, *columns.times, ties}
    unused = [name for name in frame.columns if name not in used and not name.startswith("column ")]
    tied = [] if ties is None else [ties]
    read = frame.loc[:, [a, b, *columns.times, *tied]]
    if len(columns.times) == 2:
        for name in columns.times:
            count_column(frame, name, weights)  # so that an error names the file's own column
        both = [
            pd.DataFrame({a: frame[won], b: frame[lost], "times": frame[times], **of_both})
            for won, lost, times, of_both in zip(
                (a, b),
                (b, a),
                columns.times,
                ({name: frame[name] for name in tied}, dict.fromkeys(tied, 0)),
                strict=True,
            )
        ]
        data = PairedComparisons.from_frame(pd.concat(both), a, b, "times", ties=ties, weights=weights)
    else:
        count = columns.times[0] if columns.times else None
        data = PairedComparisons.from_frame(read, a, b, count, ties=ties, weights=weights)
    ignored = f"; columns not used: {shorten(unused)}" if unused else ""
    counted = f", ties by {ties!r}" if ties is not None else ""
    return data, f"{columns}{counted}: {data}{ignored}"


def _ties(frame: pd.DataFrame, columns: PairColumns) -> str | None:
    """The column that says how often neither was chosen, None if there is none or it is empty."""
    found = [name for name in frame.columns if plain(name) in (*TIES, "tij")]
    if len(found) > 1:
        raise DataError(f"Columns {shorten(found)} seem to hold ties, all of them; remove or rename all but one.")
    return found[0] if found and frame[found[0]].notna().to_numpy().any() else None


def lacks(table: Table) -> str:
    """The column that is missing beside one of a pair."""
    own = by_plain_name(table.names)
    for pair in CHOSEN_REJECTED[:-1]:  # a column called i or j says little
        for here, missing in (pair, pair[::-1]):
            if here in own and missing not in own:
                return f"a column {missing!r} beside {own[here]!r}"
    return ""


LAYOUT = Layout(
    NAME,
    PAIRS,
    match,
    expected=(
        "the columns 'chosen' and 'rejected' (or winner and loser, preferred and other, i and j) and, if rows "
        "stand for several comparisons, 'count' (or n, freq, times, weight), or the columns 'a', 'b', 'a_over_b' "
        "and 'b_over_a' (or item1, item2, wins1, wins2)"
    ),
    options=("weights",),
    lacks=lacks,
)
