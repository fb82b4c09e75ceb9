"""Which columns of a list of comparisons hold the options, and which how often each was chosen."""

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali._labels import shorten
from thali.errors import DataError

from ..columns import describe_columns
from ..described_columns import find_side_columns
from ..roles import (
    CHOSEN_REJECTED,
    COUNT,
    ODD,
    PLACES,
    RESPONDENT,
    SIDES,
    TIES,
    WEIGHTS,
    WINS_LOSSES,
    map_plain_names,
    simplify_name,
)

if TYPE_CHECKING:
    import pandas as pd

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
_NEUTRAL = (
    ("row", "col"),
    ("row", "column"),
    ("player", "opponent"),
    ("team", "opponent"),
    ("option", "other"),
)
_NEUTRAL += (("item", "other"),)

SHARES = (
    "percent",
    "pct",
    "proportion",
    "share",
    "probability",
    "anteil",
    "prozent",
    "pourcent",
    "porcent",
)


class PairColumns(NamedTuple):
    """Which columns hold the options, and which how often each was chosen."""

    options: tuple[str, str]
    # none: each row is one choice; one: of the first over the second; two: of each
    times: tuple[str, ...]
    ties: str | None = None
    respondent: str | None = None
    # whether the names of the options' columns say which was on the left, or at home
    in_order: bool = False

    def __str__(self) -> str:
        a, b = self.options
        if len(self.times) == 2:
            over, under = self.times
            how = f"table of pairs, {a!r} over {b!r} counted in {over!r}, the reverse in {under!r}"
        else:
            how = f"long table, {a!r} chosen over {b!r}, "
            how += f"counts in {self.times[0]!r}" if self.times else "one comparison per row"
        how += f", ties in {self.ties!r}" if self.ties is not None else ""
        return how + describe_columns(None, self.respondent)

    @property
    def used(self) -> set[str | None]:
        """All of them."""
        return {*self.options, *self.times, self.ties, self.respondent}

    @property
    def weighted(self) -> bool:
        """Whether the counts may be fractional by their name."""
        return any(simplify_name(name) in WEIGHTS for name in self.times)


def choice_columns(names: list[str], taken: Collection[str | None] = ()) -> list[PairColumns]:
    """All ways to read these columns as a list; those with times for both sides outdo those
    without.

    `taken`: columns of which it is known what they hold.
    """
    own = map_plain_names(names)

    def there(*plain: str) -> bool:
        return all(each in own for each in plain)

    respondent = respondent_column(names, taken)
    ties = ties_column(names)
    sides = find_side_columns(names)
    twos = [
        (
            each.columns,
            [(t.format(*each.side), t.format(*each.side[::-1])) for t in TIMES],
            each.side[0] in PLACES,
        )
        for each in sides
    ]
    twos += [((own[a], own[b]), [], False) for a, b in _NEUTRAL if there(a, b)]
    two_sided = [
        PairColumns(options, (own[times], own[other]), ties, respondent, in_order)
        for options, counted, in_order in twos
        for times, other in (*counted, *WINS_LOSSES)
        if there(times, other) and not {own[times], own[other]} & set(options)
    ]
    two_sided = [each for each in two_sided if simplify_name(each.options[0]) not in _counting(sides)]
    if two_sided:
        return two_sided
    # with its accent: without it numbers the rows
    counts = [
        (count,)
        for count in (
            *COUNT.each(own, taken),
            *(name for name in names if name.casefold() == "número"),
        )
    ]
    counts = counts or [()]
    return [
        PairColumns((own[chosen], own[rejected]), times, ties, respondent)
        for chosen, rejected in CHOSEN_REJECTED
        # a triplet
        if there(chosen, rejected) and not (chosen == "i" and {"k", *ODD.sure} & own.keys())
        for times in counts
    ]


def _counting(sides: list) -> set[str]:
    """The plain names of columns that count, of all that come in twos."""
    side = {each.side for each in sides} | set(SIDES)
    return {spelled.format(*each) for each in side for spelled in TIMES} | {
        name for two in WINS_LOSSES for name in two
    }


def respondent_column(names: list[str], taken: Collection[str | None]) -> str | None:
    """The column that says who answered, None if there is none; one called "id" may number the
    rows."""
    return next(RESPONDENT.surely(map_plain_names(names), taken), None)


def uncounted(frame: "pd.DataFrame", columns: PairColumns) -> np.ndarray:
    """The rows of a table of pairs that hold no count at all: those two were not compared."""
    if len(columns.times) < 2:
        return np.zeros(len(frame), bool)
    counting = [*columns.times, *([columns.ties] if columns.ties is not None else [])]
    return frame.loc[:, counting].isna().all(axis=1).to_numpy()


def ties_column(names: list[str]) -> str | None:
    """The column that says how often neither was chosen, None if there is none."""
    found = [name for name in names if simplify_name(name) in (*TIES.sure, "tij")]
    if len(found) > 1:
        raise DataError(
            f"Several columns seem to contain ties: {shorten(found)}; remove or rename all but one."
        )
    return found[0] if found else None


def the_columns(names: list[str], taken: Collection[str | None]) -> PairColumns:
    """The one way to read these columns as a list."""
    found = choice_columns(names, taken)
    if len(found) > 1:
        several = "; or ".join(map(str, found))
        raise DataError(
            f"The columns can be read in several ways: {several}. Remove or rename the columns"
            " that cause the wrong reading."
        )
    if not found:
        raise DataError(
            f"The columns {shorten(names, 12)} do not show which option was chosen and which"
            " rejected; name them with `chosen` and `rejected`."
        )
    return found[0]


def lacking(names: list[str]) -> tuple[str, str, int] | None:
    """The column that is missing beside one of a pair, in words, its role, and how near the list
    is; None: not near."""
    own = map_plain_names(names)
    if lone := _lone_count(names, own):
        return lone, "", 4
    for pair in CHOSEN_REJECTED[:-1]:  # a column called i or j says little
        for role, (here, missing) in (("rejected", pair), ("chosen", pair[::-1])):
            if here in own and missing not in own and not (here == "chosen" or here == "preferred"):
                return f"a column {missing!r} to match {own[here]!r}", role, 1
    return None


def _lone_count(names: list[str], own: dict[str, str]) -> str | None:
    """What is missing beside two columns of options and one that counts, or shares out, the choices
    of one side."""
    sides = find_side_columns(names)
    twos = [
        (each.columns, each.side)
        for each in sides
        if simplify_name(each.columns[0]) not in _counting(sides)
    ]
    twos += [((own[a], own[b]), (a, b)) for a, b in _NEUTRAL if a in own and b in own]
    for (a, b), side in twos:
        shares = [
            name
            for name in names
            if any(word in simplify_name(name) for word in SHARES) and name not in (a, b)
        ]
        if shares:
            return (
                f"two columns, such as 'wins' and 'losses', that count how often {a!r} and how"
                f" often {b!r} was chosen (not {shares[0]!r})"
            )
        times = [(spelled.format(*side), spelled.format(*side[::-1])) for spelled in TIMES] + [
            *WINS_LOSSES
        ]
        for here, other in (*times, *(two[::-1] for two in times)):
            if here in own and other not in own and own[here] not in (a, b):
                behind = b if here in [first for first, _ in times] else a
                return (
                    f"a column to match {own[here]!r} that counts how often {behind!r} was chosen"
                )
    return None
