"""Populations of several groups or individuals: tasks, posteriors, simulation, evidence."""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._compile.jit import kernel, scalar
from thali._data.grouped_data import GroupedData
from thali._model.evidence_arguments import EvidenceRun
from thali._model.simulated_data import PriorSample
from thali._people.people_argument import (
    ADJUSTED,
    COMMON,
    SIMILAR,
    Groups,
    Individuals,
    unknown_respondents_error,
)
from thali._people.respondent_columns import RespondentCovariates, build_covariates
from thali._posterior.log_evidence import LogEvidence
from thali._posterior.posterior_tree import Posterior
from thali._posterior.respondent_dependence import single_respondent_error
from thali.errors import Argument, ArgumentError, DataError, Setting

from ..chain_state import ALPHA, COLUMNS, capacity, replica
from ..draws.posterior_tree import KeptDraws
from ..group_state import (
    KAPPA,
    KAPPA_RATE,
    KAPPA_SHAPE,
    SLOPE_SD,
    CommonWeights,
    make_common_weights,
)
from ..kernel_operations import fill_rates
from ..moves.group_weight_density import MIN_WEIGHT
from ..results.common_weights import add_population
from ..results.group_posterior_tree import build_group_posterior, select_group_columns
from ..results.weight_slopes import add_slopes
from ..samplers.draw_record import RecordedDraws
from ..samplers.evidence_chains import EvidenceLadder, copy_prior_state
from ..samplers.group_sweeps import rebuild_groups, sum_group_log_likelihoods
from ..weight_priors import GammaWeights
from .group_chains import (
    MAX_TEMPERED,
    GroupChain,
    GroupSamplingTask,
    build_group_task,
    convert_groups,
    sample_group_states,
)
from .single_group import (
    Population,
    TaskArguments,
    build_observed,
    build_prior_sample,
    concatenate_draws,
    simulate_replicates,
)
from .tempered_evidence import build_constant, build_evidence_task, run_ladders

if TYPE_CHECKING:
    import xarray

    from thali._model.evidence_arguments import EvidenceRun
    from thali._model.simulated_data import PriorSample
    from thali._posterior.log_evidence import LogEvidence


