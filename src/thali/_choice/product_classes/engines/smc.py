"""Adaptive sequential Monte Carlo: groups of particles move from the prior to the posterior.

Every step weights the particles by the change of the likelihood, resamples within groups and moves
each by sweeps. The product of the mean weights of a group is its estimate of the evidence; the
particles at the end are the draws.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.arrays import pack_generators, unpack_generators
from thali._inference.chains import TimeIsUp, TimeLimit
from thali._inference.interrupts import DelayedInterrupt
from thali._inference.jobs import FitFolder, refuse_altered_job
from thali._inference.seeds import spawn_generators
from thali.errors import Setting

from ..arguments import expected_steps
from ..likelihood import log_likelihood
from ..particles import joined
from ..state import ClassProblem, PosteriorTarget, Work, empty_state, target_of
from .fit import EngineResult, Keeper, flaw_of, packed_states, refuse_torn, unpacked_states
from .path import (
    LapsePath,
    end_of,
    evidence_messages,
    lapse_messages,
    log_mean,
    next_point,
    pool_evidence,
)
from .population import ParticlePopulation

if TYPE_CHECKING:
    from thali._inference.chains import Run

PATIENCE = 40  # refused steps after which the path is given up


class Ascent:
    """Particles on their way from the prior to the posterior."""

    problem: ClassProblem
    lapse: float
    sweeps: int
    groups: int
    particles: int
    population: ParticlePopulation
    end: float
    target: PosteriorTarget
    host: np.random.Generator
    log_z: np.ndarray
    rows: list[dict[str, Any]]
    with_lapse: set[int]
    u: float
    retries: int
    is_done: bool

    def __init__(
        self, problem: ClassProblem, lapse: float, run: "Run", sweeps: int, random_seed: Any
    ) -> None:
        assert run.draws is not None
        self.problem, self.lapse, self.sweeps = problem, lapse, sweeps
        self.groups, self.particles = run.chains, run.draws
        self.host, *rngs = spawn_generators(random_seed, 1 + self.groups * self.particles)
        self.population = ParticlePopulation(problem, self.groups, rngs, run.cores)
        self.sizes = np.diff(problem.tasks.first_row)
        self.end = end_of(lapse)
        self.target = target_of(problem, 1.0)
        self.log_z = np.full(self.groups, -np.log(self.sizes).sum())
        self.rows, self.with_lapse = [], set()
        self.u, self.retries, self.is_done = 0.0, 0, False

    @property
    def lapse_now(self) -> float:
        return float(self.target.delta.max())

    def share_done(self) -> float:
        """Return the approximate share of the steps that is done."""
        return 1.0 if self.is_done else min(0.97, len(self.rows) / expected_steps(self.sizes))

    def status(self) -> str:
        """Describe how far the particles are."""
        words = [f"lapse {self.lapse_now:.2g}", f"step {len(self.rows)}"]
        if self.rows:
            found = self.rows[-1]["log_evidence"]
            words.append(f"log evidence {found.mean():.1f} (sd {found.std(ddof=1):.1f})")
        return ", ".join(words)

    def advance(self, watch: Any) -> None:
        """Weigh, resample and move all particles; where a group has no particle left, they move
        only."""
        is_weighed = self.temper()
        self.population.sweep(self.target, self.sweeps, watch)
        with DelayedInterrupt():
            if is_weighed:
                self._note_step()

    def temper(self) -> bool:
        """Weigh and resample; returns False if a group has no particle left."""
        path = LapsePath(self.lapse, self.sizes, self.population.hits())
        now = path.log_likelihood(self.u)

        def weights(u: float) -> np.ndarray:
            change = path.log_likelihood(u) - now
            return np.where(np.isnan(change), -math.inf, change)

        if self.retries >= PATIENCE:
            with DelayedInterrupt():
                self._satisfy_one_by_one(path.hits)
            return True
        point = next_point(weights, self.u, self.end, self.groups)
        log_weights = weights(point).reshape(self.groups, -1)
        if (log_weights.max(axis=1) == -math.inf).any():
            self.retries += 1
            return False
        with DelayedInterrupt():
            self._resample(log_weights)
            path.set(self.target, slice(None), point)
            self.u, self.retries = point, 0
        return True

    def _resample(self, log_weights: np.ndarray) -> None:
        self.log_z += log_mean(log_weights)
        uniforms = self.host.random(self.groups)
        if np.ptp(log_weights) > 0.0:
            self.population.resample(
                np.exp(log_weights - log_weights.max(axis=1, keepdims=True)), uniforms
            )

    def _satisfy_one_by_one(self, hits: np.ndarray) -> None:
        """Take the last step for each respondent alone; whom no particle of some group satisfies
        keeps the lapse."""
        for n in range(self.problem.n_people):
            tasks = slice(*self.problem.tasks.first_task[n : n + 2].tolist())
            path = LapsePath(self.lapse, self.sizes[tasks], hits[:, tasks])
            log_weights = (path.log_likelihood(self.end) - path.log_likelihood(self.u)).reshape(
                self.groups, -1
            )
            if (log_weights.max(axis=1) == -math.inf).any():
                self.with_lapse.add(n)
                continue
            self._resample(log_weights)
            path.set(self.target, tasks, self.end)
            hits = self.population.hits()
        self.u, self.retries = self.end, 0

    def _note_step(self) -> None:
        self.rows.append({"log_evidence": self.log_z.copy(), "lapse": self.lapse_now})
        self.is_done = self.u == self.end

    def fit(self, interrupted: bool) -> EngineResult:
        """Return the particles as they are, and what the steps say."""
        lapse = self.lapse if self.is_done else self.lapse_now
        found = np.empty(self.population.size)

        def look(i: int, work: Work) -> None:
            found[i] = log_likelihood(self.problem, self.target, self.population.states[i], work)

        self.population.each(look)
        keeper = Keeper(self.problem)
        draws = [
            keeper.draw(state, i // self.particles, found[i], lapse)
            for i, state in enumerate(self.population.states)
        ]
        rows = {name: np.array([row[name] for row in self.rows]) for name in self.rows[0]}
        trace = {name: values.T if values.ndim > 1 else values for name, values in rows.items()}
        if not self.is_done:
            message = (
                f"Stopped while the lapse rate was still {lapse:.2g} (target: {self.lapse:g}): the"
                " draws belong to a model with that lapse rate, and no evidence was computed. If"
                " the fit has a job, run it again to resume."
            )
            return EngineResult(
                joined(draws),
                trace=trace,
                messages=[message],
                interrupted=True,
                draws=self.particles,
            )
        messages = evidence_messages(self.log_z, len(self.rows), self.particles)
        messages += lapse_messages(sorted(self.with_lapse))
        evidence = pool_evidence(self.log_z)
        return EngineResult(joined(draws), *evidence, trace, messages, interrupted, self.particles)

    def pack_state(self) -> dict[str, np.ndarray]:
        """Return everything that the rest of the run depends on; for the moments between two
        steps."""
        return {
            **packed_states(self.population.states),
            "streams": pack_generators([self.host, *self.population.rngs]),
            "delta": self.target.delta,
            "log_z": self.log_z,
            "place": np.array([self.u, self.retries, self.is_done]),
            "path": np.array([row["log_evidence"] for row in self.rows]).reshape(-1, self.groups),
            "lapses": np.array([row["lapse"] for row in self.rows]),
            "with_lapse": np.array(sorted(self.with_lapse), np.int64),
        }

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what `pack_state` gave."""
        self.population.states = unpacked_states(arrays, empty_state(self.problem))
        self.host, *self.population.rngs = unpack_generators(arrays["streams"])
        self.target.delta[:] = arrays["delta"]
        self.log_z = arrays["log_z"].copy()
        self.u, retries, is_done = arrays["place"].tolist()
        self.retries, self.is_done = int(retries), bool(is_done)
        self.with_lapse = set(arrays["with_lapse"].tolist())
        steps = zip(arrays["path"], arrays["lapses"].tolist(), strict=True)
        self.rows = [{"log_evidence": evidence, "lapse": lapse} for evidence, lapse in steps]
        refuse_torn(flaw_of(state, self.problem) for state in self.population.states)


