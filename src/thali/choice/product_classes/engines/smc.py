"""Adaptive sequential Monte Carlo: groups of particles move from the prior to the posterior.

Every step weights the particles by the change of the likelihood, resamples within groups and moves each by sweeps. The
product of the mean weights of a group is its estimate of the evidence.
"""

import math
from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali.errors import Setting
from thali.inference.arrays import packed_streams, unpacked_streams
from thali.inference.chains import TimeIsUp, TimeLimit
from thali.inference.interrupts import held_back
from thali.inference.jobs import FitFolder, as_written
from thali.inference.seeds import streams

from ..arguments import EVERY, expected_visits, particles_for, recorded_every, recordings_of
from ..likelihood import log_likelihood
from ..particles import Particles, joined
from ..state import CLASSES, MOVES, Problem, Target, Work, empty_state, target_of
from .fit import (
    Fit,
    Keeper,
    flaw_of,
    of_equal_length,
    packed_draws,
    packed_states,
    refuse_torn,
    unpacked_draws,
    unpacked_states,
)
from .path import PATHS, lapse_messages, log_mean, next_point, particle_messages, pooled, relative_size
from .population import Population

if TYPE_CHECKING:
    from ..arguments import Settings


# A run of sequential Monte Carlo, one step at a time; between steps its state can be stored ---------------------------


PATIENCE, RETRIES = 5, 40  # refused steps after which all people are moved, and after which the path is given up


class Block(NamedTuple):
    """Tasks that enter together: of the people[0], ..., people[1] - 1, numbers tasks[0], ..., tasks[1] - 1."""

    people: tuple[int, int]
    tasks: tuple[int, int]


def blocks_of(problem: Problem, schedule: str) -> list[Block]:
    """All tasks at once, those of one person after the other, or one task after the other."""
    ends = [int(t) for t in problem.tasks.first_task]
    people = len(ends) - 1
    if schedule == "all":
        return [Block((0, people), (0, ends[-1]))]
    if schedule == "individual":
        return [Block((n, n + 1), (ends[n], ends[n + 1])) for n in range(people)]
    return [Block((n, n + 1), (t, t + 1)) for n in range(people) for t in range(ends[n], ends[n + 1])]


