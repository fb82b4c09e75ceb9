"""Markov chains of any model: settings, recording of draws, snapshots, running."""

import copy
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from thali._argument_checks import check_integer, check_positive, check_run_length

from .array_dict_encoding import (
    Arrays,
    fill_rows,
    flatten_tuple,
    pack_generators,
    unflatten_tuple,
    unpack_generators,
)
from .job_folders import FitFolder
from .threads_and_processes import SlicedWork, choose_longest_chains, run_in_threads

if TYPE_CHECKING:
    from .progress_display import Progress


# draws per chain before the first convergence check of a run of unknown length
FIRST_DRAWS = 1000


class Run(NamedTuple):
    """The settings of a run: what `fit` was asked for, or what its chains do."""

    draws: int | None  # None: until the chains agree
    tune: int
    chains: int = 4
    thin: int | None = None  # None: as the model chooses
    cores: int | None = None
    random_seed: Any = None
    progressbar: bool = True
    job: Any = None
    max_time: float | None = None

    @property
    def lengths(self) -> dict[str, int | None]:
        """The settings draws, tune, chains and thin, by name."""
        return {name: getattr(self, name) for name in ("draws", "tune", "chains", "thin")}

    @property
    def requested_or_first_draws(self) -> int:
        """Draws per chain that were asked for; else those of a first check, whatever the data."""
        return self.draws or FIRST_DRAWS

    def check(self) -> "Run":
        """Return these settings as numbers; raise ArgumentError if one is out of range."""
        draws = self.draws
        if draws is not None:
            draws = check_integer("draws", draws, 1)
        tune = check_integer("tune", self.tune, 0)
        chains = check_integer("chains", self.chains, 1)
        thin = self.thin
        if thin is not None:
            thin = check_integer("thin", thin, 1)
        check_run_length(draws or FIRST_DRAWS, tune, chains, thin or 1)
        cores = self.cores
        if cores is not None:
            cores = check_integer("cores", cores, 1)
        max_time = self.max_time
        if max_time is not None:
            max_time = check_positive("max_time", max_time, "the run time in seconds")
        return self._replace(
            draws=draws,
            tune=tune,
            chains=chains,
            thin=thin,
            cores=cores,
            progressbar=bool(self.progressbar),
            max_time=max_time,
        )


class Chain(SlicedWork):
    """Base class of a Markov chain that runs in time slices and can be stored.

    A subclass defines `read_draws` and `adopt_draws` in addition to the methods of `SlicedWork`.
    `_PARTS` names the attributes that sweeps change, nested tuples of arrays.
    """

    _PARTS: ClassVar[tuple[str, ...]]

    rng: np.random.Generator
    # whether it pauses before its end, until all chains have reached the same draw
    in_pilot: bool = False
    tune: int  # sweeps of the warm-up
    thin: int  # sweeps per recorded draw
    first: int = 0  # number of the first draw of the record; earlier draws are stored elsewhere
    # the state at the end of a slice, and the number of draws recorded by then
    snapshot: tuple[Arrays, int] | None = None
    needs_snapshot: bool = False

    @property
    def recorded(self) -> int:
        """Number of draws recorded after the warm-up, including those stored elsewhere."""
        return max(0, self.sweeps - self.tune) // self.thin

    @property
    def run_total(self) -> int:
        """Total number of sweeps of the run, after the pilot too."""
        return self.total

    @property
    def has_posterior(self) -> bool:
        """Whether at least one draw is recorded, so that the run may stop."""
        return self.recorded > 0

    def read_draws(self, start: int, stop: int) -> Arrays:
        """Return arrays of the recorded draws `start` to `stop` - 1, by name."""
        raise NotImplementedError

    def adopt_draws(self, draws: Arrays) -> None:
        """(Abstract) Copy earlier draws into the record, after `restore_state` and `skip_draws`.

        The draws are the result of `read_draws(first, recorded)`.
        """
        raise NotImplementedError

    def skip_draws(self, draws: int) -> None:
        """Leave draws before this number out of the record; call it after `restore_state`."""
        self.first = draws

    def pack_state(self) -> Arrays:
        """Return the chain's current state and random stream as a dict of arrays."""
        state_arrays = {
            path: array
            for name in self._PARTS
            for path, array in flatten_tuple(vars(self)[name], name).items()
        }
        return {"stream": pack_generators([self.rng]), **state_arrays}

    def restore_state(self, arrays: Arrays) -> None:
        """Set the state and random stream that `pack_state` returned."""
        self.rng = unpack_generators(arrays["stream"])[0]
        for name in self._PARTS:
            vars(self)[name] = unflatten_tuple(vars(self)[name], arrays, name)

    def take_snapshot(self) -> tuple[Arrays, int]:
        """Return the packed state, and the number of draws recorded at that moment."""
        return self.pack_state(), self.recorded

    def warm_start(self, arrays: Arrays) -> None:
        """Start at the state of a chain for similar data; by default do nothing."""

    def run_slice(self) -> None:
        """Run for a time slice; take a snapshot if one is requested."""
        super().run_slice()
        if self.needs_snapshot or self.is_done:
            self.snapshot = self.take_snapshot()
            self.needs_snapshot = False


