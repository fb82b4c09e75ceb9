"""Triplets, of which sets of pairs are left out with all their answers."""

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from thali.data.triplets import Triplets
from thali.errors import DataError

from .splitter import Splitter

if TYPE_CHECKING:
    import pandas


class PairSets(Splitter):
    """Leaves out random sets, a fifth of them unless told otherwise; a part is a mask of sets, a unit an answer."""

    leave_out = what = "set"
    data: Triplets
    usual: ClassVar[dict[str, int | None]] = {"draws": 1000, "tune": 1000, "chains": 4, "thin": None}

    def __init__(self, data: Triplets) -> None:
        super().__init__(data)
        if not np.array_equal(data.counts, np.floor(data.counts)):
            raise DataError("compare leaves whole answers out; these have fractional weights. Give whole counts.")
        self.places = np.repeat(np.arange(len(data.counts)), data.counts.astype(np.int64))  # of each answer
        self.set = data.set_of[self.places]

    @property
    def number_of_unit(self) -> np.ndarray:
        return self.set

    @property
    def count(self) -> int:
        return self.data.n_sets

    def part_of(self, numbers: np.ndarray) -> np.ndarray:
        return np.isin(np.arange(self.count), numbers)

    def observed(self) -> dict[str, np.ndarray]:
        return {"sizes": self.data.sizes[self.set]}

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
