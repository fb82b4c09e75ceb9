"""Chains of groups on a ladder from the posterior down to the prior, as `samplers.prior_ladder`."""

import math
from typing import Any

import numpy as np

from thali.compile.jit import kernel

from ...group_state import KAPPA, KAPPA_RATE, KAPPA_SHAPE, Base, empty_base, group_at
from ...moves.group_densities import SMALLEST
from ...operations import cache_at, rebuild
from ...samplers.groups import prepare_groups, whole_of_groups
from ...samplers.prior_ladder import ToThePrior
from ...state import ALPHA, COLUMNS, capacity, replica
from ..groups_chain import GroupChain, GroupTask, start_of


@kernel
def completed_groups(rng: Any, model: Any, caches: Any, states: Any, steps: Any, energy: Any) -> Any:
    """Fill in what follows from the draw just put on the last level, and note the log-likelihood of every level."""
    last = steps.at[steps.beta.shape[0] - 1]
    prepare_groups(model, replica(states, last))
    for g in range(states.w.shape[1]):
        likelihood = group_at(model.likelihood, g)
        c = cache_at(likelihood, cache_at(likelihood, caches, last), g)
        rebuild(likelihood, c, replica(replica(states, last), g))
    for t in range(steps.beta.shape[0]):
        energy[t] = whole_of_groups(model, caches, states, steps.at[t])


def drawn_base(rng: np.random.Generator, task: GroupTask, rows: int) -> Base:
    """What the weights vary about, from its prior."""
    model, base = task.model, empty_base(task.n_options, rows, task.model)
    if model.similar:
        for values in (base.v, base.own):
            values[:] = np.maximum(rng.gamma(model.shape, 1.0 / model.rate, values.size), SMALLEST)
        if math.isnan(model.kappa):
            base.real[KAPPA] = rng.gamma(KAPPA_SHAPE, 1.0 / KAPPA_RATE)
    return base


class GroupPriorLadder(ToThePrior, GroupChain):
    """A ladder of several groups."""

    def _draw_anew(self) -> None:
        groups, base = start_of(self.rng, self.task, drawn_base)
        columns = int(groups[0].whole[COLUMNS])
        while capacity(self.state_of_group(0, 0)) <= columns:
            self._grow()
        last = int(self.ladder.at[-1])
        for g, new in enumerate(groups):
            b = self.state_of_group(last, g)
            b.Z[:columns], b.w[:columns], b.m[:columns] = new.Z[:columns], new.w[:columns], new.m[:columns]
            b.s[:], b.real[ALPHA], b.whole[COLUMNS] = new.s, new.real[ALPHA], columns
        self.bases.v[last, :columns], self.bases.own[last] = base.v[:columns], base.own
        self.bases.real[last, KAPPA] = base.real[KAPPA]
        completed_groups(self.rng, self.task.model, self.caches, self.states, self.ladder, self._seen)

    def state_of_group(self, t: int, g: int) -> Any:
        """The state of a group at replica t: views."""
        return replica(replica(self.states, t), g)
