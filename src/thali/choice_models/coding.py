"""Products as numbers: a column for each level but the first, or the number that the levels are."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali.data.check import suggest
from thali.data.experiment_levels import as_number
from thali.data.experiment_scheme import INSIDE
from thali.errors import ArgumentError

if TYPE_CHECKING:
    from thali.data.experiment import ChoiceExperiment


class Coding(NamedTuple):
    """The columns of the model matrix.

    Attributes
    ----------
    names : tuple of str (p,)
        Such as "brand[sony]", "price", "zoom[missing]".
    tables : tuple of arrays (levels + 1, columns)
        What each level of an attribute puts into the attribute's columns; the last row is that of a missing attribute.
    scale : array (p,)
        By which columns are divided where a prior must not depend on units: the standard deviation of a number over
        the products, 1 for a level.
    """

    names: tuple[str, ...]
    tables: tuple[np.ndarray, ...]
    scale: np.ndarray

    def matrix(self, products: np.ndarray) -> np.ndarray:
        """The model matrix of products, shape (products, p)."""
        return np.hstack([table[codes] for table, codes in zip(self.tables, products.T, strict=True)])


def linear_names(linear: Any) -> tuple[str, ...]:
    """The argument `linear` as attributes."""
    if isinstance(linear, str):
        return (linear,)
    if not isinstance(linear, Iterable):
        raise ArgumentError(f"linear must be a list of attributes; got {linear!r}.")
    return tuple(str(name) for name in linear)


def coding_of(data: "ChoiceExperiment", linear: Any = ()) -> Coding:
    """Which columns describe the products of the data.

    A level other than the first has a column of its own: 1 in products with that level. An attribute in `linear` has
    one column, which holds its number. Products that lack an attribute have 0 there, and 1 in a further column if not
    every product that lacks it is the no-choice option.

    Parameters
    ----------
    data : ChoiceExperiment
    linear : attribute or list of attributes

    Returns
    -------
    Coding

    Raises
    ------
    ArgumentError
        If `linear` names no attribute, or one whose levels are no numbers.

    Example
    -------
    >>> import pandas as pd
    >>> import thali as th
    >>> rows = {"id": [1, 1], "task": [1, 1], "choice": [1, 0], "price": [90, 150], "brand": ["A", "B"]}
    >>> coding = coding_of(th.ChoiceExperiment.from_frame(pd.DataFrame(rows)), linear="price")
    >>> coding.names, coding.matrix(np.array([[0, 1]])).tolist()
    (('price', 'brand[B]'), [[90.0, 1.0]])
    """
    wanted = linear_names(linear)
    for name in wanted:
        if name not in data.attributes or name == INSIDE:
            raise ArgumentError(f"linear names {name!r}, which is no attribute.{suggest(name, data.attributes)}")
    names: list[str] = []
    tables, scales = [], []
    lacking = [data.products[:, data.attributes.index(INSIDE)] == 0] if INSIDE in data.levels else []
    for place, (name, levels) in enumerate(data.levels.items()):
        codes = data.products[:, place]
        if name in wanted:
            own, table = [name], _numbers(name, levels)[:, None]
            values = table[codes[codes >= 0], 0]
            scales.append(float(values.std()) or 1.0)
        else:
            own = [name] if name == INSIDE else [f"{name}[{level}]" for level in levels[1:]]
            table = np.vstack([np.zeros(len(levels) - 1), np.eye(len(levels) - 1)])
            scales += [1.0] * len(own)
        table = np.vstack([table, np.zeros(table.shape[1])])
        missing = codes < 0
        if missing.any() and not any(np.array_equal(missing, other) for other in lacking):
            lacking.append(missing)
            own, scales = [*own, f"{name}[missing]"], [*scales, 1.0]
            table = np.hstack([table, np.eye(len(table))[:, -1:]])
        names += own
        tables.append(table)
    return Coding(tuple(names), tuple(tables), np.array(scales))


def _numbers(name: str, levels: tuple[str, ...]) -> np.ndarray:
    numbers = [as_number(level) for level in levels]
    for level, number in zip(levels, numbers, strict=True):
        if number is None:
            raise ArgumentError(f"linear names {name!r}, whose level {level!r} is no number; leave it out of linear.")
    return np.array(numbers, dtype=float)
