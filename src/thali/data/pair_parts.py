"""Parts of paired comparisons: some of the options or pairs, ties counted in another way, further covariates."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from thali._arguments import one_of
from thali._labels import as_label, checked_labels, plural, shorten, suggest
from thali.errors import DataError

from .answers import Answers
from .covariates import ORDER, Cells, Covariates, option_columns
from .frames import as_frame
from .pair_rows import PairRows
from .ties import ties_unknown

if TYPE_CHECKING:
    import pandas as pd


class PairParts(PairRows):
    """What `PairedComparisons` make of themselves."""

    n_options: int
    n_pairs: int
    n_ties: int | float
    n_comparisons: int | float

    def subset(self, labels: Iterable[Any]) -> Self:
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
        >>> import thali as th
        >>> data = th.PairedComparisons([[0, 7, 9], [3, 0, 6], [1, 4, 0]], labels=["tea", "coffee", "milk"])
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
        found = self.__new__(type(self))._fill(names, winner, loser, counts, tied)
        a, b = place[self.first], place[self.second]
        key = np.minimum(a, b) * len(names) + np.maximum(a, b)
        new, turned = np.searchsorted(found.first * len(names) + found.second, key), a > b
        forward = None
        if self.forward is not None:
            backward = np.array([self.losses, self.wins, self.tied]) - self.forward[[1, 0, 2]]
            forward = np.empty((3, found.n_pairs))
            forward[:, new[kept]] = np.where(turned, backward, self.forward)[:, kept]
        answers = None if self.answers is None else self.answers.of_pairs(kept, new, turned)
        places = np.array(self._positions(names))
        covariates = None if self.covariates is None else self.covariates.of_pairs(kept, new, turned, places)
        return found._with(forward, answers, covariates)

    def _with(self, forward: np.ndarray | None, answers: Answers | None, covariates: Covariates | None) -> Self:
        """The same counts with how many of them are in which order, who gave them, and their covariates."""
        return self._made_of(*(getattr(self, name) for name in self._FIELDS[:-3]), forward, answers, covariates)

    def with_counts(self, wins: np.ndarray, losses: np.ndarray, tied: np.ndarray | None = None) -> Self:
        """The same options and pairs with other counts, of which neither persons nor orders nor covariates are known;
        None: no tie."""
        tied = np.zeros(self.n_pairs) if tied is None else tied
        return self._made_of(self.labels, self.first, self.second, wins, losses, tied, None, None, None)

    def with_cell_counts(self, wins: np.ndarray, losses: np.ndarray, tied: np.ndarray | None = None) -> Self:
        """The same options and cells with other counts, of which neither persons nor orders are known."""
        tied = np.zeros(len(wins)) if tied is None else tied
        if self.covariates is None:
            return self.with_counts(wins, losses, tied)
        sums = (np.bincount(self.covariates.pair, each, self.n_pairs) for each in (wins, losses, tied))
        return self.with_counts(*sums)._with(None, None, self.covariates.with_counts(wins, losses, tied))

    def without_ties(self, how: str) -> Self:
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
        >>> import thali as th
        >>> data = th.PairedComparisons([[0, 3], [1, 0]], labels=["tea", "milk"], ties=[[0, 1], [1, 0]])
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
        answers = None if self.answers is None else self.answers.without_ties(share)
        found = found._with(forward, answers, None if self.covariates is None else self.covariates.without_ties(share))
        left = found.wins + found.losses > 0
        if not left.any():
            raise DataError(f"All {plural(self.n_ties, 'comparison')} are ties; without them nothing would be left.")
        return found if left.all() else found._only(left)

    def _only(self, kept: np.ndarray) -> Self:
        """The same options with some of the pairs."""
        arrays = (array[kept] for array in (self.first, self.second, self.wins, self.losses, self.tied))
        place = np.cumsum(kept) - 1
        forward = None if self.forward is None else self.forward[:, kept]
        same = np.zeros(len(kept), bool)
        answers = None if self.answers is None else self.answers.of_pairs(kept, place, same)
        every = np.arange(self.n_options)
        covariates = None if self.covariates is None else self.covariates.of_pairs(kept, place, same, every)
        return self._made_of(self.labels, *arrays, forward, answers, covariates)

    @property
    def cells(self) -> Cells:
        """The comparisons as models take them: a cell for each pair, or each pair and different covariates."""
        own = self.covariates
        if own is None:
            none = np.zeros((self.n_pairs, 0))
            sides = self.first, self.second, self.wins, self.losses, self.tied
            return Cells(np.arange(self.n_pairs), *sides, none, self.answers)
        first, second = self.first[own.pair], self.second[own.pair]
        x = own.values + own.options[first] - own.options[second]
        return Cells(own.pair, first, second, own.wins, own.losses, own.tied, x, own.answers)

    def with_order(self) -> Self:
        """The same comparisons with the covariate "order": 1 where the first of a pair was shown first, else -1.

        Its coefficient is the advantage of being first, or at home, in log odds. Comparisons of known people take it
        from the table: ``from_trials(frame, covariates=["order"])``.

        Returns
        -------
        PairedComparisons

        Raises
        ------
        DataError
            If the data do not say which option was first, or know people or covariates already.

        Examples
        --------
        >>> import pandas as pd, thali as th
        >>> games = pd.DataFrame([("Hull", "Stoke", "H"), ("Stoke", "Hull", "H")], columns=["home", "away", "result"])
        >>> data = th.PairedComparisons.from_results(games).with_order()
        >>> data.covariates.values.ravel()
        array([-1.,  1.])
        """
        if self.answers is not None or self.covariates is not None:
            raise DataError(
                f"Of comparisons with known {'people' if self.answers is not None else 'covariates'} the order is read "
                f"from the table; name {ORDER!r} among the `covariates` of from_trials, or of from_results."
            )
        self.by_order()  # which refuses what does not know it
        forward = np.asarray(self.forward)
        counts = np.stack([np.array([self.wins, self.losses, self.tied]) - forward, forward], axis=2)
        there = counts.sum(axis=0) > 0.0
        pair, is_forward = np.nonzero(there)
        values, options = np.where(is_forward, 1.0, -1.0)[:, None], np.zeros((self.n_options, 1))
        sums = [each[there] for each in counts]
        return self._with(self.forward, None, Covariates._made_of((ORDER,), pair, values, options, *sums, None))

    def with_option_covariates(self, frame: "pd.DataFrame") -> Self:
        r"""The same comparisons with covariates of the options, on which their worths depend.

        .. math:: \text{worth}_i = e^{x_i' b} u_i

        where u are the own worths that a posterior knows besides; by maximum likelihood all are 1. For unique aspects
        alone.

        Parameters
        ----------
        frame : DataFrame
            A row an option, whose label stands in the index, and a column a covariate: numbers as they are, other
            columns as indicators of all categories but the first.

        Returns
        -------
        PairedComparisons

        Raises
        ------
        DataError
            If an option has no row, or a column is constant or has gaps, or bears the name of another covariate.

        Examples
        --------
        >>> import pandas as pd, thali as th
        >>> data = th.PairedComparisons([[0, 3, 5], [1, 0, 2], [1, 2, 0]], labels=["tea", "milk", "water"])
        >>> data.with_option_covariates(pd.DataFrame({"price": [2.0, 1.0, 0.5]}, index=["tea", "milk", "water"]))
        PairedComparisons(3 options, 3 pairs, 14 comparisons, 1 covariate, 1 component)
        """
        names, values = option_columns(as_frame(frame), self.labels)
        own = self.covariates
        if own is None:
            cells = self.cells
            nothing = np.zeros((self.n_pairs, 0)), np.zeros((self.n_options, 0))
            own = Covariates._made_of((), cells.pair, *nothing, cells.wins, cells.losses, cells.tied, cells.answers)
        if twice := [name for name in names if name in own.names]:
            raise DataError(f"There is a covariate {twice[0]!r} already; rename the column.")
        of_cells = np.hstack([own.values, np.zeros((len(own.pair), len(names)))])
        arrays = own.pair, of_cells, np.hstack([own.options, values]), own.wins, own.losses, own.tied, own.answers
        return self._with(self.forward, self.answers, Covariates._made_of((*own.names, *names), *arrays))

    def with_covariates(self, names: Iterable[str]) -> Self:
        """The same comparisons with some of their covariates.

        Parameters
        ----------
        names : list of str
            None of them: comparisons without covariates.

        Returns
        -------
        PairedComparisons

        Raises
        ------
        DataError
            If a covariate is not known.

        Examples
        --------
        >>> import pandas as pd, thali as th
        >>> rows = {"left": ["tea", "milk"], "right": ["milk", "tea"], "chosen": ["tea", "tea"], "longer": [20, -3]}
        >>> data = th.PairedComparisons.from_trials(pd.DataFrame(rows), covariates=["order", "longer"])
        >>> data.with_covariates(["longer"])
        PairedComparisons(2 options, 1 pair, 2 comparisons, 1 covariate, 1 component)
        """
        names = list(names)
        if self.covariates is None:
            if names:
                raise DataError(
                    f"There is no covariate {names[0]!r}, because the comparisons have none; name them where they are"
                    " read, from_trials(frame, covariates=[...])."
                )
            return self
        return self._with(self.forward, self.answers, self.covariates.of_names(names))

    def refuse_ties(self) -> None:
        """Raise the `DataError` of whatever knows choices alone, if there are ties."""
        if self.tied.any():
            raise ties_unknown(self.n_ties, self.n_comparisons)

    def without_pair(self, a: Any, b: Any) -> Self:
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
        >>> import thali as th
        >>> data = th.PairedComparisons([[0, 7, 9], [3, 0, 6], [1, 4, 0]], labels=["tea", "coffee", "milk"])
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
