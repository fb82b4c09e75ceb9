"""Choices of several groups of people, of which choices or people are left out of their groups."""

from typing import Any

import numpy as np

from thali.data.groups import Groups
from thali.errors import ArgumentError, DataError, Setting

from .group_occasions import GroupOccasions
from .leave_tasks import Tasks
from .occasions import Occasions
from .splitter import Splitter, folds_wanted, hold_out_wanted


class GroupChoices(Tasks):
    """Leaves out random choices of every group; a part is a mask of the choices of all groups, one after the other."""

    told_apart: Any

    leave_out = "choice"
    counted = "n_tasks"  # what `GroupOccasions` call the number of what is left out

    def __init__(self, data: Groups) -> None:
        Splitter.__init__(self, data)
        self.tasks = GroupOccasions({name: Occasions(each) for name, each in data.items()})
        self.told_apart = self.tasks.told_apart

    def _parts(self, rng: np.random.Generator, hold_out: Any, folds: Any) -> list[np.ndarray]:
        sizes = self.tasks.sizes(self.counted)
        if (sizes < 2).any():
            name = self.data.names[int((sizes < 2).argmax())]
            raise DataError(f"Group {name!r} has one {self.leave_out}; without it nothing of the group would be left.")
        units = spread_over_groups(sizes, self.leave_out, hold_out, folds, rng)
        return [np.isin(self._unit_of_task(), each) for each in units]

    def _unit_of_task(self) -> np.ndarray:
        return np.arange(self.tasks.n_tasks)

    def train(self, part: np.ndarray) -> tuple[Groups]:
        return (Groups({name: each.choices for name, each in self.tasks.take(~part).of_group.items()}),)


class GroupChoosers(GroupChoices):
    """Leaves out all choices of some respondents of every group."""

    leave_out = "respondent"
    counted = "n_respondents"

    def __init__(self, data: Groups) -> None:
        super().__init__(data)
        if not self.told_apart:
            raise DataError(
                "The choices of some group do not say who made them; leave out choices, or name the column of "
                "respondents."
            )

    def _unit_of_task(self) -> np.ndarray:
        return self.tasks.respondent_of_task


def spread_over_groups(
    sizes: np.ndarray, what: str, hold_out: Any, folds: Any, rng: np.random.Generator
) -> list[np.ndarray]:
    """The numbers of the units that are left out at a time, counted through all groups, as evenly of each group as can
    be; something is left of every group."""
    total = int(sizes.sum())
    first = np.cumsum(sizes) - sizes
    order = np.concatenate([start + rng.permutation(size) for start, size in zip(first, sizes, strict=True)])
    number = folds_wanted(folds, total, f"{what}s")
    if number is not None:
        return [order[k::number] for k in range(number)]
    wanted = hold_out_wanted(hold_out, total, what)
    taken = order[((np.arange(wanted) + 0.5) * total / wanted).astype(int)]
    if (np.bincount(np.searchsorted(first, taken, side="right") - 1, minlength=len(sizes)) == sizes).any():
        raise ArgumentError(Setting("hold_out", wanted), f" leaves some group without a {what}; hold out fewer.")
    return [taken]
