"""Chains of any model: how long they run, and one runner for all."""

import copy
import math
import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thali._arguments import positive, refuse_endless, whole

from .arrays import (
    Arrays,
    fill_rows,
    flatten_tuple,
    pack_generators,
    unflatten_tuple,
    unpack_generators,
)
from .jobs import FitFolder
from .threads import SlicedWork, choose_longest_chains, run_in_threads

# of each chain, after which a run of unknown length is looked at for the first time
FIRST_DRAWS = 1000


class Run(NamedTuple):
    """How chains run: the arguments of `fit` that all models share, checked."""

    draws: int | None  # None: until the chains agree
    tune: int
    chains: int
    thin: int | None  # None: as the model chooses
    cores: int | None
    random_seed: Any
    progressbar: bool
    job: Any = None
    max_time: float | None = None

    @property
    def least_draws(self) -> int:
        """The draws of each chain that are made in any case."""
        return FIRST_DRAWS if self.draws is None else self.draws


def checked_run(
    draws: int | None,
    tune: int,
    chains: int,
    thin: Any,
    cores: Any,
    random_seed: Any,
    progressbar: bool,
    job: Any = None,
    max_time: Any = None,
) -> Run:
    """The arguments of `fit`, each within its range."""
    draws = draws if draws is None else whole("draws", draws, 1)
    tune, chains = whole("tune", tune, 0), whole("chains", chains, 1)
    thin = thin if thin is None else whole("thin", thin, 1)
    refuse_endless(FIRST_DRAWS if draws is None else draws, tune, chains, thin or 1)
    cores = cores if cores is None else whole("cores", cores, 1)
    if max_time is not None:
        max_time = positive("max_time", max_time, "the run time in seconds")
    return Run(draws, tune, chains, thin, cores, random_seed, bool(progressbar), job, max_time)


class Chain(SlicedWork):
    """Base of a chain: it runs in slices, records draws, and can be stored between two slices.

    A subclass has `recorded`, `drawn` and `adopt` in addition to what `SlicedWork` requires, and in
    `_PARTS` the names of the attributes that sweeps change, nested tuples of arrays.
    """

    _PARTS: ClassVar[tuple[str, ...]]

    rng: np.random.Generator
    # whether it stops before its end, for all chains to be looked at together
    in_pilot: bool = False
    first: int = 0  # number of the first draw of the record; earlier ones are elsewhere
    # the state at the end of a slice, and how many draws were recorded then
    image: tuple[Arrays, int] | None = None
    image_wanted: bool = False

    @property
    def recorded(self) -> int:
        """Draws recorded so far, those that are elsewhere included."""
        raise NotImplementedError

    @property
    def total_of_run(self) -> int:
        """The sweeps of the whole run, as far as they are known; in a pilot `total` are those of
        the pilot."""
        return self.total

    @property
    def can_be_shown(self) -> bool:
        """Whether there would be a posterior if the run stopped now."""
        return self.recorded > 0

    def drawn(self, first: int, last: int) -> Arrays:
        """The draws from number `first` to before `last`: views, whose contents do not change any
        more."""
        raise NotImplementedError

    def adopt(self, draws: Arrays) -> None:
        """Fill the record with draws that `drawn(first, recorded)` gave; to be called after
        `restore` and `skip`."""
        raise NotImplementedError

    def skip(self, draws: int) -> None:
        """Leave the draws before this one out of the record; to be called after `restore`."""
        self.first = draws

    def packed(self) -> Arrays:
        """Everything that the rest of the chain depends on, but for the recorded draws."""
        parts = {
            path: array
            for name in self._PARTS
            for path, array in flatten_tuple(vars(self)[name], name).items()
        }
        return {"stream": pack_generators([self.rng]), **parts}

    def restore(self, arrays: Arrays) -> None:
        """Restore what `packed` gave."""
        self.rng = unpack_generators(arrays["stream"])[0]
        for name in self._PARTS:
            vars(self)[name] = unflatten_tuple(vars(self)[name], arrays, name)

    def take_over(self, arrays: Arrays) -> None:
        """Begin where a chain of nearly the same data was when `packed` gave this; default: at
        one's own start."""

    def run_slice(self) -> None:
        super().run_slice()
        if self.image_wanted or self.is_done:
            self.image, self.image_wanted = (self.packed(), self.recorded), False


class RowChain(Chain):
    """Base of a chain whose `record` is a NamedTuple of arrays with a row a draw."""

    record: Any

    def drawn(self, first: int, last: int) -> Arrays:
        return {name: array[first:last] for name, array in self.record._asdict().items()}

    def adopt(self, draws: Arrays) -> None:
        for name, array in self.record._asdict().items():
            fill_rows(array[self.first : self.recorded], draws[name])

    @property
    def is_done(self) -> bool:  # type: ignore[override]
        return self.sweeps >= self.total


class FixedChain(RowChain):
    """Base of a chain that records a draw every `thin` sweeps after `tune` draws' worth of them.

    A subclass has `state` and `record`.
    """

    _PARTS = ("state", "sweeps")

    thin: int
    tune: int
    total: int

    def __init__(self, draws: int, tune: int, thin: int) -> None:
        self.tune, self.thin = tune * thin, thin
        self.total = (tune + draws) * thin
        self.sweeps = 0

    @property
    def recorded(self) -> int:
        return max(0, self.sweeps - self.tune) // self.thin


