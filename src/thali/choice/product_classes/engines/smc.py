"""Adaptive sequential Monte Carlo: groups of particles move from the prior to the posterior.

Every step weights the particles by the change of the likelihood, resamples within groups and moves each by sweeps. The
product of the mean weights of a group is its estimate of the evidence.
"""

import math
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.inference.chains import TimeIsUp, TimeLimit
from thali.inference.jobs import FitFolder, as_written

from ..state import MOVES, Problem
from .fit import Fit, flaw_of, of_equal_length, refuse_torn
from .path import lapse_messages, particle_messages, pooled
from .smc_run import Run

if TYPE_CHECKING:
    from ..arguments import Settings

PILOT = 2  # steps after which the time of a run is estimated
SHORT = 1.5  # seconds; no estimate for a shorter run
GROWTH = 1.3  # how much longer a sweep takes on the average than in these
_PERCENT = 100
MAX_PARTICLES, MIN_PARTICLES, PARTICLES_OF_ALL = 64, 16, 6400  # in a group, by default


def particles_for(people: int) -> int:
    """Particles in a group: fewer for more people, for whom sweeps are more effective."""
    return max(MIN_PARTICLES, min(MAX_PARTICLES, PARTICLES_OF_ALL // people))


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
    from thali.inference.progress import Progress

    settings = settings._replace(particles=settings.particles or particles_for(problem.n_people))
    interrupted, run, limit = False, None, TimeLimit(max_time)
    with Progress(progressbar, "particles", _PERCENT, "%") as progress:
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
    messages += lapse_messages(sorted(run.with_lapse), run.lapse_kept)
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
