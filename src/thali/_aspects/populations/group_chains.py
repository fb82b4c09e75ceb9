"""Sampling tasks and Markov chains of several groups of respondents."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thali._data.grouped_data import GroupedData
from thali._data.kinds import PAIRS
from thali._inference.markov_chains import FIRST_DRAWS
from thali._people.people_argument import COMMON, SIMILAR, Groups
from thali.errors import Argument, ArgumentError, DataError, Setting

from ..chain_state import (
    ALPHA,
    COLUMNS,
    FIXED_UNIQUE,
    MIN_FREE_ROWS,
    NO_UNIQUE,
    SWEEPS,
    FeatureState,
    append_rows,
    capacity,
    make_empty_state,
    replica,
    resize_state,
    stack_states,
)
from ..group_likelihoods import make_caches, stack_likelihoods
from ..group_state import (
    KAPPA,
    CommonWeights,
    GroupModel,
    add_rows,
    double_group_capacity,
    level_caches,
    make_common_weights,
    select_common_weights,
    select_group_likelihood,
)
from ..moves.group_weight_density import MIN_WEIGHT
from ..moves.step_tuning import Tuning, build_tuning, select_tuning
from ..samplers.chains import MIN_TEMPERED, FeatureChain, SamplingTask, compute_pilot_statistics
from ..samplers.cost_forecast import (
    compute_cost_ratio,
    forecast_group_columns,
    forecast_group_seconds,
    forecast_group_temperatures,
)
from ..samplers.draw_record import ChainRecord
from ..samplers.group_sweeps import empty_group_record
from ..samplers.sampling_task import FIRST_LEVELS, build_task
from ..samplers.sweep_bookkeeping import sample_alpha
from ..samplers.tempering import find_gaps_to_split

MONITORED_GROUPS = 4  # groups whose pairs the pilot monitors
# size of all respondents' weights in the draws before the first convergence check
MAX_FIRST_BYTES = 80_000_000
MIN_FIRST_DRAWS = 250  # draws per chain before the first convergence check


@dataclass
class GroupSamplingTask(SamplingTask):
    """Sampler kernel, model and run length for several groups of respondents."""

    model: Any  # a GroupModel
    make_cache: Any  # of each group: likelihood -> a chain's cache

    @property
    def n_groups(self) -> int:
        """Number of groups of respondents."""
        return len(self.make_cache)

    def chain(self, rng: np.random.Generator) -> "GroupChain":
        """Build a chain of all groups in its initial state."""
        return GroupChain(self, rng)

    # methods that forecast the time of a run
    forecast_sweep_seconds = forecast_group_seconds
    forecast_levels = forecast_group_temperatures
    forecast_columns = forecast_group_columns

    def add_work_counts(self, progressbar: bool) -> "GroupSamplingTask":
        """Return the task unchanged: with groups, no short run measures the work."""
        return self

    def compute_cost_ratio(self, chains: Sequence["GroupChain"]) -> float:
        """Return the sweep time of tuned chains divided by its forecast.

        It is 1 for individual respondents, whose sweep time depends little on the columns.
        """
        if self.model.persons:
            return 1.0
        return compute_cost_ratio(self, chains)

    def first_draws(self, n_chains: int) -> int:
        """Return the draws per chain before the first convergence check."""
        if not self.model.persons:
            return FIRST_DRAWS
        draw_bytes = (
            self.n_groups
            * (self.n_options + self.prior.usual_columns(self.n_options))
            * np.dtype(float).itemsize
        )
        return max(
            MIN_FIRST_DRAWS, min(FIRST_DRAWS, int(MAX_FIRST_BYTES / (n_chains * draw_bytes)))
        )


class GroupChain(FeatureChain):
    """A Markov chain of several groups that share owners of features."""

    _PARTS = (*FeatureChain._PARTS, "bases")

    task: Any
    states: Any  # of all levels and groups, stacked
    bases: CommonWeights
    caches: Any
    tunings: Any
    record: ChainRecord

    def _initialize(self) -> None:
        """Sample initial states of all groups from the prior; build caches and record."""
        task, rng = self.task, self.rng
        start_states = [sample_group_states(rng, task, _build_base) for _ in task.temperatures]
        n_rows = max(capacity(groups[0]) for groups, _ in start_states)
        states_by_level = [
            stack_states([resize_state(b, n_rows) for b in groups]) for groups, _ in start_states
        ]
        self.states = stack_states(states_by_level)
        self.bases = stack_states([add_rows(base, n_rows + 2) for _, base in start_states])
        likelihoods = [
            select_group_likelihood(task.model.likelihood, g) for g in range(task.n_groups)
        ]
        caches = [
            make_cache(likelihood)
            for make_cache, likelihood in zip(task.make_cache, likelihoods, strict=True)
        ]
        self.caches = stack_states([stack_states(caches) for _ in states_by_level])
        group_tunings = stack_states([build_tuning(task.n_options) for _ in range(task.n_groups)])
        self.tunings = stack_states([group_tunings for _ in states_by_level])
        record_shape = task.draws, task.n_options, task.n_groups, len(task.parameters)
        n_common = 0
        if task.model.persons:
            n_common = 1 + task.model.known.shape[1]
        self.record = empty_group_record(*record_shape, n_common=n_common)

    def _count_pilot_statistics(self) -> int:
        """Return how many statistics the pilot run monitors."""
        if self.task.model.persons:
            return super()._count_pilot_statistics() + 1
        return min(self.task.n_groups, MONITORED_GROUPS) * super()._count_pilot_statistics()

    @property
    def state(self) -> Any:
        """Views of the states of all groups at temperature 1."""
        return replica(self.states, self.ladder.at[0])

    @property
    def cache(self) -> Any:
        """Views of the likelihood caches of all groups at temperature 1."""
        return level_caches(self.task.model, self.caches, self.ladder.at[0])

    @property
    def sweeps(self) -> int:
        """Number of sweeps that the chain has done."""
        return int(self.states.whole[0, 0, SWEEPS])

    def _get_first_tuning(self) -> Tuning:
        """Return views of the step sizes of the first group at temperature 1."""
        return select_tuning(super()._get_first_tuning(), 0)

    def _list_parameters(self) -> tuple[str, ...]:
        """Return the recorded parameters' names: kappa, and those of each group."""
        parameter_names = [
            f"{name} {g}" for g in range(self.task.n_groups) for name in self.task.parameters
        ]
        return (*parameter_names, "kappa")

    def _compute_pilot_statistics(self) -> np.ndarray:
        """Compute the statistics that the pilot run monitors, from the current state."""
        if self.task.model.persons:
            common_weights = select_common_weights(self.bases, self.ladder.at[0])
            common_state = replica(self.state, 0)._replace(
                w=common_weights.v, s=common_weights.unique
            )
            return np.append(
                compute_pilot_statistics(self.task.model, common_state, self.pairs),
                np.log(common_weights.real[KAPPA]),
            )
        group_states = [
            replica(self.state, g) for g in range(min(self.task.n_groups, MONITORED_GROUPS))
        ]
        return np.concatenate(
            [compute_pilot_statistics(self.task.model, group, self.pairs) for group in group_states]
        )

    def _extend_ladder(self) -> None:
        """Add temperatures where swaps are rare; copy common weights to them."""
        colder_replicas = self.ladder.at[find_gaps_to_split(self.ladder)]
        super()._extend_ladder()
        self.bases = append_rows(self.bases, colder_replicas)

    def _kernel_arrays(self) -> tuple[Any, ...]:
        """Return the arrays that the kernel updates: states and common weights."""
        return self.states, self.bases

    def _enlarge_states(self) -> None:
        """Double the room for features in the states of all groups."""
        self.states, self.bases = double_group_capacity(self.states, self.bases)


