"""Sampling tasks and Markov chains: tempered, annealed, with a pilot run that sets `thin`."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.array_dict_encoding import Arrays, unflatten_tuple, unpack_generators
from thali._inference.markov_chains import Chain
from thali._inference.markov_chains import run_chains as run
from thali._inference.random_seeds import RandomSeed, spawn_generators
from thali._posterior.summary_table import compute_diagnostics

from ..chain_state import (
    ALPHA,
    COLUMNS,
    FULL,
    NO_UNIQUE,
    SWEEPS,
    ChainModel,
    FeatureState,
    append_rows,
    capacity,
    double_capacity,
    replica,
    resize_state,
    stack_states,
)
from ..kernel_operations import select_cache
from ..moves.step_tuning import build_tuning, compute_acceptance_rates, select_tuning
from . import cost_forecast
from .draw_record import (
    ChainRecord,
    RecordedDraws,
    build_chain_draws,
    empty_record,
    enlarge_record,
    prepend_draws,
    skip_draws,
    slice_draws,
)
from .sweep_bookkeeping import CROWDED, DONE, RECORD_FULL, sample_alpha, sample_initial_state
from .tempering import (
    ANNEALING_STEP,
    HOTTEST,
    Ladder,
    build_ladder,
    compute_swap_rates,
    equalize_rejections,
    split_gaps,
)

if TYPE_CHECKING:
    from thali._inference.progress_display import Progress

    from .cost_forecast import WorkCounts

# A sampling task and one of its chains ------------------------------------------------------------


@dataclass
class SamplingTask:
    """All that a chain needs: sampler kernel, compiled model and run length."""

    kernel: Any
    model: ChainModel
    prior: Any  # the public prior that model.prior was compiled from
    make_cache: Callable[..., Any]  # likelihood -> a chain's cache
    n_options: int
    alpha: float | None  # None: learned
    draws: int
    tune: int
    thin: int
    # of the replicas, from 1 upwards; from 1 / power if the likelihood is raised to a power
    temperatures: tuple[float, ...] = (1.0,)
    lengthens: bool = False  # whether temperatures are added to the ladder during tuning
    # whether chains are annealed, and all temperatures placed by the shares of rejected swaps
    anneals: bool = False
    parameters: tuple[str, ...] = ()  # names of the likelihood's parameters
    pilot: int = 0  # sweeps after which the chains together choose a smaller `thin`
    # whether a run that gets stuck at its only temperature may restart with more temperatures
    may_temper: bool = False
    # rng, task -> initial state of a chain; None: a prior draw
    sample_start: Callable[..., Any] | None = None
    # None: levels and columns are forecast from the number of options
    work_counts: "WorkCounts | None" = None

    def chain(self, rng: np.random.Generator) -> "FeatureChain":
        """Build a chain in its initial state."""
        return FeatureChain(self, rng)

    # methods that forecast the time of a run
    forecast_sweep_seconds = cost_forecast.forecast_sweep_seconds
    forecast_levels = cost_forecast.forecast_levels
    forecast_columns = cost_forecast.forecast_columns
    add_work_counts = cost_forecast.add_work_counts
    compute_cost_ratio = cost_forecast.compute_cost_ratio

    def shorten(self, draws: int, tune: int) -> "SamplingTask":
        """Return the task of a short run at one temperature that records every sweep."""
        return replace(
            self,
            draws=draws,
            tune=tune,
            thin=1,
            temperatures=(1.0,),
            lengthens=False,
            anneals=False,
            pilot=0,
        )


class FeatureChain(Chain):
    """One Markov chain of the sampler: states at all temperatures, record, progress."""

    _PARTS = ("ladder", "states", "caches", "tunings", "_n_restarts", "thin", "pilot_statistics")

    task: "SamplingTask"
    caches: Any
    tunings: Any
    rng: np.random.Generator
    states: Any  # of all levels, stacked along the first axis
    ladder: Ladder
    record: ChainRecord
    pilot_statistics: np.ndarray
    thin: int
    pairs: np.ndarray

    def __init__(self, task: SamplingTask, rng: np.random.Generator) -> None:
        """Build temperatures, initial states and records of the chain."""
        self.task = task
        self.rng = rng
        self.ladder = build_ladder(task.temperatures)
        self.thin = task.thin
        self.pairs = select_neighbour_pairs(task.n_options)
        states = []
        for _ in task.temperatures:
            alpha = sample_alpha(rng, task.alpha)
            states.append(sample_initial_state(rng, task.model, task.prior, task.n_options, alpha))
        max_capacity = max(map(capacity, states))
        self.states = stack_states([resize_state(b, max_capacity) for b in states])
        self.caches = stack_states([task.make_cache(task.model.likelihood) for _ in states])
        self.tunings = stack_states([build_tuning(task.n_options) for _ in states])
        self.record = empty_record(task.draws, task.n_options, len(task.parameters))
        self.pilot_statistics = np.zeros((task.pilot // PILOT_STEP, 2 + self.pairs.shape[1]))
        self._n_restarts = 0  # completed entries of the schedule
        self._sample_start = task.sample_start  # until the first sweep

    @property
    def schedule(self) -> list[tuple[int, bool]]:
        """Sweeps at which swap counts restart, and whether temperatures are added there."""
        return build_swap_schedule(
            self.task.tune * self.thin, len(self.task.temperatures) > 1, self.task.lengthens
        )

    @property
    def state(self) -> Any:
        """Views of the state at temperature 1."""
        return replica(self.states, self.ladder.at[0])

    @property
    def cache(self) -> Any:
        """Views of the likelihood cache at temperature 1."""
        return select_cache(self.task.model.likelihood, self.caches, self.ladder.at[0])

    @property
    def in_pilot(self) -> bool:  # type: ignore[override]
        """Whether the pilot run that chooses `thin` is still going on."""
        return len(self.pilot_statistics) > 0

    @property
    def total(self) -> int:  # type: ignore[override]
        """Number of sweeps of the pilot run; without a pilot, of the whole run."""
        return PILOT_STEP * len(self.pilot_statistics) or self.run_total

    @property
    def run_total(self) -> int:
        """Number of sweeps of tuning and draws."""
        return (self.task.tune + self.task.draws) * self.thin

    @property
    def sweeps(self) -> int:  # type: ignore[override]
        """Number of sweeps that the chain has done."""
        return int(self.states.whole[0, SWEEPS])

    @property
    def is_done(self) -> bool:  # type: ignore[override]
        """Whether the chain has done all its sweeps."""
        return self.sweeps >= self.total and (self.in_pilot or self.recorded >= self.task.draws)

    @property
    def recorded(self) -> int:
        """Number of draws recorded so far."""
        return int(self.record.used[0])

    def read_draws(self, start: int, stop: int) -> Arrays:
        """Return draws `start` to `stop` - 1 as arrays by name."""
        return slice_draws(self.record, start, stop, self.first)

    def adopt_draws(self, draws: Arrays) -> None:
        """Put these earlier draws, from a file, at the start of the record."""
        self.record = prepend_draws(self.record, draws, self.first)

    def skip_draws(self, draws: int) -> None:
        """Continue the record after `draws` draws stored elsewhere."""
        super().skip_draws(draws)
        self.record = skip_draws(self.record, draws)

    def warm_start(self, arrays: Arrays) -> None:
        """Restore states, step sizes and temperatures from stored arrays; restart counts."""
        self.rng = unpack_generators(arrays["stream"])[0]
        for array_name in ("ladder", "states", "tunings", "thin"):
            vars(self)[array_name] = unflatten_tuple(vars(self)[array_name], arrays, array_name)
        # at sweep 0 the kernel fills caches from the state
        self.states.whole[:, SWEEPS] = 0
        self.caches = stack_states(
            [self.task.make_cache(self.task.model.likelihood) for _ in self.ladder.beta]
        )
        self.pilot_statistics = self.pilot_statistics[:0]
        self._n_restarts = max(0, len(self.schedule) - 1)
        self._sample_start = None

    @property
    def draws(self) -> RecordedDraws:
        """All recorded draws of the chain."""
        return self.collect_draws(self.recorded)

    def collect_draws(self, stop: int) -> RecordedDraws:
        """Return the draws before index `stop`, with acceptance and swap rates."""
        stats: dict[str, Any] = compute_acceptance_rates(select_tuning(self.tunings, 0))
        if self.ladder.beta.size > 1:
            stats |= {
                "temperature": 1.0 / self.ladder.beta,
                "swap_rate": compute_swap_rates(self.ladder),
            }
        return build_chain_draws(self.read_draws(self.first, stop), self.task.parameters, stats)

    def run_until(self, until: int) -> None:
        """Run and record the chain until it has done `until` sweeps."""
        if self._sample_start is not None and until > self.sweeps == 0:
            initial_state = self._sample_start(self.rng, self.task)
            self.states = stack_states([initial_state for _ in self.ladder.beta])
            self._sample_start = None
        if self.task.anneals:
            self._anneal(until)
        schedule = self.schedule
        while self._n_restarts < len(schedule) and schedule[self._n_restarts][0] <= until:
            restart_sweep, adds_temperatures = schedule[self._n_restarts]
            self._n_restarts += 1
            self._run_monitored(restart_sweep)
            if adds_temperatures:
                self._extend_ladder()
            self.ladder.tried[:] = self.ladder.accepted[:] = 0.0
        self._run_monitored(until)

    def _run_monitored(self, until: int) -> None:
        """Run the kernel; during the pilot run, store its statistics of each sweep."""
        for time_index in range(
            self.sweeps // PILOT_STEP, min(until // PILOT_STEP, len(self.pilot_statistics))
        ):
            self._run_kernel((time_index + 1) * PILOT_STEP)
            self.pilot_statistics[time_index] = compute_pilot_statistics(
                self.task.model, self.state, self.pairs
            )
        self._run_kernel(until)

    def _anneal(self, until: int) -> None:
        """Run the kernel while all temperatures fall from the hottest to their final values."""
        # This takes the first quarter of tuning.
        end_sweep = self.task.tune * self.thin // 4
        final_beta = 1.0 / np.asarray(self.task.temperatures)
        while self.sweeps < min(until, end_sweep):
            # a multiple of the step, so that slices of a run do not affect the draws
            start_sweep = self.sweeps // ANNEALING_STEP * ANNEALING_STEP
            self.ladder.beta[:] = np.minimum(final_beta, HOTTEST ** (start_sweep / end_sweep - 1.0))
            self._run_kernel(min(until, end_sweep, start_sweep + ANNEALING_STEP))
            if self.sweeps == end_sweep:
                self.ladder.beta[:] = final_beta

    def _extend_ladder(self) -> None:
        """Add temperatures where swaps are rare, each a copy of the colder neighbour."""
        if self.task.anneals:
            gaps, inverse_temperatures = equalize_rejections(self.ladder)
        else:
            gaps, inverse_temperatures = split_gaps(self.ladder)
        if np.array_equal(inverse_temperatures, self.ladder.beta):
            return
        colder_replicas = self.ladder.at[gaps]
        new_replicas = np.arange(self.ladder.at.size, inverse_temperatures.size)
        self.ladder = build_ladder(1.0 / inverse_temperatures)._replace(
            at=np.insert(self.ladder.at, gaps + 1, new_replicas)
        )

        # step sizes belong to levels, not to replicas
        def insert_levels(stacked: Any) -> Any:
            """Return stacked arrays with copies for the new temperatures."""
            return type(stacked)(*(np.insert(a, gaps + 1, a[gaps], axis=0) for a in stacked))

        self.states = append_rows(self.states, colder_replicas)
        self.caches = append_rows(self.caches, colder_replicas)
        self.tunings = insert_levels(self.tunings)

    def _run_kernel(self, until: int) -> None:
        """Run sweeps until number `until`; enlarge state and record when they are full."""
        task = self.task
        while True:
            run_status = task.kernel(
                self.rng,
                task.model,
                self.caches,
                self.states,
                self.tunings,
                self.ladder,
                self.record,
                until,
                task.tune * self.thin,
                self.thin,
            )
            if run_status == CROWDED:
                self.states = double_capacity(self.states)
            elif run_status == RECORD_FULL:
                self.record = enlarge_record(self.record)
            else:
                assert run_status == DONE
                return


def end_pilot(chains: Sequence[FeatureChain]) -> None:
    """Choose the thinning interval that all chains share, and end their pilot runs."""
    task = chains[0].task
    min_thin = math.ceil(chains[0].total / task.tune)  # the pilot's sweeps belong to tuning
    if len(task.temperatures) > 1:
        min_thin = max(min_thin, MIN_TEMPERED)
    thin = choose_thin([chain.pilot_statistics for chain in chains], min_thin, task.thin)
    for chain in chains:
        chain.thin = thin
        chain.pilot_statistics = chain.pilot_statistics[:0]


def count_pilot_sweeps(task: SamplingTask, has_length: bool) -> int:
    """Return the number of pilot sweeps, 0 without a pilot.

    Pilot statistics may mix fast where families of features mix slowly, so tempered chains have a
    pilot only if the length of the run follows from its effective draws. Annealed chains have none.
    """
    if len(task.temperatures) > 1 and (has_length or task.anneals):
        return 0
    if task.thin == 1 or task.tune * task.thin < PILOT_SWEEPS:
        return 0
    return PILOT_SWEEPS


def build_swap_schedule(tune: int, tempers: bool, lengthens: bool) -> list[tuple[int, bool]]:
    """List sweeps at which swap counts restart, and whether temperatures are added there."""
    # In the first quarter of tuning replicas still move to their levels; the last quarter lets a
    # longer ladder converge.
    if not tempers:
        return []
    restarts = [(tune * eighth // 8, lengthens and eighth > 2) for eighth in range(2, 7)]
    return [*restarts, (tune, False)]


def build_chains(task: SamplingTask, n_chains: int, random_seed: RandomSeed) -> list[Any]:
    """Build the chains of a task, each with its own random stream."""
    return [task.chain(rng) for rng in spawn_generators(random_seed, n_chains)]


def run_feature_chains(
    task: SamplingTask,
    n_chains: int,
    cores: int | None,
    random_seed: RandomSeed,
    progress: "Progress",
) -> tuple[list[RecordedDraws], bool]:
    """Run the chains of a task; return their draws, and whether Ctrl-C stopped them."""
    feature_chains = build_chains(task, n_chains, random_seed)
    was_interrupted = run(feature_chains, cores, progress, task.kernel.is_compiled(task.model))
    return [chain.draws for chain in feature_chains], was_interrupted


# Annealed chains: the temperature falls slowly, so that each chain ends near a mode


COLD_SHARE = 0.2  # share of the sweeps, at the end, that have temperature 1


class AnnealedChain(FeatureChain):
    """A chain whose temperature falls geometrically to 1 and then stays there."""

    def run_until(self, until: int) -> None:
        """Run until `until` sweeps, lowering the temperature before each."""
        while self.sweeps < until:
            # a multiple of the step, so that slices of a run do not affect the draws
            start_sweep = self.sweeps // ANNEALING_STEP * ANNEALING_STEP
            annealed_share = start_sweep / ((1.0 - COLD_SHARE) * self.total)
            self.ladder.beta[0] = min(1.0, HOTTEST ** (annealed_share - 1.0))
            self._run_kernel(min(until, start_sweep + ANNEALING_STEP))
        self._run_kernel(until)


# The thinning interval: the pilot, at the start of tuning, finds the largest for which half of the
# draws are effective
#
# Fewer sweeps per draw give more effective draws per second, but need more storage for each.


PILOT_SWEEPS, PILOT_STEP = 400, 4  # of a pilot, and sweeps between two of its looks at the state
PILOT_PARTS = 4  # the first of these parts is near the prior and is discarded
MAX_PILOT_PAIRS = 32  # monitored pairs of options
EFFECTIVE_SHARE = 0.5  # desired share of effective draws
# sweeps per draw of tempered chains; tuning needs that many for the ladder to grow
MIN_TEMPERED = 10


def select_neighbour_pairs(n: int) -> np.ndarray:
    """Return evenly spaced pairs (i, i + 1) of options, shape (2, n_pairs)."""
    option_indices = np.unique(np.linspace(0, n - 1, min(n, MAX_PILOT_PAIRS)).astype(int))
    return np.array([option_indices, (option_indices + 1) % n])


def compute_pilot_statistics(model: ChainModel, b: FeatureState, pairs: np.ndarray) -> np.ndarray:
    """Compute the number of features, ln alpha, and each pair's probability or overlap."""
    n_columns = int(b.whole[COLUMNS])
    i, j = pairs
    Z = b.Z[:n_columns]
    w = b.w[:n_columns]
    shared_weight = w @ (Z[:, i] * Z[:, j])
    if model.unique != NO_UNIQUE:
        advantage_i = w @ Z[:, i] + b.s[i] - shared_weight
        advantage_j = w @ Z[:, j] + b.s[j] - shared_weight
        shared_weight = advantage_i / (advantage_i + advantage_j)
    n_features = n_columns + b.whole[FULL] + b.singles.sum()
    log_alpha = 0.0
    if b.real[ALPHA] > 0.0:
        log_alpha = math.log(b.real[ALPHA])
    return np.array([n_features, log_alpha, *shared_weight])


