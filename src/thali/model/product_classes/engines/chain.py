"""One annealed chain: from the prior to the posterior along the lapse path, then draws from there."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.inference.arrays import packed_streams, unpacked_streams
from thali.inference.threads import Sliced

from ..choices import log_likelihood, write_hits
from ..particles import Particles, joined
from ..problem import Problem, target_of
from ..state import CLASSES, SWEEPS, empty_state, workspace
from ..sweep import draw_state, sweep
from .fit import Keeper
from .packing import packed_draws, packed_states, unpacked_draws, unpacked_states
from .path import CAP
from .state_check import flaw_of

if TYPE_CHECKING:
    from ..arguments import Settings

STEPS = 40  # of annealing, of `sweeps_per_step` sweeps each
EVERY = 4  # sweeps between two draws
MOST = 200  # draws that a chain records
DROPPED = 8  # the first of this many parts of the final phase is discarded: it still drifts
FIRST = 0.02  # u of the first sweep


class Schedule:
    """The decrease of the lapse, and which sweeps are recorded: the same for all chains."""

    annealing: int
    total: int
    lapses: np.ndarray
    lapse: float
    step: int
    every: int
    first_kept: int
    others: np.ndarray
    person: np.ndarray

    def __init__(self, problem: Problem, settings: "Settings") -> None:
        self.annealing = STEPS * settings.sweeps_per_step
        self.total = self.annealing + settings.final_sweeps
        end = 1.0 / settings.lapse - 1.0 if settings.lapse > 0.0 else CAP["lapse"]
        self.lapses = 1.0 / (1.0 + np.geomspace(min(FIRST, end), end, self.annealing))
        self.lapse, self.step = settings.lapse, settings.sweeps_per_step
        first = settings.final_sweeps // DROPPED
        self.every = (
            max(EVERY, math.ceil((settings.final_sweeps - first) / MOST)) if settings.final_sweeps >= EVERY else 1
        )
        self.first_kept = self.annealing + first
        self.others = np.diff(problem.tasks.first_row) - 1
        self.person = np.repeat(np.arange(problem.n_people), np.diff(problem.tasks.first_task))

    def next_stop(self, sweep: int) -> int:
        """The next sweep after which something other than a sweep is due."""
        if sweep < self.annealing:
            return sweep + 1
        kept = self.total - (self.total - sweep - 1) // self.every * self.every
        step = (sweep // self.step + 1) * self.step
        return min(kept, step, self.total)

    def is_kept(self, sweep: int) -> bool:
        """Whether the state after this many sweeps is a draw."""
        return sweep > self.first_kept and (self.total - sweep) % self.every == 0


class Chain(Sliced):
    """A chain with its own random stream; runs in slices on any thread."""

    group: int
    keeper: "Keeper"
    problem: "Problem"
    schedule: "Schedule"
    sampler: str
    is_weighted: bool
    image_wanted: bool
    log_weight: float

    def __init__(
        self,
        problem: Problem,
        settings: "Settings",
        schedule: Schedule,
        rng: np.random.Generator,
        group: int,
        keeper: Keeper,
    ) -> None:
        self.problem, self.schedule, self.rng, self.group, self.keeper = problem, schedule, rng, group, keeper
        self.sampler = settings.sampler
        self.is_weighted = settings.start == "prior"
        self.target = target_of(problem, 1.0)
        self.state = draw_state(rng, problem, shapes_from_prior=self.is_weighted)
        self.work = workspace(problem, self.state)
        self.total = schedule.total
        self.log_weight = -float(np.log(schedule.others + 1.0).sum()) if self.is_weighted else math.nan
        self.kept: list[Particles] = []
        self.trace: list[tuple[float, ...]] = []
        self.image: dict[str, np.ndarray] | None = None
        self.image_wanted = False

    @property
    def sweeps(self) -> int:
        return int(self.state.whole[SWEEPS])

    @property
    def is_done(self) -> bool:
        return self.sweeps >= self.total

    def compile(self) -> None:
        """Compile the sweeps, or load them, without running one."""
        sweep(self.rng, self.problem, self.target, self.state, self.work, 0, self.sampler)

    def run_slice(self) -> None:
        super().run_slice()
        if self.image_wanted or self.is_done:
            self.image, self.image_wanted = self.packed(), False

    def run_to(self, until: int) -> None:
        schedule = self.schedule
        while (done := self.sweeps) < until:
            if done < schedule.annealing:
                self._cool(schedule.lapses[done])
            stop = min(until, schedule.next_stop(done))
            self.state, self.work = sweep(
                self.rng, self.problem, self.target, self.state, self.work, stop - done, self.sampler
            )
            if stop >= schedule.annealing and schedule.lapse == 0.0:
                self._harden(stop == schedule.annealing)
            if stop % schedule.step == 0 or stop == schedule.total:
                self.trace.append((self._log_likelihood(), float(self.state.whole[CLASSES]), self.log_weight))
            if schedule.is_kept(stop):
                self.keep(schedule.lapse)

    def keep(self, lapse: float) -> None:
        """Record the state as a draw."""
        self.kept.append(self.keeper.draw(self.state, self.group, self._log_likelihood(), lapse))

    def _log_likelihood(self) -> float:
        return log_likelihood(self.problem, self.target, self.state, self.work)

    def _hits(self) -> np.ndarray:
        hits = np.empty(len(self.schedule.others))
        write_hits(self.problem, self.target, self.state, self.work, hits)
        return hits

    def _weigh(self, hits: np.ndarray, before: np.ndarray, after: Any) -> None:
        """Add the change of the likelihood to the weight."""
        size = self.schedule.others + 1.0
        with np.errstate(divide="ignore"):
            new = np.log((1.0 - after) * hits + after / size).sum()
        self.log_weight += float(new - np.log((1.0 - before) * hits + before / size).sum())

    def _cool(self, lapse: float) -> None:
        if self.is_weighted and lapse < self.target.delta[0]:
            self._weigh(self._hits(), self.target.delta, lapse)
        self.target.delta[:] = lapse

    def _harden(self, is_first: bool) -> None:
        """Set the lapse to 0 for the people all of whose choices are satisfied."""
        if not self.target.delta.any():
            return
        hits = self._hits()
        if is_first and self.is_weighted:
            self._weigh(hits, self.target.delta, 0.0)
        impossible = np.bincount(self.schedule.person, hits == 0.0, self.problem.n_people) > 0
        self.target.delta[~impossible[self.schedule.person]] = 0.0

    def people_with_lapse(self) -> np.ndarray:
        """Whose choices are not satisfied at the end of a fit without lapse."""
        return np.unique(self.schedule.person[self.target.delta > self.schedule.lapse])

    def packed(self) -> dict[str, np.ndarray]:
        """Everything that the rest of the chain depends on."""
        self.kept = [joined(self.kept)] if self.kept else []
        return {
            "stream": packed_streams([self.rng]),
            "delta": self.target.delta.copy(),
            "log_weight": np.array(self.log_weight),
            "trace": np.array(self.trace, float).reshape(-1, 3),
            **packed_states([self.state]),
            **packed_draws(self.kept[0] if self.kept else None, "draw_"),
        }

    def restore(self, image: dict[str, np.ndarray]) -> None:
        """Restore what `packed` wrote."""
        self.state = unpacked_states(image, empty_state(self.problem))[0]
        self.work = workspace(self.problem, self.state)
        self.rng = unpacked_streams(image["stream"])[0]
        self.target.delta[:] = image["delta"]
        self.log_weight = float(image["log_weight"])
        self.trace = [tuple(row) for row in image["trace"].tolist()]
        draws = unpacked_draws(image, "draw_")
        self.kept = [] if draws is None else [draws]

    def flaw(self) -> str:
        """The reason why this is not the state of a chain between two sweeps; empty if it is."""
        schedule, done = self.schedule, range(1, min(self.sweeps, self.total) + 1)
        traced = sum(s % schedule.step == 0 or s == schedule.total for s in done)
        kept = sum(schedule.is_kept(s) for s in done)
        if self.sweeps > self.total or len(self.trace) != traced or sum(d.n_draws for d in self.kept) != kept:
            return f"it does not hold the draws that belong to its {self.sweeps} sweeps"
        return flaw_of(self.state, self.problem)