def _build_base(rng: np.random.Generator, task: GroupSamplingTask, n_rows: int) -> CommonWeights:
    """Return the initial common weights of a chain, at their prior means."""
    return make_common_weights(task.n_options, n_rows, task.model, task.n_groups)


def sample_group_states(
    rng: np.random.Generator, task: GroupSamplingTask, build_base: Callable[..., CommonWeights]
) -> tuple[list[FeatureState], CommonWeights]:
    """Sample states of all groups from the prior; `build_base` gives common weights."""
    model, n_options = task.model, task.n_options
    alpha = sample_alpha(rng, task.alpha)
    ownership = task.prior.sample(n_options, alpha, rng)
    n_columns = ownership.shape[1]
    n_rows = 4 * n_columns + 2 * MIN_FREE_ROWS
    common_weights = build_base(rng, task, n_rows + 2)
    group_states = []
    for g in range(task.n_groups):
        state = make_empty_state(n_options, n_rows, n_nodes=0)  # for the published sampler only
        state.Z[:n_columns, :n_options] = ownership.T
        kappa, mean_weights = (
            common_weights.real[KAPPA],
            common_weights.v[:n_columns] * common_weights.covariate_factor[g, :n_columns],
        )
        state.w[:n_columns] = np.maximum(rng.gamma(kappa, mean_weights / kappa), MIN_WEIGHT)
        state.m[:n_columns] = ownership.sum(0)
        state.whole[COLUMNS] = n_columns
        state.real[ALPHA] = alpha
        if model.unique:
            state.s[:n_options] = np.maximum(
                rng.gamma(
                    kappa, common_weights.unique * common_weights.unique_covariate_factor[g] / kappa
                ),
                MIN_WEIGHT,
            )
        group_states.append(state)
    return group_states, common_weights


