"""How many judgements each similarity of a square table is the mean of."""

from typing import Any

import numpy as np

from thali.errors import DataError

from .checks import MAX_COUNTED, checked_numbers
from .squares import Words, cell, mismatch, square_table

JUDGEMENTS = Words("judgements", "object", "It holds, for each cell of `matrix`, how many judgements that is of.")


def judgement_table(judgements: Any, names: tuple[str, ...]) -> np.ndarray:
    """The numbers of judgements, objects by objects in this order; NaN where there are none, and on the diagonal."""
    if hasattr(judgements, "tocoo"):
        judgements = judgements.toarray()
    own, table = square_table(judgements, None, JUDGEMENTS)
    n = len(names)
    if len(own) != n:
        raise DataError(f"`judgements` must have the shape of `matrix`, {n} by {n}; got {len(own)} by {len(own)}.")
    if hasattr(judgements, "columns") and own != tuple(map(str, range(n))):
        if set(own) != set(names):
            raise DataError(f"`judgements` must bear the labels of `matrix`. {mismatch(own, names)}")
        place = [own.index(name) for name in names]
        table = table[np.ix_(place, place)]
    if table.dtype.kind not in "biuf":
        table = table.astype(object)
        np.fill_diagonal(table, None)
    table = checked_numbers(table, lambda k: cell(names, k // n, k % n), "number of judgements").reshape(n, n)
    np.fill_diagonal(table, np.nan)
    wrong = (table < 0) | (table > MAX_COUNTED)
    if wrong.any():
        k = int(wrong.argmax())
        raise DataError(
            f"The number of judgements {cell(names, k // n, k % n)} is {table.flat[k]:g}; it must be above 0 and at "
            "most 2^53 where a similarity was measured, and 0 or empty elsewhere."
        )
    table[table == 0] = np.nan
    return table


def agreed(names: tuple[str, ...], table: np.ndarray) -> np.ndarray:
    """The number of each pair, objects by objects; NaN where neither side of the diagonal has one.

    Where only one of n_ij and n_ji is there, it is the pair's.
    """
    differ = ~np.isnan(table) & ~np.isnan(table.T) & (table != table.T)
    if differ.any():
        i, j = divmod(int(differ.argmax()), len(table))
        raise DataError(
            f"`judgements` must be symmetric, as the similarities are; it is {table[i, j]:g} {cell(names, i, j)} and "
            f"{table[j, i]:g} {cell(names, j, i)}."
        )
    return np.where(np.isnan(table), table.T, table)


def refuse_unknown(names: tuple[str, ...], first: np.ndarray, second: np.ndarray, numbers: np.ndarray) -> None:
    """Raise the error for a measured similarity without its number of judgements."""
    unknown = np.isnan(numbers)
    if unknown.any():
        k = int(unknown.argmax())
        raise DataError(
            f"The similarity {cell(names, int(first[k]), int(second[k]))} was measured, but `judgements` is empty or 0 "
            "there; write how many judgements it is the mean of, or leave the similarity empty (NaN)."
        )
