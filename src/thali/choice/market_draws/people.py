"""Whom a market asks: what is known of its people, by which a reader chooses some or weighs them."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import as_label
from thali.data.people import differing_columns
from thali.inference.arrays import packed

if TYPE_CHECKING:
    import pandas

MOST_VALUES = 12  # of a column by which people are chosen
MISSING = "(missing)"


class PeopleColumn(NamedTuple):
    """A column that has few values."""

    name: str
    values: tuple[str, ...]
    codes: np.ndarray  # (respondents,) uint8, of the values


class MarketPeople(NamedTuple):
    """What is known of the respondents, in their order."""

    number: int
    columns: tuple[PeopleColumn, ...]  # by which people are chosen
    weights: tuple[tuple[str, np.ndarray], ...]  # names and (respondents,) float32
    kinds: tuple[str, ...]  # of people, as the rule has them
    others: tuple[str, ...]  # columns of more values that are no weights

    def packed(self) -> dict[str, Any]:
        """The people in terms of JSON."""
        return {
            "number": self.number,
            "columns": [{"name": c.name, "values": c.values, "codes": packed(c.codes)} for c in self.columns],
            "weights": [{"name": name, "values": packed(values)} for name, values in self.weights],
            "kinds": self.kinds,
        }


def people_of(table: "pandas.DataFrame | None", number: int, kinds: tuple[str, ...] = ()) -> MarketPeople | None:
    """What the columns of a table say of so many people; None where they do not tell one from another."""
    columns, weights, others = [], [], []
    named = {} if table is None else {str(name): cells for name, cells in table.items()}
    for name in differing_columns(table):
        column = _column(name, named[name])
        weight = _weight(named[name])
        if column is not None:
            columns.append(column)
        if weight is not None:
            weights.append((name, weight))
        if column is None and weight is None:
            others.append(name)
    if not (columns or weights or kinds):
        return None
    return MarketPeople(number, tuple(columns), tuple(weights), kinds, tuple(others))


def _column(name: str, cells: "pandas.Series") -> PeopleColumn | None:
    """The column, its values in the order of categories or sorted; None if there are too many."""
    import pandas as pd

    if cells.nunique(dropna=False) > MOST_VALUES:
        return None
    has_order = cells.dtype != object or cells.dropna().map(type).eq(str).all()
    numbers, values = pd.factorize(cells, sort=bool(has_order))
    labels = [*(value if isinstance(value, str) else as_label(value) for value in values), MISSING]
    return PeopleColumn(
        name, tuple(labels[: None if (numbers < 0).any() else -1]), (numbers % len(labels)).astype(np.uint8)
    )


def _weight(cells: "pandas.Series") -> np.ndarray | None:
    """The numbers of a column that may be weights."""
    import pandas as pd

    if pd.api.types.is_bool_dtype(cells) or not pd.api.types.is_numeric_dtype(cells):
        return None
    with np.errstate(over="ignore"):
        found = cells.to_numpy(float, na_value=np.nan).astype(np.float32)
    return found if np.isfinite(found).all() and (found >= 0.0).all() else None
