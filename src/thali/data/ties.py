"""Ties: comparisons in which neither option was chosen."""

from typing import Any

import numpy as np

from thali._labels import plural
from thali.errors import DataError, InPython, Message

from .columns import Cells
from .squares import cell


def tie_cells(ties: Any, names: tuple[str, ...], weights: bool) -> Cells:
    """First, second and number of the ties of each pair that has some, from a square table of either triangle or both.

    `weights`: fractional numbers are meant.
    """
    n = len(names)
    if hasattr(ties, "reindex"):
        ties = ties.rename(index=str, columns=str).reindex(index=list(names), columns=list(names)).to_numpy()
    try:
        table = np.asarray(ties.toarray() if hasattr(ties, "toarray") else ties, float)
    except (TypeError, ValueError):
        raise DataError("Ties must be a square table of numbers, options by options.") from None
    if table.shape != (n, n):
        raise DataError(f"Ties must be a table of {n} x {n}, as the data have {n} options; got shape {table.shape}.")
    if not np.isfinite(table).all() or (table < 0).any() or np.diag(table).any():
        raise DataError("Ties must be counts of 0 or more, with an empty diagonal, for the labels of the data.")
    if not (np.array_equal(table, table.T) or not np.triu(table).any() or not np.tril(table).any()):
        i, j = np.argwhere(table != table.T)[0]
        raise DataError(
            f"Ties of {names[i]!r} and {names[j]!r} are {table[i, j]:g} in one triangle and {table[j, i]:g} in the "
            "other; give them in one triangle, or the same in both."
        )
    table = np.maximum(table, table.T)
    if not weights and (broken := np.argwhere(table != np.floor(table))).size:
        i, j = broken[0]
        raise DataError(f"The number of ties {cell(names, int(i), int(j))} is {table[i, j]:g}, which is not whole.")
    first, second = np.nonzero(np.triu(table, 1))
    return first, second, table[first, second]


def ties_unknown(ties: float, comparisons: float) -> DataError:
    """The error where data with ties meet a model or a test of choices alone."""
    are = "is a tie" if ties == 1 else "are ties"
    return DataError(
        f"{ties:,} of the {plural(comparisons, 'comparison')} {are}, and this is for choices alone; say what a tie "
        "counts: half a choice of either option, ",
        Message(InPython("data.without_ties('half')", "--ties half"), ", or nothing, "),
        Message(InPython("data.without_ties('drop')", "--ties drop"), "."),
    )
