"""Run chains: threads in one process, each with its own random stream; annealed ones; the pilot
that finds `thin`."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.arrays import Arrays, unflatten_tuple, unpack_generators
from thali._inference.chains import FIRST_DRAWS, Chain
from thali._inference.chains import run_chains as run
from thali._inference.seeds import spawn_generators
from thali._posterior.summary import convergence

from ..moves.tuning import acceptance_rates, initial_tuning, tuning_at
from ..operations import cache_at
from ..state import (
    ALPHA,
    COLUMNS,
    FULL,
    NO_UNIQUE,
    SWEEPS,
    ChainModel,
    capacity,
    grown,
    replica,
    resized,
    stack,
)
from .loop import CROWDED, DONE, RECORD_FULL, prior_draw
from .record import (
    ChainDraws,
    ChainRecord,
    adopted,
    chain_draws,
    draws_between,
    empty_record,
    enlarged,
    skipping,
)
from .tempering import HOTTEST, STEP, Ladder, evened, ladder, longer, swap_rates

if TYPE_CHECKING:
    from .work import WorkCounts

# What chains run, and one of them -----------------------------------------------------------------


@dataclass
class SamplingTask:
    """What to run: a sampler's kernel, the model, and how long."""

    kernel: Any
    model: ChainModel
    prior: Any  # the public prior that model.prior was compiled from
    make_cache: Callable[..., Any]  # likelihood -> a chain's cache
    n_options: int
    alpha: float | None  # None: learned
    draws: int
    tune: int
    thin: int
    temperatures: tuple[float, ...] = (
        1.0,
    )  # of the replicas, from 1 upwards; with a power of the likelihood from 1 over it
    lengthens: bool = False  # whether temperatures are added to the ladder during tuning
    # whether all of them are then placed by the shares of rejected swaps, and chains are annealed
    evens: bool = False
    parameters: tuple[str, ...] = ()  # names of the likelihood's own
    pilot: int = 0  # sweeps after which the chains together choose a smaller `thin`
    # whether a run that gets stuck at its one temperature may start again with more
    may_temper: bool = False
    # stream, task -> the state in which a chain begins; None: a prior draw
    begins: Callable[..., Any] | None = None
    # None: levels and columns are forecast from the number of options
    counted: "WorkCounts | None" = None

    def chain(self, rng: np.random.Generator) -> "FeatureChain":
        """A chain at its start."""
        return FeatureChain(self, rng)

    def seconds_of_sweep(self) -> float:
        """Seconds of the processor that a sweep of a chain is expected to take."""
        from .work import seconds_of_sweep

        return seconds_of_sweep(self)

    def levels(self) -> float:
        """How many temperatures a chain is expected to have after tuning."""
        from .work import levels

        return levels(self)

    def columns(self) -> float:
        """How many columns its states are expected to have."""
        from .work import columns_of

        return columns_of(self)

    def with_short_run(self, progressbar: bool) -> "SamplingTask":
        """The task, with what a short run tells of its levels and columns."""
        from .work import with_short_run

        return with_short_run(self, progressbar)

    def times_heavier(self, chains: Sequence["FeatureChain"]) -> float:
        """How many times longer a sweep takes than was expected, by the columns that the tuned
        chains have."""
        from .work import times_heavier

        return times_heavier(self, chains)

    def first_draws(self, chains: int) -> int:
        """The draws of each of so many chains after which a run of unknown length is looked at
        first."""
        return FIRST_DRAWS


