"""Paired comparisons: how often each option was chosen over each other one."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._described import Facts
from thali._labels import as_label, checked_labels, plural, shorten, suggest
from thali.errors import DataError, DataWarning
from thali.inference.warn import warn

from .columns import added_up, column, count_column, encode, square_cells
from .connectivity import disconnected, group_numbers
from .frozen import Frozen
from .suspicious import alike_labels, dropped_columns, percentages, warn_of

if TYPE_CHECKING:
    import pandas as pd

MAX_DENSE = 2_000  # options; above it `counts` fills memory with a matrix that nobody can read


class PairedComparisons(Frozen):
    r"""How often each option was chosen over each other one, of which only the compared pairs are stored.

    .. math:: x_{ij} = \text{times } i \text{ was chosen over } j, \qquad n_{ij} = x_{ij} + x_{ji}

    Nothing can be changed after construction. A table in which the *column* was chosen over the row looks
    just like one in which the row was and cannot be recognised: transpose it first (``counts.T``).

    Parameters
    ----------
    counts : array, DataFrame or SciPy sparse matrix, shape (options, options)
        ``counts[i, j]`` = times i was chosen over j, **row over column**: whole numbers, 0 or more. The
        diagonal is 0 or empty. Rows and columns of a DataFrame bear the same labels, in any order.
    labels : sequence of str, optional
        Names of the options, all different; "0", "1", ... if neither they nor a DataFrame name them.
        Numbers become text: 1 and 1.0 are "1".
    weights : bool
        Fractional counts are meant (weighted judgements, ties split in two); otherwise they are an error.

    Attributes
    ----------
    labels : tuple of str
    first, second : int64 arrays, shape (pairs,)
        The pairs with at least one comparison: first < second, row by row.
    wins, losses : float64 arrays, shape (pairs,)
        Times the first of a pair was chosen over the second, and the reverse.

    Raises
    ------
    DataError
        If `counts` is not square, holds a negative, fractional, missing or infinite count, compares an option
        with itself, or holds no comparison; if labels do not match or are not distinct.

    References
    ----------
    Görür, Jäkel and Rasmussen (2006), equation 2.

    Example
    -------
    >>> data = PairedComparisons([[0, 7, 9], [3, 0, 6], [1, 4, 0]], labels=["tea", "coffee", "milk"])
    >>> data
    PairedComparisons(3 options, 3 pairs, 30 comparisons, 1 component)
    >>> data.wins
    array([7., 9., 6.])
    """

    _FIELDS = ("labels", "first", "second", "wins", "losses")

    labels: tuple[str, ...]
    first: np.ndarray
    second: np.ndarray
    wins: np.ndarray
    losses: np.ndarray

    def __init__(self, counts: Any, labels: Iterable[Any] | None = None, *, weights: bool = False) -> None:
        names, cells = square_cells(counts, labels, weights)
        self._fill(names, *cells)
        table = hasattr(counts, "columns")  # that somebody made, not the array of a program
        warn_of(alike_labels(names), percentages(self.wins, self.losses) if table else None)

    @classmethod
    def from_frame(
        cls,
        frame: "pd.DataFrame",
        chosen: str = "chosen",
        rejected: str = "rejected",
        count: str | None = None,
        *,
        labels: Iterable[Any] | None = None,
        weights: bool = False,
    ) -> "PairedComparisons":
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
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"chosen": ["tea", "tea", "milk"], "rejected": ["milk", "coffee", "tea"]})
        >>> PairedComparisons.from_frame(frame)
        PairedComparisons(3 options, 2 pairs, 3 comparisons, 1 component)
        """
        if not (hasattr(frame, "columns") and hasattr(frame, "index")):
            raise DataError(f"`frame` must be a pandas DataFrame; got {type(frame).__name__}.")
        winners, losers = column(frame, chosen), column(frame, rejected)
        if count is None and "count" in frame.columns:
            count = "count"
        values = np.ones(len(frame)) if count is None else count_column(frame, count, weights)

        def where(row: int, is_winner: bool) -> str:
            return f"in row {frame.index[row]}, column {chosen if is_winner else rejected!r}"

        data = cls.__new__(cls)._fill(*encode(winners, losers, values, labels, where))
        warn_of(alike_labels(data.labels), dropped_columns(frame, {chosen, rejected, count}))
        return data

    @classmethod
    def from_pairs(cls, pairs: Iterable[Any], *, labels: Iterable[Any] | None = None) -> "PairedComparisons":
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
        >>> PairedComparisons.from_pairs([("tea", "milk"), ("milk", "tea"), ("tea", "milk")]).wins
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

    def _fill(self, labels: tuple[str, ...], *cells: np.ndarray) -> "PairedComparisons":
        """Add up winners, losers and counts, check that something was compared, and freeze."""
        if len(labels) < 2:
            raise DataError(f"At least two options are needed to compare; got {shorten(labels) or 'none'}.")
        first, second, wins, losses = added_up(len(labels), *cells)
        if not len(first):
            raise DataError(f"There is not a single comparison among the {len(labels):,} options; every count is 0.")
        return self._freeze(labels, first, second, wins, losses)

    def __str__(self) -> str:
        total = plural(self.n_comparisons, "comparison")
        if isinstance(self.n_comparisons, float):
            total = f"a total weight of {self.n_comparisons:,g}"
        return f"{plural(self.n_options, 'option')}, {plural(self.n_pairs, 'pair')}, {total}"

    def __repr__(self) -> str:
        return f"PairedComparisons({self}, {plural(len(self.components()), 'component')})"

    def _details(self) -> Facts:
        return ("options", self.labels), ("components", str(len(self.components())))

    @property
    def n_options(self) -> int:
        """Number of options, those never compared included."""
        return len(self.labels)

    @property
    def n_pairs(self) -> int:
        """Number of pairs with at least one comparison."""
        return len(self.first)

    @property
    def n_comparisons(self) -> int | float:
        """Number of comparisons; their total weight when counts are fractional."""
        total = self.wins.sum() + self.losses.sum()
        return int(total) if self._whole else float(total)

    @property
    def _whole(self) -> bool:
        return all(bool(np.all(array == np.floor(array))) for array in (self.wins, self.losses))

    @property
    def counts(self) -> np.ndarray:
        """The counts as a dense array, row over column, shape (options, options); up to 2,000 options."""
        if self.n_options > MAX_DENSE:
            raise DataError(
                f"`counts` is dense and stops at {MAX_DENSE:,} options; these are {self.n_options:,}. "
                "Use `to_frame()`, or `first`, `second`, `wins` and `losses`."
            )
        counts = np.zeros((self.n_options, self.n_options))
        counts[self.first, self.second] = self.wins
        counts[self.second, self.first] = self.losses
        return counts.astype(np.int64) if self._whole else counts

    @property
    def never_compared(self) -> list[str]:
        """Labels of the options without a single comparison."""
        compared = np.zeros(self.n_options, dtype=bool)
        compared[self.first] = True
        compared[self.second] = True
        return [self.labels[k] for k in np.flatnonzero(~compared)]

    def example(self) -> str:
        """One pair in words, to check the direction against: the one in which one option was ahead the furthest.

        Example
        -------
        >>> PairedComparisons([[0, 3], [1, 0]], labels=["tea", "milk"]).example()
        "'tea' chosen over 'milk' 3 times of 4"
        """
        k = int(np.abs(self.wins - self.losses).argmax())
        pair = sorted([(self.wins[k], self.labels[self.first[k]]), (self.losses[k], self.labels[self.second[k]])])
        (fewer, behind), (more, ahead) = [(int(times) if times.is_integer() else times, name) for times, name in pair]
        return f"{ahead!r} chosen over {behind!r} {plural(more, 'time')} of {more + fewer:,}"

    def components(self) -> list[list[str]]:
        """Labels of the options that comparisons connect, the largest group first; one group = connected.

        Options never compared are groups of one.

        Example
        -------
        >>> PairedComparisons.from_pairs([("a", "b"), ("c", "d"), ("d", "e")]).components()
        [['c', 'd', 'e'], ['a', 'b']]
        """
        count, group = group_numbers(self.n_options, self.first, self.second)
        groups: list[list[str]] = [[] for _ in range(count)]
        for label, number in zip(self.labels, group, strict=True):
            groups[number].append(label)
        return sorted(groups, key=len, reverse=True)

    def warn_if_unusual(self) -> None:
        """Warn, with a `DataWarning`, of options that comparisons do not connect; models call this at fit."""
        if message := disconnected(self.components(), self.never_compared):
            warn(DataWarning(message))

    def subset(self, labels: Iterable[Any]) -> "PairedComparisons":
        """The comparisons among some of the options, which take the order given.

        Parameters
        ----------
        labels : sequence of str
            At least two different labels.

        Returns
        -------
        PairedComparisons

        Raises
        ------
        DataError
            If a label is unknown or given twice, or no comparison is left.

        Example
        -------
        >>> data = PairedComparisons([[0, 7, 9], [3, 0, 6], [1, 4, 0]], labels=["tea", "coffee", "milk"])
        >>> data.subset(["milk", "tea"]).counts
        array([[0, 1],
               [9, 0]])
        """
        names = checked_labels(labels, "The labels of a subset")
        place = np.full(self.n_options, -1)
        place[self._positions(names)] = np.arange(len(names))
        kept = (place[self.first] >= 0) & (place[self.second] >= 0)
        first, second = place[self.first[kept]], place[self.second[kept]]
        winner, loser = np.concatenate([first, second]), np.concatenate([second, first])
        counts = np.concatenate([self.wins[kept], self.losses[kept]])
        return PairedComparisons.__new__(PairedComparisons)._fill(names, winner, loser, counts)

    def with_counts(self, wins: np.ndarray, losses: np.ndarray) -> "PairedComparisons":
        """The same options and compared pairs with other counts, in the order of `first` and `second`."""
        return self._made_of(self.labels, self.first, self.second, wins, losses)

    def without_pair(self, a: Any, b: Any) -> "PairedComparisons":
        """The same options without the comparisons of one pair, as leave-one-pair-out needs.

        Parameters
        ----------
        a, b : str
            Two labels, in either order.

        Returns
        -------
        PairedComparisons

        Raises
        ------
        DataError
            If a label is unknown, the two were never compared, or no other comparison is left.

        Example
        -------
        >>> data = PairedComparisons([[0, 7, 9], [3, 0, 6], [1, 4, 0]], labels=["tea", "coffee", "milk"])
        >>> data.without_pair("milk", "tea")
        PairedComparisons(3 options, 2 pairs, 20 comparisons, 1 component)
        """
        low, high = sorted(self._positions([as_label(a), as_label(b)]))
        kept = (self.first != low) | (self.second != high)
        if kept.all():
            raise DataError(f"{as_label(a)!r} and {as_label(b)!r} were never compared: nothing to leave out.")
        if not kept.any():
            raise DataError(f"{as_label(a)!r} and {as_label(b)!r} are the only pair compared: nothing would be left.")
        arrays = (array[kept] for array in (self.first, self.second, self.wins, self.losses))
        return self._made_of(self.labels, *arrays)

    def _positions(self, names: Iterable[str]) -> list[int]:
        place = {label: k for k, label in enumerate(self.labels)}
        for name in names:
            if name not in place:
                near = suggest(name, self.labels) or f" The options are {shorten(self.labels)}."
                raise DataError(f"There is no option {name!r}.{near}")
        return [place[name] for name in names]

    def to_frame(self) -> "pd.DataFrame":
        """A long table with columns chosen, rejected and count, which `from_frame` reads back.

        Returns
        -------
        DataFrame
            One row for each pair and direction with a count above 0. The labels are categorical, and so keep
            their order and the options that were never compared.

        Example
        -------
        >>> PairedComparisons([[0, 3], [1, 0]], labels=["tea", "milk"]).to_frame()
          chosen rejected  count
        0    tea     milk      3
        1   milk      tea      1
        """
        import pandas as pd

        chosen = np.column_stack([self.first, self.second]).ravel()
        rejected = np.column_stack([self.second, self.first]).ravel()
        count = np.column_stack([self.wins, self.losses]).ravel()
        kept = count > 0
        categories = pd.Index(self.labels)
        return pd.DataFrame(
            {
                "chosen": pd.Categorical.from_codes(chosen[kept], categories),
                "rejected": pd.Categorical.from_codes(rejected[kept], categories),
                "count": count[kept].astype(np.int64) if self._whole else count[kept],
            }
        )

    def proportions(self) -> "pd.DataFrame":
        """The observed proportion of choices in each compared pair.

        Returns
        -------
        DataFrame
            Pair by pair a, b, n (comparisons of the two), proportion (of them in which a was chosen).

        Example
        -------
        >>> PairedComparisons([[0, 3], [1, 0]], labels=["tea", "milk"]).proportions()
             a     b  n  proportion
        0  tea  milk  4        0.75
        """
        import pandas as pd

        total = self.wins + self.losses
        labels = np.array(self.labels, dtype=object)
        return pd.DataFrame(
            {
                "a": labels[self.first],
                "b": labels[self.second],
                "n": total.astype(np.int64) if self._whole else total,
                "proportion": self.wins / total,
            }
        )