class RowChain(Chain):
    """Base class of chains whose `record` is a NamedTuple of arrays, one row per draw."""

    record: Any

    def read_draws(self, start: int, stop: int) -> Arrays:
        """Return rows `start` to `stop` - 1 of each recorded array, by name."""
        return {name: array[start:stop] for name, array in self.record._asdict().items()}

    def adopt_draws(self, draws: Arrays) -> None:
        """Copy earlier draws into the record's rows."""
        for name, array in self.record._asdict().items():
            fill_rows(array[self.first : self.recorded], draws[name])

    @property
    def is_done(self) -> bool:  # type: ignore[override]
        """Whether all sweeps are done."""
        return self.sweeps >= self.total


class FixedChain(RowChain):
    """Base class of chains that record every `thin`-th sweep after the warm-up.

    A subclass has `state` and `record`.
    """

    _PARTS = ("state", "sweeps")

    total: int

    def __init__(self, draws: int, tune: int, thin: int) -> None:
        self.tune = tune * thin
        self.thin = thin
        self.total = (tune + draws) * thin
        self.sweeps = 0


def choose_recorded_chains(chains: Sequence[Chain]) -> tuple[list[int], int]:
    """Return the chains to keep and a common number of draws, for most draws in total.

    If earlier draws are stored elsewhere, all chains are kept, as in that store.
    """
    draw_counts = [max(0, chain.recorded - chain.first) for chain in chains]
    if chains[0].first:
        return list(range(len(chains))), min(draw_counts)
    return choose_longest_chains(draw_counts)


def cut_records(chains: Sequence[Any]) -> tuple[list[Any], list[dict[str, np.ndarray]]]:
    """Return the chains to keep, and the draws of each, cut to a common number."""
    first_draw = chains[0].first
    chain_indices, n_draws = choose_recorded_chains(chains)
    kept_chains = [chains[chain_index] for chain_index in chain_indices]
    return kept_chains, [
        chain.read_draws(first_draw, first_draw + n_draws) for chain in kept_chains
    ]


class TimeIsUp(Exception):
    """Raised when a run reaches its time limit."""


class TuningIsLong(TimeIsUp):
    """Raised when half of the time limit has passed without any draw."""


@dataclass
class TimeLimit:
    """Time limit of a run, counted from the first `check`."""

    seconds: float | None
    end: float = math.inf
    may_be_long: bool = True  # whether tuning may take the second half, too

    def check(self, has_draws: bool = True) -> None:
        """Raise TimeIsUp after the limit, TuningIsLong after half of it without draws."""
        if self.seconds is None:
            return
        now = time.monotonic()
        if self.end == math.inf:
            self.end = now + self.seconds
        elif now >= self.end:
            raise TimeIsUp
        elif not (self.may_be_long or has_draws) and now >= self.end - self.seconds / 2:
            raise TuningIsLong


