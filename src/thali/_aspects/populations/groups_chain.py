"""A chain of several groups, and what it runs: a prior, the likelihoods of all groups, a sampler of
groups."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thali._data.groups import GroupedData
from thali._data.kinds import PAIRS
from thali._inference.chains import FIRST_DRAWS
from thali._people.populations import COMMON, SIMILAR, Groups
from thali.errors import Argument, ArgumentError, DataError, Setting

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
from ..moves.group_densities import MIN_WEIGHT
from ..moves.tuning import build_tuning, compute_acceptance_rates, select_tuning
from ..samplers.chains import MIN_TEMPERED, FeatureChain, SamplingTask, compute_pilot_statistics
from ..samplers.cost_model import (
    compute_cost_ratio,
    forecast_group_columns,
    forecast_group_levels,
    forecast_group_seconds,
)
from ..samplers.draw_record import ChainDraws, ChainRecord, build_chain_draws
from ..samplers.group_sweeps import empty_group_record
from ..samplers.task import FIRST_LEVELS, build_task
from ..samplers.tempering import compute_swap_rates, find_gaps_to_split
from ..state import (
    ALPHA,
    COLUMNS,
    FIXED_UNIQUE,
    MIN_FREE_ROWS,
    NO_UNIQUE,
    SWEEPS,
    FeatureState,
    capacity,
    make_empty_state,
    replica,
    resize_state,
    stack_states,
)

LOOKED_AT = 4  # groups of which the pilot sees the pairs
# of everybody's weights in the draws after which a run of unknown length is looked at first
FIRST_BYTES = 80_000_000
LEAST_DRAWS = 250  # such draws of a chain


@dataclass
class GroupTask:
    """What to run: a sampler's kernel, the model, and how long; as `samplers.chains.Task`."""

    kernel: Any
    model: GroupModel
    prior: Any
    make_caches: Sequence[Callable[..., Any]]  # of each group: likelihood -> a chain's cache
    n_options: int
    alpha: float | None
    draws: int
    tune: int
    thin: int
    temperatures: tuple[float, ...] = (1.0,)
    lengthens: bool = False
    parameters: tuple[str, ...] = ()  # of the likelihood of each group
    pilot: int = 0
    may_temper: bool = False
    anneals: bool = False  # levels are added one by one, and chains are not annealed
    sample_start: None = None  # chains begin with a prior draw

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return len(self.make_caches)

    def chain(self, rng: np.random.Generator) -> "GroupChain":
        """A chain at its start."""
        return GroupChain(self, rng)

    def forecast_sweep_seconds(self) -> float:
        """Seconds of the processor that a sweep of a chain is expected to take."""
        return forecast_group_seconds(self)

    def forecast_levels(self) -> float:
        """How many temperatures a chain is expected to have after tuning."""
        return forecast_group_levels(self)

    def forecast_columns(self) -> float:
        """How many columns its states are expected to have."""
        return forecast_group_columns(self)

    def add_work_counts(self, progressbar: bool) -> "GroupTask":
        """The task: nothing is counted before."""
        return self

    def compute_cost_ratio(self, chains: Sequence["GroupChain"]) -> float:
        """How many times longer a sweep takes than was expected; of persons, whose time hardly
        tells, as long."""
        return 1.0 if self.model.persons else compute_cost_ratio(self, chains)

    def first_draws(self, chains: int) -> int:
        """The draws of each of so many chains after which a run of unknown length is looked at
        first."""
        if not self.model.persons:
            return FIRST_DRAWS
        a_draw = (
            self.n_groups
            * (self.n_options + self.prior.usual_columns(self.n_options))
            * np.dtype(float).itemsize
        )
        return max(LEAST_DRAWS, min(FIRST_DRAWS, int(FIRST_BYTES / (chains * a_draw))))


