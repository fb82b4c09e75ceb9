"""Paired comparisons of several groups of people, of which every pair of every group is left out in turn."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from thali.data.groups import Groups
from thali.errors import Argument, ArgumentError, DataError

from .leave_pairs import LeftPair, Pairs
from .splitter import Splitter

if TYPE_CHECKING:
    import pandas


class Counted(NamedTuple):
    """The counts of all groups, one after the other."""

    wins: np.ndarray
    losses: np.ndarray
    tied: np.ndarray
    n_ties: float


class GroupPairs(Splitter):
    """Leaves out all comparisons that one group made of one pair; a part is its number, group after group."""

    leave_out = "pair"
    part = "pair"
    data: Groups
    usual: ClassVar[dict[str, int | None]] = Pairs.usual

    def __init__(self, data: Groups) -> None:
        super().__init__(data)
        if few := [name for name, each in data.items() if each.n_pairs < 2]:
            raise DataError(f"Group {few[0]!r} compared a single pair: without it nothing of the group would be left.")
        self._first = np.cumsum([0, *(each.n_pairs for each in data.data)])

    @property
    def counted(self) -> Counted:
        """What has `wins`, `losses` and `tied` of the parts, and `n_ties`."""
        wins, losses, tied = (
            np.concatenate([getattr(each, name) for each in self.data.data]) for name in ("wins", "losses", "tied")
        )
        return Counted(wins, losses, tied, float(tied.sum()))

    def parts(self, seed: np.random.SeedSequence, hold_out: Any, folds: Any) -> list[int]:
        if hold_out is not None or folds is not None:
            raise ArgumentError(
                Argument("hold_out"),
                " and ",
                Argument("folds"),
                " are not for comparisons, of which all pairs are left out.",
            )
        return list(range(int(self._first[-1])))

    def _at(self, part: int) -> tuple[str, Any, int]:
        """The group of a part, its data, and the number of the pair there."""
        g = int(np.searchsorted(self._first, part, side="right")) - 1
        return self.data.names[g], self.data.data[g], part - int(self._first[g])

    def options(self, part: int) -> tuple[str, str, str]:
        """The group and the labels of a pair."""
        name, each, pair = self._at(part)
        return name, each.labels[each.first[pair]], each.labels[each.second[pair]]

    def train(self, part: int) -> tuple[Groups]:
        group, a, b = self.options(part)
        return (Groups({name: each.without_pair(a, b) if name == group else each for name, each in self.data.items()}),)

    def test(self, part: int) -> LeftPair:
        group, a, b = self.options(part)
        found = self.counted
        tied = float(found.tied[part]) if found.n_ties else None
        return LeftPair((a, b), float(found.wins[part]), float(found.losses[part]), tied, None, group)

    def units(self, part: int) -> np.ndarray:
        return np.array([part])

    def labels(self, units: np.ndarray) -> "pandas.MultiIndex":
        import pandas as pd

        return pd.MultiIndex.from_tuples([self.options(int(unit)) for unit in units], names=["group", "a", "b"])

    def place(self, number: int) -> dict[str, Any]:
        return dict(zip(("group", "a", "b"), self.options(number), strict=True))

    def name(self, place: Mapping[Any, Any]) -> str:
        return f"{place['a']}-{place['b']} of {place['group']}"
