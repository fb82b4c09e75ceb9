"""Pairs and larger sets of options whose choice probabilities are asked for."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.choices import Choices
from thali._labels import as_label, positions, shorten
from thali.errors import ArgumentError

if TYPE_CHECKING:
    import pandas


def has_answers(sets: Any) -> bool:
    """Whether best and worst of the sets are wanted."""
    return isinstance(sets, Choices) and sets.worst is not None


def tied_places(pairs: Any, labels: list[str], has_ties: bool) -> np.ndarray:
    """The positions of the labels of pairs, array (2, pairs), for a model that knows ties."""
    if not has_ties:
        raise ArgumentError(
            "The model does not include ties (none in the data, or not modelled); use"
            " predict_proba for the probabilities of the two options."
        )
    places, paired = places_of(pairs, labels)
    if not paired:
        raise ArgumentError(
            "Ties require comparisons of two options; give pairs of labels, [(a, b), ...]."
        )
    return np.array(places, np.int64).reshape(-1, 2).T


def table_of_outcomes(
    labels: list[str], first: Any, second: Any, found: np.ndarray
) -> "pandas.DataFrame":
    """A row a pair: a, b, and the probabilities (pairs, outcomes) as p_a, p_tie, p_b."""

    from thali._tables import Table

    named = {"a": [labels[k] for k in first], "b": [labels[k] for k in second]}
    return Table(named | dict(zip(("p_a", "p_tie", "p_b"), found.T, strict=True)))


def places_of(sets: Any, labels: list[str]) -> tuple[list[np.ndarray], bool]:
    """The positions of the labels of sets, and whether they were given as a list of pairs."""
    if isinstance(sets, Choices):
        return _positions(sets.sets, labels), False
    places = _positions(sets, labels)
    return places, all(len(each) == 2 for each in places)


def _positions(sets: Any, labels: list[str]) -> list[np.ndarray]:
    where = positions(labels)
    if not isinstance(sets, Iterable):
        raise ArgumentError(
            "Options must be pairs of labels, [(a, b), ...], larger sets, or Choices; got"
            f" {type(sets).__name__}."
        )
    found = []
    for number, entry in enumerate(sets):
        names = (
            [as_label(each) for each in entry]
            if isinstance(entry, tuple | list | np.ndarray)
            else [str(entry)]
        )
        if len(names) < 2:
            raise ArgumentError(
                f"Entry {number} is {entry!r}; give pairs of labels, (a, b), or larger sets."
            )
        for name in names:
            if name not in where:
                known = shorten(labels, 10)
                raise ArgumentError(
                    f"Entry {number} contains {name!r}, which is not an option of the data; the"
                    f" options are {known}."
                )
        if len(set(names)) < len(names):
            double = next(name for k, name in enumerate(names) if name in names[:k])
            what = (
                f"compares {double!r} with itself"
                if len(names) == 2
                else f"contains {double!r} twice"
            )
            raise ArgumentError(f"Entry {number} {what}; give different options.")
        found.append(np.array([where[name] for name in names], np.int64))
    return found