class GroupChain(FeatureChain):
    """One chain of groups."""

    _PARTS = (*FeatureChain._PARTS, "bases")

    task: Any
    states: Any  # of all levels and groups, stacked
    bases: CommonWeights
    caches: Any
    tunings: Any
    record: ChainRecord

    def _initialize(self) -> None:
        task, rng = self.task, self.rng
        starts = [start_of(rng, task, _middle) for _ in task.temperatures]
        room = max(capacity(each[0]) for each, _ in starts)
        levels = [stack_states([resize_state(b, room) for b in groups]) for groups, _ in starts]
        self.states = stack_states(levels)
        self.bases = stack_states([add_rows(base, room + 2) for _, base in starts])
        likelihoods = [
            select_group_likelihood(task.model.likelihood, g) for g in range(task.n_groups)
        ]
        caches = [make(each) for make, each in zip(task.make_caches, likelihoods, strict=True)]
        self.caches = stack_states([stack_states(caches) for _ in levels])
        tuning = stack_states([build_tuning(task.n_options) for _ in range(task.n_groups)])
        self.tunings = stack_states([tuning for _ in levels])
        size = task.draws, task.n_options, task.n_groups, len(task.parameters)
        common = 1 + task.model.known.shape[1] if task.model.persons else 0
        self.record = empty_group_record(*size, n_common=common)

    def _count_pilot_statistics(self) -> int:
        if self.task.model.persons:
            return super()._count_pilot_statistics() + 1
        return min(self.task.n_groups, LOOKED_AT) * super()._count_pilot_statistics()

    @property
    def state(self) -> Any:
        """The states of all groups at temperature 1: views."""
        return replica(self.states, self.ladder.at[0])

    @property
    def cache(self) -> Any:
        """The caches of all groups at temperature 1: views."""
        return level_caches(self.task.model, self.caches, self.ladder.at[0])

    @property
    def sweeps(self) -> int:
        return int(self.states.whole[0, 0, SWEEPS])

    def collect_draws(self, last: int) -> ChainDraws:
        stats: dict[str, Any] = compute_acceptance_rates(
            select_tuning(select_tuning(self.tunings, 0), 0)
        )
        if self.ladder.beta.size > 1:
            stats |= {
                "temperature": 1.0 / self.ladder.beta,
                "swap_rate": compute_swap_rates(self.ladder),
            }
        names = [f"{name} {g}" for g in range(self.task.n_groups) for name in self.task.parameters]
        return build_chain_draws(self.read_draws(self.first, last), (*names, "kappa"), stats)

    def _compute_pilot_statistics(self) -> np.ndarray:
        if self.task.model.persons:
            base = select_common_weights(self.bases, self.ladder.at[0])
            common = replica(self.state, 0)._replace(w=base.v, s=base.unique)
            return np.append(
                compute_pilot_statistics(self.task.model, common, self.pairs),
                np.log(base.real[KAPPA]),
            )
        groups = [replica(self.state, g) for g in range(min(self.task.n_groups, LOOKED_AT))]
        return np.concatenate(
            [compute_pilot_statistics(self.task.model, group, self.pairs) for group in groups]
        )

    def _extend_ladder(self) -> None:
        below = self.ladder.at[find_gaps_to_split(self.ladder)]
        super()._extend_ladder()
        self.bases = CommonWeights(*(np.concatenate([a, a[below]]) for a in self.bases))

    def _kernel_arrays(self) -> tuple[Any, ...]:
        return self.states, self.bases

    def _enlarge_states(self) -> None:
        self.states, self.bases = double_group_capacity(self.states, self.bases)


def _middle(rng: np.random.Generator, task: GroupTask, rows: int) -> CommonWeights:
    """What the weights vary about where a chain begins."""
    return make_common_weights(task.n_options, rows, task.model, task.n_groups)


