"""Posterior mean choice probabilities of whatever sets a user asks for."""

from typing import Any

import numpy as np

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
    listed = isinstance(sets, Choices)
    places = positions(sets.sets if listed else sets, labels)
    sizes = np.array([len(each) for each in places], np.int64)
    if not listed and (sizes == 2).all():
        first, second = (np.array([each[side] for each in places], np.int64) for side in (0, 1))
        return mean_probabilities(columns, first, second, lapse)
    from thali.likelihoods.set_draws import mean_set_probabilities

    start = np.concatenate([[0], np.cumsum(sizes)])
    return np.split(mean_set_probabilities(columns, start, np.concatenate(places), lapse), start[1:-1])


def positions(sets: Any, labels: list[str]) -> list[np.ndarray]:
    """Positions of the labels of sets."""
    where = {label: position for position, label in enumerate(labels)}
    found = []
    for number, entry in enumerate(sets):
        names = [str(each) for each in entry] if isinstance(entry, tuple | list | np.ndarray) else [str(entry)]
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