@dataclass(frozen=True)
class SeveralGroups(Population):
    """Population of several groups, whose weights are common, similar or unrelated.

    With common weights the fitted data are a single group, the pooled comparisons of all groups.
    """

    weights: Any
    noun: ClassVar[str] = "group"  # name of a group in errors

    def convert_data(self, fit_data: Any, convert: Callable[[Any], Any]) -> Any:
        """Return the converted data of all groups, pooled if weights are common."""
        grouped_data = convert_groups(fit_data, self.weights)
        if isinstance(grouped_data, GroupedData):
            return grouped_data.map_groups(convert)
        return convert(grouped_data)

    def build_task(
        self, data: Any, draws: int, tune: int, thin: Any, task_arguments: TaskArguments
    ) -> Any:
        """Build the sampling task of all groups."""
        return build_group_task(data, draws, tune, thin, self.weights, self.noun, **task_arguments)

    def build_tree(
        self,
        draws: Any,
        data: Any,
        task_arguments: TaskArguments,
        task: Any,
        attrs: Mapping[str, Any],
    ) -> "xarray.DataTree":
        """Build the posterior tree of all groups."""
        return self._posterior(draws, data, task_arguments, task, attrs).tree

    def _posterior(
        self,
        draws: Any,
        data: Any,
        task_arguments: TaskArguments,
        task: Any,
        attrs: Mapping[str, Any],
    ) -> Posterior:
        """Return the posterior of all groups from the draws of a task."""
        model = task.model
        return build_group_posterior(
            draws,
            data,
            task_arguments["likelihood"],
            is_alpha_learned=model.learn_alpha,
            similar=model.similar,
            are_individuals=model.persons,
            attrs=attrs,
        )

    def sample_prior(
        self, data: Any, task_arguments: TaskArguments, rngs: Sequence[np.random.Generator]
    ) -> "PriorSample":
        """Sample all groups from the prior, and data given them, once per generator."""
        task = self.build_task(data, 1, 0, None, task_arguments)
        return sample_prior_groups(
            task,
            task_arguments["likelihood"],
            data,
            rngs,
            lambda draw: self._posterior([draw], data, task_arguments, task, {}),
        )

    def simulate_replicates(
        self,
        posterior: Posterior,
        data: Any,
        task_arguments: TaskArguments,
        rng: np.random.Generator,
    ) -> dict[str, np.ndarray]:
        """Simulate data of every group at every draw, arrays by variable name."""
        return simulate_group_replicates(posterior, task_arguments["likelihood"], data, rng)

    def build_observed(
        self, posterior: Posterior, data: Any, task_arguments: TaskArguments
    ) -> dict[str, np.ndarray]:
        """Return the data of all groups as arrays by variable name."""
        if data.names != posterior.groups or [*data.labels] != posterior.labels:
            return {}
        return build_group_observed(posterior, task_arguments["likelihood"], data)

    def estimate_evidence(
        self, data: Any, task_arguments: TaskArguments, run_settings: "EvidenceRun"
    ) -> "LogEvidence":
        """Estimate the log evidence of groups by tempered chains from posterior to prior."""
        refuse_sensitivity(run_settings)
        task = SeveralGroups.build_task(
            self,
            data,
            run_settings.draws,
            run_settings.tune,
            run_settings.thin,
            task_arguments | {"tempering": False},
        )
        compute_constant = build_group_constant(
            task_arguments["likelihood"], self._list_constant_data(data)
        )
        return run_ladders(
            self._complete_task(task, data), compute_constant, run_settings, GroupPriorLadder
        )[0]

    def _list_constant_data(self, data: GroupedData) -> Sequence[Any]:
        """Return the data whose likelihood constants the log evidence includes."""
        return data.data

    def _complete_task(self, task: GroupSamplingTask, data: GroupedData) -> GroupSamplingTask:
        """Return the task unchanged: groups have no covariates of respondents."""
        return task

    def estimate_model_evidence(
        self, model: Any, fit_data: Any, run_settings: "EvidenceRun"
    ) -> "LogEvidence":
        """Estimate a model's log evidence for data that `fit` takes."""
        if self.weights != COMMON:
            return super().estimate_model_evidence(model, fit_data, run_settings)

        refuse_sensitivity(run_settings)
        group_data = copy.copy(model).set_params(people=Groups())._convert_data(fit_data)
        pooled_data = model._convert_data(fit_data)
        task_arguments = model._build_evidence_arguments(pooled_data)
        return run_ladders(
            build_evidence_task(task_arguments, pooled_data, run_settings),
            build_constant(task_arguments["likelihood"], group_data.data),
            run_settings,
        )[0]