@dataclass
class RunMonitor:
    """Updates progress, writes snapshots and checks the time limit during a run."""

    chains: Sequence[Chain]
    progress: Any
    folder: FitFolder | None
    limit: TimeLimit
    position: dict[str, Any]
    status: Callable[[Sequence[Any]], str]

    def __post_init__(self) -> None:
        for chain in self.chains:
            chain.snapshot = None
            if chain.is_done:
                chain.snapshot = chain.take_snapshot()

    def note(self, text: str) -> None:
        """Show a text next to the progress bar."""
        self.progress.note(text)

    def update(self, n_done: int) -> None:
        """Show progress, write a due snapshot, check the time limit.

        It is called several times a second.
        """
        self.progress.update(n_done, self.status(self.chains))
        if self.folder is not None and self.folder.is_due():
            snapshots = [chain.snapshot for chain in self.chains if chain.snapshot is not None]
            if len(snapshots) == len(self.chains):
                self._write(snapshots, False)
                for chain in self.chains:
                    if not chain.is_done:
                        chain.snapshot = None
            else:
                for chain in self.chains:
                    chain.needs_snapshot = chain.snapshot is None
        self.limit.check(any(chain.has_posterior for chain in self.chains))

    def finish(self, has_ended: bool) -> None:
        """Write the last snapshot of chains that no longer run."""
        if self.folder is not None:
            self._write([chain.take_snapshot() for chain in self.chains], has_ended)

    def _write(self, snapshots: Sequence[tuple[Arrays, int]], has_ended: bool) -> None:
        """Write chain states and the draws since the last snapshot to the job folder."""
        assert self.folder is not None
        first_draws = self.folder.recorded or [0] * len(snapshots)
        end_draws = [recorded for _, recorded in snapshots]
        new_draws = [
            chain.read_draws(a, b)
            for chain, a, b in zip(self.chains, first_draws, end_draws, strict=True)
        ]
        progress_counts = {
            "done": sum(chain.sweeps for chain in self.chains),
            "total": sum(chain.total for chain in self.chains),
            "unit": "sweeps",
        }
        states = [state for state, _ in snapshots]
        self.folder.write(
            states, new_draws, end_draws, {**self.position, **progress_counts}, has_ended
        )


def run_chains(
    chains: Sequence[Chain],
    cores: int | None,
    progress: "Progress | RunMonitor",
    is_compiled: bool = False,
) -> bool:
    """Run all chains to their end; return whether they were stopped early.

    Without any draw, the exception is raised.

    `progress` has `note(text)` and `update(sweeps done)`.
    """
    if all(chain.is_done for chain in chains):
        return False
    try:
        if not is_compiled:
            progress.note("compiling (once only)")
        chains[0].run_until(chains[0].sweeps)
        progress.note("")
        run_in_threads(chains, cores, progress)
    except (KeyboardInterrupt, TimeIsUp):
        if not any(chain.has_posterior for chain in chains):
            raise
        return True
    return False


# Chains of independent draws, which run and are stored like the chains of a sampler ---------------


# draws of a block; a fixed number, so that no draw depends on the slices of a run
BLOCK = 250


class IndependentDraws(RowChain):
    """Base class of "chains" of independent draws, made in blocks."""

    _PARTS = ("sweeps",)

    block_size: ClassVar[int] = BLOCK
    rng: np.random.Generator
    sweeps: int
    total: int

    def __init__(self, draws: int, rng: np.random.Generator) -> None:
        self.rng = rng
        self.total = draws
        self.sweeps = 0
        self._block_draws: Any = None  # the current block

    @property
    def recorded(self) -> int:
        """Number of draws made."""
        return self.sweeps

    def _draw_block(self, rng: np.random.Generator) -> Any:
        """Make a block of `block_size` draws, as a NamedTuple like `record`."""
        raise NotImplementedError

    def run_until(self, until: int) -> None:
        """Make and record draws until there are `until` of them."""
        while self.sweeps < until:
            block_start = self.sweeps % self.block_size
            # a chain that was stored within a block draws the block again
            if block_start == 0 or self._block_draws is None:
                self._next_rng = copy.deepcopy(self.rng)
                self._block_draws = self._draw_block(self._next_rng)
            block_end = min(self.block_size, block_start + until - self.sweeps)
            record_rows = slice(self.sweeps, self.sweeps + block_end - block_start)
            for record_array, block_array in zip(self.record, self._block_draws, strict=True):
                record_array[record_rows] = block_array[block_start:block_end]
            self.sweeps = record_rows.stop
            if block_end == self.block_size:
                self.rng = self._next_rng
