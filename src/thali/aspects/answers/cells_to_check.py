"""The cells of comparisons, whose replicates and probabilities are put together for pairs."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..draws.columns import Columns, columns_of
from ..draws.covariates import Lift, beta_of, cells_of, names_in
from ..draws.probabilities import BLOCK, probability_blocks, probability_draws

if TYPE_CHECKING:
    import xarray


class CellsToCheck(NamedTuple):
    """Cells of the same pair follow each other; without covariates a pair is one cell."""

    counts: np.ndarray  # (cells, outcomes) int64
    start: np.ndarray  # (pairs + 1,): pair p has the cells start[p] to start[p + 1] - 1
    first: np.ndarray  # (cells,) options
    second: np.ndarray
    columns: Columns  # of the draws that are replicated
    lift: Lift | None
    lapse: float

    @property
    def n(self) -> np.ndarray:
        """Comparisons in each cell."""
        return self.counts.sum(axis=1)

    def blocks(self) -> Iterator[tuple[slice, slice]]:
        """Slices over the pairs, and those of their cells, each of at most BLOCK replicates or of one pair."""
        most, pair = max(1, BLOCK // (self.columns.n_draws * (1 if self.counts.shape[1] == 2 else 3))), 0
        while pair < len(self.start) - 1:
            end = max(pair + 1, int(np.searchsorted(self.start, self.start[pair] + most, side="right")) - 1)
            yield slice(pair, end), slice(int(self.start[pair]), int(self.start[end]))
            pair = end

    def probabilities(self, cells: slice) -> np.ndarray:
        """p̃, array (cells, draws): with the draws last, blocks of pairs read one random stream in one order."""
        p = np.empty((cells.stop - cells.start, self.columns.n_draws))
        lift = None if self.lift is None else Lift(self.lift.beta, self.lift.x[cells])
        first, second = self.first[cells], self.second[cells]
        for draws, each, _ in probability_blocks(self.columns, first, second, self.lapse, lift):
            p[:, draws] = each.T
        return p

    def added(self, pairs: slice, values: np.ndarray) -> np.ndarray:
        """Sums over the cells of each pair."""
        start = self.start[pairs]
        return values if self.lift is None else np.add.reduceat(values, start - start[0], axis=0)

    def mean(self, pairs: slice, cells: slice, p: np.ndarray) -> np.ndarray:
        """Probabilities of pairs, from those of their cells."""
        if self.lift is None:
            return p
        n = self.n[cells].reshape(-1, *[1] * (p.ndim - 1))
        return self.added(pairs, n * p) / self.added(pairs, n)


def cells_to_check(tree: "xarray.DataTree", outcomes: int, columns: Columns, draws: np.ndarray) -> CellsToCheck:
    """The cells of a posterior of comparisons with whole counts, some of whose draws are replicated."""
    constant, cells = tree["constant_data"].to_dataset(), cells_of(tree)
    pair, sides = cells["pair"], ("wins", "losses") if outcomes == 2 else ("wins", "ties", "losses")
    return CellsToCheck(
        counts=np.stack([cells[name] for name in sides], axis=1).astype(np.int64),
        start=np.searchsorted(pair, np.arange(pair[-1] + 2)),
        first=constant["first"].values[pair],
        second=constant["second"].values[pair],
        columns=columns,
        lift=Lift(beta_of(tree)[draws], cells["x"]) if names_in(tree) else None,
        lapse=float(constant["lapse"]),
    )


def compared_draws(tree: "xarray.DataTree", pairs: np.ndarray) -> np.ndarray:
    """p̃ of some compared pairs in every draw (draws, pairs): the mean over the covariates of their comparisons."""
    constant, columns = tree["constant_data"].to_dataset(), columns_of(tree)
    first, second, lapse = constant["first"].values[pairs], constant["second"].values[pairs], float(constant["lapse"])
    if not names_in(tree):
        return probability_draws(columns, first, second, lapse)
    cells, beta, found = cells_of(tree), beta_of(tree), np.empty((columns.n_draws, len(pairs)))
    n = cells["wins"] + cells["ties"] + cells["losses"]
    for k, pair in enumerate(pairs):
        rows = np.flatnonzero(cells["pair"] == pair)
        a, b = np.full(len(rows), first[k]), np.full(len(rows), second[k])
        p = probability_draws(columns, a, b, lapse, Lift(beta, cells["x"][rows]))
        found[:, k] = p @ n[rows] / n[rows].sum()
    return found
