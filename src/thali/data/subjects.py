"""The mean of several people's similarities, of how many it is, and the standard deviation of a judgement."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from thali._labels import shorten
from thali.errors import DataError

from .symmetric import ROUNDING, Measured, measured_pairs


def mean_of_subjects(
    matrices: Any, labels: Iterable[Any] | None, symmetrize: str | None, sigma: Any
) -> tuple[Measured, float | None]:
    """The mean over those who judged a pair, and sigma of the kind named, None if it cannot be told.

    A "deviation" is that of the mean itself, however many judged the pair.
    """
    labels = None if labels is None else tuple(labels)
    people = [_of_one(number, each, labels, symmetrize) for number, each in enumerate(_listed(matrices), start=1)]
    names = people[0].labels
    n = len(names)
    judged = np.full((len(people), n, n), np.nan)
    for number, (person, one) in enumerate(zip(judged, people, strict=True), start=1):
        if set(one.labels) != set(names):
            raise DataError(
                f"Every person's table must bear the same labels; those of person {number} are "
                f"{shorten(one.labels)}, those of person 1 {shorten(names)}."
            )
        place = np.array([names.index(label) for label in one.labels])
        a, b = place[one.first], place[one.second]
        person[a, b] = person[b, a] = one.values
    i, j = np.triu_indices(n, k=1)
    pairs = judged[:, i, j]
    there = ~np.isnan(pairs).all(axis=0)
    first, second, pairs = i[there].astype(np.int64), j[there].astype(np.int64), pairs[:, there]
    mean = np.nanmean(pairs, axis=0) if pairs.size else np.empty(0)
    lowest = all(person.lowest_diagonal for person in people)
    layout, zeros = next(((one.layout, True) for one in people if one.zeros_not_read), ("mean of people", False))
    judges = (~np.isnan(pairs)).sum(axis=0)
    numbers = np.ones(len(mean)) if sigma == "deviation" else judges.astype(float)
    found = Measured(names, first, second, mean, numbers, layout, zeros, lowest)
    return found, _sigma(pairs, mean, judges, sigma) if pairs.size else None


def _listed(matrices: Any) -> list[Any]:
    if hasattr(matrices, "ndim") and (matrices.ndim != 3 or not len(matrices)):
        raise DataError(
            f"`matrices` must be a list of square tables, or an array people x objects x objects; got shape "
            f"{tuple(matrices.shape)}."
        )
    try:
        people = list(matrices)
    except TypeError:
        raise DataError(f"`matrices` must be a list of square tables; got {type(matrices).__name__}.") from None
    if not people:
        raise DataError("`matrices` must hold the table of one person at least; got none.")
    return people


def _of_one(number: int, matrix: Any, labels: tuple[Any, ...] | None, symmetrize: str | None) -> Measured:
    try:
        return measured_pairs(matrix, labels, symmetrize)
    except DataError as error:
        raise DataError(f"Person {number}: ", error) from None


def _sigma(pairs: np.ndarray, mean: np.ndarray, judges: np.ndarray, kind: Any) -> float | None:
    squares = np.nansum((pairs - mean) ** 2, axis=0)
    several = judges > 1
    if not several.any():
        return None
    if kind == "deviation":
        sigma = float(np.sqrt(squares[several] / (judges[several] - 1)).mean())
    else:
        sigma = float(np.sqrt(squares.sum() / (judges - 1).sum()))
    return sigma if sigma > ROUNDING * max(float(np.ptp(mean)), float(np.abs(mean).max())) else None