@dataclass(frozen=True)
class IndividualRespondents(SeveralGroups):
    """Population of respondents with individual weights: one group per respondent."""

    weights: str = field(default=SIMILAR, init=False)
    people: Individuals = Individuals()
    noun: ClassVar[str] = "respondent"

    def convert_data(self, fit_data: Any, convert: Callable[[Any], Any]) -> Any:
        """Return the data split by respondent as `GroupedData`; raise without respondents."""
        if not isinstance(fit_data, Mapping):
            converted_data = convert(fit_data)
            try:
                data_by_respondent = converted_data.by_respondent()
            except DataError:
                raise unknown_respondents_error(self.people) from None
            fit_data = GroupedData(data_by_respondent, converted_data.people)
        elif any(len(part.respondents) > 1 for part in convert_groups(fit_data, SIMILAR).data):
            raise ArgumentError(
                Setting("people", self.people),
                " requires one group of respondents, but the data contain several; fit the data of"
                " one group.",
            )
        if len(fit_data) < 2:
            raise single_respondent_error(self.people)
        return super().convert_data(fit_data, convert)

    def describe_data(self, data: Any) -> str:
        """Return words for the data and the number of respondents."""
        return str(data.in_words(f"{len(data):,} respondents"))

    def build_task(
        self, data: Any, draws: int, tune: int, thin: Any, task_arguments: TaskArguments
    ) -> Any:
        """Build the sampling task of all respondents, untempered if they are many."""
        if len(data) > MAX_TEMPERED and task_arguments["tempering"] in (None, "auto"):
            task_arguments = task_arguments | {"tempering": False}
        task = super().build_task(data, draws, tune, thin, task_arguments)
        return self._complete_task(replace(task, model=task.model._replace(persons=True)), data)

    def _complete_task(self, task: GroupSamplingTask, data: GroupedData) -> GroupSamplingTask:
        """Return the task with the respondents' covariates."""
        if not self.people.by:
            return task
        return replace(
            task,
            model=task.model._replace(known=self._respondent_covariates(data).matrix[:, 1:].copy()),
        )

    def _respondent_covariates(self, data: GroupedData) -> RespondentCovariates:
        """Return the respondents' covariates that weights depend on, by row."""
        return build_covariates(self.people.by, data.people, len(data))

    def _posterior(
        self,
        draws: Any,
        data: Any,
        task_arguments: TaskArguments,
        task: Any,
        attrs: Mapping[str, Any],
    ) -> Posterior:
        """Return the posterior with covariate slopes and the population's weights."""
        posterior = super()._posterior(draws, data, task_arguments, task, attrs)
        if self.people.by:
            posterior = add_slopes(posterior, draws, self._respondent_covariates(data))
        if not posterior.facts.of_choices:
            return posterior
        return add_population(
            posterior, draws, len(data), float(task_arguments["likelihood"].lapse)
        )

    def _list_constant_data(self, data: GroupedData) -> Sequence[Any]:
        """Return the data, pooled if counts add up, whose constants the evidence includes."""
        if data.add_up:  # other models have the constant of pooled counts
            return [data.pooled()]
        return data.data

    def check_data(self, data: Any) -> Any:
        """Return the data; raise ArgumentError for comparisons with covariates."""
        for respondent_data in data.data:
            if respondent_data.covariate_names:
                respondent_data.covariates.refuse_options("elimination by aspects")
                raise ArgumentError(
                    Setting("people", self.people),
                    " does not support comparisons with covariates; set ",
                    Setting("people", ADJUSTED),
                    ".",
                )
        return data


def refuse_sensitivity(run_settings: "EvidenceRun") -> None:
    """Raise ArgumentError for evidence under other priors, which requires one group."""
    if run_settings.sensitivity:
        raise ArgumentError(
            Argument("sensitivity"),
            " requires one group of respondents; remove ",
            Argument("sensitivity"),
            ".",
        )


# Ladders of groups from posterior to prior --------------------------------------------------------


@kernel
def update_group_energies(
    rng: Any, model: Any, caches: Any, states: Any, ladder: Any, energy: Any
) -> None:
    """Write the groups' log-likelihood at every temperature to `energy`, after a prior draw."""
    rebuild_group_level(model, caches, states, ladder.at[-1])
    for t in range(ladder.beta.size):
        energy[t] = sum_group_log_likelihoods(model, caches, states, ladder.at[t])


@scalar
def rebuild_group_level(model: Any, caches: Any, states: Any, r: Any) -> None:
    """Fill the caches of all groups at replica r from features and weights."""
    fill_rates(model.prior, replica(replica(states, r), 0))
    rebuild_groups(model, caches, states, r)


