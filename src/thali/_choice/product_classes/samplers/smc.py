"""Adaptive sequential Monte Carlo for product classes, from the prior to the posterior.

Every step weights the particles by the change of the likelihood, resamples within groups, and moves
each particle by sweeps. The product of the mean weights of a group is its estimate of the evidence;
the particles at the end are the draws.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.array_dict_encoding import pack_generators, unpack_generators
from thali._inference.delayed_interrupt import DelayedInterrupt
from thali._inference.job_folders import FitFolder, refuse_altered_job
from thali._inference.markov_chains import TimeIsUp, TimeLimit
from thali._inference.numerics.weight_shares import scale_to_maximum
from thali._inference.random_seeds import RandomSeed, spawn_generators
from thali.errors import Setting

from ..fit_preparation import estimate_steps
from ..likelihood import log_likelihood
from ..ragged_draws import concatenate_draws
from ..state import ClassProblem, ClassWorkspace, PosteriorTarget, build_empty_state, build_target
from .particle_population import ParticlePopulation
from .stored_draws import (
    DrawRecorder,
    EngineResult,
    describe_state_flaw,
    pack_states,
    refuse_damaged_states,
    unpack_states,
)
from .tempering_path import (
    LapsePath,
    find_next_point,
    format_evidence_messages,
    format_lapse_messages,
    lapse_odds,
    log_mean_exp,
    pool_evidence,
)

if TYPE_CHECKING:
    from thali._inference.markov_chains import Run

MAX_RETRIES = 40  # failed steps after which respondents take the last step one by one


class TemperedParticles:
    """Groups of particles on their way from the prior to the posterior."""

    problem: ClassProblem
    lapse: float
    sweeps: int
    groups: int
    particles: int
    population: ParticlePopulation
    end: float
    target: PosteriorTarget
    rng: np.random.Generator
    log_z: np.ndarray
    rows: list[dict[str, Any]]
    with_lapse: set[int]
    u: float
    retries: int
    is_done: bool

    def __init__(
        self, problem: ClassProblem, lapse: float, run: "Run", sweeps: int, random_seed: RandomSeed
    ) -> None:
        """Set up all groups of particles at the start of the tempering path."""
        assert run.draws is not None
        self.problem = problem
        self.lapse = lapse
        self.sweeps = sweeps
        self.groups = run.chains
        self.particles = run.draws
        self.rng, *rngs = spawn_generators(random_seed, 1 + self.groups * self.particles)
        self.population = ParticlePopulation(problem, self.groups, rngs, run.cores)
        self.sizes = np.diff(problem.tasks.first_row)
        self.end = lapse_odds(lapse)
        self.target = build_target(problem, 1.0)
        self.log_z = np.full(self.groups, -np.log(self.sizes).sum())
        self.rows = []
        self.with_lapse = set()
        self.u = 0.0
        self.retries = 0
        self.is_done = False

    @property
    def lapse_now(self) -> float:
        """Largest lapse rate of the current tempered posterior."""
        return float(self.target.delta.max())

    def estimate_progress(self) -> float:
        """Return the approximate share of tempering steps done."""
        if self.is_done:
            return 1.0
        return min(0.97, len(self.rows) / estimate_steps(self.sizes))

    def format_status(self) -> str:
        """Return lapse rate, step and log evidence as text."""
        status_words = [f"lapse {self.lapse_now:.2g}", f"step {len(self.rows)}"]
        if self.rows:
            log_evidence = self.rows[-1]["log_evidence"]
            status_words.append(
                f"log evidence {log_evidence.mean():.1f} (sd {log_evidence.std(ddof=1):.1f})"
            )
        return ", ".join(status_words)

    def take_step(self, watch: "_ProgressWatch") -> None:
        """Do one tempering step: weight, resample and move all particles."""
        is_weighted = self.temper()
        self.population.sweep(self.target, self.sweeps, watch)
        with DelayedInterrupt():
            if is_weighted:
                self.rows.append({"log_evidence": self.log_z.copy(), "lapse": self.lapse_now})
                self.is_done = self.u == self.end

    def temper(self) -> bool:
        """Lower the lapse rate and resample; return False if a group has died out."""
        lapse_path = LapsePath(self.lapse, self.sizes, self.population.compute_hits())
        log_likelihood_now = lapse_path.log_likelihood(self.u)

        def compute_log_weights(u: float) -> np.ndarray:
            """Return the particles' log weights for a step to odds u against lapses."""
            log_likelihood_change = lapse_path.log_likelihood(u) - log_likelihood_now
            return np.where(np.isnan(log_likelihood_change), -math.inf, log_likelihood_change)

        if self.retries >= MAX_RETRIES:
            with DelayedInterrupt():
                self._remove_lapses_by_respondent(lapse_path.hits)
            return True
        next_odds = find_next_point(compute_log_weights, self.u, self.end, self.groups)
        log_weights = compute_log_weights(next_odds).reshape(self.groups, -1)
        if (log_weights.max(axis=1) == -math.inf).any():
            self.retries += 1
            return False
        with DelayedInterrupt():
            self._resample(log_weights)
            lapse_path.write_target(self.target, slice(None), next_odds)
            self.u = next_odds
            self.retries = 0
        return True

    def _resample(self, log_weights: np.ndarray) -> None:
        """Resample particles by log weights; add the mean weights to the log evidence."""
        self.log_z += log_mean_exp(log_weights)
        uniforms = self.rng.random(self.groups)
        if np.ptp(log_weights) > 0.0:
            self.population.resample(scale_to_maximum(log_weights), uniforms)

    def _remove_lapses_by_respondent(self, hits: np.ndarray) -> None:
        """Remove the lapse probability respondent by respondent: reweight, then resample."""
        # Respondents whose choices no particle of some group satisfies keep the lapse.
        for n in range(self.problem.n_people):
            task_slice = slice(*self.problem.tasks.first_task[n : n + 2].tolist())
            lapse_path = LapsePath(self.lapse, self.sizes[task_slice], hits[:, task_slice])
            log_weights = (
                lapse_path.log_likelihood(self.end) - lapse_path.log_likelihood(self.u)
            ).reshape(self.groups, -1)
            if (log_weights.max(axis=1) == -math.inf).any():
                self.with_lapse.add(n)
                continue
            self._resample(log_weights)
            lapse_path.write_target(self.target, task_slice, self.end)
            hits = self.population.compute_hits()
        self.u = self.end
        self.retries = 0

    def build_result(self, interrupted: bool) -> EngineResult:
        """Return draws, evidence and messages of the current particles."""
        lapse = self.lapse_now
        if self.is_done:
            lapse = self.lapse
        log_likelihoods = np.empty(self.population.size)

        def record_particle(i: int, work: ClassWorkspace) -> None:
            """Record the state of particle i as a draw."""
            log_likelihoods[i] = log_likelihood(
                self.problem, self.target, self.population.states[i], work
            )

        self.population.apply(record_particle)
        draw_recorder = DrawRecorder(self.problem)
        draws = [
            draw_recorder.record(state, i // self.particles, log_likelihoods[i], lapse)
            for i, state in enumerate(self.population.states)
        ]
        step_trace = {name: np.array([row[name] for row in self.rows]).T for name in self.rows[0]}
        if not self.is_done:
            message = (
                f"Stopped while the lapse rate was still {lapse:.2g} (target: {self.lapse:g}): the"
                " draws belong to a model with that lapse rate, and no evidence was computed. If"
                " the fit has a job, run it again to resume."
            )
            return EngineResult(
                concatenate_draws(draws),
                trace=step_trace,
                messages=[message],
                interrupted=True,
                draws=self.particles,
            )
        messages = format_evidence_messages(self.log_z, len(self.rows), self.particles)
        messages += format_lapse_messages(sorted(self.with_lapse))
        log_evidence, standard_error, sd_between = pool_evidence(self.log_z)
        return EngineResult(
            concatenate_draws(draws),
            log_evidence,
            standard_error,
            sd_between,
            step_trace,
            messages,
            interrupted,
            self.particles,
        )

    def pack_state(self) -> dict[str, np.ndarray]:
        """Return the arrays from which the run can resume."""
        return {
            **pack_states(self.population.states),
            "streams": pack_generators([self.rng, *self.population.rngs]),
            "delta": self.target.delta,
            "log_z": self.log_z,
            "place": np.array([self.u, self.retries, self.is_done]),
            "path": np.array([row["log_evidence"] for row in self.rows]).reshape(-1, self.groups),
            "lapses": np.array([row["lapse"] for row in self.rows]),
            "with_lapse": np.array(sorted(self.with_lapse), np.int64),
        }

    def restore_state(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restore the run from the arrays of `pack_state`."""
        self.population.states = unpack_states(arrays, build_empty_state(self.problem))
        self.rng, *self.population.rngs = unpack_generators(arrays["streams"])
        self.target.delta[:] = arrays["delta"]
        self.log_z = arrays["log_z"].copy()
        self.u, retries, is_done = arrays["place"].tolist()
        self.retries = int(retries)
        self.is_done = bool(is_done)
        self.with_lapse = set(arrays["with_lapse"].tolist())
        step_records = zip(arrays["path"], arrays["lapses"].tolist(), strict=True)
        self.rows = [{"log_evidence": evidence, "lapse": lapse} for evidence, lapse in step_records]
        refuse_damaged_states(
            describe_state_flaw(state, self.problem) for state in self.population.states
        )


_PERCENT_TOTAL = 100


def run_smc(
    problem: ClassProblem,
    lapse: float,
    run: "Run",
    sweeps: int,
    random_seed: RandomSeed,
    folder: FitFolder | None = None,
) -> EngineResult:
    """Draw from the posterior and estimate the evidence by sequential Monte Carlo."""
    from thali._inference.progress_display import Progress, build_duration_warning

    is_interrupted = False
    tempered_particles = None
    time_limit = TimeLimit(run.max_time)
    warn_duration = None
    if run.max_time is None:
        warn_duration = build_duration_warning("This fit", Setting("method", "mcmc"))
    with Progress(run.progressbar, "particles", _PERCENT_TOTAL, "%", warn_duration) as progress:
        try:
            progress.note("compiling, once")
            tempered_particles = TemperedParticles(problem, lapse, run, sweeps, random_seed)
            if folder is not None and folder.snapshot is not None:
                with refuse_altered_job(folder.path):
                    tempered_particles.restore_state(folder.snapshot.states[0])
            progress_watch = _ProgressWatch(tempered_particles, progress)
            while not tempered_particles.is_done:
                tempered_particles.take_step(progress_watch)
                progress_watch.update(0)
                if folder is not None and (folder.is_due() or tempered_particles.is_done):
                    percent = int(_PERCENT_TOTAL * tempered_particles.estimate_progress())
                    progress_record = {"done": percent, "total": _PERCENT_TOTAL, "unit": "%"}
                    folder.write(
                        [tempered_particles.pack_state()],
                        [],
                        [],
                        progress_record,
                        tempered_particles.is_done,
                    )
                time_limit.check()
        except (KeyboardInterrupt, TimeIsUp):
            is_interrupted = True
    if tempered_particles is None or not tempered_particles.rows:
        raise KeyboardInterrupt
    return tempered_particles.build_result(is_interrupted)


@dataclass
class _ProgressWatch:
    """Progress display of a sequential Monte Carlo run."""

    ascent: TemperedParticles
    progress: Any

    def update(self, n_done: int) -> None:
        """Show progress and status after `n_done` particles of a step."""
        self.progress.update(
            int(_PERCENT_TOTAL * self.ascent.estimate_progress()), self.ascent.format_status()
        )
