"""Numbers in a table that people read."""

import math
from typing import Any

import numpy as np


def cell(column: str, value: Any) -> str:
    """A cell of the column of that name: three decimals or three digits, whichever is longer."""
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
    if column.startswith("ess") or abs(value) >= 10_000:
        return f"{value:,.0f}"
    if value != 0.0 and abs(value) < 5e-4:
        return f"{value:.1e}"
    return f"{value:.{3 if abs(value) < 100 else 1}f}"
