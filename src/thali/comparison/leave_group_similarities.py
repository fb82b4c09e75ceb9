"""Similarities by group of people, of which pairs of objects are left out within a group."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data.groups import Groups
from thali.data.similarities import Similarities
from thali.errors import DataError

from .leave_similarities import ObjectPairs

if TYPE_CHECKING:
    import pandas


class GroupMeasured:
    """The similarities of all groups, one after the other."""

    def __init__(self, of_group: Mapping[str, Similarities]) -> None:
        self.of_group = dict(of_group)
        self.values = np.concatenate([each.values for each in of_group.values()])
        self.judgements = np.concatenate([each.judgements for each in of_group.values()])

    @property
    def n_pairs(self) -> int:
        return len(self.values)

    def take(self, kept: np.ndarray) -> "GroupMeasured":
        """Some of the pairs of the groups that have any of them."""
        masks = np.split(kept, np.cumsum([each.n_pairs for each in self.of_group.values()])[:-1])
        parts = zip(self.of_group.items(), masks, strict=True)
        return GroupMeasured({name: each.take(mask) for (name, each), mask in parts if mask.any()})


class GroupObjectPairs(ObjectPairs):
    """Leaves out every pair of objects that a group judged in turn, or random parts; a part is a mask of the pairs of
    all groups, one after the other."""

    data: Any

    def __init__(self, data: Groups) -> None:
        super().__init__(data)
        if few := [name for name, each in data.items() if each.n_pairs < 2]:
            raise DataError(f"Group {few[0]!r} judged a single pair: without it nothing of the group would be left.")
        self._measured = GroupMeasured(data)

    @property
    def measured(self) -> GroupMeasured:
        return self._measured

    def parts(self, seed: np.random.SeedSequence, hold_out: Any, folds: Any) -> list[np.ndarray]:
        found = super().parts(seed, hold_out, folds)
        for part in found:
            kept = self.measured.take(~part).of_group
            if lost := [name for name in self.data if name not in kept]:
                raise DataError(f"A part would hold all similarities of group {lost[0]!r}; leave out fewer at a time.")
        return found

    def train(self, part: np.ndarray) -> tuple[Groups]:  # type: ignore[override]
        return (Groups(self.measured.take(~part).of_group),)

    def test(self, part: np.ndarray) -> Any:
        return self.measured.take(part)

    def labels(self, units: np.ndarray) -> "pandas.MultiIndex":
        import pandas as pd

        rows = [
            (name, each.labels[i], each.labels[j])
            for name, each in self.measured.of_group.items()
            for i, j in zip(each.first, each.second, strict=True)
        ]
        return pd.MultiIndex.from_tuples([rows[unit] for unit in units], names=["group", "a", "b"])