def sample_base(rng: np.random.Generator, task: GroupSamplingTask, rows: int) -> CommonWeights:
    """Sample common weights, kappa and covariate slopes from their prior."""
    model, common_weights = (
        task.model,
        make_common_weights(task.n_options, rows, task.model, task.n_groups),
    )
    if model.similar:
        for weights in (common_weights.v, common_weights.unique):
            gamma_draws = rng.gamma(model.shape, 1.0 / model.rate, weights.size)
            weights[:] = np.maximum(gamma_draws, MIN_WEIGHT)
        if math.isnan(model.kappa):
            common_weights.real[KAPPA] = rng.gamma(KAPPA_SHAPE, 1.0 / KAPPA_RATE)
    if model.known.shape[1]:
        for slope, covariate_factor in (
            (common_weights.slope, common_weights.covariate_factor),
            (common_weights.unique_slope, common_weights.unique_covariate_factor),
        ):
            slope[:] = SLOPE_SD * rng.standard_normal(slope.shape)
            covariate_factor[:] = np.exp(model.known @ slope.T)
    return common_weights


class GroupPriorLadder(EvidenceLadder, GroupChain):
    """Chain of several groups with temperatures from posterior to prior, for the evidence."""

    def _redraw_prior(self) -> None:
        """Replace the states at the last temperature by draws from the prior."""
        prior_states, prior_weights = sample_group_states(self.rng, self.task, sample_base)
        n_columns = int(prior_states[0].whole[COLUMNS])
        while capacity(self.select_group_state(0, 0)) <= n_columns:
            self._enlarge_states()
        prior_replica = int(self.ladder.at[-1])
        for g, prior_state in enumerate(prior_states):
            state = self.select_group_state(prior_replica, g)
            copy_prior_state(prior_state, state)
        self.bases.v[prior_replica, :n_columns], self.bases.unique[prior_replica] = (
            prior_weights.v[:n_columns],
            prior_weights.unique,
        )
        (
            self.bases.covariate_factor[prior_replica, :, :n_columns],
            self.bases.unique_covariate_factor[prior_replica],
        ) = (
            prior_weights.covariate_factor[:, :n_columns],
            prior_weights.unique_covariate_factor,
        )
        self.bases.slope[prior_replica, :n_columns], self.bases.unique_slope[prior_replica] = (
            prior_weights.slope[:n_columns],
            prior_weights.unique_slope,
        )
        self.bases.real[prior_replica, KAPPA] = prior_weights.real[KAPPA]
        self._update_energies()

    def _update_energies(self) -> None:
        """Complete the prior draw; compute log-likelihoods at all temperatures."""
        update_group_energies(
            self.rng, self.task.model, self.caches, self.states, self.ladder, self._level_energies
        )

    def select_group_state(self, t: int, g: int) -> Any:
        """Return views of the state of group g in replica t."""
        return replica(replica(self.states, t), g)


# Simulated data, at draws from the prior and at those of a fit ------------------------------------


def sample_prior_groups(
    task: GroupSamplingTask,
    likelihood: Any,
    groups: GroupedData,
    rngs: Sequence[np.random.Generator],
    build_posterior: Callable[[RecordedDraws], Posterior],
) -> PriorSample:
    """Sample features, weights and parameters of all groups, and data at each draw."""
    prior_draws, simulated_groups, data_by_draw = [], [], []
    for rng in rngs:
        prior_draw = _sample_group_draw(task, likelihood, groups, rng)
        prior_draws.append(prior_draw)
        group_parts = [
            _simulate_group_data(likelihood, prior_draw, g, group_data, rng)
            for g, group_data in enumerate(groups.data)
        ]
        simulated_groups.append(group_parts)
        data_by_name = dict(zip(groups.names, (part.data for part in group_parts), strict=True))
        data_by_draw.append((GroupedData(data_by_name, groups.people),))
    return build_prior_sample(
        build_posterior(concatenate_draws(prior_draws)), simulated_groups, data_by_draw
    )


def _simulate_group_data(
    likelihood: Any, draw: RecordedDraws, g: int, data: Any, rng: np.random.Generator
) -> Any:
    """Simulate data of group g at one draw of the prior or posterior."""
    parameter_values = {name: draw.extra[f"{name} {g}"][0] for name in likelihood.parameters}
    return likelihood.simulate_data(
        select_group_columns(KeptDraws([draw], 1), g), parameter_values, data, rng
    )


