"""Paired comparisons: how often each option was chosen over each other one."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._arguments import one_of
from thali._described import Facts
from thali._labels import as_label, checked_labels, plural, short_number, shorten, suggest
from thali.errors import DataError, DataWarning
from thali.inference.warn import warn

from .answers import Answers, Who
from .columns import added_up, square_cells
from .connectivity import disconnected, group_numbers
from .pair_rows import PairRows
from .people import column_facts
from .suspicious import alike_labels, percentages, warn_of
from .ties import tie_cells, ties_unknown

if TYPE_CHECKING:
    pass

MAX_DENSE = 2_000  # options; above it `counts` fills memory with a matrix that nobody can read


class PairedComparisons(PairRows):
    r"""How often each option was chosen over each other one, of which only the compared pairs are stored.

    .. math::
        x_{ij} = \text{times } i \text{ was chosen over } j, \qquad t_{ij} = t_{ji} = \text{times neither was}, \qquad
        n_{ij} = x_{ij} + x_{ji} + t_{ij}

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
    ties : array, DataFrame or SciPy sparse matrix, shape (options, options), optional
        Times neither of two options was chosen, in one triangle or the same in both: whole numbers, 0 or more, with an
        empty diagonal. None: never.
    weights : bool
        Fractional counts are meant (weighted judgements, ties split in two); otherwise they are an error.

    Attributes
    ----------
    labels : tuple of str
    first, second : int64 arrays, shape (pairs,)
        The pairs with at least one comparison: first < second, row by row.
    wins, losses : float64 arrays, shape (pairs,)
        Times the first of a pair was chosen over the second, and the reverse.
    tied : float64 array, shape (pairs,)
        Times neither was. A pair with ties alone is a compared pair.
    forward : float64 array, shape (3, pairs), or None
        Of `wins`, `losses` and `tied` the comparisons in which the first of the pair was shown first, or played at
        home; in the others the second was. None: the data do not say.
    answers : Answers or None
        The same counts by person, if the data say who answered.

    Raises
    ------
    DataError
        If `counts` is not square, holds a negative, fractional, missing or infinite count, compares an option
        with itself, or holds no comparison; if labels do not match or are not distinct.

    References
    ----------
    Görür, Jäkel and Rasmussen (2006), equation 2.

    Examples
    --------
    >>> data = PairedComparisons([[0, 7, 9], [3, 0, 6], [1, 4, 0]], labels=["tea", "coffee", "milk"])
    >>> data
    PairedComparisons(3 options, 3 pairs, 30 comparisons, 1 component)
    >>> data.wins
    array([7., 9., 6.])
    """

    _FIELDS = ("labels", "first", "second", "wins", "losses", "tied", "forward", "answers")

    labels: tuple[str, ...]
    first: np.ndarray
    second: np.ndarray
    wins: np.ndarray
    losses: np.ndarray
    tied: np.ndarray
    forward: np.ndarray | None
    answers: Answers | None

    def __init__(
        self, counts: Any, labels: Iterable[Any] | None = None, ties: Any = None, *, weights: bool = False
    ) -> None:
        names, cells = square_cells(counts, labels, weights)
        if ties is None:
            self._fill(names, *cells)
        else:
            first, second, tied = tie_cells(ties, names, weights)
            winner, loser = np.append(cells[0], first), np.append(cells[1], second)
            self._fill(names, winner, loser, np.append(cells[2], 0.0 * tied), np.append(0.0 * cells[2], tied))
        table = hasattr(counts, "columns")  # that somebody made, not the array of a program
        warn_of(alike_labels(names), percentages(self.wins, self.losses) if table else None)

    def _fill(
        self,
        labels: tuple[str, ...],
        winner: np.ndarray,
        loser: np.ndarray,
        counts: np.ndarray,
        tied: np.ndarray | None = None,
        who: Who | None = None,
        in_order: np.ndarray | None = None,
    ) -> "PairedComparisons":
        """Add up rows of counts and ties, check that something was compared, and freeze.

        `in_order`: whether the winner of each row, or the first of its tie, was shown first.
        """
        n = len(labels)
        if n < 2:
            raise DataError(f"At least two options are needed to compare; got {shorten(labels) or 'none'}.")
        tied = np.zeros(len(counts)) if tied is None else tied
        found = added_up(n, winner, loser, counts, tied)
        if not len(found[0]):
            raise DataError(f"There is not a single comparison among the {n:,} options; every count is 0.")
        if who is None and in_order is None:
            return self._freeze(labels, *found, None, None)
        there = counts + tied > 0
        winner, loser, counts, tied = winner[there], loser[there], counts[there], tied[there]
        pair = np.searchsorted(found[0] * n + found[1], np.minimum(winner, loser) * n + np.maximum(winner, loser))
        won, forward, answers = winner < loser, None, None
        if in_order is not None:
            is_forward = in_order[there] == won
            of_pairs = [
                np.bincount(pair, each * is_forward, len(found[0])) for each in (counts * won, counts * ~won, tied)
            ]
            forward = np.array(of_pairs)
        if who is not None:
            answers = Answers.of_rows(who.of_rows(there), pair, won, counts, tied)
        return self._freeze(labels, *found, forward, answers)

    def __str__(self) -> str:
        total = plural(self.n_comparisons, "comparison")
        if isinstance(self.n_comparisons, float):
            total = f"a total weight of {self.n_comparisons:,g}"
        if self.n_ties:
            total += f" ({plural(self.n_ties, 'tie')})"
        people = f", {self.answers}" if self.answers is not None else ""
        return f"{plural(self.n_options, 'option')}, {plural(self.n_pairs, 'pair')}, {total}{people}"

    def __repr__(self) -> str:
        return f"PairedComparisons({self}, {plural(len(self.components()), 'component')})"

    def _details(self) -> Facts:
        people = column_facts(self.people)
        order = () if self.forward is None else (("order", "which option was first is known"),)
        return ("options", self.labels), ("components", str(len(self.components()))), *order, *people

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
        """Number of comparisons, ties included; their total weight when counts are fractional."""
        total = self.wins.sum() + self.losses.sum() + self.tied.sum()
        return int(total) if self._whole else float(total)

    @property
    def n_ties(self) -> int | float:
        """Number of comparisons in which neither option was chosen; their total weight when counts are fractional."""
        total = float(self.tied.sum())
        return int(total) if self._whole else total

    @property
    def _whole(self) -> bool:
        return all(bool(np.all(array == np.floor(array))) for array in (self.wins, self.losses, self.tied))

    @property
    def counts(self) -> np.ndarray:
        """The counts as a dense array, row over column, shape (options, options); up to 2,000 options."""
        return self._dense("counts", self.wins, self.losses)

    @property
    def ties(self) -> np.ndarray | None:
        """The ties as a dense array, the same in both triangles, shape (options, options); None if there are none."""
        return self._dense("ties", self.tied, self.tied) if self.tied.any() else None

    def _dense(self, name: str, above: np.ndarray, below: np.ndarray) -> np.ndarray:
        if self.n_options > MAX_DENSE:
            raise DataError(
                f"`{name}` is dense and stops at {MAX_DENSE:,} options; these are {self.n_options:,}. "
                "Use `to_frame()`, or `first`, `second`, `wins`, `losses` and `tied`."
            )
        table = np.zeros((self.n_options, self.n_options))
        table[self.first, self.second] = above
        table[self.second, self.first] = below
        return table.astype(np.int64) if self._whole else table

    @property
    def never_compared(self) -> list[str]:
        """Labels of the options without a single comparison."""
        compared = np.zeros(self.n_options, dtype=bool)
        compared[self.first] = True
        compared[self.second] = True
        return [self.labels[k] for k in np.flatnonzero(~compared)]

    def example(self) -> str:
        """One pair in words, to check the direction against: the one in which one option was ahead the furthest.

        Examples
        --------
        >>> PairedComparisons([[0, 3], [1, 0]], labels=["tea", "milk"]).example()
        "'tea' chosen over 'milk' 3 times of 4"
        """
        k = int(np.abs(self.wins - self.losses).argmax())
        pair = sorted([(self.wins[k], self.labels[self.first[k]]), (self.losses[k], self.labels[self.second[k]])])
        (_, behind), (more, ahead) = pair
        more, tied, total = (short_number(times) for times in (more, self.tied[k], pair[0][0] + more + self.tied[k]))
        ties = f" ({plural(tied, 'tie')})" if tied else ""
        return f"{ahead!r} chosen over {behind!r} {plural(more, 'time')} of {total:,}{ties}"

    def components(self) -> list[list[str]]:
        """Labels of the options that comparisons connect, the largest group first; one group = connected.

        Options never compared are groups of one.

        Examples
        --------
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

        Examples
        --------
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
        tied = np.concatenate([self.tied[kept], 0.0 * self.tied[kept]])
        found = PairedComparisons.__new__(PairedComparisons)._fill(names, winner, loser, counts, tied)
        a, b = place[self.first], place[self.second]
        key = np.minimum(a, b) * len(names) + np.maximum(a, b)
        new, turned = np.searchsorted(found.first * len(names) + found.second, key), a > b
        forward = None
        if self.forward is not None:
            backward = np.array([self.losses, self.wins, self.tied]) - self.forward[[1, 0, 2]]
            forward = np.empty((3, found.n_pairs))
            forward[:, new[kept]] = np.where(turned, backward, self.forward)[:, kept]
        answers = None if self.answers is None else self.answers.of_pairs(kept, new, turned)
        return found._with(forward, answers)

    def _with(self, forward: np.ndarray | None, answers: Answers | None) -> "PairedComparisons":
        """The same counts with how many of them are in which order, and who gave them."""
        return self._made_of(*(getattr(self, name) for name in self._FIELDS[:-2]), forward, answers)

    def with_counts(self, wins: np.ndarray, losses: np.ndarray, tied: np.ndarray | None = None) -> "PairedComparisons":
        """The same options and pairs with other counts, of which neither persons nor orders are known; None: no tie."""
        tied = np.zeros(self.n_pairs) if tied is None else tied
        return self._made_of(self.labels, self.first, self.second, wins, losses, tied, None, None)

    def without_ties(self, how: str) -> "PairedComparisons":
        """The same comparisons for whatever knows choices alone.

        Parameters
        ----------
        how : {"half", "drop"}
            A tie counts half a choice of either option, or nothing; a pair with ties alone then is not compared.

        Returns
        -------
        PairedComparisons
            With fractional counts, if there was an odd number of ties of some pair and they count half.

        Raises
        ------
        ArgumentError
            If `how` is another word.
        DataError
            If all comparisons are ties and are left out.

        Examples
        --------
        >>> data = PairedComparisons([[0, 3], [1, 0]], labels=["tea", "milk"], ties=[[0, 1], [1, 0]])
        >>> data
        PairedComparisons(2 options, 1 pair, 5 comparisons (1 tie), 1 component)
        >>> data.without_ties("half").wins, data.without_ties("drop").wins
        (array([3.5]), array([3.]))
        """
        share = 0.5 if one_of("how", how, ("half", "drop")) == "half" else 0.0
        found = self.with_counts(self.wins + share * self.tied, self.losses + share * self.tied)
        forward = None
        if self.forward is not None:
            wins, losses, tied = self.forward
            forward = np.array([wins + share * tied, losses + share * tied, 0.0 * tied])
        found = found._with(forward, None if self.answers is None else self.answers.without_ties(share))
        left = found.wins + found.losses > 0
        if not left.any():
            raise DataError(f"All {plural(self.n_ties, 'comparison')} are ties; without them nothing would be left.")
        return found if left.all() else found._only(left)

    def _only(self, kept: np.ndarray) -> "PairedComparisons":
        """The same options with some of the pairs."""
        arrays = (array[kept] for array in (self.first, self.second, self.wins, self.losses, self.tied))
        place = np.cumsum(kept) - 1
        forward = None if self.forward is None else self.forward[:, kept]
        answers = None if self.answers is None else self.answers.of_pairs(kept, place, np.zeros(len(kept), bool))
        return self._made_of(self.labels, *arrays, forward, answers)

    def refuse_ties(self) -> None:
        """Raise the `DataError` of whatever knows choices alone, if there are ties."""
        if self.tied.any():
            raise ties_unknown(self.n_ties, self.n_comparisons)

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

        Examples
        --------
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
        return self._only(kept)

    def _positions(self, names: Iterable[str]) -> list[int]:
        place = {label: k for k, label in enumerate(self.labels)}
        for name in names:
            if name not in place:
                near = suggest(name, self.labels) or f" The options are {shorten(self.labels)}."
                raise DataError(f"There is no option {name!r}.{near}")
        return [place[name] for name in names]
