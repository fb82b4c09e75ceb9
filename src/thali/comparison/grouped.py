"""Data of several groups of people: what is left out of one is left out of each."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data.groups import Groups
from thali.errors import DataError

from .splitter import Splitter

if TYPE_CHECKING:
    import pandas


class Grouped(Splitter):
    """Leaves out of groups what a splitter leaves out of one; numbers and units count through all groups.

    A part is a mapping from each group of which something is left out to the part of its own splitter.
    """

    def __init__(self, of_one: type[Splitter], data: Groups) -> None:
        super().__init__(data)
        self.of_one, self.of_group = of_one, of_one.of_groups(data)
        self.leave_out, self.part, self.usual = of_one.leave_out, of_one.part, of_one.usual  # type: ignore[misc]
        self.told_apart = all(each.told_apart for each in self.of_group.values())
        self._counts = {name: each.count for name, each in self.of_group.items()}
        if few := [name for name, count in self._counts.items() if count < 2]:
            raise DataError(f"Group {few[0]!r} {of_one.alone} without it nothing of the group would be left.")
        self._first = np.cumsum([0, *self._counts.values()])
        self._first_unit = np.cumsum([0, *(len(each.number_of_unit) for each in self.of_group.values())])

    def parts(self, seed: np.random.SeedSequence, hold_out: Any, folds: Any) -> list[dict[str, Any]]:
        return [self.part_of(numbers) for numbers in self.of_one.drawn_of_groups(self._counts, seed, hold_out, folds)]

    def part_of(self, numbers: np.ndarray) -> dict[str, Any]:
        names, group = self.data.names, np.searchsorted(self._first, numbers, side="right") - 1
        return {
            names[g]: self.of_group[names[g]].part_of(numbers[group == g] - self._first[g]) for g in np.unique(group)
        }

    def train(self, part: Mapping[str, Any]) -> tuple[Groups]:
        left = {name: each.train(part[name])[0] if name in part else each.whole for name, each in self.of_group.items()}
        return (Groups(left),)

    def test(self, part: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.of_group[name].test(own) for name, own in part.items()}

    def units(self, part: Mapping[str, Any]) -> np.ndarray:
        firsts = zip(self.of_group.items(), self._first_unit, strict=False)
        return np.concatenate([first + each.units(part[name]) for (name, each), first in firsts if name in part])

    def labels(self, units: np.ndarray) -> "pandas.MultiIndex":
        """Those of one group, of which the name stands in front."""
        import pandas as pd

        frames = []
        for name, each in self.of_group.items():
            frame = each.labels(np.arange(len(each.number_of_unit))).to_frame(index=False)
            if "respondent" in frame:
                frame["respondent"] = f"{name}: " + frame["respondent"]
            else:
                frame.insert(0, "group", name)
            frames.append(frame)
        return pd.MultiIndex.from_frame(pd.concat(frames).iloc[units])

    def observed(self) -> dict[str, np.ndarray]:
        each = [splitter.observed() for splitter in self.of_group.values()]
        return {name: np.concatenate([found[name] for found in each]) for name in each[0]}

    def place(self, number: int) -> dict[str, Any]:
        if self.part == Splitter.part:  # parts of several units, which have no name
            return super().place(number)
        ((group, own),) = self.part_of(np.array([number])).items()
        return {"group": group, **self.of_group[group].place(own)}

    def name(self, place: Mapping[Any, Any]) -> str:
        if "group" not in place:
            return super().name(place)
        return f"{self.of_group[place['group']].name(place)} of {place['group']}"