def _sample_group_draw(
    task: GroupSamplingTask, likelihood: Any, groups: GroupedData, rng: np.random.Generator
) -> RecordedDraws:
    """Sample all groups from the prior, as a chain of one draw."""
    group_states, common_weights = sample_group_states(rng, task, sample_base)
    first_group, n_options, weight_prior = (
        group_states[0],
        task.n_options,
        GammaWeights(task.model.shape, task.model.rate),
    )
    Z = first_group.Z[: first_group.whole[COLUMNS], :n_options]
    column_indices = np.flatnonzero(Z.any(axis=1))  # columns of a finite prior may lack owners
    parameter_draws = {
        f"{parameter_name} {g}": np.array([parameter])
        for g, data in enumerate(groups.data)
        for parameter_name, parameter in likelihood.sample_prior_parameters(
            data, weight_prior, rng
        ).items()
    }
    for parameter_name in likelihood.common_parameters:
        parameter_draws |= {
            f"{parameter_name} {g}": parameter_draws[f"{parameter_name} 0"]
            for g in range(len(groups))
        }
    feature_values, option_values = _list_base_weights(task.model, common_weights)
    return RecordedDraws(
        alpha=np.array([first_group.real[ALPHA]]),
        log_likelihood=np.zeros(1),
        unique_weights=np.stack([*(b.s[:n_options] for b in group_states), *option_values])[None],
        n_features=np.array([len(column_indices)]),
        weights=np.stack(
            [
                *(b.w[column_indices] for b in group_states),
                *(base_weights[column_indices] for base_weights in feature_values),
            ],
            axis=1,
        ),
        sizes=Z[column_indices].sum(axis=1).astype(np.int64),
        owners=np.nonzero(Z[column_indices])[1].astype(np.int32),
        extra=parameter_draws | {"kappa": np.array([common_weights.real[KAPPA]])},
    )


def _list_base_weights(
    model: Any, base: CommonWeights
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return common weights and slopes of features and of options, as recorded."""
    if not model.persons:
        return [], []
    return [base.v, *base.slope.T], [base.unique, *base.unique_slope.T]


def simulate_group_replicates(
    posterior: Posterior, likelihood: Any, groups: GroupedData, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Simulate data of every group at every draw, arrays by variable name."""
    replicates_by_group = [
        simulate_replicates(posterior.of_group(name), likelihood, data, rng)
        for name, data in groups.items()
    ]
    return {
        name: np.concatenate([arrays[name] for arrays in replicates_by_group], axis=2)
        for name in replicates_by_group[0]
    }


def build_group_observed(
    posterior: Posterior, likelihood: Any, groups: GroupedData
) -> dict[str, np.ndarray]:
    """Return the observed data of all groups, arrays by variable name."""
    observed_by_group = [
        build_observed(posterior.of_group(name), likelihood, data) for name, data in groups.items()
    ]
    if not all(observed_by_group):
        return {}
    return {
        name: np.concatenate([arrays[name] for arrays in observed_by_group])
        for name in observed_by_group[0]
    }


# The log evidence of models of several groups -----------------------------------------------------


def build_group_constant(
    likelihood: Any, observed_data: Sequence[Any]
) -> Callable[[GroupPriorLadder], float]:
    """Return a function of a chain: the log-likelihood constants that samplers omit."""

    def compute_constant(ladder: GroupPriorLadder) -> float:
        """Return the summed log-likelihood constants of all groups."""
        first_draw, total_constant = ladder.collect_draws(1), 0.0
        for g, data in enumerate(observed_data):
            parameter_draws = {
                name: first_draw.extra[f"{name} {g}"] for name in likelihood.parameters
            }
            feature_columns = select_group_columns(KeptDraws([first_draw], 1), g)
            total_constant += likelihood.build_posterior_part(
                feature_columns, parameter_draws, data, (1, 1), False
            ).log_constant
        return float(total_constant)

    return compute_constant
