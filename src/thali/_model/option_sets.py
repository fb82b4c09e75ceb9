"""Option indices of pairs and larger sets that users name by labels."""

from collections.abc import Iterable
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


def split_pairs(option_indices: Any) -> np.ndarray:
    """Return the first and the second index of each pair, shape (2, pairs)."""
    return np.array(option_indices, np.int64).reshape(-1, 2).T


def pair_indices(pairs: Any, labels: list[str], has_ties: bool) -> np.ndarray:
    """Return option indices of labelled pairs, shape (2, pairs); raise without a model of ties."""
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
    labels: list[str], first: Any, second: Any, p: np.ndarray
) -> "pandas.DataFrame":
    """Tabulate P(a chosen), P(tie), P(b chosen), one row per pair.

    `p` has shape (pairs, 3).
    """

    from thali._exportable_table import Table

    columns = {"a": [labels[k] for k in first], "b": [labels[k] for k in second]}
    return Table(columns | dict(zip(("p_a", "p_tie", "p_b"), p.T, strict=True)))


def set_indices(sets: Any, labels: list[str]) -> tuple[list[np.ndarray], bool]:
    """Return option indices of each labelled set, and whether all are pairs in a list."""
    if isinstance(sets, Choices):
        return _label_indices(sets.sets, labels), False
    index_arrays = _label_indices(sets, labels)
    return index_arrays, all(len(indices) == 2 for indices in index_arrays)


def _label_indices(sets: Any, labels: list[str]) -> list[np.ndarray]:
    """Return option indices of the labels of each set; raise for unknown or repeated labels."""
    index_of_label = index_labels(labels)
    if not isinstance(sets, Iterable):
        raise ArgumentError(
            "Options must be pairs of labels, [(a, b), ...], larger sets, or Choices; got"
            f" {type(sets).__name__}."
        )
    index_arrays = []
    for number, entry in enumerate(sets):
        if isinstance(entry, tuple | list | np.ndarray):
            names = [format_label(label) for label in entry]
        else:
            names = [str(entry)]
        if len(names) < 2:
            raise ArgumentError(
                f"Entry {number} is {entry!r}; give pairs of labels, (a, b), or larger sets."
            )
        for name in names:
            if name not in index_of_label:
                options = shorten(labels, 10)
                raise ArgumentError(
                    f"Entry {number} contains {name!r}, which is not an option of the data; the"
                    f" options are {options}."
                )
        if has_repeats(names):
            repeated_name = next(name for k, name in enumerate(names) if name in names[:k])
            if len(names) == 2:
                problem = f"compares {repeated_name!r} with itself"
            else:
                problem = f"contains {repeated_name!r} twice"
            raise ArgumentError(f"Entry {number} {problem}; give different options.")
        index_arrays.append(np.array([index_of_label[name] for name in names], np.int64))
    return index_arrays
