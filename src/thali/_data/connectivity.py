"""Connectivity of options by comparisons, and sentences about it."""

from collections.abc import Sequence

import numpy as np

from thali._labels import choose_number, list_names, shorten
from thali.errors import DataError, InPython


def number_components(
    n_options: int, first_indices: np.ndarray, second_indices: np.ndarray
) -> tuple[int, np.ndarray]:
    """Return the number of connected components, and that of each option.

    Groups are in the order of their first options. SciPy's function for this takes 0.2 s to load,
    which every fit would wait for.
    """
    # root[i] is an option of the same group with a lower number, or i itself
    root = np.arange(n_options)
    while True:
        first_root = root[first_indices]
        second_root = root[second_indices]
        differ = first_root != second_root
        if not differ.any():
            break
        first_indices, second_indices, first_root, second_root = (
            first_indices[differ],
            second_indices[differ],
            first_root[differ],
            second_root[differ],
        )
        np.minimum.at(
            root, np.maximum(first_root, second_root), np.minimum(first_root, second_root)
        )
        while (root[root] != root).any():
            root = root[root]
    group_roots, group = np.unique(root, return_inverse=True)
    return len(group_roots), group


def list_components(
    labels: Sequence[str], first_indices: np.ndarray, second_indices: np.ndarray
) -> list[list[str]]:
    """Return the labels of each connected component, the largest first.

    Labels in no pair are groups of one.
    """
    groups: dict[int, list[str]] = {}
    numbers = number_components(len(labels), first_indices, second_indices)[1].tolist()
    for label, number in zip(labels, numbers, strict=True):
        groups.setdefault(number, []).append(label)
    return sorted(groups.values(), key=len, reverse=True)


def describe_disconnected(groups: list[list[str]], never_compared: list[str]) -> str:
    """Return a sentence on options that no comparison chain connects; "" if none."""
    sentences = []
    if sentence := describe_groups("options", groups, "compared with each other"):
        sentences.append(
            f"{sentence} Predictions of choices between these groups depend only on the prior."
        )
    if never_compared:
        was = choose_number(len(never_compared), "was", "were")
        it = choose_number(len(never_compared), "it", "them")
        sentences.append(
            f"{shorten(never_compared)} {was} never compared: predictions for {it} depend"
            " only on the prior."
        )
    return " ".join(sentences)


def describe_groups(noun: str, groups: list[list[str]], relation: str) -> str:
    """Return a sentence on groups between which there is no `relation`; "" if one group."""
    large = [group for group in groups if len(group) > 1]
    if len(large) < 2:
        return ""
    names = list_names([f"({shorten(group)})" for group in large], 5)
    return f"The {noun} form {len(large):,} groups that were never {relation}, {names}."


def _is_first_connected(n_options: int, start: np.ndarray, end: np.ndarray) -> bool:
    """Return whether directed chains lead from option 0 to every other option."""
    reached = np.arange(n_options) == 0
    count = 0
    while reached.sum() > count:
        count = reached.sum()
        reached[end[reached[start]]] = True
    return bool(reached.all())


_USE_MCMC = (
    "use EliminationByAspects('unique') with method='mcmc', whose prior keeps estimates finite.",
)


def check_finite(
    labels: tuple[str, ...],
    winner: np.ndarray,
    loser: np.ndarray,
    alternative_fix: tuple[object, ...] = _USE_MCMC,
) -> None:
    """Raise DataError unless chains of wins lead from every option to every other.

    Otherwise some estimated scale values are infinite or have no common scale (Ford 1957).
    `alternative_fix` lists another solution for the error.
    """
    if _is_first_connected(len(labels), winner, loser) and _is_first_connected(
        len(labels), loser, winner
    ):
        return
    from scipy.sparse import coo_array  # slow to load, and only needed to name the options
    from scipy.sparse.csgraph import connected_components

    wins = coo_array((np.ones(len(winner)), (winner, loser)), shape=(len(labels), len(labels)))
    count, group = connected_components(wins, directed=True, connection="strong")
    # find a group that no option outside beats, or that beats no option outside
    crossing = group[winner] != group[loser]
    for number in range(count):
        beaten = (crossing & (group[loser] == number)).any()
        beats = (crossing & (group[winner] == number)).any()
        if not (beaten and beats):
            names = [labels[k] for k in np.flatnonzero(group == number)]
            was = "chosen over, or rejected for,"
            if beats:
                was = "rejected for"
            elif beaten:
                was = "chosen over"
            raise DataError(
                f"No finite estimate exists, because some options were never {was} any other:"
                f" {shorten(names)}. Remove such options",
                InPython(" with `subset`"),
                ", or ",
                *alternative_fix,
            )
