"""Several groups of people: features in common, weights by group; priors, simulation, evidence."""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._compile.jit import kernel, scalar
from thali._data.groups import GroupedData
from thali._model.evidence import EvidenceRun
from thali._model.prior_sample import PriorSample
from thali._people.columns import RespondentCovariates, covariates_of
from thali._people.populations import (
    ADJUSTED,
    COMMON,
    SIMILAR,
    Groups,
    Individuals,
    unknown_respondents,
)
from thali._posterior.dependence import of_one_person
from thali._posterior.evidence import LogEvidence
from thali._posterior.view import Posterior
from thali.errors import Argument, ArgumentError, DataError, Setting

from ..answers.group_posterior import build_group_posterior, select_group_columns
from ..answers.population import add_population
from ..answers.weight_slopes import add_slopes
from ..draws.tree import KeptDraws
from ..group_state import (
    KAPPA,
    KAPPA_RATE,
    KAPPA_SHAPE,
    SLOPE_SD,
    CommonWeights,
    make_common_weights,
)
from ..moves.group_densities import MIN_WEIGHT
from ..samplers.draw_record import ChainDraws
from ..samplers.group_sweeps import prepare_groups, rebuild_groups, sum_group_log_likelihoods
from ..samplers.prior_ladder import EvidenceLadder
from ..state import ALPHA, COLUMNS, capacity, replica
from ..weight_priors import GammaWeights
from .evidence import constant_of, run_ladders, task_of
from .groups_chain import (
    MAX_TEMPERED,
    GroupChain,
    GroupTask,
    build_group_task,
    groups_of,
    start_of,
)
from .one import Parts, Population, joined, observed_by, replicates, simulated_sample

if TYPE_CHECKING:
    import xarray

    from thali._model.evidence import EvidenceRun
    from thali._model.prior_sample import PriorSample
    from thali._posterior.evidence import LogEvidence