class Run:
    """Particles on their way from the prior to the posterior."""

    given: Any
    path: str
    problem: "Problem"
    settings: "Settings"
    groups: int
    particles: int
    population: "Population"
    keeper: "Keeper"
    others: np.ndarray
    blocks: "list[Block]"
    recordings: int
    share: float
    log_z: np.ndarray
    moves: np.ndarray
    block: int
    recorded: int
    retries: int
    acceptance: float
    u: float
    visits: float
    has_begun: bool
    has_ended: bool
    walk: Any
    host: np.random.Generator
    target: Target

    def __init__(
        self, problem: Problem, settings: "Settings", path: str, points: Any, cores: int | None, random_seed: Any
    ) -> None:
        self.problem, self.settings, self.path, self.given = problem, settings, path, points
        assert settings.particles is not None
        self.groups, self.particles = settings.groups, settings.particles
        self.host, *rngs = streams(random_seed, 1 + self.groups * self.particles)
        self.population = Population(problem, self.groups, rngs, settings.sampler, cores)
        self.target = target_of(problem, 1.0)
        self.keeper = Keeper(problem, settings.beta)
        self.others = np.diff(problem.tasks.first_row) - 1
        self.blocks = blocks_of(problem, settings.schedule)
        self.block, self.has_begun, self.has_ended = 0, False, False
        self.u, self.share, self.retries = 0.0, math.nan, 0
        self.walk = self._walk(self.blocks[0])
        self.log_z = np.zeros(self.groups)
        self.rows: list[dict[str, Any]] = []
        self.points: list[list[float]] = []
        self.with_lapse: set[int] = set()
        self.moves = np.zeros((len(MOVES), 2), np.int64)
        self.acceptance, self.visits = math.nan, 0.0  # visits of people in a particle while tempering
        self.recorded = 0
        self.recordings = recordings_of(settings)
        self.kept: list[list[Particles]] = [[] for _ in range(self.groups)]

    # progress -------------------------------------------------------------------------------------------

    @property
    def has_evidence(self) -> bool:
        """Whether all tasks have entered."""
        return self.block == len(self.blocks)

    @property
    def is_done(self) -> bool:
        return self.has_evidence and self.recorded == self.recordings

    @property
    def lapse_now(self) -> float:
        """The largest lapse of a task that has entered or is entering."""
        return float(self.target.delta.max())

    @property
    def lapse_left(self) -> float:
        """The lapse of people for whom no utility was found that satisfies all their choices."""
        return 1.0 / (1.0 + PATHS["lapse"](0.0, self.others).cap)

    def share_done(self) -> float:
        """The approximate share of visits of people that is done."""
        n, people = self.settings.sweeps_per_step, self.problem.n_people
        tempering = n * expected_visits(self.settings.schedule, people, self.others)
        done = self.visits if self.has_evidence else min(self.visits, 0.97 * tempering)
        final = self.settings.final_sweeps * people
        return (done + final * self.recorded / self.recordings) / ((done if self.has_evidence else tempering) + final)

    def status(self) -> str:
        """Progress in words."""
        if self.has_evidence:
            words = ["final sweeps"]
        elif self.path == "lapse":
            words = [f"lapse {1.0 / (1.0 + self.u):.2g}"]
        else:
            words = [f"sharpness {self.u:.2g}"]
        if len(self.blocks) > 1 and not self.has_evidence:
            words.append(f"block {self.block + 1} of {len(self.blocks)}")
        words.append(f"step {len(self.rows)}")
        if not math.isnan(self.acceptance):
            words.append(f"{self.acceptance:.0%} accepted")
        if self.rows:
            found = self.rows[-1]["log_evidence"]
            words.append(f"log evidence {found.mean():.1f} (sd {found.std(ddof=1):.1f})")
        return ", ".join(words)

    # steps -------------------------------------------------------------------------------------------------

    def advance(self, watch: Any) -> None:
        """One step of tempering, or some final sweeps and their draws."""
        if self.has_evidence:
            if self.settings.final_sweeps:
                first = self.settings.final_sweeps - EVERY * (self.recordings - 1)
                self.population.sweep(self.target, first if self.recorded == 0 else EVERY, watch)
            with held_back():
                self._count()
                self._record()
            return
        block = self.blocks[self.block]
        if not self.has_begun:
            self.population.extend(block.people[1])
            with held_back():
                self._begin(block)
        if self.temper(block, watch):
            self._move(block, watch, is_last=self.has_ended)
            with held_back():
                self._note_step()
                if self.has_ended:
                    self.block, self.has_begun = self.block + 1, False

    def _begin(self, block: Block) -> None:
        tasks = slice(*block.tasks)
        self.log_z -= np.log(self.others[tasks] + 1.0).sum()
        self.walk = self._walk(block)
        self.walk.set(self.target, tasks, 0.0)
        self.points.append([])
        self.has_begun, self.has_ended, self.u, self.retries = True, False, 0.0, 0

    def _walk(self, block: Block) -> Any:
        return PATHS[self.path](self.settings.lapse, self.others[slice(*block.tasks)])

    def temper(self, block: Block, watch: Any) -> bool:
        """Weight and resample; False if a group has no particle left, so that the step is repeated after more moves."""
        walk, tasks = self.walk, slice(*block.tasks)
        walk.see(*self.population.see(block.people, block.tasks, self.path == "logit"))
        now = walk.log_likelihood(self.u)

        def weights(u: float) -> np.ndarray:
            change = walk.log_likelihood(u) - now
            return np.where(np.isnan(change), -math.inf, change)

        point = self._next_point(weights)
        if point is None:
            with held_back():
                self._satisfy_one_by_one(block)
            return True
        log_weights = weights(point).reshape(self.groups, -1)
        if (log_weights.max(axis=1) == -math.inf).any():
            self.retries += 1
            self._move(block, watch, is_last=self.retries >= PATIENCE)
            return False

        with held_back():
            self._resample(log_weights)
            walk.set(self.target, tasks, point)
            self.u, self.retries = point, 0
            self.points[-1].append(point)
            self.has_ended = point == walk.end
            self.share = relative_size(log_weights.ravel())
        return True

    def _next_point(self, weights: Any) -> float | None:
        """The next tempering point; None if the last step is given up."""
        if self.retries >= RETRIES:
            return None
        if self.given is not None:
            later = self.given[self.block][len(self.points[-1]) :]
            return later[0] if later else None
        walk = self.walk
        return next_point(weights, self.u, walk.end, walk.cap, self.groups, self.settings.schedule == "all")

    def _resample(self, log_weights: np.ndarray) -> None:
        self.log_z += log_mean(log_weights)
        uniforms = self.host.random(self.groups)
        if np.ptp(log_weights) > 0.0:
            self.population.resample(np.exp(log_weights - log_weights.max(axis=1, keepdims=True)), uniforms)

    def _satisfy_one_by_one(self, block: Block) -> None:
        """The last step for each person alone; people whom no particle of some group satisfies keep their lapse."""
        for n in range(*block.people):
            tasks = (
                max(block.tasks[0], int(self.problem.tasks.first_task[n])),
                min(block.tasks[1], int(self.problem.tasks.first_task[n + 1])),
            )
            walk = self._walk(Block((n, n + 1), tasks))
            walk.see(*self.population.see((n, n + 1), tasks, self.path == "logit"))
            log_weights = (walk.log_likelihood(walk.end) - walk.log_likelihood(self.u)).reshape(self.groups, -1)
            if (log_weights.max(axis=1) == -math.inf).any():
                self.with_lapse.add(n)
                continue
            self._resample(log_weights)
            walk.set(self.target, slice(*tasks), walk.end)
        self.has_ended, self.retries, self.share = True, 0, math.nan

    def _move(self, block: Block, watch: Any, is_last: bool) -> None:
        """Sweeps; for a person who enters, first many visits, and sweeps only at the end."""
        n = self.settings.sweeps_per_step
        if self.settings.schedule == "individual" and self.settings.sampler == "recommended":
            self.population.visit(self.target, block.people[0], n, watch)
            self.visits += n
            if not is_last:
                return
        self.population.sweep(self.target, n, watch)
        self.visits += n * block.people[1]

    def _count(self) -> None:
        counts = self.population.counts()
        self.moves += counts
        self.acceptance = float(counts[:, 1].sum() / max(counts[:, 0].sum(), 1))

    def _note_step(self) -> None:
        self._count()
        classes = np.array([s.whole[CLASSES] for s in self.population.states]).reshape(self.groups, -1)
        row = {
            "log_evidence": self.log_z.copy(),
            "n_classes": classes.mean(axis=1),
            "u": self.u,
            "block": self.block,
            "share": self.share,
            "acceptance": self.acceptance,
        }
        if self.path == "lapse":
            row["lapse"] = 1.0 / (1.0 + self.u)
        self.rows.append(row)

    # draws ------------------------------------------------------------------------------------------------

    def _record(self) -> None:
        every = recorded_every(self.particles, self.recordings)
        chosen = [i for i in range(self.particles) if (i + self.recorded) % every == 0]
        draws = self._draws(chosen, self.settings.lapse)
        for group in range(self.groups):
            self.kept[group] += draws[group]
        self.recorded += 1

    def _draws(self, chosen: list[int], lapse: float) -> list[list[Particles]]:
        fit = np.empty(self.population.size)

        def look(i: int, work: Work) -> None:
            fit[i] = log_likelihood(self.problem, self.target, self.population.states[i], work)

        self.population.each(look)
        places = [[group * self.particles + i for i in chosen] for group in range(self.groups)]
        draw, states = self.keeper.draw, self.population.states
        return [[draw(states[i], group, fit[i], lapse) for i in row] for group, row in enumerate(places)]

    def keep_everybody(self) -> None:
        """The current particles become the draws; people who are not present yet are drawn from the prior."""
        self.population.extend(self.problem.n_people)
        lapse = self.lapse_now if self.settings.schedule == "all" and self.path == "lapse" else self.settings.lapse
        self.kept = self._draws(list(range(self.particles)), lapse)

    # snapshots --------------------------------------------------------------------------------------------

    def packed(self) -> dict[str, np.ndarray]:
        """Everything that the rest of the run depends on; for the moments between two steps."""
        arrays = {
            **packed_states(self.population.states),
            "streams": packed_streams([self.host, *self.population.rngs]),
            "delta": self.target.delta,
            "sharpness": self.target.sharpness,
            "log_z": self.log_z,
            "moves": self.moves,
            "place": np.array([self.block, self.has_begun, self.retries, self.recorded]),
            "reached": np.array([self.u, self.acceptance, self.visits]),
            "with_lapse": np.array(sorted(self.with_lapse), np.int64),
            "points": np.array([u for points in self.points for u in points], float),
            "points_of_block": np.array([len(points) for points in self.points], np.int64),
        }
        for name in self.rows[0] if self.rows else ():
            arrays[f"row_{name}"] = np.array([row[name] for row in self.rows])
        for group, draws in enumerate(self.kept):
            self.kept[group] = [joined(draws)] if draws else []
            arrays |= packed_draws(self.kept[group][0] if draws else None, f"draw_{group}_")
        return arrays

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what `packed` wrote."""
        self.population.states = unpacked_states(arrays, empty_state(self.problem))
        self.host, *self.population.rngs = unpacked_streams(arrays["streams"])
        self.target.delta[:] = arrays["delta"]
        self.target.sharpness[:] = arrays["sharpness"]
        self.log_z, self.moves = arrays["log_z"].copy(), arrays["moves"].copy()
        self.block, begun, self.retries, self.recorded = (int(x) for x in arrays["place"])
        self.u, self.acceptance, self.visits = (float(x) for x in arrays["reached"])
        self.has_begun, self.has_ended = bool(begun), False
        if self.has_begun:
            self.walk = self._walk(self.blocks[self.block])
        self.with_lapse = set(arrays["with_lapse"].tolist())
        ends = np.cumsum([0, *arrays["points_of_block"]])
        points = arrays["points"].tolist()
        self.points = [points[a:b] for a, b in zip(ends[:-1], ends[1:], strict=True)]
        names = [name for name in arrays if name.startswith("row_")]
        count = len(arrays["row_u"]) if names else 0
        self.rows = [{name[4:]: arrays[name][i] for name in names} for i in range(count)]
        draws = [unpacked_draws(arrays, f"draw_{group}_") for group in range(self.groups)]
        self.kept = [[] if d is None else [d] for d in draws]


PILOT = 2  # steps after which the time of a run is estimated
SHORT = 1.5  # seconds; no estimate for a shorter run
GROWTH = 1.3  # how much longer a sweep takes on the average than in these
_PERCENT = 100


def run_smc(
    problem: Problem,
    settings: "Settings",
    *,
    cores: Any = None,
    random_seed: Any = None,
    progressbar: bool = False,
    folder: FitFolder | None = None,
    max_time: float | None = None,
    path: str = "lapse",
    schedule_of_u: list[list[float]] | None = None,
) -> Fit:
    """Draw from the posterior and estimate the evidence by groups of particles."""
    from thali.inference.progress import Progress, says

    settings = settings._replace(particles=settings.particles or particles_for(problem.n_people))
    interrupted, run, limit = False, None, TimeLimit(max_time)
    quicker = Setting("method", "annealed"), ", or ", Setting("sweeps_per_step", max(1, settings.sweeps_per_step // 4))
    say = says("This fit", *quicker) if max_time is None else None
    with Progress(progressbar, "particles", _PERCENT, "%", say) as progress:
        try:
            progress.note("compiling, once")
            run = _begun(Run(problem, settings, path, schedule_of_u, cores, random_seed), folder)
            watch = _Watch(run, settings, progress)
            while not run.is_done:
                run.advance(watch)
                watch.update(0)
                if folder is not None and (folder.is_due() or run.is_done):
                    place = {"done": int(_PERCENT * run.share_done()), "total": _PERCENT, "unit": "%"}
                    folder.write([run.packed()], [], [], place, run.is_done)
                limit.look()
        except (KeyboardInterrupt, TimeIsUp):
            interrupted = True
    if run is None or (interrupted and not run.rows):
        raise KeyboardInterrupt
    return _fit_of(run, settings, interrupted)


def _begun(run: Run, folder: FitFolder | None) -> Run:
    """The run in the state of its job."""
    if folder is not None and folder.found is not None:
        with as_written(folder.path):
            run.restore(folder.found.states[0])
        refuse_torn(flaw_of(state, run.problem) for state in run.population.states)
    return run


class _Watch:
    """Shows the progress of a run."""

    def __init__(self, run: Run, settings: "Settings", progress: Any) -> None:
        self.run, self.settings, self.progress = run, settings, progress
        self.is_announced = False
        self.began, self.share = math.nan, 0.0  # after compiled code was loaded

    def update(self, done: int) -> None:
        run, share = self.run, self.run.share_done()
        self.progress.update(int(_PERCENT * share), run.status())
        if self.is_announced or not run.rows:
            return
        if math.isnan(self.began):
            self.began, self.share = monotonic(), share
        passed = monotonic() - self.began
        if len(run.rows) >= PILOT and passed > SHORT and share > self.share:
            self.is_announced = True
            self.progress.note(f"about {duration(passed * GROWTH / (share - self.share))} in all")


def _fit_of(run: Run, settings: "Settings", interrupted: bool) -> Fit:
    messages: list[str] = []
    if not run.is_done and not any(run.kept):
        messages.append(_stop_message(run, settings))
        run.keep_everybody()
    rows: dict[str, Any] = {name: np.array([row[name] for row in run.rows]) for name in run.rows[0]}
    trace = {name: values.T if values.ndim > 1 else values for name, values in rows.items()}
    found = (math.nan, math.nan, math.nan)
    if run.has_evidence:
        found = pooled(run.log_z)
        messages += particle_messages(run.log_z, len(run.rows), run.particles)
    messages += lapse_messages(sorted(run.with_lapse), run.lapse_left)
    tried, accepted = run.moves.T
    rates = accepted / np.maximum(tried, 1)
    return Fit(
        particles=of_equal_length(run.kept),
        log_evidence=found[0],
        log_evidence_se=found[1],
        evidence_sd=found[2],
        trace=trace,
        acceptance=dict(zip(MOVES, rates.tolist(), strict=True)),
        messages=messages,
        interrupted=interrupted,
        schedule_of_u=[list(points) for points in run.points],
    )


def _stop_message(run: Run, settings: "Settings") -> str:
    more = "With a job the same fit goes on from here."
    if run.has_evidence:
        return f"Stopped before the final sweeps: the draws are the particles as they were. {more}"
    if settings.schedule == "all" and run.path == "lapse":
        return (
            f"Stopped while the lapse was still {run.lapse_now:.2g}, on its way to {settings.lapse:g}: the draws "
            "are of a "
            f"model with that lapse, and there is no evidence. {more}"
        )
    return (
        f"Stopped before all choices had entered: those from block {run.block + 1} of {len(run.blocks)} on count "
        f"little or not at all, and there is no evidence. {more}"
    )


def duration(seconds: float) -> str:
    """A rounded time in words."""
    if seconds < 90.0:
        return f"{max(1.0, seconds):.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} h"
