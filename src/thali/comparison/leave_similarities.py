"""Similarities, of which pairs of objects are left out."""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali.data.similarities import Similarities
from thali.errors import DataError

from .leave_pairs import pair_index
from .splitter import Splitter, lost_group

if TYPE_CHECKING:
    import pandas


class ObjectPairs(Splitter):
    """Leaves out every measured pair of objects in turn, or random parts of them; a part is a mask of pairs."""

    leave_out = "pair"
    what = "measured pair"
    alone = "judged a single pair:"
    data: Similarities
    usual: ClassVar[dict[str, int | None]] = {"draws": 1000, "tune": 1000, "chains": 4, "thin": None}

    @classmethod
    def drawn(cls, count: int, seed: np.random.SeedSequence, hold_out: Any, folds: Any) -> list[np.ndarray]:
        if hold_out is not None or folds is not None:
            return super().drawn(count, seed, hold_out, folds)
        if count < 2:
            raise DataError("There is one measured pair; leaving out pairs needs two.")
        return list(np.arange(count)[:, None])

    @classmethod
    def drawn_of_groups(
        cls, counts: dict[str, int], seed: np.random.SeedSequence, hold_out: Any, folds: Any
    ) -> list[np.ndarray]:
        found = super().drawn_of_groups(counts, seed, hold_out, folds)
        for numbers in found:
            if lost := lost_group(counts, numbers):
                raise DataError(f"A part would hold all similarities of group {lost!r}; leave out fewer at a time.")
        return found

    @property
    def number_of_unit(self) -> np.ndarray:
        return np.arange(self.data.n_pairs)

    def observed(self) -> dict[str, np.ndarray]:
        return {"values": self.data.values, "judgements": self.data.judgements}

    def train(self, part: np.ndarray) -> tuple[Similarities]:
        return (self.data.take(~part),)

    def test(self, part: np.ndarray) -> Similarities:
        return self.data.take(part)

    def labels(self, units: np.ndarray) -> "pandas.MultiIndex":
        return pair_index(self.data, units)
