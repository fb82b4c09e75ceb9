"""Paired comparisons from tables in which a row is a comparison, or several alike."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from thali.errors import DataError

from .columns import column, count_column, encode
from .frozen import Frozen
from .suspicious import alike_labels, dropped_columns, warn_of

if TYPE_CHECKING:
    import pandas as pd


class FromRows(Frozen):
    """The constructors of `PairedComparisons` that take rows."""

    labels: tuple[str, ...]

    def _fill(self, labels: tuple[str, ...], *cells: np.ndarray) -> Self:
        """The data made of winners, losers, counts and, if there are any, ties."""
        raise NotImplementedError

    @classmethod
    def from_frame(
        cls,
        frame: "pd.DataFrame",
        chosen: str = "chosen",
        rejected: str = "rejected",
        count: str | None = None,
        *,
        ties: str | None = None,
        labels: Iterable[Any] | None = None,
        weights: bool = False,
    ) -> Self:
        """Comparisons from a long table: one row for each comparison, or for several alike with their count.

        Parameters
        ----------
        frame : DataFrame
            Further columns are ignored, those of losses or ties with a warning. Rows for the same two options add up,
            whichever was chosen.
        chosen, rejected : str
            Columns with the label of the option that was chosen, and of the one that was not.
        count : str, optional
            Column with the number of such comparisons. None: the column "count" if there is one, else each
            row is one comparison.
        ties : str, optional
            Column with the number of ties of the two options; where there are no counts, 1 for a row that is a tie and
            0 for one that is a choice. None: the column "ties" if there is one, else there were none.
        labels : sequence of str, optional
            All options in the order wanted, those never compared included. None: the categories of a
            categorical column; else numbers in their order, names as they first appear.
        weights : bool
            Fractional counts are meant.

        Returns
        -------
        PairedComparisons

        Raises
        ------
        DataError
            If a column is unknown, a label or count is missing, a count is not a whole number of 0 or more,
            an option is compared with itself, or there is not a single comparison.

        Example
        -------
        >>> import pandas as pd, thali as th
        >>> frame = pd.DataFrame({"chosen": ["tea", "tea", "milk"], "rejected": ["milk", "coffee", "tea"]})
        >>> th.PairedComparisons.from_frame(frame)
        PairedComparisons(3 options, 2 pairs, 3 comparisons, 1 component)
        """
        if not (hasattr(frame, "columns") and hasattr(frame, "index")):
            raise DataError(f"`frame` must be a pandas DataFrame; got {type(frame).__name__}.")
        winners, losers = column(frame, chosen), column(frame, rejected)
        if count is None and "count" in frame.columns:
            count = "count"
        if ties is None and "ties" in frame.columns:
            ties = "ties"
        values, tied = _counted(frame, count, ties, weights)

        def where(row: int, is_winner: bool) -> str:
            return f"in row {frame.index[row]}, column {chosen if is_winner else rejected!r}"

        names, winner, loser, _ = encode(winners, losers, values + tied, labels, where)
        data = cls.__new__(cls)._fill(names, winner, loser, values, tied)
        warn_of(alike_labels(data.labels), dropped_columns(frame, {chosen, rejected, count, ties}))
        return data

    @classmethod
    def from_pairs(cls, pairs: Iterable[Any], *, labels: Iterable[Any] | None = None) -> Self:
        """Comparisons from (winner, loser) tuples, one for each comparison.

        Parameters
        ----------
        pairs : iterable of (winner, loser)
        labels : sequence of str, optional
            All options in the order wanted, those never compared included. None: numbers in their order,
            names as they first appear.

        Returns
        -------
        PairedComparisons

        Raises
        ------
        DataError
            If there is no pair, or one that is not two different options.

        Example
        -------
        >>> import thali as th
        >>> th.PairedComparisons.from_pairs([("tea", "milk"), ("milk", "tea"), ("tea", "milk")]).wins
        array([2.])
        """
        import pandas as pd

        rows = list(pairs)
        for k, row in enumerate(rows):
            if isinstance(row, str) or not hasattr(row, "__len__") or len(row) != 2:
                raise DataError(f"`pairs` must hold (winner, loser) tuples; pairs[{k}] is {row!r}.")
        winners = pd.Series([row[0] for row in rows], dtype=object)
        losers = pd.Series([row[1] for row in rows], dtype=object)
        ones = np.ones(len(rows))
        data = cls.__new__(cls)._fill(*encode(winners, losers, ones, labels, lambda row, _: f"in pairs[{row}]"))
        warn_of(alike_labels(data.labels))
        return data


def _counted(frame: "pd.DataFrame", count: str | None, ties: str | None, weights: bool) -> tuple[np.ndarray, ...]:
    """How often each row's option was chosen, and how often neither was."""
    tied = np.zeros(len(frame)) if ties is None else count_column(frame, ties, weights)
    if count is not None:
        return count_column(frame, count, weights), tied
    if (several := np.flatnonzero(tied > 1)).size:
        k = int(several[0])
        raise DataError(
            f"Column {ties!r} is {tied[k]:g} in row {frame.index[k]}, and no column counts the choices; name the one "
            "that does with `count`, or write 1 for a row that is a tie and 0 for one that is a choice."
        )
    return 1.0 - tied, tied
