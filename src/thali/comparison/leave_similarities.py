"""Similarities, of which pairs of objects are left out."""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali.data.similarities import Similarities
from thali.errors import DataError

from .leave_pairs import pair_index
from .splitter import Splitter, not_both, random_groups

if TYPE_CHECKING:
    import pandas


class ObjectPairs(Splitter):
    """Leaves out every measured pair of objects in turn, or random parts of them; a part is a mask of pairs."""

    leave_out = "pair"
    data: Similarities
    usual: ClassVar[dict[str, int | None]] = {"draws": 1000, "tune": 1000, "chains": 4, "thin": None}

    @property
    def measured(self) -> Any:
        """What has the `values` and `judgements` of all pairs, and `take`."""
        return self.data

    def parts(self, seed: np.random.SeedSequence, hold_out: Any, folds: Any) -> list[np.ndarray]:
        n = self.measured.n_pairs
        not_both(hold_out, folds)
        if hold_out is None and folds is None:
            if n < 2:
                raise DataError("There is one measured pair; leaving out pairs needs two.")
            groups = [np.array([pair]) for pair in range(n)]
        else:
            rng = np.random.default_rng(seed.spawn(1)[0])
            groups = random_groups(n, "measured pair", hold_out, folds, rng)
        return [np.isin(np.arange(n), group) for group in groups]

    def train(self, part: np.ndarray) -> tuple[Similarities]:
        return (self.data.take(~part),)

    def test(self, part: np.ndarray) -> Similarities:
        return self.data.take(part)

    def units(self, part: np.ndarray) -> np.ndarray:
        return np.flatnonzero(part)

    def labels(self, units: np.ndarray) -> "pandas.MultiIndex":
        return pair_index(self.data, units)