_PERCENT = 100


def run_smc(
    problem: ClassProblem,
    lapse: float,
    run: "Run",
    sweeps: int,
    random_seed: Any,
    folder: FitFolder | None = None,
) -> EngineResult:
    """Draw from the posterior and estimate the evidence by groups of particles."""
    from thali._inference.progress import Progress, build_duration_warning

    interrupted, ascent, limit = False, None, TimeLimit(run.max_time)
    say = (
        build_duration_warning("This fit", Setting("method", "mcmc"))
        if run.max_time is None
        else None
    )
    with Progress(run.progressbar, "particles", _PERCENT, "%", say) as progress:
        try:
            progress.note("compiling, once")
            ascent = Ascent(problem, lapse, run, sweeps, random_seed)
            if folder is not None and folder.snapshot is not None:
                with refuse_altered_job(folder.path):
                    ascent.restore(folder.snapshot.states[0])
            watch = _Watch(ascent, progress)
            while not ascent.is_done:
                ascent.advance(watch)
                watch.update(0)
                if folder is not None and (folder.is_due() or ascent.is_done):
                    place = {
                        "done": int(_PERCENT * ascent.share_done()),
                        "total": _PERCENT,
                        "unit": "%",
                    }
                    folder.write([ascent.pack_state()], [], [], place, ascent.is_done)
                limit.check()
        except (KeyboardInterrupt, TimeIsUp):
            interrupted = True
    if ascent is None or not ascent.rows:
        raise KeyboardInterrupt
    return ascent.fit(interrupted)


class _Watch:
    """Shows the progress of a run."""

    def __init__(self, ascent: Ascent, progress: Any) -> None:
        self.ascent, self.progress = ascent, progress

    def update(self, done: int) -> None:
        self.progress.update(int(_PERCENT * self.ascent.share_done()), self.ascent.status())
