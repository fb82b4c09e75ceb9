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
        is_different = first_root != second_root
        if not is_different.any():
            break
        first_indices = first_indices[is_different]
        second_indices = second_indices[is_different]
        first_root = first_root[is_different]
        second_root = second_root[is_different]
        np.minimum.at(
            root, np.maximum(first_root, second_root), np.minimum(first_root, second_root)
        )
        while (root[root] != root).any():
            root = root[root]
    component_roots, component = np.unique(root, return_inverse=True)
    return len(component_roots), component


def list_components(
    labels: Sequence[str], first_indices: np.ndarray, second_indices: np.ndarray
) -> list[list[str]]:
    """Return the labels of each connected component, the largest first.

    Labels in no pair are groups of one.
    """
    labels_by_component: dict[int, list[str]] = {}
    component_numbers = number_components(len(labels), first_indices, second_indices)[1].tolist()
    for label, component_number in zip(labels, component_numbers, strict=True):
        labels_by_component.setdefault(component_number, []).append(label)
    return sorted(labels_by_component.values(), key=len, reverse=True)


def describe_disconnected(groups: list[list[str]], never_compared: list[str]) -> str:
    """Return a sentence on options that no comparison chain connects; "" if none."""
    sentences = []
    if sentence := describe_groups("options", groups, "compared with each other"):
        sentences.append(f"{sentence} How these groups compare depends only on the prior.")
    if never_compared:
        was = choose_number(len(never_compared), "was", "were")
        it = choose_number(len(never_compared), "it", "them")
        sentences.append(
            f"{shorten(never_compared)} {was} never compared: predictions for {it} depend"
            " only on the prior."
        )
    return " ".join(sentences)


def describe_groups(noun: str, groups: list[list[str]], relation: str) -> str:
    """Return a sentence on option groups that `relation` does not connect; "" if one group."""
    large_groups = [group for group in groups if len(group) > 1]
    if len(large_groups) < 2:
        return ""
    group_texts = list_names([f"({shorten(group)})" for group in large_groups], 5)
    return (
        f"The {noun} form {len(large_groups):,} groups that were never {relation}, {group_texts}."
    )


def _is_first_connected(n_options: int, start_options: np.ndarray, end_options: np.ndarray) -> bool:
    """Return whether directed chains lead from option 0 to every other option."""
    is_reached = np.arange(n_options) == 0
    n_reached = 0
    while is_reached.sum() > n_reached:
        n_reached = is_reached.sum()
        is_reached[end_options[is_reached[start_options]]] = True
    return bool(is_reached.all())


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

    win_matrix = coo_array(
        (np.ones(len(winner)), (winner, loser)), shape=(len(labels), len(labels))
    )
    n_groups, group_of_option = connected_components(win_matrix, directed=True, connection="strong")
    # find a group that no option outside beats, or that beats no option outside
    is_between_groups = group_of_option[winner] != group_of_option[loser]
    for group_number in range(n_groups):
        has_lost_outside = (is_between_groups & (group_of_option[loser] == group_number)).any()
        has_won_outside = (is_between_groups & (group_of_option[winner] == group_number)).any()
        if not (has_lost_outside and has_won_outside):
            group_labels = [labels[k] for k in np.flatnonzero(group_of_option == group_number)]
            relation = "never compared"
            if has_won_outside:
                relation = "always chosen in comparisons"
            elif has_lost_outside:
                relation = "never chosen in comparisons"
            raise DataError(
                f"No finite estimate exists, because {shorten(group_labels)}"
                f" {choose_number(len(group_labels), 'was', 'were')} {relation} with the other"
                " options. ",
                InPython("Use `subset` to leave", "Leave"),
                " out options that cannot be estimated, or ",
                *alternative_fix,
            )