def recorded_of(chains: Sequence[Chain]) -> tuple[list[int], int]:
    """Which chains to keep and how many draws of their records, so that the most draws are kept.

    Where earlier draws are elsewhere, all chains are kept, as they are there.
    """
    lengths = [max(0, chain.recorded - chain.first) for chain in chains]
    if chains[0].first:
        return list(range(len(chains))), min(lengths)
    return choose_longest_chains(lengths)


def recorded_parts(chains: Sequence[Any]) -> tuple[list[Any], list[dict[str, np.ndarray]]]:
    """Return the chains to keep and the records of each, cut to one length."""
    first = chains[0].first
    numbers, draws = recorded_of(chains)
    kept = [chains[number] for number in numbers]
    return kept, [chain.drawn(first, first + draws) for chain in kept]


class TimeIsUp(Exception):
    """The time that a run was given has passed."""


class TuningIsLong(TimeIsUp):
    """Half of the time has passed, and no chain has a draw."""


class TimeLimit:
    """The time that a run may take: it begins with the first look at it, once everything is
    compiled."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds, self._end = seconds, math.inf
        self.may_be_long = True  # whether tuning may take the second half, too

    def look(self, has_draws: bool = True) -> None:
        """Raise `TimeIsUp` if it has passed, or half of it and there is no draw."""
        if self._seconds is None:
            return
        now = time.monotonic()
        if self._end == math.inf:
            self._end = now + self._seconds
        elif now >= self._end:
            raise TimeIsUp
        elif not (self.may_be_long or has_draws) and now >= self._end - self._seconds / 2:
            raise TuningIsLong


class Watch:
    """What the caller's thread does while chains run: show progress, write snapshots, look at the
    clock."""

    def __init__(
        self,
        chains: Sequence[Chain],
        progress: Any,
        folder: FitFolder | None,
        limit: TimeLimit,
        place: dict[str, Any],
        status: Callable[[Sequence[Any]], str],
    ) -> None:
        self._chains, self._progress, self._folder, self._limit = chains, progress, folder, limit
        self._place, self._status = place, status
        for chain in chains:
            chain.image = (chain.packed(), chain.recorded) if chain.is_done else None

    def note(self, text: str) -> None:
        """Say what is happening now."""
        self._progress.note(text)

    def update(self, done: int) -> None:
        """Called several times a second; what is raised here ends the run between two slices."""
        self._progress.update(done, self._status(self._chains))
        if self._folder is not None and self._folder.is_due():
            if all(chain.image is not None for chain in self._chains):
                self._write(
                    [chain.image for chain in self._chains if chain.image is not None], False
                )
                for chain in self._chains:
                    chain.image = chain.image if chain.is_done else None
            else:
                for chain in self._chains:
                    chain.image_wanted = chain.image is None
        self._limit.look(any(chain.can_be_shown for chain in self._chains))

    def finish(self, has_ended: bool) -> None:
        """Write the last snapshot; no chain may be running."""
        if self._folder is not None:
            self._write([(chain.packed(), chain.recorded) for chain in self._chains], has_ended)

    def _write(self, images: Sequence[tuple[Arrays, int]], has_ended: bool) -> None:
        assert self._folder is not None
        begins, ends = (
            self._folder.recorded or [0] * len(images),
            [recorded for _, recorded in images],
        )
        new = [chain.drawn(a, b) for chain, a, b in zip(self._chains, begins, ends, strict=True)]
        done, total = (
            sum(chain.sweeps for chain in self._chains),
            sum(chain.total for chain in self._chains),
        )
        place = {**self._place, "done": done, "total": total, "unit": "sweeps"}
        self._folder.write([state for state, _ in images], new, ends, place, has_ended)


def run_chains(
    chains: Sequence[Chain], cores: int | None, progress: Any, is_compiled: bool = False
) -> bool:
    """Run all chains to their end; returns whether Ctrl-C or the clock stopped them early, with a
    draw to show.

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
        if not any(chain.can_be_shown for chain in chains):
            raise
        return True
    return False


# Chains of independent draws, which run, are stored and go on like those of any sampler -----------


# draws made together, always so many, so that a draw does not depend on where a run was sliced
BLOCK = 250


class IndependentDraws(RowChain):
    """Base of such a chain; a subclass has `record`, `_block(rng)`, and sets no state of its
    own."""

    _PARTS = ("sweeps",)

    block_size: ClassVar[int] = BLOCK
    rng: np.random.Generator
    sweeps: int
    total: int

    def __init__(self, draws: int, rng: np.random.Generator) -> None:
        self.rng = rng
        self.total, self.sweeps = draws, 0
        self._made: Any = None  # the block in which the chain is

    @property
    def recorded(self) -> int:
        return self.sweeps

    def _block(self, rng: np.random.Generator) -> Any:
        """The `block_size` draws of a block, whose stream begins there, in the form of `record`."""
        raise NotImplementedError

    def run_until(self, until: int) -> None:
        """Make the draws up to this one."""
        while self.sweeps < until:
            begin = self.sweeps % self.block_size
            # a chain that was stored within a block makes it once more
            if begin == 0 or self._made is None:
                self._after = copy.deepcopy(self.rng)
                self._made = self._block(self._after)
            end = min(self.block_size, begin + until - self.sweeps)
            rows = slice(self.sweeps, self.sweeps + end - begin)
            for kept, drawn in zip(self.record, self._made, strict=True):
                kept[rows] = drawn[begin:end]
            self.sweeps = rows.stop
            if end == self.block_size:
                self.rng = self._after
