"""Posterior mean choice probabilities of whatever sets a user asks for."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from thali.data.check import as_label
from thali.data.choices import Choices
from thali.errors import ArgumentError
from thali.posterior.columns import Columns
from thali.posterior.probabilities import mean_probabilities


def predicted(columns: Columns, labels: list[str], sets: Any, lapse: float) -> "np.ndarray | list[np.ndarray]":
    """Of pairs alone the probability of the first; otherwise, for each set, the probabilities of its members.

    Parameters
    ----------
    columns : Columns
    labels : list of str
        Of all options.
    sets : list of sequences of labels, or Choices
    lapse : float in [0, 1)

    Returns
    -------
    array (pairs,) or list of arrays

    Raises
    ------
    ArgumentError
        If a label is unknown, or an entry is not two different options or more.
    """
    places, paired = places_of(sets, labels)
    if paired:
        first, second = np.array(places, np.int64).reshape(-1, 2).T
        return mean_probabilities(columns, first, second, lapse)
    from thali.likelihoods.set_draws import mean_set_probabilities

    start = np.concatenate([[0], np.cumsum([len(each) for each in places])])
    return np.split(mean_set_probabilities(columns, start, np.concatenate(places), lapse), start[1:-1])


def places_of(sets: Any, labels: list[str]) -> tuple[list[np.ndarray], bool]:
    """The positions of the labels of sets, and whether they were given as a list of pairs.

    Raises
    ------
    ArgumentError
        If a label is unknown, or an entry is not two different options or more.
    """
    if isinstance(sets, Choices):
        return _positions(sets.sets, labels), False
    places = _positions(sets, labels)
    return places, all(len(each) == 2 for each in places)


def _positions(sets: Any, labels: list[str]) -> list[np.ndarray]:
    where = {label: position for position, label in enumerate(labels)}
    if not isinstance(sets, Iterable):
        raise ArgumentError(f"Give pairs of labels, [(a, b), ...], larger sets, or Choices; got {type(sets).__name__}.")
    found = []
    for number, entry in enumerate(sets):
        names = [as_label(each) for each in entry] if isinstance(entry, tuple | list | np.ndarray) else [str(entry)]
        if len(names) < 2:
            raise ArgumentError(f"Entry {number} is {entry!r}; give pairs of labels, (a, b), or larger sets.")
        for name in names:
            if name not in where:
                known = ", ".join(labels[:10]) + (", ..." if len(labels) > 10 else "")
                raise ArgumentError(
                    f"Entry {number} names {name!r}, which is not an option of the data; options are {known}."
                )
        if len(set(names)) < len(names):
            double = next(name for k, name in enumerate(names) if name in names[:k])
            what = f"compares {double!r} with itself" if len(names) == 2 else f"names {double!r} twice"
            raise ArgumentError(f"Entry {number} {what}; give different options.")
        found.append(np.array([where[name] for name in names], np.int64))
    return found
