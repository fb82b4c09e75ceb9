"""Which option owns which aspect, and what each aspect is called."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from thali._arguments import one_of
from thali._labels import shorten
from thali.errors import ArgumentError, InPython, Setting, Value
from thali.model.names import aspects_meant
from thali.trees.tree import Tree

from ..priors.feature_argument import column_names, prior_of
from ..priors.given import Given


@dataclass(frozen=True, eq=False)
class KnownAspects:
    """Known aspects: `owners[i, k]` says whether option i owns aspect k. The unique aspects stand first."""

    labels: tuple[str, ...]
    names: tuple[str, ...]
    owners: np.ndarray
    unique: bool

    @property
    def shared(self) -> np.ndarray:
        """The aspects that were given, without the unique ones of the options."""
        return self.owners[:, len(self.labels) :] if self.unique else self.owners

    @property
    def crossing(self) -> tuple[str, str] | None:
        """Two aspects with owners in common of which neither has all of the other's; None if the aspects are a tree."""
        size = self.owners.sum(axis=0)
        common = self.owners.T.astype(int) @ self.owners.astype(int)
        pairs = np.argwhere((common > 0) & (common < np.minimum.outer(size, size)))
        return (self.names[pairs[0][0]], self.names[pairs[0][1]]) if len(pairs) else None


def known_aspects(aspects: Any, unique: bool, labels: tuple[str, ...]) -> KnownAspects:
    """The aspects that the arguments of a model stand for.

    Parameters
    ----------
    aspects : "unique", matrix of 0/1, data frame of 0/1, or mapping from each label to its list of aspects
    unique : bool
        Whether every option also owns one aspect alone; these stand first and bear the labels of the options.
    labels : tuple of str

    Raises
    ------
    ArgumentError
        If aspects are not known beforehand, do not fit the options, or bear the name of an option's unique aspect.

    Examples
    --------
    >>> known = known_aspects({"tea": ["hot"], "milk": []}, True, ("tea", "milk"))
    >>> known.names
    ('tea', 'milk', 'hot')
    >>> known.owners.astype(int)
    array([[1, 0, 1],
           [0, 1, 0]])
    """
    one_of("unique", unique, (True, False))
    learned = isinstance(aspects, bool | int | float | np.number | Tree)
    if learned or (isinstance(aspects, str) and aspects_meant(aspects) != "unique"):
        raise ArgumentError(
            "Maximum likelihood needs aspects that are known, not ",
            "learned along a Tree" if isinstance(aspects, Tree) else Value("aspects", aspects),
            ": ",
            Value("aspects", "unique"),
            InPython(", a 0/1 matrix or table, or a mapping from labels to lists.", " or the file of a table."),
        )
    matrix = cast(Given, prior_of("aspects", aspects, labels, words=("unique",))).matrix
    if matrix.shape[0] != len(labels):
        raise ArgumentError(
            f"The aspect matrix has {matrix.shape[0]} rows but the data have {len(labels)} options; "
            "give one row for each option."
        )
    names = column_names(aspects, labels, matrix.shape[1])
    if not unique:
        if not matrix.any():
            raise ArgumentError("No option has any aspect; name some aspects, or set ", Setting("unique", True), ".")
        return KnownAspects(labels, tuple(names), matrix, False)
    if twice := [name for name in names if name in labels]:
        raise ArgumentError(
            f"{shorten(twice)} names an aspect and an option, whose unique aspect bears its label; rename the aspect, "
            "or set ",
            Setting("unique", False),
            ".",
        )
    owners = np.hstack([np.eye(len(labels), dtype=bool), matrix])
    return KnownAspects(labels, (*labels, *names), owners, True)
