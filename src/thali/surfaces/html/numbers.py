"""Numbers in a table that people read."""

import math
from typing import Any

import numpy as np

from thali._digits import by_itself


def cells(column: str, values: list[Any]) -> list[str]:
    """The cells of the column of that name."""
    return [cell(column, value) for value in values]


def cell(column: str, value: Any) -> str:
    """A cell of the column of that name."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    if not isinstance(value, float | np.floating):
        return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
    value = float(value)
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return by_itself(column, value)
