"""Which options are connected by chains of comparisons or of wins, and the sentences for those that
are not."""

from collections.abc import Sequence

import numpy as np

from thali._labels import listed, shorten
from thali.errors import DataError, InPython


def group_numbers(n_options: int, first: np.ndarray, second: np.ndarray) -> tuple[int, np.ndarray]:
    """The number of connected groups, and the group of each option; groups are in the order of
    their first options.

    SciPy's function for this takes a fifth of a second to load, which every fit would wait for.
    """
    # an option of the same group with a lower number, or the option itself
    root = np.arange(n_options)
    while True:
        one, other = root[first], root[second]
        differ = one != other
        if not differ.any():
            break
        first, second, one, other = first[differ], second[differ], one[differ], other[differ]
        np.minimum.at(root, np.maximum(one, other), np.minimum(one, other))
        while (root[root] != root).any():
            root = root[root]
    found, group = np.unique(root, return_inverse=True)
    return len(found), group


def connected(labels: Sequence[str], first: np.ndarray, second: np.ndarray) -> list[list[str]]:
    """The labels that pairs connect, the largest group first; labels in no pair are groups of
    one."""
    groups: dict[int, list[str]] = {}
    for label, number in zip(
        labels, group_numbers(len(labels), first, second)[1].tolist(), strict=True
    ):
        groups.setdefault(number, []).append(label)
    return sorted(groups.values(), key=len, reverse=True)


def disconnected(groups: list[list[str]], never_compared: list[str]) -> str:
    """What to tell of options that no chain of comparisons connects; "" when all are connected."""
    sentences = []
    if found := parted("options", groups, "compared with each other"):
        sentences.append(
            f"{found} Predictions of choices between these groups depend only on the prior."
        )
    if never_compared:
        was, them = ("was", "it") if len(never_compared) == 1 else ("were", "them")
        sentences.append(
            f"{shorten(never_compared)} {was} never compared: predictions for {them} depend only"
            " on the prior."
        )
    return " ".join(sentences)


def parted(what: str, groups: list[list[str]], how: str) -> str:
    """Which groups of two and more were never brought together; "" if there is one."""
    large = [group for group in groups if len(group) > 1]
    if len(large) < 2:
        return ""
    names = listed([f"({shorten(group)})" for group in large], 5)
    return f"The {what} form {len(large):,} groups that were never {how}, {names}."


def _reaches_all(n_options: int, start: np.ndarray, end: np.ndarray) -> bool:
    """Whether arrows lead from the first option to every other one."""
    reached = np.arange(n_options) == 0
    count = 0
    while reached.sum() > count:
        count = reached.sum()
        reached[end[reached[start]]] = True
    return bool(reached.all())


_BY_MCMC = (
    "use EliminationByAspects('unique') with method='mcmc', whose prior keeps estimates finite.",
)


def check_finite(
    labels: tuple[str, ...],
    winner: np.ndarray,
    loser: np.ndarray,
    instead: tuple[object, ...] = _BY_MCMC,
) -> None:
    """Raise a DataError unless chains of wins lead from every option to every other one (Ford
    1957).

    Else some scale values lie at infinity, or have no common scale; `instead` says what else can be
    done.
    """
    if _reaches_all(len(labels), winner, loser) and _reaches_all(len(labels), loser, winner):
        return
    from scipy.sparse import coo_array  # slow to load, and only needed to name the options
    from scipy.sparse.csgraph import connected_components

    wins = coo_array((np.ones(len(winner)), (winner, loser)), shape=(len(labels), len(labels)))
    count, group = connected_components(wins, directed=True, connection="strong")
    # A group that nobody outside of it beats, or that beats nobody.
    crossing = group[winner] != group[loser]
    for number in range(count):
        beaten = (crossing & (group[loser] == number)).any()
        beats = (crossing & (group[winner] == number)).any()
        if not (beaten and beats):
            names = [label for label, own in zip(labels, group, strict=True) if own == number]
            was = (
                "chosen over, or rejected for,"
                if not (beaten or beats)
                else "rejected for"
                if beats
                else "chosen over"
            )
            raise DataError(
                f"No finite estimate exists, because some options were never {was} any other:"
                f" {shorten(names)}. Remove such options",
                InPython(" with `subset`"),
                ", or ",
                *instead,
            )
