"""People of kinds that nobody knows: features in common, weights by kind; the chain that they
need."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._compile.jit import kernel
from thali._data.choices import Choices
from thali._inference.arrays import Arrays
from thali._people.populations import (
    LatentClasses,
    refuse_few_respondents,
    unknown_respondents,
)
from thali._posterior.view import Posterior
from thali.errors import ArgumentError, Setting

from ..answers.group_posterior import select_group_columns
from ..draws.tree import KeptDraws
from ..group_likelihoods import build_class_answers
from ..group_state import (
    ClassAnswers,
    ClassMembership,
    LatentClassModel,
    draw_initial_classes,
    level_caches,
    select_membership,
)
from ..likelihoods.elimination import convert_to_pairs
from ..moves.class_membership import recount_answers
from ..samplers.cost_model import forecast_group_seconds
from ..samplers.draw_record import ChainRecord
from ..samplers.group_sweeps import (
    empty_group_record,
    fill_class_counts,
    sum_group_log_likelihoods,
    update_class_membership,
)
from ..samplers.sweep_rounds import REBUILD_INTERVAL
from ..samplers.task import build_task
from ..samplers.tempering import find_gaps_to_split
from ..state import replica, stack_states
from .evidence import run_ladders
from .groups import GroupPriorLadder, rebuild_level, refuse_sensitivity
from .groups_chain import GroupChain, GroupTask, joined
from .one import Parts, Population

if TYPE_CHECKING:
    import xarray

    from thali._model.evidence import EvidenceRun
    from thali._model.prior_sample import PriorSample
    from thali._posterior.evidence import LogEvidence


@dataclass(frozen=True)
class UnknownKinds(Population):
    """Known people, each of one of several latent classes."""

    people: LatentClasses

    def data(self, given: Any, convert: Callable[[Any], Any]) -> Any:
        return convert(given)

    def checked(self, data: Any) -> Any:
        return people_answered(data, self.people)

    def task(self, data: Any, draws: int, tune: int, thin: Any, parts: Parts) -> Any:
        return build_kind_task(data, self.people, draws, tune, thin, **parts)

    def tree(
        self, draws: Any, data: Any, parts: Parts, task: Any, attrs: Mapping[str, Any]
    ) -> "xarray.DataTree":
        from ..answers.latent_class_tree import build_class_tree

        similar, learned = task.model.similar, task.model.learn_alpha
        return build_class_tree(
            draws, data, parts["likelihood"], learned_alpha=learned, similar=similar, attrs=attrs
        )

    def completed(self, tree: "xarray.DataTree") -> "xarray.DataTree":
        from thali._people.class_order import with_class_order

        return with_class_order(tree)

    def prior_sample(
        self, data: Any, parts: Parts, rngs: Sequence[np.random.Generator]
    ) -> "PriorSample":
        raise _no_simulation()

    def replicates(
        self, posterior: Posterior, data: Any, parts: Parts, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        raise _no_simulation()

    def observed(self, posterior: Posterior, data: Any, parts: Parts) -> dict[str, np.ndarray]:
        raise _no_simulation()

    def evidence(self, data: Any, parts: Parts, how: "EvidenceRun") -> "LogEvidence":
        refuse_sensitivity(how)
        return evidence_of_kinds(data, self.people, parts, how)

    def refuse_update(self) -> None:
        raise ArgumentError(
            "A model with latent classes cannot be updated, because its classes depend on all"
            " respondents; fit all data together."
        )


def _no_simulation() -> ArgumentError:
    """The error where people would have to be simulated."""
    return ArgumentError(
        "Data cannot be simulated for latent classes; set ", Setting("people", None), "."
    )


# A chain that does not know of which kind people are ----------------------------------------------


SWEEPS_A_MOVE = 5  # of the weights and features, given who is of which kind


@dataclass(kw_only=True)
class KindTask(GroupTask):
    """What to run: that of groups, and the people."""

    people: ClassAnswers

    @property
    def of_kinds(self) -> LatentClassModel:
        """The model of the moves of people."""
        return LatentClassModel(self.model, self.people)

    def chain(self, rng: np.random.Generator) -> "KindChain":
        """A chain at its start."""
        return KindChain(self, rng)

    def forecast_sweep_seconds(self) -> float:
        """Seconds of the processor that a sweep of a chain is expected to take."""
        return forecast_group_seconds(self, len(self.people.start) - 1)


class KindChain(GroupChain):
    """One chain of kinds of people."""

    _PARTS = (*GroupChain._PARTS, "kinds")

    task: KindTask
    kinds: ClassMembership
    record: ChainRecord

    def __init__(self, task: KindTask, rng: np.random.Generator) -> None:
        super().__init__(task, rng)
        self.kinds = stack_states(
            [draw_initial_classes(rng, task.people, task.n_groups) for _ in task.temperatures]
        )
        number = self.kinds.of.shape[1]
        self.record = empty_group_record(
            task.draws, task.n_options, task.n_groups, len(task.parameters), number
        )

    def _run_kernel(self, until: int) -> None:
        """Sweeps of groups, and after every few of them a move of everybody; a draw is of the state
        before it."""
        while True:
            if self.sweeps % REBUILD_INTERVAL == 0:
                fill_class_counts(
                    self.rng, self.task.of_kinds, self.caches, self.states, self.kinds
                )
            before, drawn = self.sweeps, self.recorded
            # where replicas trade places sweeps end at each draw, so that its kinds are those of
            # the replica drawn
            steps = (SWEEPS_A_MOVE, self.thin) if self.ladder.at.size > 1 else (SWEEPS_A_MOVE,)
            super()._run_kernel(min(until, *((before // step + 1) * step for step in steps)))
            self.record.kinds[drawn : self.recorded] = self.kinds.of[self.ladder.at[0]]
            if self.sweeps > before and self.sweeps % SWEEPS_A_MOVE == 0:
                update_class_membership(
                    self.rng,
                    self.task.of_kinds,
                    self.caches,
                    self.states,
                    self.bases,
                    self.kinds,
                    self.ladder,
                )
            if self.sweeps >= until:
                return

    def restore(self, arrays: Arrays) -> None:
        kinds = self.kinds
        super().restore(arrays)
        # once by pair
        self.kinds = self.kinds._replace(logs=np.zeros((len(self.kinds.of), *kinds.logs.shape[1:])))

    def _extend_ladder(self) -> None:
        below = self.ladder.at[find_gaps_to_split(self.ladder)]
        super()._extend_ladder()
        self.kinds = ClassMembership(*(np.concatenate([a, a[below]]) for a in self.kinds))


# The evidence: chains of kinds on a ladder from the posterior down to the prior -------------------


@kernel
def completed_kinds(
    rng: Any, model: Any, caches: Any, states: Any, kinds: Any, steps: Any, energy: Any
) -> Any:
    """As `completed_groups`, where people have just been dealt out to the kinds of the last
    level."""
    last = steps.at[steps.beta.shape[0] - 1]
    rebuild_level(model.groups, caches, states, last)
    recount_answers(
        model,
        level_caches(model.groups, caches, last),
        replica(states, last),
        select_membership(kinds, last),
    )
    for t in range(steps.beta.shape[0]):
        energy[t] = sum_group_log_likelihoods(model.groups, caches, states, steps.at[t])


class KindPriorLadder(GroupPriorLadder, KindChain):
    """A ladder of kinds of people."""

    task: KindTask

    def _complete(self) -> None:
        last = int(self.ladder.at[-1])
        of_kinds, people = self.task.of_kinds, self.kinds.of.shape[1]
        self.kinds.of[last], self.kinds.size[last] = kinds_from_prior(
            self.rng, people, self.task.n_groups
        )
        completed_kinds(
            self.rng,
            of_kinds,
            self.caches,
            self.states,
            self.kinds,
            self.ladder,
            self._level_energies,
        )


def kinds_from_prior(
    rng: np.random.Generator, people: int, number: int
) -> tuple[np.ndarray, np.ndarray]:
    """Who is of which kind, and how many are of each: shares are Dirichlet(1, ..., 1)."""
    of = rng.choice(number, people, p=rng.dirichlet(np.ones(number)))
    return of, np.bincount(of, minlength=number)


def evidence_of_kinds(
    data: Any, people: LatentClasses, parts: Parts, how: "EvidenceRun"
) -> "LogEvidence":
    """Of the answers of all people; its constant is that of the comparisons of all together.

    So it can be compared with the evidence of models of people alike, for whom the pooled counts
    are all that matters.
    """
    parts = parts | {"tempering": False}
    task = build_kind_task(data, people, how.draws, how.tune, how.thin, **parts)

    def constant(ladder: KindPriorLadder) -> float:
        drawn, likelihood = ladder.collect_draws(1), parts["likelihood"]
        own = {name: drawn.extra[f"{name} 0"] for name in likelihood.parameters}
        return float(
            likelihood.build_posterior_part(
                select_group_columns(KeptDraws([drawn], 1), 0), own, data, (1, 1), False
            ).log_constant
        )

    return run_ladders(task, constant, how, KindPriorLadder)[0]


# What the chains run: a prior, the comparisons of people of unknown kinds, and a sampler of kinds


def people_answered(data: Any, people: LatentClasses) -> Any:
    """The answers, if it is known who gave them, and there are respondents for so many classes."""
    data = convert_to_pairs(data)
    if not data.respondents or (isinstance(data, Choices) and (data.respondent < 0).any()):
        raise unknown_respondents(people)
    refuse_few_respondents(people, data.respondents)
    return data


def build_kind_task(
    data: Any, people: LatentClasses, draws: int, tune: int, thin: Any, **parts: Any
) -> KindTask:
    """Check everything and put it into the form that the chains read."""
    task = build_task(data=data, draws=draws, tune=tune, thin=thin, **parts)
    each = parts["likelihood"].compiled(data, task.model.weights)
    groups = joined(task, [each] * people.classes, parts["likelihood"], people.weights)
    return KindTask(**vars(groups), people=build_class_answers(data, each[0]))