class FeatureChain(Chain):
    """One chain: its state, its record, and how far it is."""

    _PARTS = ("ladder", "states", "caches", "tunings", "_counted", "thin", "seen")

    task: "SamplingTask"
    caches: Any
    tunings: Any
    rng: np.random.Generator
    states: Any  # of all levels, stacked
    ladder: Ladder
    record: ChainRecord
    seen: np.ndarray
    thin: int
    pairs: np.ndarray

    def __init__(self, task: Any, rng: np.random.Generator) -> None:
        self.task, self.rng = task, rng
        self.ladder = ladder(task.temperatures)
        self.thin = task.thin
        self.pairs = pairs_of(task.n_options)
        self._start()
        self.seen = np.zeros((task.pilot // LOOK, self._looked_at()))  # in the pilot
        self._counted = 0  # how much of the schedule is done
        self._begins = task.begins  # until the first sweep

    def _start(self) -> None:
        """States drawn from the prior, their caches and tunings, and an empty record."""
        task, rng = self.task, self.rng
        states = []
        for _ in task.temperatures:
            alpha = rng.standard_exponential() if task.alpha is None else task.alpha
            states.append(prior_draw(rng, task.model, task.prior, task.n_options, alpha))
        room = max(capacity(b) for b in states)
        self.states = stack([b if capacity(b) == room else resized(b, room) for b in states])
        self.caches = stack([task.make_cache(task.model.likelihood) for _ in states])
        self.tunings = stack([initial_tuning(task.n_options) for _ in states])
        self.record = empty_record(task.draws, task.n_options, len(task.parameters))

    @property
    def schedule(self) -> list[tuple[int, bool]]:
        """What `count_schedule` gives for as many sweeps of tuning as there are."""
        return count_schedule(
            self.task.tune * self.thin, len(self.task.temperatures) > 1, self.task.lengthens
        )

    def _looked_at(self) -> int:
        """How many numbers the pilot sees of a state."""
        return 2 + self.pairs.shape[1]

    @property
    def state(self) -> Any:
        """The state at temperature 1: views."""
        return replica(self.states, self.ladder.at[0])

    @property
    def cache(self) -> Any:
        """The likelihood's cache at temperature 1: views."""
        return cache_at(self.task.model.likelihood, self.caches, self.ladder.at[0])

    @property
    def in_pilot(self) -> bool:  # type: ignore[override]
        return len(self.seen) > 0

    @property
    def total(self) -> int:  # type: ignore[override]
        return LOOK * len(self.seen) or self.run_total

    @property
    def run_total(self) -> int:
        return (self.task.tune + self.task.draws) * self.thin

    @property
    def sweeps(self) -> int:  # type: ignore[override]
        return int(self.states.whole[0, SWEEPS])

    @property
    def is_done(self) -> bool:  # type: ignore[override]
        return self.sweeps >= self.total and (self.in_pilot or self.recorded >= self.task.draws)

    @property
    def recorded(self) -> int:
        return int(self.record.used[0])

    def read_draws(self, start: int, stop: int) -> Arrays:
        return draws_between(self.record, start, stop, self.first)

    def adopt(self, draws: Arrays) -> None:
        self.record = adopted(self.record, draws, self.first)

    def skip(self, draws: int) -> None:
        super().skip(draws)
        self.record = skipping(self.record, draws)

    def warm_start(self, arrays: Arrays) -> None:
        self.rng = unpack_generators(arrays["stream"])[0]
        for name in ("ladder", "states", "tunings", "thin"):
            vars(self)[name] = unflatten_tuple(vars(self)[name], arrays, name)
        # then caches are filled from the state before the first sweep
        self.states.whole[:, SWEEPS] = 0
        self.caches = stack(
            [self.task.make_cache(self.task.model.likelihood) for _ in self.ladder.beta]
        )
        self.seen, self._counted, self._begins = self.seen[:0], max(0, len(self.schedule) - 1), None

    @property
    def draws(self) -> ChainDraws:
        """All draws of the record."""
        return self.draws_before(self.recorded)

    def draws_before(self, last: int) -> ChainDraws:
        """The draws of the record before number `last`, and acceptance rates of walks and swaps
        after tuning."""
        stats: dict[str, Any] = acceptance_rates(tuning_at(self.tunings, 0))
        if self.ladder.beta.size > 1:
            stats |= {"temperature": 1.0 / self.ladder.beta, "swap_rate": swap_rates(self.ladder)}
        return chain_draws(self.read_draws(self.first, last), self.task.parameters, stats)

    def run_until(self, until: int) -> None:
        """Run until this many sweeps of every replica are done and recorded."""
        if self._begins is not None and until > self.sweeps == 0:
            begun = self._begins(self.rng, self.task)
            self.states, self._begins = stack([begun for _ in self.ladder.beta]), None
        if self.task.evens:
            self._anneal(until)
        schedule = self.schedule
        while self._counted < len(schedule) and schedule[self._counted][0] <= until:
            sweep, grows = schedule[self._counted]
            self._counted += 1
            self._run_looking(sweep)
            if grows:
                self._lengthen()
            self.ladder.tried[:] = self.ladder.accepted[:] = 0.0
        self._run_looking(until)

    def _run_looking(self, until: int) -> None:
        """Run the kernel, and in the pilot look at the state, also where the ladder changes within
        it."""
        for look in range(self.sweeps // LOOK, min(until // LOOK, len(self.seen))):
            self._run_kernel((look + 1) * LOOK)
            self.seen[look] = self._look()
        self._run_kernel(until)

    def _anneal(self, until: int) -> None:
        """The first quarter of tuning: all levels begin at the same high temperature and fall to
        their own."""
        end, own = self.task.tune * self.thin // 4, 1.0 / np.asarray(self.task.temperatures)
        while self.sweeps < min(until, end):
            begun = self.sweeps // STEP * STEP  # so that slices of a run have no influence
            self.ladder.beta[:] = np.minimum(own, HOTTEST ** (begun / end - 1.0))
            self._run_kernel(min(until, end, begun + STEP))
            if self.sweeps == end:
                self.ladder.beta[:] = own

    def _lengthen(self) -> None:
        """Add levels where they are wanted, each replica a copy of the lower one, and place all
        again if asked to."""
        gaps, beta = evened(self.ladder) if self.task.evens else longer(self.ladder)
        if np.array_equal(beta, self.ladder.beta):
            return
        below = self.ladder.at[gaps]
        new = np.arange(self.ladder.at.size, beta.size)
        self.ladder = ladder(1.0 / beta)._replace(at=np.insert(self.ladder.at, gaps + 1, new))

        def with_copies(stacked: Any, chosen: Any) -> Any:
            return type(stacked)(*(np.concatenate([a, a[chosen]]) for a in stacked))

        def with_levels(stacked: Any) -> Any:  # step sizes belong to levels, not to replicas
            return type(stacked)(*(np.insert(a, gaps + 1, a[gaps], axis=0) for a in stacked))

        self.states, self.caches = with_copies(self.states, below), with_copies(self.caches, below)
        self.tunings = with_levels(self.tunings)

    def _look(self) -> np.ndarray:
        """What the pilot sees of the state."""
        return looked_at(self.task.model, self.state, self.pairs)

    def _run_kernel(self, until: int) -> None:
        task = self.task
        while True:
            status = task.kernel(
                self.rng,
                task.model,
                self.caches,
                *self._arrays(),
                self.tunings,
                self.ladder,
                self.record,
                until,
                task.tune * self.thin,
                self.thin,
            )
            if status == CROWDED:
                self._grow()
            elif status == RECORD_FULL:
                self.record = enlarged(self.record)
            else:
                assert status == DONE
                return

    def _arrays(self) -> tuple[Any, ...]:
        """What the kernel changes besides the caches."""
        return (self.states,)

    def _grow(self) -> None:
        """Make room for more columns."""
        self.states = grown(self.states)


def end_pilot(chains: Sequence[FeatureChain]) -> None:
    """Choose how many sweeps lie between two draws, the same for all chains."""
    task = chains[0].task
    least = math.ceil(chains[0].total / task.tune)  # as the sweeps of the pilot are tuning
    least = max(least, MIN_TEMPERED) if len(task.temperatures) > 1 else least
    thin = thin_for([chain.seen for chain in chains], least, task.thin)
    for chain in chains:
        chain.thin, chain.seen = thin, chain.seen[:0]


def pilot_of(task: Any, has_length: bool) -> int:
    """The sweeps of tuning by which a smaller `thin` may be chosen; 0: there are too few.

    What is looked at may be quick where families of features are slow, so that tempered chains have
    a pilot only if the length of the run follows from its effective draws; there is none while all
    levels are annealed.
    """
    if len(task.temperatures) > 1 and (has_length or task.evens):
        return 0
    return PILOT if task.thin > 1 and task.tune * task.thin >= PILOT else 0


def count_schedule(tune: int, tempers: bool, lengthens: bool) -> list[tuple[int, bool]]:
    """The sweeps at which the counts of swaps restart, and whether levels are added to the ladder
    there."""
    # In the first quarter of tuning replicas still move to their levels; the last quarter lets a
    # longer ladder converge.
    if not tempers:
        return []
    eighths = [(tune * eighth // 8, lengthens and eighth > 2) for eighth in range(2, 7)]
    return [*eighths, (tune, False)]


def chains_of(task: Any, chains: int, random_seed: Any) -> list[Any]:
    """The chains of a task, each at its start; the same seed gives the same draws whatever `cores`
    is."""
    return [task.chain(rng) for rng in spawn_generators(random_seed, chains)]


def run_chains(
    task: SamplingTask, chains: int, cores: int | None, random_seed: Any, progress: Any
) -> tuple[list[ChainDraws], bool]:
    """Run the chains of a task; returns their draws and whether Ctrl-C stopped them early."""
    made = chains_of(task, chains, random_seed)
    interrupted = run(made, cores, progress, task.kernel.is_compiled(task.model))
    return [chain.draws for chain in made], interrupted


# Chains that are annealed: the likelihood is let in little by little, so that each ends near a mode


AT_ONE = 0.2  # share of the sweeps at temperature 1, the last ones


class AnnealedChain(FeatureChain):
    """A chain at one temperature, which falls geometrically to 1 and stays there."""

    def run_until(self, until: int) -> None:
        while self.sweeps < until:
            begun = self.sweeps // STEP * STEP  # so that slices of a run have no influence
            self.ladder.beta[0] = min(1.0, HOTTEST ** (begun / ((1.0 - AT_ONE) * self.total) - 1.0))
            self._run_kernel(min(until, begun + STEP))
        self._run_kernel(until)


# How many sweeps lie between two draws: so few that half of the draws are effective, seen in the
# first of tuning
#
# Fewer sweeps give more effective draws a second, as no sweep is lost, and take more storage for
# each.


PILOT, LOOK = 400, 4  # of a pilot, and after how many of them it looks at the state
DROPPED = 4  # the first of so many parts of them comes from the prior
MAX_PAIRS = 32  # of options that are looked at
EFFECTIVE = 0.5  # share of the draws
# sweeps between two draws of tempered chains, and so many of tuning that the ladder grows
MIN_TEMPERED = 10


def pairs_of(n: int) -> np.ndarray:
    """Neighbouring options, evenly spread, shape (2, pairs)."""
    first = np.unique(np.linspace(0, n - 1, min(n, MAX_PAIRS)).astype(int))
    return np.array([first, (first + 1) % n])


def looked_at(model: Any, b: Any, pairs: np.ndarray) -> np.ndarray:
    """What is seen of a state: number of features, ln alpha, and of each pair its choice
    probability or overlap."""
    columns, (i, j) = int(b.whole[COLUMNS]), pairs
    Z, w = b.Z[:columns], b.w[:columns]
    shared = w @ (Z[:, i] * Z[:, j])
    if model.unique != NO_UNIQUE:
        own_i, own_j = w @ Z[:, i] + b.s[i] - shared, w @ Z[:, j] + b.s[j] - shared
        shared = own_i / (own_i + own_j)
    number = columns + b.whole[FULL] + b.singles.sum()
    return np.array([number, math.log(b.real[ALPHA]) if b.real[ALPHA] > 0 else 0.0, *shared])


def thin_for(seen: Sequence[np.ndarray], least: int, most: int) -> int:
    """The sweeps between draws for the slowest of what was `seen` (looks, quantities), not fewer or
    more than these."""
    draws = np.moveaxis(np.stack([each[len(each) // DROPPED :] for each in seen]), 2, 0)
    ess = convergence(draws)[0]
    times = draws[0].size / ess[np.isfinite(ess)]
    return (
        int(np.clip(math.ceil(LOOK * apart(float(times.max())) - 1e-9), least, most))
        if times.size
        else most
    )


def apart(time: float) -> float:
    r"""How far apart draws must be for half to be effective, in the unit of the integrated
    autocorrelation time.

    Of an autoregressive process of first order with the time :math:`\tau`, whose correlation over a
    unit is :math:`r = (\tau - 1) / (\tau + 1)`, the share :math:`(1 - r^t) / (1 + r^t)` of draws t
    units apart is effective.
    """
    if time <= 1.0:
        return 0.0
    return math.log((1.0 - EFFECTIVE) / (1.0 + EFFECTIVE)) / math.log((time - 1.0) / (time + 1.0))
