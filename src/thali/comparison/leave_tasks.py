"""Choices and choice experiments, of which tasks, choices or respondents are left out."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data.choices import Choices
from thali.data.experiments import ChoiceExperiment
from thali.data.experiments.split import held_tasks
from thali.errors import ArgumentError, DataError, Setting

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
        self.knows_people = self.tasks.knows_people

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
        if not self.knows_people:
            raise DataError(
                "The choices do not say who made them; leave out choices, or name the column of respondents."
            )

    @property
    def number_of_unit(self) -> np.ndarray:
        return self.tasks.respondent_of_task


class Occasions:
    """The occasions of `Choices`, sorted by respondent, with the parts of a `ChoiceExperiment` that scores need.

    The alternatives of a best-worst choice are the ordered pairs (best, worst) of its set. Where respondents are not
    known, every occasion counts as one of its own.

    Parameters
    ----------
    data : Choices
        With whole counts.

    Raises
    ------
    DataError
        If counts are fractional.
    """

    data: "Choices"
    place: np.ndarray
    worst: np.ndarray | None
    who: np.ndarray
    set: np.ndarray
    knows_people: bool
    respondents: tuple[str, ...]
    respondent_of_task: np.ndarray

    def __init__(self, data: Choices) -> None:
        if not np.array_equal(data.times, np.floor(data.times)):
            raise DataError("compare leaves whole choices out; these have fractional weights. Give whole counts.")
        rows = np.lexsort((data.choice, data.respondent))
        rows = np.repeat(rows, data.times[rows].astype(np.int64))
        self._fill(data, data.respondent[rows], data.choice[rows], None if data.worst is None else data.worst[rows])

    def _fill(self, data: Choices, who: np.ndarray, place: np.ndarray, worst: np.ndarray | None) -> "Occasions":
        self.data, self.who, self.place, self.worst = data, who, place, worst
        self.set = data.set_of[place]
        self.knows_people = bool(data.respondents)
        if self.knows_people:
            there, self.respondent_of_task = np.unique(who, return_inverse=True)
            self.respondents = tuple(data.respondents[k] for k in there)
        else:
            self.respondents = tuple(str(number + 1) for number in range(len(place)))
            self.respondent_of_task = np.arange(len(place))
        return self

    @property
    def n_tasks(self) -> int:
        return len(self.place)

    @property
    def n_respondents(self) -> int:
        return len(self.respondents)

    @property
    def first_task(self) -> np.ndarray:
        """Respondent n has the occasions first_task[n] to first_task[n + 1] - 1."""
        return np.concatenate([[0], np.cumsum(np.bincount(self.respondent_of_task, minlength=self.n_respondents))])

    @property
    def task_labels(self) -> np.ndarray:
        """Numbers within respondents."""
        return np.arange(self.n_tasks) - self.first_task[self.respondent_of_task] + 1

    @property
    def first_row(self) -> np.ndarray:
        """Occasion t has the alternatives first_row[t] to first_row[t + 1] - 1."""
        return np.concatenate([[0], np.cumsum(self.data.answers[self.set])])

    @property
    def n_alternatives(self) -> int:
        return int(self.first_row[-1])

    @property
    def chosen(self) -> np.ndarray:
        """Which of its alternatives was chosen in each occasion."""
        best = self.place - self.data.start[self.set]
        if self.worst is None:
            return best
        worst = self.worst - self.data.start[self.set]
        return best * (self.data.sizes[self.set] - 1) + worst - (worst > best)

    def take(self, kept: np.ndarray) -> "Occasions":
        """Those occasions alone, and nothing else of them known."""
        worst = None if self.worst is None else self.worst[kept]
        return Occasions.__new__(Occasions)._fill(self.data, self.who[kept], self.place[kept], worst)

    @cached_property
    def choices(self) -> Choices:
        """The occasions as models take them; all options stay, whether they are still offered or not."""
        sets, which = np.unique(self.set, return_inverse=True)
        sizes = self.data.sizes[sets]
        start = np.concatenate([[0], np.cumsum(sizes)])
        members = np.concatenate([self.data.members[self.data.start[v] : self.data.start[v + 1]] for v in sets])
        shift = start[which] - self.data.start[self.set]
        columns = [self.who, self.place + shift, *([] if self.worst is None else [self.worst + shift])]
        rows, times = np.unique(np.column_stack(columns), axis=0, return_counts=True)
        worst = None if self.worst is None else rows[:, 2]
        return self.data.with_rows(start, members, rows[:, 0], rows[:, 1], times.astype(float), worst)

    def predicted_by(self, model: Any) -> np.ndarray:
        """Probabilities of every alternative of every occasion."""
        return self.by_alternative(model.predict_proba(self.choices))

    def log_predicted_by(self, model: Any) -> np.ndarray:
        """The ln of the probability of all choices of each respondent together, by a model of thali."""
        return np.asarray(model.log_predictive(self.choices).loc[list(self.respondents)])

    def by_alternative(self, predicted: Any) -> np.ndarray:
        """Probabilities of every alternative of every occasion, from those of the members of each set of `choices`."""
        found = [np.asarray(each, float) for each in predicted]
        sizes = self.choices.answers
        if [each.shape for each in found] != [(size,) for size in sizes]:
            raise DataError(
                "predict_proba must give, for each set, the probabilities of its members, or of the ordered "
                "pairs (best, worst)."
            )
        _, which = np.unique(self.set, return_inverse=True)
        return np.concatenate([found[v] for v in which])
