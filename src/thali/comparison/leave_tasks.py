"""Choices and choice experiments, of which tasks, choices or respondents are left out."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data.choices import Choices
from thali.data.experiment import ChoiceExperiment
from thali.data.experiment_split import held_tasks
from thali.errors import DataError

from .occasions import Occasions
from .splitter import Splitter, folds_wanted, not_both, random_groups

if TYPE_CHECKING:
    import pandas


class Tasks(Splitter):
    """Leaves out the last tasks of every respondent, or a random part of everybody's; a part is a mask of tasks."""

    leave_out = "task"
    tasks: Any  # the data, with the parts of a `ChoiceExperiment` that scores need
    told_apart = True  # whether respondents are known

    def __init__(self, data: ChoiceExperiment) -> None:
        super().__init__(data)
        self.tasks = data

    def parts(self, seed: np.random.SeedSequence, hold_out: Any, folds: Any) -> list[np.ndarray]:
        not_both(hold_out, folds)
        return self._parts(np.random.default_rng(seed.spawn(1)[0]), hold_out, folds)

    def _parts(self, rng: np.random.Generator, hold_out: Any, folds: Any) -> list[np.ndarray]:
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

    def train(self, part: np.ndarray) -> tuple[Any, ...]:
        return (self.tasks.take(~part),)

    def test(self, part: np.ndarray) -> Any:
        return self.tasks.take(part)

    def units(self, part: np.ndarray) -> np.ndarray:
        return np.flatnonzero(part)

    def labels(self, units: np.ndarray) -> "pandas.MultiIndex":
        import pandas as pd

        people = np.array(self.tasks.respondents)[self.tasks.respondent_of_task[units]]
        return pd.MultiIndex.from_arrays([people, self.tasks.task_labels[units]], names=["respondent", "task"])

    def sizes(self, units: np.ndarray) -> np.ndarray:
        """Alternatives of each task."""
        return np.diff(self.tasks.first_row)[units]


class Respondents(Tasks):
    """Leaves out all tasks of some respondents."""

    leave_out = "respondent"

    def _parts(self, rng: np.random.Generator, hold_out: Any, folds: Any) -> list[np.ndarray]:
        return parts_of_people(self.tasks, rng, hold_out, folds)


class ChoicesOutOfSets(Tasks):
    """Leaves out random choices."""

    told_apart: Any

    leave_out = "choice"

    def __init__(self, data: Choices) -> None:
        Splitter.__init__(self, data)
        self.tasks = Occasions(data)
        self.told_apart = self.tasks.told_apart

    def _parts(self, rng: np.random.Generator, hold_out: Any, folds: Any) -> list[np.ndarray]:
        groups = random_groups(self.tasks.n_tasks, "choice", hold_out, folds, rng)
        return [np.isin(np.arange(self.tasks.n_tasks), group) for group in groups]

    def train(self, part: np.ndarray) -> tuple[Choices]:
        return (self.tasks.take(~part).choices,)


class Choosers(ChoicesOutOfSets):
    """Leaves out all choices of some respondents."""

    leave_out = "respondent"

    def __init__(self, data: Choices) -> None:
        super().__init__(data)
        if not self.told_apart:
            raise DataError(
                "The choices do not say who made them; leave out choices, or name the column of respondents."
            )

    def _parts(self, rng: np.random.Generator, hold_out: Any, folds: Any) -> list[np.ndarray]:
        return parts_of_people(self.tasks, rng, hold_out, folds)


def parts_of_people(tasks: Any, rng: np.random.Generator, hold_out: Any, folds: Any) -> list[np.ndarray]:
    """Masks of the tasks of random respondents."""
    groups = random_groups(tasks.n_respondents, "respondent", hold_out, folds, rng)
    return [np.isin(tasks.respondent_of_task, group) for group in groups]
