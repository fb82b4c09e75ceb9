"""A chain that does not know of which kind people are."""

from dataclasses import dataclass

import numpy as np

from ...group_state import KindModel, Kinds, People, drawn_kinds
from ...samplers.groups import empty_group_record, fill_counts, move_people
from ...samplers.loop import REBUILD
from ...samplers.tempering import narrow_gaps
from ...state import stack
from ..groups_chain import GroupChain, GroupTask

SWEEPS_A_MOVE = 5  # of the weights and features, given who is of which kind


@dataclass(kw_only=True)
class KindTask(GroupTask):
    """What to run: that of groups, and the people."""

    people: People

    @property
    def of_kinds(self) -> KindModel:
        """The model of the moves of people."""
        return KindModel(self.model, self.people)

    def chain(self, rng: np.random.Generator) -> "KindChain":
        """A chain at its start."""
        return KindChain(self, rng)


class KindChain(GroupChain):
    """One chain of kinds of people."""

    _PARTS = (*GroupChain._PARTS, "kinds")

    task: KindTask

    def __init__(self, task: KindTask, rng: np.random.Generator) -> None:
        super().__init__(task, rng)
        self.kinds = stack([drawn_kinds(rng, task.people, task.n_groups) for _ in task.temperatures])
        number = self.kinds.of.shape[1]
        self.record = empty_group_record(task.draws, task.n_options, task.n_groups, len(task.parameters), number)

    def _run_kernel(self, until: int) -> None:
        """Sweeps of groups, and after every few of them a move of everybody; a draw is of the state before it."""
        while True:
            if self.sweeps % REBUILD == 0:
                fill_counts(self.rng, self.task.of_kinds, self.caches, self.states, self.kinds)
            before, drawn = self.sweeps, self.recorded
            super()._run_kernel(min(until, (before // SWEEPS_A_MOVE + 1) * SWEEPS_A_MOVE))
            self.record.kinds[drawn : self.recorded] = self.kinds.of[self.ladder.at[0]]
            if self.sweeps > before and self.sweeps % SWEEPS_A_MOVE == 0:
                move_people(self.rng, self.task.of_kinds, self.caches, self.states, self.bases, self.kinds, self.ladder)
            if self.sweeps >= until:
                return

    def _lengthen(self) -> None:
        below = self.ladder.at[narrow_gaps(self.ladder)]
        super()._lengthen()
        self.kinds = Kinds(*(np.concatenate([a, a[below]]) for a in self.kinds))
