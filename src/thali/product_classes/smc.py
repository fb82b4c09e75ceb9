"""Adaptive sequential Monte Carlo: groups of particles are led from the prior to the posterior.

Every step weighs the particles by the change of the likelihood, resamples within groups and moves each by sweeps. The
mean weights of a group multiply to its own estimate of the evidence.
"""

import math
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.product_classes.annealed import SHORT, duration
from thali.product_classes.checkpoint import Checkpoint
from thali.product_classes.fit import Fit, of_equal_length
from thali.product_classes.problem import Problem
from thali.product_classes.smc_run import Run
from thali.product_classes.state import MOVES
from thali.product_classes.state_check import flaw_of, refuse_torn
from thali.product_classes.told import pooled, told_of_kept_lapses, told_of_particles

if TYPE_CHECKING:
    from thali.product_classes.arguments import Plan

PILOT = 2  # steps after which the time of a run is foretold
GROWTH = 1.3  # how much longer a sweep takes on the average than in these
_PERCENT = 100
MOST_PARTICLES, LEAST_PARTICLES, PARTICLES_OF_ALL = 64, 16, 6400  # in a group, where the user does not say


def particles_for(people: int) -> int:
    """Particles in a group: fewer for more people, since sweeps serve these better."""
    return max(LEAST_PARTICLES, min(MOST_PARTICLES, PARTICLES_OF_ALL // people))


def run_smc(
    problem: Problem,
    plan: "Plan",
    *,
    cores=None,
    random_seed=None,
    progressbar=False,
    checkpoint=None,
    resume=None,
    path: str = "lapse",
    schedule_of_u: list[list[float]] | None = None,
) -> Fit:
    """Draw from the posterior and estimate the evidence by groups of particles.

    Parameters
    ----------
    problem : Problem
    plan : Plan
    cores : int, optional
        Threads; no influence on the draws.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
    progressbar : bool
    checkpoint, resume : str or path, optional
    path : {"lapse", "logit"}
        How a block of tasks enters: with a lapse that falls from 1, or with a logit that sharpens.
    schedule_of_u : list of lists of float, optional
        `Fit.schedule_of_u` of an earlier run: its tempering points are taken instead of adapted ones, so that the
        groups are independent and the evidence is unbiased.

    Returns
    -------
    Fit
    """
    from thali.progress import Progress

    plan = plan._replace(particles=plan.particles or particles_for(problem.n_people))
    settings = {
        **plan._asdict(),
        "learned_alpha": bool(np.isnan(problem.prior[0])),
        "path": path,
        "schedule_of_u": schedule_of_u,
    }
    files = Checkpoint(checkpoint, resume, problem, settings)
    interrupted, run = False, None
    with Progress(progressbar, "particles", _PERCENT, "%") as progress:
        try:
            progress.note("compiling, once")
            run = _begun(Run(problem, plan, path, schedule_of_u, cores, random_seed), files, resume)
            watch = _Watch(run, plan, progress)
            while not run.is_done:
                run.advance(watch)
                watch.update(0)
                if files.is_due() or (run.is_done and files.path is not None):
                    files.write(run.packed())
        except KeyboardInterrupt:
            interrupted = True
    if run is None or (interrupted and not run.rows):
        raise KeyboardInterrupt
    return _fit_of(run, plan, interrupted)


def _begun(run: Run, files: Checkpoint, resume) -> Run:
    """The run, back where its checkpoint left it."""
    if files.found is not None:
        run.restore(files.found)
        refuse_torn(resume, (flaw_of(state, run.problem) for state in run.cloud.states))
    return run


class _Watch:
    """Shows how far a run is."""

    def __init__(self, run: Run, plan: "Plan", progress):
        self.run, self.plan, self.progress = run, plan, progress
        self.is_foretold = False
        self.began, self.share = math.nan, 0.0  # once compiled code has been loaded

    def update(self, done: int) -> None:
        run, share = self.run, self.run.share_done()
        self.progress.update(int(_PERCENT * share), run.status())
        if self.is_foretold or not run.rows:
            return
        if math.isnan(self.began):
            self.began, self.share = monotonic(), share
        passed = monotonic() - self.began
        if len(run.rows) >= PILOT and passed > SHORT and share > self.share:
            self.is_foretold = True
            self.progress.note(f"about {duration(passed * GROWTH / (share - self.share))} in all")


def _fit_of(run: Run, plan: "Plan", interrupted: bool) -> Fit:
    told: list[str] = []
    if not run.is_done and not any(run.kept):
        told.append(_told_of_stop(run, plan))
        run.keep_everybody()
    rows: dict[str, Any] = {name: np.array([row[name] for row in run.rows]) for name in run.rows[0]}
    trace = {name: values.T if values.ndim > 1 else values for name, values in rows.items()}
    found = (math.nan, math.nan, math.nan)
    if run.has_evidence:
        found = pooled(run.log_z)
        told += told_of_particles(run.log_z, len(run.rows), run.particles)
    told += told_of_kept_lapses(sorted(run.with_lapse), run.lapse_kept)
    tried, accepted = run.moves.T
    rates = accepted / np.maximum(tried, 1)
    return Fit(
        particles=of_equal_length(run.kept),
        log_evidence=found[0],
        log_evidence_se=found[1],
        evidence_sd=found[2],
        trace=trace,
        acceptance=dict(zip(MOVES, rates.tolist(), strict=True)),
        told=told,
        interrupted=interrupted,
        schedule_of_u=[list(points) for points in run.points],
    )


def _told_of_stop(run: Run, plan: "Plan") -> str:
    more = "fit(resume=...) goes on where a checkpoint was written."
    if run.has_evidence:
        return f"Stopped before the final sweeps: the draws are the particles as they were. {more}"
    if plan.schedule == "all" and run.path == "lapse":
        return (
            f"Stopped while the lapse was still {run.lapse_now:.2g}, on its way to {plan.lapse:g}: the draws are of a "
            f"model with that lapse, and there is no evidence. {more}"
        )
    return (
        f"Stopped before all choices had entered: those from block {run.block + 1} of {len(run.blocks)} on count "
        f"little or not at all, and there is no evidence. {more}"
    )