@dataclass(frozen=True)
class SeveralGroups(Population):
    """Several groups of people, by what their weights have to do with each other.

    With common weights the data that are fitted are those of one group, the comparisons of all
    people together.
    """

    weights: Any
    noun: ClassVar[str] = "group"  # what a part of the data is called, in errors

    def data(self, given: Any, convert: Callable[[Any], Any]) -> Any:
        found = groups_of(given, self.weights)
        return found.mapped(convert) if isinstance(found, GroupedData) else convert(found)

    def task(self, data: Any, draws: int, tune: int, thin: Any, parts: Parts) -> Any:
        return build_group_task(data, draws, tune, thin, self.weights, self.noun, **parts)

    def tree(
        self, draws: Any, data: Any, parts: Parts, task: Any, attrs: Mapping[str, Any]
    ) -> "xarray.DataTree":
        return self._posterior(draws, data, parts, task, attrs).tree

    def _posterior(
        self, draws: Any, data: Any, parts: Parts, task: Any, attrs: Mapping[str, Any]
    ) -> Posterior:
        """The view of the posterior of these draws of a task."""
        model = task.model
        of_task = {
            "learned_alpha": model.learn_alpha,
            "similar": model.similar,
            "persons": model.persons,
        }
        return build_group_posterior(draws, data, parts["likelihood"], **of_task, attrs=attrs)

    def prior_sample(
        self, data: Any, parts: Parts, rngs: Sequence[np.random.Generator]
    ) -> "PriorSample":
        task = self.task(data, 1, 0, None, parts)
        return sample_groups(
            task,
            parts["likelihood"],
            data,
            rngs,
            lambda drawn: self._posterior([drawn], data, parts, task, {}),
        )

    def replicates(
        self, posterior: Posterior, data: Any, parts: Parts, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:

        return replicates_of_groups(posterior, parts["likelihood"], data, rng)

    def observed(self, posterior: Posterior, data: Any, parts: Parts) -> dict[str, np.ndarray]:

        if data.names != posterior.groups or [*data.labels] != posterior.labels:
            return {}
        return observed_by_groups(posterior, parts["likelihood"], data)

    def evidence(self, data: Any, parts: Parts, how: "EvidenceRun") -> "LogEvidence":

        refuse_sensitivity(how)
        return evidence_of_groups(data, self.weights, self.noun, parts, how, data.data)

    def evidence_of(self, model: Any, given: Any, how: "EvidenceRun") -> "LogEvidence":
        if self.weights != COMMON:
            return super().evidence_of(model, given, how)

        refuse_sensitivity(how)
        apart = copy.copy(model).set_params(people=Groups())._convert_data(given)
        pooled = model._convert_data(given)
        return evidence_of_pooled(apart, pooled, model._evidence_parts(pooled), how)


@dataclass(frozen=True)
class EveryPerson(SeveralGroups):
    """Every person has weights of their own about common ones: groups of one person, whose weights
    are similar."""

    weights: str = field(default=SIMILAR, init=False)
    people: Individuals = Individuals()
    noun: ClassVar[str] = "respondent"

    def data(self, given: Any, convert: Callable[[Any], Any]) -> Any:
        if not isinstance(given, Mapping):
            one = convert(given)
            try:
                parts = one.by_respondent()
            except DataError:
                raise unknown_respondents(self.people) from None
            given = GroupedData(parts, one.people)
        elif any(len(part.respondents) > 1 for part in groups_of(given, SIMILAR).data):
            raise ArgumentError(
                Setting("people", self.people),
                " requires one group of respondents, but the data contain several; fit the data of"
                " one group.",
            )
        if len(given) < 2:
            raise of_one_person(self.people)
        return super().data(given, convert)

    def in_words(self, data: Any) -> str:
        return str(data.in_words(f"{len(data):,} respondents"))

    def task(self, data: Any, draws: int, tune: int, thin: Any, parts: Parts) -> Any:
        if len(data) > MAX_TEMPERED and parts["tempering"] in (None, "auto"):
            parts = parts | {"tempering": False}
        task = super().task(data, draws, tune, thin, parts)
        return self._completed(replace(task, model=task.model._replace(persons=True)), data)

    def _completed(self, task: GroupTask, data: GroupedData) -> GroupTask:
        """The task with what is known of everybody."""
        if not self.people.by:
            return task
        return replace(
            task, model=task.model._replace(known=self._known(data).matrix[:, 1:].copy())
        )

    def _known(self, data: GroupedData) -> RespondentCovariates:
        """What is known of everybody that their weights depend on."""
        return covariates_of(self.people.by, data.people, len(data))

    def _posterior(
        self, draws: Any, data: Any, parts: Parts, task: Any, attrs: Mapping[str, Any]
    ) -> Posterior:
        posterior = super()._posterior(draws, data, parts, task, attrs)
        if self.people.by:
            posterior = add_slopes(posterior, draws, self._known(data))
        if not posterior.facts.of_choices:
            return posterior
        return add_population(posterior, draws, len(data), float(parts["likelihood"].lapse))

    def evidence(self, data: Any, parts: Parts, how: "EvidenceRun") -> "LogEvidence":
        refuse_sensitivity(how)
        # the counts of all, whose constant other models have
        told = [data.pooled()] if data.add_up else data.data
        return evidence_of_groups(data, self.weights, self.noun, parts, how, told, self._completed)

    def checked(self, data: Any) -> Any:
        for part in data.data:
            if part.covariate_names:
                part.covariates.refuse_options("elimination by aspects")
                raise ArgumentError(
                    Setting("people", self.people),
                    " does not support comparisons with covariates; set ",
                    Setting("people", ADJUSTED),
                    ".",
                )
        return data


def refuse_sensitivity(how: "EvidenceRun") -> None:
    """Refuse other priors, which are for one group."""
    if how.sensitivity:
        raise ArgumentError(
            Argument("sensitivity"),
            " requires one group of respondents; remove ",
            Argument("sensitivity"),
            ".",
        )


# Chains of groups on a ladder from the posterior down to the prior --------------------------------


@kernel
def completed_groups(
    rng: Any, model: Any, caches: Any, states: Any, steps: Any, energy: Any
) -> Any:
    """Fill in what follows from the draw just put on the last level, and note the log-likelihood of
    every level."""
    rebuild_level(model, caches, states, steps.at[steps.beta.shape[0] - 1])
    for t in range(steps.beta.shape[0]):
        energy[t] = sum_group_log_likelihoods(model, caches, states, steps.at[t])


@scalar
def rebuild_level(model: Any, caches: Any, states: Any, r: Any) -> None:
    """The caches of all groups at replica r, from columns and weights."""
    prepare_groups(model, replica(states, r))
    rebuild_groups(model, caches, states, r)


def drawn_base(rng: np.random.Generator, task: GroupTask, rows: int) -> CommonWeights:
    """What the weights vary about, from its prior."""
    model, base = task.model, make_common_weights(task.n_options, rows, task.model, task.n_groups)
    if model.similar:
        for values in (base.v, base.unique):
            values[:] = np.maximum(
                rng.gamma(model.shape, 1.0 / model.rate, values.size), MIN_WEIGHT
            )
        if math.isnan(model.kappa):
            base.real[KAPPA] = rng.gamma(KAPPA_SHAPE, 1.0 / KAPPA_RATE)
    if model.known.shape[1]:
        for slope, lift in ((base.slope, base.lift), (base.unique_slope, base.unique_lift)):
            slope[:] = SLOPE_SD * rng.standard_normal(slope.shape)
            lift[:] = np.exp(model.known @ slope.T)
    return base


class GroupPriorLadder(EvidenceLadder, GroupChain):
    """A ladder of several groups."""

    def _redraw_prior(self) -> None:
        groups, base = start_of(self.rng, self.task, drawn_base)
        columns = int(groups[0].whole[COLUMNS])
        while capacity(self.state_of_group(0, 0)) <= columns:
            self._enlarge_states()
        last = int(self.ladder.at[-1])
        for g, new in enumerate(groups):
            b = self.state_of_group(last, g)
            b.Z[:columns], b.w[:columns], b.m[:columns] = (
                new.Z[:columns],
                new.w[:columns],
                new.m[:columns],
            )
            b.s[:], b.real[ALPHA], b.whole[COLUMNS] = new.s, new.real[ALPHA], columns
        self.bases.v[last, :columns], self.bases.unique[last] = base.v[:columns], base.unique
        self.bases.lift[last, :, :columns], self.bases.unique_lift[last] = (
            base.lift[:, :columns],
            base.unique_lift,
        )
        self.bases.slope[last, :columns], self.bases.unique_slope[last] = (
            base.slope[:columns],
            base.unique_slope,
        )
        self.bases.real[last, KAPPA] = base.real[KAPPA]
        self._complete()

    def _complete(self) -> None:
        """What follows from the draw on the last level, and the log-likelihoods of all levels."""
        completed_groups(
            self.rng, self.task.model, self.caches, self.states, self.ladder, self._level_energies
        )

    def state_of_group(self, t: int, g: int) -> Any:
        """The state of a group at replica t: views."""
        return replica(replica(self.states, t), g)


# Simulated data, at draws from the prior and at those of a fit ------------------------------------


def sample_groups(
    task: GroupTask,
    likelihood: Any,
    groups: GroupedData,
    rngs: Sequence[np.random.Generator],
    posterior_of_draws: Callable[[ChainDraws], Posterior],
) -> PriorSample:
    """Features, weights and parameters of all groups, and data simulated at each of them."""
    drawn, new = [], []
    for rng in rngs:
        one = _one_draw(task, likelihood, groups, rng)
        drawn.append(one)
        new.append([_new_data(likelihood, one, g, data, rng) for g, data in enumerate(groups.data)])
    each_new = (
        dict(zip(groups.names, (each.data for each in parts), strict=True)) for parts in new
    )
    data = [(GroupedData(by_name, groups.people),) for by_name in each_new]
    return simulated_sample(posterior_of_draws(joined(drawn)), new, data)


def _new_data(
    likelihood: Any, drawn: ChainDraws, g: int, data: Any, rng: np.random.Generator
) -> Any:
    """New data of one group."""
    own = {name: drawn.extra[f"{name} {g}"][0] for name in likelihood.parameters}
    return likelihood.simulate_data(select_group_columns(KeptDraws([drawn], 1), g), own, data, rng)


def _one_draw(
    task: GroupTask, likelihood: Any, groups: GroupedData, rng: np.random.Generator
) -> ChainDraws:
    """One draw, as a chain of one draw."""
    states, base = start_of(rng, task, drawn_base)
    first, n, weights = states[0], task.n_options, GammaWeights(task.model.shape, task.model.rate)
    Z = first.Z[: first.whole[COLUMNS], :n]
    kept = np.flatnonzero(Z.any(axis=1))  # of a fixed number of columns some have no owner
    extra = {
        f"{name} {g}": np.array([value])
        for g, data in enumerate(groups.data)
        for name, value in likelihood.sample_prior_parameters(data, weights, rng).items()
    }
    for name in likelihood.common_parameters:
        extra |= {f"{name} {g}": extra[f"{name} 0"] for g in range(len(groups))}
    common, unique = _after_groups(task.model, base)
    return ChainDraws(
        alpha=np.array([first.real[ALPHA]]),
        log_likelihood=np.zeros(1),
        unique_weights=np.stack([*(b.s[:n] for b in states), *unique])[None],
        n_features=np.array([len(kept)]),
        weights=np.stack([*(b.w[kept] for b in states), *(each[kept] for each in common)], axis=1),
        sizes=Z[kept].sum(axis=1).astype(np.int64),
        owners=np.nonzero(Z[kept])[1].astype(np.int32),
        extra=extra | {"kappa": np.array([base.real[KAPPA]])},
    )


def _after_groups(model: Any, base: CommonWeights) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """What draws of persons hold after the weights of everybody, of columns and of options, as
    recorded."""
    if not model.persons:
        return [], []
    return [base.v, *base.slope.T], [base.unique, *base.unique_slope.T]


def replicates_of_groups(
    posterior: Posterior, likelihood: Any, groups: GroupedData, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """As `replicates`, one group after the other."""
    each = [
        replicates(posterior.of_group(name), likelihood, data, rng) for name, data in groups.items()
    ]
    return {name: np.concatenate([arrays[name] for arrays in each], axis=2) for name in each[0]}


def observed_by_groups(
    posterior: Posterior, likelihood: Any, groups: GroupedData
) -> dict[str, np.ndarray]:
    """As `observed_by`, one group after the other."""
    each = [
        observed_by(posterior.of_group(name), likelihood, data) for name, data in groups.items()
    ]
    return (
        {name: np.concatenate([arrays[name] for arrays in each]) for name in each[0]}
        if all(each)
        else {}
    )


# The log evidence of models of several groups -----------------------------------------------------


def evidence_of_groups(
    groups: GroupedData,
    weights: Any,
    noun: str,
    parts: dict[str, Any],
    how: EvidenceRun,
    told: Sequence[Any],
    completed: Callable[[GroupTask, GroupedData], GroupTask] = lambda task, groups: task,
) -> LogEvidence:
    """Of free or similar weights, as the probability of what is `told`: the data of each group, or
    of all; `noun`: what a group is called, in errors; `completed` puts into the task what the model
    has besides."""
    of_run = {"draws": how.draws, "tune": how.tune, "thin": how.thin}
    task = build_group_task(
        groups, weights=weights, noun=noun, **of_run, **parts | {"tempering": False}
    )
    task = completed(task, groups)
    return run_ladders(task, constant_of_groups(parts["likelihood"], told), how, GroupPriorLadder)[
        0
    ]


def evidence_of_pooled(
    groups: GroupedData, pooled: Any, parts: dict[str, Any], how: EvidenceRun
) -> LogEvidence:
    """Of common weights, as the probability of the data of each group, not of their sum."""
    return run_ladders(
        task_of(parts, pooled, how), constant_of(parts["likelihood"], groups.data), how
    )[0]


def constant_of_groups(likelihood: Any, told: Sequence[Any]) -> Callable[[GroupPriorLadder], float]:
    """A function of a ladder: what the log-likelihoods of the samplers leave out."""

    def constant(ladder: GroupPriorLadder) -> float:
        drawn, total = ladder.collect_draws(1), 0.0
        for g, data in enumerate(told):
            own = {name: drawn.extra[f"{name} {g}"] for name in likelihood.parameters}
            columns = select_group_columns(KeptDraws([drawn], 1), g)
            total += likelihood.build_posterior_part(columns, own, data, (1, 1), False).log_constant
        return float(total)

    return constant


# Several groups of people: features in common, weights by group -----------------------------------