# Sampling tasks of groups: a prior, the likelihoods of all groups and a sampler -------------------


# largest number of groups tempered by default; with more groups, draws are worth more than levels
MAX_TEMPERED = 10


def convert_groups(data: Mapping[Any, Any], weights: Any) -> Any:
    """Return data by group as `GroupedData`; pool the groups for common weights."""
    if not isinstance(data, GroupedData):
        data = GroupedData(data)
    if weights != COMMON:
        return data
    if not data.add_up:
        raise ArgumentError(
            Setting("people", Groups(COMMON)),
            " requires counts; for similarities, average the data of all groups with"
            " Similarities.from_respondents and fit the average.",
        )
    return data.pooled()


def build_group_task(
    groups: GroupedData,
    draws: int,
    tune: int,
    thin: Any,
    weights: Any,
    noun: str = "group",
    **task_arguments: Any,
) -> GroupSamplingTask:
    """Check all arguments and build the sampling task; errors call a group `noun`."""
    for group_name, data in groups.items():
        try:
            task_arguments["likelihood"].check(task_arguments["prior"], data)
        except DataError as error:
            raise DataError(f"{noun.capitalize()} {group_name!r}: ", error) from None
    if (
        task_arguments["tempering"] in (None, "auto")
        and task_arguments["prior"].learns_alpha
        and 1 < len(groups) <= MAX_TEMPERED
    ):
        task_arguments["tempering"] = FIRST_LEVELS
    task = build_task(data=groups.data[0], draws=draws, tune=tune, thin=thin, **task_arguments)
    if thin is None and len(task.temperatures) > 1:
        # an interval of 25 loses a third of the effective draws (benchmarks/thinning.py)
        task = replace(task, thin=MIN_TEMPERED)
    prior: Any = task.model.weights
    if prior.shape < 1.0 and groups.data[0].kind == PAIRS:
        raise ArgumentError(
            Argument("weight_prior"), f" must have shape >= 1 for groups; got {prior.shape:g}."
        )
    compiled_parts = [task_arguments["likelihood"].compiled(data, prior) for data in groups.data]
    return build_joint_task(task, compiled_parts, task_arguments["likelihood"], weights)


def build_joint_task(
    task: SamplingTask,
    compiled_parts: Sequence[tuple[Any, Callable[..., Any]]],
    likelihood: Any,
    weights: Any,
) -> GroupSamplingTask:
    """Build the task of all groups from one group's task and the compiled likelihoods.

    `compiled_parts` has each group's compiled likelihood and the function that makes its cache.
    """
    from ..samplers import group_sweeps

    sweep, unique_mode = group_sweeps.sweep_fixed_groups, NO_UNIQUE
    if task.prior.is_infinite:
        sweep = group_sweeps.sweep_infinite_groups
    if likelihood.unique:
        unique_mode = FIXED_UNIQUE
    weight_prior: Any = task.model.weights
    model = GroupModel(
        prior=task.model.prior,
        likelihood=stack_likelihoods([compiled for compiled, _ in compiled_parts]),
        shape=weight_prior.shape,
        rate=weight_prior.rate,
        unique=unique_mode,
        learn_alpha=task.model.learn_alpha,
        similar=weights == SIMILAR,
        kappa=float("nan"),
    )
    group_fields = {
        "kernel": sweep,
        "model": model,
        "make_cache": make_caches(compiled_parts),
        "anneals": False,  # levels are added one by one, and chains are not annealed
        "sample_start": None,  # chains begin with a prior draw
    }
    return GroupSamplingTask(**vars(task) | group_fields)
