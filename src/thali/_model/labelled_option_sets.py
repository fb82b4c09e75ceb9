"""Option indices of pairs and larger sets that users name by labels."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.choices import Choices
from thali._labels import format_label, has_repeats, index_labels, shorten
from thali.errors import ArgumentError

if TYPE_CHECKING:
    import pandas


def is_best_worst(sets: Any) -> bool:
    """Return whether `sets` is a `Choices` object with worst options."""
    return isinstance(sets, Choices) and sets.worst is not None


def split_pairs(option_indices: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    """Return the first and the second index of each pair, shape (2, pairs)."""
    return np.array(option_indices, np.int64).reshape(-1, 2).T


def pair_indices(pairs: Any, labels: list[str], has_ties: bool) -> np.ndarray:
    """Return option indices of labelled pairs, shape (2, pairs); raise if ties are not modelled."""
    if not has_ties:
        raise ArgumentError(
            "The model does not include ties (none in the data, or not modelled); use"
            " predict_proba for the probabilities of the two options."
        )
    option_indices, is_pairs = set_indices(pairs, labels)
    if not is_pairs:
        raise ArgumentError(
            "Ties require comparisons of two options; give pairs of labels, [(a, b), ...]."
        )
    return split_pairs(option_indices)


def tabulate_outcomes(
    labels: list[str],
    first_options: Sequence[int] | np.ndarray,
    second_options: Sequence[int] | np.ndarray,
    p: np.ndarray,
) -> "pandas.DataFrame":
    """Tabulate P(a chosen), P(tie), P(b chosen), one row per pair.

    `p` has shape (pairs, 3).
    """

    from thali._exportable_table import Table

    columns = {"a": [labels[k] for k in first_options], "b": [labels[k] for k in second_options]}
    return Table(columns | dict(zip(("p_a", "p_tie", "p_b"), p.T, strict=True)))


def set_indices(sets: Any, labels: list[str]) -> tuple[list[np.ndarray], bool]:
    """Return option indices of each labelled set, and whether the sets are a list of pairs."""
    if isinstance(sets, Choices):
        return _find_label_indices(sets.sets, labels), False
    index_arrays = _find_label_indices(sets, labels)
    return index_arrays, all(len(indices) == 2 for indices in index_arrays)


def _find_label_indices(sets: Any, labels: list[str]) -> list[np.ndarray]:
    """Return option indices of the labels of each set; raise for unknown or repeated labels."""
    index_of_label = index_labels(labels)
    if not isinstance(sets, Iterable):
        raise ArgumentError(
            "Options must be a list of pairs of labels, such as [(a, b), ...], a list of larger"
            f" sets, or a Choices object; got {type(sets).__name__}."
        )
    index_arrays = []
    for entry_number, entry in enumerate(sets):
        if isinstance(entry, tuple | list | np.ndarray):
            entry_labels = [format_label(label) for label in entry]
        else:
            entry_labels = [str(entry)]
        if len(entry_labels) < 2:
            raise ArgumentError(
                f"Entry {entry_number} is {entry!r}, but must be a pair of labels, such as (a, b),"
                " or a larger set."
            )
        for option_label in entry_labels:
            if option_label not in index_of_label:
                options_text = shorten(labels, 10)
                raise ArgumentError(
                    f"Entry {entry_number} of the list contains {option_label!r}, which is not one"
                    f" of the options in the data ({options_text})."
                )
        if has_repeats(entry_labels):
            repeated_label = next(
                option_label
                for k, option_label in enumerate(entry_labels)
                if option_label in entry_labels[:k]
            )
            if len(entry_labels) == 2:
                problem_text = f"compares {repeated_label!r} with itself"
            else:
                problem_text = f"contains {repeated_label!r} twice"
            raise ArgumentError(f"Entry {entry_number} {problem_text}; name each option only once.")
        index_arrays.append(
            np.array([index_of_label[option_label] for option_label in entry_labels], np.int64)
        )
    return index_arrays
