"""Triplets, of which sets of pairs are left out with all their answers."""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali.data.triplets import Triplets
from thali.errors import DataError

from .splitter import Splitter, not_both, random_groups

if TYPE_CHECKING:
    import pandas


class PairSets(Splitter):
    """Leaves out random sets, a fifth of them unless told otherwise; a part is a mask of sets, a unit an answer."""

    leave_out = "set"
    data: Triplets
    usual: ClassVar[dict[str, int | None]] = {"draws": 1000, "tune": 1000, "chains": 4, "thin": None}

    def __init__(self, data: Triplets) -> None:
        super().__init__(data)
        if not np.array_equal(data.counts, np.floor(data.counts)):
            raise DataError("compare leaves whole answers out; these have fractional weights. Give whole counts.")
        self.places = np.repeat(np.arange(len(data.counts)), data.counts.astype(np.int64))  # of each answer
        self.set = data.set_of[self.places]

    def parts(self, seed: np.random.SeedSequence, hold_out: Any, folds: Any) -> list[np.ndarray]:
        not_both(hold_out, folds)
        rng, n = np.random.default_rng(seed.spawn(1)[0]), self.data.n_sets
        return [np.isin(np.arange(n), group) for group in random_groups(n, "set", hold_out, folds, rng)]

    def train(self, part: np.ndarray) -> tuple[Triplets]:
        return (self.data.take(~part),)

    def test(self, part: np.ndarray) -> Triplets:
        return self.data.take(part)

    def units(self, part: np.ndarray) -> np.ndarray:
        return np.flatnonzero(part[self.set])

    def labels(self, units: np.ndarray) -> "pandas.MultiIndex":
        import pandas as pd

        names, places = np.asarray(self.data.labels, dtype=object), self.places[units]
        sides = (names[side[places]] for side in (self.data.first, self.data.second))
        return pd.MultiIndex.from_arrays([self.set[units], *sides], names=["set", "a", "b"])