def start_of(
    rng: np.random.Generator, task: GroupTask, base_of: Callable[..., CommonWeights]
) -> tuple[list[FeatureState], CommonWeights]:
    """The states of all groups, drawn from the prior given what the weights vary about, which is
    that of `base_of`."""
    model, n = task.model, task.n_options
    alpha = rng.standard_exponential() if task.alpha is None else task.alpha
    matrix = task.prior.sample(n, alpha, rng)
    columns = matrix.shape[1]
    room = 4 * columns + 2 * MIN_FREE_ROWS
    base = base_of(rng, task, room + 2)
    groups = []
    for g in range(task.n_groups):
        state = make_empty_state(n, room, nodes=0)  # which only the published sampler looks at
        state.Z[:columns, :n] = matrix.T
        kappa, middle = base.real[KAPPA], base.v[:columns] * base.lift[g, :columns]
        state.w[:columns] = np.maximum(rng.gamma(kappa, middle / kappa), MIN_WEIGHT)
        state.m[:columns] = matrix.sum(0)
        state.whole[COLUMNS] = columns
        state.real[ALPHA] = alpha
        if model.unique:
            state.s[:n] = np.maximum(
                rng.gamma(kappa, base.unique * base.unique_lift[g] / kappa), MIN_WEIGHT
            )
        groups.append(state)
    return groups, base


# Joins a prior, the likelihoods of all groups and a sampler of groups -----------------------------


# groups whose chains are tempered by default: of more, the time for it is better spent on draws
MAX_TEMPERED = 10


def groups_of(data: Mapping[Any, Any], weights: Any) -> Any:
    """A mapping as `Groups`, or as pooled data where all groups have the same weights."""
    groups = data if isinstance(data, GroupedData) else GroupedData(data)
    if weights == COMMON and not groups.add_up:
        raise ArgumentError(
            Setting("people", Groups(COMMON)),
            " requires counts; for similarities, average the data of all groups with"
            " Similarities.from_respondents and fit the average.",
        )
    return groups.pooled() if weights == COMMON else groups


def build_group_task(
    groups: GroupedData,
    draws: int,
    tune: int,
    thin: Any,
    weights: Any,
    noun: str = "group",
    **parts: Any,
) -> GroupTask:
    """Check everything and put it into the form that the chains read; `noun`: what a group is
    called, in errors."""
    for name, data in groups.items():
        try:
            parts["likelihood"].check(parts["prior"], data)
        except DataError as error:
            raise DataError(f"{noun.capitalize()} {name!r}: ", error) from None
    if (
        parts["tempering"] in (None, "auto")
        and parts["prior"].learns_alpha
        and 1 < len(groups) <= MAX_TEMPERED
    ):
        parts["tempering"] = FIRST_LEVELS
    task = build_task(data=groups.data[0], draws=draws, tune=tune, thin=thin, **parts)
    if thin is None and len(task.temperatures) > 1:
        # of 25 a third of the effective draws is lost (benchmarks/thinning.py)
        task = replace(task, thin=MIN_TEMPERED)
    prior: Any = task.model.weights
    if prior.shape < 1.0 and groups.data[0].kind == PAIRS:
        raise ArgumentError(
            Argument("weight_prior"), f" must have shape >= 1 for groups; got {prior.shape:g}."
        )
    each = [parts["likelihood"].compiled(data, prior) for data in groups.data]
    return joined(task, each, parts["likelihood"], weights)


def joined(
    task: SamplingTask,
    each: Sequence[tuple[Any, Callable[..., Any]]],
    likelihood: Any,
    weights: Any,
) -> GroupTask:
    """The task of one group for all groups; `each`: their compiled likelihoods and what makes their
    caches."""
    prior: Any = task.model.weights
    model = GroupModel(
        prior=task.model.prior,
        likelihood=stack_likelihoods([compiled for compiled, _ in each]),
        shape=prior.shape,
        rate=prior.rate,
        unique=FIXED_UNIQUE if likelihood.unique else NO_UNIQUE,
        learn_alpha=task.model.learn_alpha,
        similar=weights == SIMILAR,
        kappa=float("nan"),
    )
    from ..samplers import group_sweeps as samplers

    return GroupTask(
        samplers.sweep_infinite_groups if task.prior.is_infinite else samplers.sweep_fixed_groups,
        model,
        task.prior,
        make_caches(each),
        task.n_options,
        task.alpha,
        task.draws,
        task.tune,
        task.thin,
        task.temperatures,
        task.lengthens,
        task.parameters,
        may_temper=task.may_temper,
    )