def choose_thin(pilot_statistics: Sequence[np.ndarray], min_thin: int, max_thin: int) -> int:
    """Return the sweeps per draw for the slowest statistic, between `min_thin` and `max_thin`.

    `pilot_statistics` has an array (looks, statistics) for each chain.
    """
    first_monitored = len(pilot_statistics[0]) // PILOT_PARTS
    statistic_draws = np.moveaxis(np.stack(pilot_statistics)[:, first_monitored:], 2, 0)
    ess = compute_diagnostics(statistic_draws)[0]
    autocorrelation_times = statistic_draws[0].size / ess[np.isfinite(ess)]
    if not autocorrelation_times.size:
        return max_thin
    draw_spacing = compute_draw_spacing(float(autocorrelation_times.max()))
    return int(np.clip(math.ceil(PILOT_STEP * draw_spacing - 1e-9), min_thin, max_thin))


def compute_draw_spacing(autocorrelation_time: float) -> float:
    r"""Return the sweeps between draws that make half of the draws effective.

    The spacing has the unit of the integrated autocorrelation time. For a first-order
    autoregressive process with time :math:`\tau`, whose correlation over a unit is :math:`r = (\tau
    - 1) / (\tau + 1)`, the share :math:`(1 - r^t) / (1 + r^t)` of draws t units apart is effective.
    """
    if autocorrelation_time <= 1.0:
        return 0.0
    return math.log((1.0 - EFFECTIVE_SHARE) / (1.0 + EFFECTIVE_SHARE)) / math.log(
        (autocorrelation_time - 1.0) / (autocorrelation_time + 1.0)
    )
