"""Population of latent classes: sampling task, chains, posterior and prior simulation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._compile.jit import kernel
from thali._data.choices import Choices
from thali._people.people_argument import (
    LatentClasses,
    check_enough_respondents,
    unknown_respondents_error,
)
from thali._posterior.posterior_tree import Posterior
from thali.errors import ArgumentError, Setting

from ..chain_state import append_rows, replica, stack_states
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
from ..samplers.cost_forecast import forecast_group_seconds
from ..samplers.draw_record import ChainRecord
from ..samplers.group_sweeps import (
    empty_group_record,
    fill_class_counts,
    sum_group_log_likelihoods,
    update_class_membership,
)
from ..samplers.sampling_task import build_task
from ..samplers.sweep_bookkeeping import REBUILD_INTERVAL
from ..samplers.tempering import find_gaps_to_split
from .group_chains import GroupChain, GroupSamplingTask, build_joint_task
from .several_groups import (
    GroupPriorLadder,
    build_group_constant,
    rebuild_group_level,
    refuse_sensitivity,
)
from .single_group import Population, TaskArguments
from .tempered_evidence import run_ladders

if TYPE_CHECKING:
    import xarray

    from thali._model.evidence_arguments import EvidenceRun
    from thali._model.simulated_data import PriorSample
    from thali._posterior.log_evidence import LogEvidence


@dataclass(frozen=True)
class LatentClassPopulation(Population):
    """Respondents who each belong to one of several latent classes with own weights."""

    people: LatentClasses

    def convert_data(self, fit_data: Any, convert: Callable[[Any], Any]) -> Any:
        """Return the data of `fit` converted."""
        return convert(fit_data)

    def check_data(self, data: Any) -> Any:
        """Return the data; raise DataError without enough respondents."""
        return check_respondents(data, self.people)

    def build_task(
        self, data: Any, draws: int, tune: int, thin: Any, task_arguments: TaskArguments
    ) -> Any:
        """Build the sampling task of all latent classes."""
        return build_class_task(data, self.people, draws, tune, thin, **task_arguments)

    def build_tree(
        self,
        draws: Any,
        data: Any,
        task_arguments: TaskArguments,
        task: Any,
        attrs: Mapping[str, Any],
    ) -> "xarray.DataTree":
        """Build the posterior tree of all latent classes."""
        from ..results.latent_class_posterior_tree import build_class_tree

        are_similar, learns_alpha = task.model.similar, task.model.learn_alpha
        return build_class_tree(
            draws,
            data,
            task_arguments["likelihood"],
            is_alpha_learned=learns_alpha,
            similar=are_similar,
            attrs=attrs,
        )

    def complete_tree(self, tree: "xarray.DataTree") -> "xarray.DataTree":
        """Return the tree with class numbers aligned over all draws."""
        from thali._people.latent_class_alignment import add_class_order

        return add_class_order(tree)

    def sample_prior(
        self, data: Any, task_arguments: TaskArguments, rngs: Sequence[np.random.Generator]
    ) -> "PriorSample":
        """Raise ArgumentError: latent classes do not support simulation."""
        raise _simulation_error()

    def simulate_replicates(
        self,
        posterior: Posterior,
        data: Any,
        task_arguments: TaskArguments,
        rng: np.random.Generator,
    ) -> dict[str, np.ndarray]:
        """Raise ArgumentError: latent classes do not support simulation."""
        raise _simulation_error()

    def build_observed(
        self, posterior: Posterior, data: Any, task_arguments: TaskArguments
    ) -> dict[str, np.ndarray]:
        """Raise ArgumentError: latent classes do not support simulation."""
        raise _simulation_error()

    def estimate_evidence(
        self, data: Any, task_arguments: TaskArguments, run_settings: "EvidenceRun"
    ) -> "LogEvidence":
        """Estimate the log evidence by tempered chains from posterior to prior."""
        # the constant is of the pooled comparisons, as for other models
        refuse_sensitivity(run_settings)
        task = self.build_task(
            data,
            run_settings.draws,
            run_settings.tune,
            run_settings.thin,
            task_arguments | {"tempering": False},
        )
        compute_constant = build_group_constant(task_arguments["likelihood"], [data])
        return run_ladders(task, compute_constant, run_settings, ClassPriorLadder)[0]

    def check_update(self) -> None:
        """Raise ArgumentError: a fit with latent classes takes no new comparisons."""
        raise ArgumentError(
            "A model with latent classes cannot be updated, because its classes depend on all"
            " respondents; fit all data together."
        )


def _simulation_error() -> ArgumentError:
    """Return the ArgumentError of simulations, which latent classes do not support."""
    return ArgumentError(
        "Data cannot be simulated for latent classes; set ", Setting("people", None), "."
    )


# Chains that also sample the latent class of each respondent --------------------------------------


SWEEPS_PER_MOVE = 5  # sweeps of weights and features between two updates of class membership


@dataclass(kw_only=True)
class ClassSamplingTask(GroupSamplingTask):
    """A sampling task of latent classes, with the respondents to assign to them."""

    people: ClassAnswers

    @property
    def class_model(self) -> LatentClassModel:
        """Model that the moves of class membership read."""
        return LatentClassModel(self.model, self.people)

    def chain(self, rng: np.random.Generator) -> "ClassGroupChain":
        """Build a chain of latent classes in its initial state."""
        return ClassGroupChain(self, rng)

    def forecast_sweep_seconds(self) -> float:
        """Return the expected CPU seconds of one sweep of a chain."""
        return forecast_group_seconds(self, len(self.people.start) - 1)


class ClassGroupChain(GroupChain):
    """A Markov chain of latent classes and of each respondent's membership."""

    _PARTS = (*GroupChain._PARTS, "membership")

    task: ClassSamplingTask
    membership: ClassMembership
    record: ChainRecord

    def __init__(self, task: ClassSamplingTask, rng: np.random.Generator) -> None:
        """Draw initial classes of all respondents and build the chain."""
        super().__init__(task, rng)
        self.membership = stack_states(
            [draw_initial_classes(rng, task.people, task.n_groups) for _ in task.temperatures]
        )
        n_respondents = self.membership.of.shape[1]
        self.record = empty_group_record(
            task.draws, task.n_options, task.n_groups, len(task.parameters), n_respondents
        )

    def _run_kernel(self, until: int) -> None:
        """Run sweeps of the classes, updating memberships every few sweeps."""
        # A draw has the state before the update.
        while True:
            if self.sweeps % REBUILD_INTERVAL == 0:
                fill_class_counts(
                    self.rng, self.task.class_model, self.caches, self.states, self.membership
                )
            n_sweeps, n_recorded = self.sweeps, self.recorded
            # with several replicas, sweeps stop at each draw, to record the classes of the replica
            # that is at temperature 1
            sweep_counts = [SWEEPS_PER_MOVE]
            if self.ladder.at.size > 1:
                sweep_counts.append(self.thin)
            super()._run_kernel(
                min(until, *((n_sweeps // step + 1) * step for step in sweep_counts))
            )
            self.record.classes[n_recorded : self.recorded] = self.membership.of[self.ladder.at[0]]
            if self.sweeps > n_sweeps and self.sweeps % SWEEPS_PER_MOVE == 0:
                update_class_membership(
                    self.rng,
                    self.task.class_model,
                    self.caches,
                    self.states,
                    self.bases,
                    self.membership,
                    self.ladder,
                )
            if self.sweeps >= until:
                return

    def _extend_ladder(self) -> None:
        """Add temperatures where swaps are rare; copy memberships to them."""
        colder_replicas = self.ladder.at[find_gaps_to_split(self.ladder)]
        super()._extend_ladder()
        self.membership = append_rows(self.membership, colder_replicas)


# The evidence: ladders of latent classes from posterior to prior ----------------------------------


@kernel
def update_class_energies(
    rng: Any, model: Any, caches: Any, states: Any, membership: Any, ladder: Any, energy: Any
) -> None:
    """Write the classes' log-likelihood at every temperature to `energy`, after a prior draw."""
    prior_replica = ladder.at[-1]
    rebuild_group_level(model.groups, caches, states, prior_replica)
    recount_answers(
        model,
        level_caches(model.groups, caches, prior_replica),
        replica(states, prior_replica),
        select_membership(membership, prior_replica),
    )
    for t in range(ladder.beta.size):
        energy[t] = sum_group_log_likelihoods(model.groups, caches, states, ladder.at[t])


class ClassPriorLadder(GroupPriorLadder, ClassGroupChain):
    """A tempered chain of latent classes from posterior to prior, for the evidence."""

    task: ClassSamplingTask

    def _update_energies(self) -> None:
        """Draw classes for the prior draw; compute log-likelihoods at all temperatures."""
        prior_replica = int(self.ladder.at[-1])
        n_respondents = self.membership.of.shape[1]
        self.membership.of[prior_replica], self.membership.size[prior_replica] = (
            sample_prior_classes(self.rng, n_respondents, self.task.n_groups)
        )
        update_class_energies(
            self.rng,
            self.task.class_model,
            self.caches,
            self.states,
            self.membership,
            self.ladder,
            self._level_energies,
        )


def sample_prior_classes(
    rng: np.random.Generator, n_respondents: int, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Sample each respondent's latent class from the prior; return classes and sizes.

    Class shares are Dirichlet(1, ..., 1).
    """
    classes = rng.choice(n_classes, n_respondents, p=rng.dirichlet(np.ones(n_classes)))
    return classes, np.bincount(classes, minlength=n_classes)


# Sampling tasks of latent classes -----------------------------------------------------------------


def check_respondents(data: Any, people: LatentClasses) -> Any:
    """Return the data as pairs if possible; raise without enough known respondents."""
    data = convert_to_pairs(data)
    if not data.respondents or (isinstance(data, Choices) and (data.respondent < 0).any()):
        raise unknown_respondents_error(people)
    check_enough_respondents(people, data.respondents)
    return data


def build_class_task(
    data: Any, people: LatentClasses, draws: int, tune: int, thin: Any, **task_arguments: Any
) -> ClassSamplingTask:
    """Check all arguments and build the sampling task of latent classes."""
    task = build_task(data=data, draws=draws, tune=tune, thin=thin, **task_arguments)
    compiled_part = task_arguments["likelihood"].compiled(data, task.model.weights)
    group_task = build_joint_task(
        task, [compiled_part] * people.classes, task_arguments["likelihood"], people.weights
    )
    return ClassSamplingTask(**vars(group_task), people=build_class_answers(data, compiled_part[0]))
