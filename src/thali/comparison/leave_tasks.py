"""Choices and choice experiments, of which tasks, choices or respondents are left out."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data.choices import Choices
from thali.data.experiment import ChoiceExperiment
from thali.data.experiment_split import held_tasks
from thali.errors import ArgumentError, DataError, Setting

from .occasions import Occasions
from .splitter import Splitter, folds_wanted, hold_out_wanted, lost_group, not_both

if TYPE_CHECKING:
    import pandas


class OfTasks(Splitter):
    """Data whose units are tasks; a part is a mask of them."""

    tasks: Any  # the data, with the parts of a `ChoiceExperiment` that scores need

    def __init__(self, data: ChoiceExperiment) -> None:
        super().__init__(data)
        self.tasks = data

    @property
    def number_of_unit(self) -> np.ndarray:
        return np.arange(self.tasks.n_tasks)

    def train(self, part: np.ndarray) -> tuple[Any, ...]:
        return (self.tasks.take(~part),)

    def test(self, part: np.ndarray) -> Any:
        return self.tasks.take(part)

    def labels(self, units: np.ndarray) -> "pandas.MultiIndex":
        import pandas as pd

        people = np.array(self.tasks.respondents)[self.tasks.respondent_of_task[units]]
        return pd.MultiIndex.from_arrays([people, self.tasks.task_labels[units]], names=["respondent", "task"])

    def observed(self) -> dict[str, np.ndarray]:
        return {"sizes": np.diff(self.tasks.first_row)}


class Tasks(OfTasks):
    """Leaves out the last tasks of every respondent, or a random part of everybody's."""

    leave_out = "task"

    def parts(self, seed: np.random.SeedSequence, hold_out: Any, folds: Any) -> list[np.ndarray]:
        not_both(hold_out, folds)
        rng = np.random.default_rng(seed.spawn(1)[0])
        counts = np.diff(self.tasks.first_task)
        if (counts < 2).any():
            person = self.tasks.respondents[int((counts < 2).argmax())]
            raise DataError(
                f"Respondent {person!r} has a single task; leaving out tasks needs two of every respondent."
            )
        number = folds_wanted(folds, int(counts.max()), "tasks of a respondent")
        if number is None:
            return [held_tasks(self.tasks, max(1, int(counts.min()) // 4) if hold_out is None else hold_out, None)]
        part = np.concatenate([rng.permutation(count) % number for count in counts])
        return [part == k for k in range(number)]


class Respondents(OfTasks):
    """Leaves out all tasks of some respondents."""

    leave_out = what = "respondent"

    @property
    def number_of_unit(self) -> np.ndarray:
        return self.tasks.respondent_of_task


class ChoicesOutOfSets(OfTasks):
    """Leaves out random choices; of several groups as evenly of each as can be, and something is left of every one."""

    leave_out = what = "choice"
    alone = "has one choice;"

    def __init__(self, data: Choices) -> None:
        Splitter.__init__(self, data)
        self.tasks = Occasions(data)
        self.told_apart = self.tasks.told_apart

    @classmethod
    def drawn_of_groups(
        cls, counts: dict[str, int], seed: np.random.SeedSequence, hold_out: Any, folds: Any
    ) -> list[np.ndarray]:
        not_both(hold_out, folds)
        rng, total, first = np.random.default_rng(seed.spawn(1)[0]), sum(counts.values()), 0
        order = np.empty(total, np.int64)
        for count in counts.values():
            order[first : first + count] = first + rng.permutation(count)
            first += count
        number = folds_wanted(folds, total, f"{cls.what}s")
        if number is not None:
            return [order[k::number] for k in range(number)]
        wanted = hold_out_wanted(hold_out, total, cls.what)
        taken = order[((np.arange(wanted) + 0.5) * total / wanted).astype(int)]
        if lost_group(counts, taken):
            raise ArgumentError(
                Setting("hold_out", wanted), f" leaves some group without a {cls.what}; hold out fewer."
            )
        return [taken]

    @property
    def whole(self) -> Choices:
        return self.tasks.choices

    def train(self, part: np.ndarray) -> tuple[Choices]:
        return (self.tasks.take(~part).choices,)


class Choosers(ChoicesOutOfSets):
    """Leaves out all choices of some respondents."""

    leave_out = what = "respondent"
    alone = "has one respondent;"

    def __init__(self, data: Choices) -> None:
        super().__init__(data)
        if not self.told_apart:
            raise DataError(
                "The choices do not say who made them; leave out choices, or name the column of respondents."
            )

    @property
    def number_of_unit(self) -> np.ndarray:
        return self.tasks.respondent_of_task
