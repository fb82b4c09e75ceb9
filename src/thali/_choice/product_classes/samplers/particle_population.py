"""Groups of particles for sequential Monte Carlo, moved in threads and resampled."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from thali._inference.threads_and_processes import NoProgress, SlicedWork, run_in_threads

from ..likelihood import write_hits
from ..state import ClassProblem, ClassWorkspace, PosteriorTarget, build_workspace, copy_state
from ..sweep import draw_state, sweep_state

CHUNK = 8  # particles that a thread takes at a time


@dataclass
class ParticlePopulation:
    """All particles in groups, each with its own state and random stream."""

    problem: ClassProblem
    groups: int
    rngs: list[np.random.Generator]
    cores: int | None

    def __post_init__(self) -> None:
        self.states = [draw_state(rng, self.problem, shapes_from_prior=True) for rng in self.rngs]

    @property
    def size(self) -> int:
        """Number of particles in all groups."""
        return len(self.states)

    def apply(self, action: Callable[[int, ClassWorkspace], None], progress: Any = None) -> None:
        """Call `action` for every particle, in threads.

        A started action is finished, even after Ctrl-C.
        """
        chunks = [range(i, min(i + CHUNK, self.size)) for i in range(0, self.size, CHUNK)]
        run_in_threads(
            [_Chunk(self, action, chunk) for chunk in chunks], self.cores, progress or NoProgress()
        )

    def sweep(self, target: PosteriorTarget, sweeps: int, progress: Any = None) -> None:
        """Run `sweeps` sweeps of every particle."""

        def sweep_particle(i: int, work: ClassWorkspace) -> None:
            """Run the sweeps of particle i."""
            self.states[i], _ = sweep_state(
                self.rngs[i], self.problem, target, self.states[i], work, sweeps
            )

        self.apply(sweep_particle, progress)

    def compute_hits(self) -> np.ndarray:
        """Return each task's likelihood without lapses, shape (particles, tasks)."""
        hits = np.empty((self.size, self.problem.n_tasks))
        self.apply(lambda i, work: write_hits(self.problem, self.states[i], work, hits[i]))
        return hits

    def resample(self, weights: np.ndarray, uniforms: np.ndarray) -> None:
        """Resample particles by weight within each group, systematically.

        Survivors keep their positions, and their copies replace the other particles.
        """
        for group_index, (w, group_uniform) in enumerate(
            zip(weights.reshape(self.groups, -1), uniforms, strict=True)
        ):
            copy_counts = np.bincount(draw_systematic_indices(w, group_uniform), minlength=len(w))
            group_start = group_index * len(w)
            free_positions = iter(np.flatnonzero(copy_counts == 0))
            for i in np.flatnonzero(copy_counts > 1):
                for _ in range(copy_counts[i] - 1):
                    j = group_start + next(free_positions)
                    self.states[j] = copy_state(self.states[group_start + i])


def draw_systematic_indices(weights: np.ndarray, uniform: float) -> np.ndarray:
    """Draw particle indices by systematic resampling from one uniform number."""
    n_particles = len(weights)
    cumulative_weights = np.cumsum(weights)
    sample_points = (uniform + np.arange(n_particles)) / n_particles * cumulative_weights[-1]
    return np.minimum(
        np.searchsorted(cumulative_weights, sample_points, side="right"),
        np.flatnonzero(weights)[-1],
    )


@dataclass
class _Chunk(SlicedWork):
    """Particles that one thread handles one after the other."""

    population: ParticlePopulation
    action: Callable[[int, ClassWorkspace], None]
    chunk: range
    sweeps: int = 0

    def __post_init__(self) -> None:
        self.total = len(self.chunk)

    @property
    def is_done(self) -> bool:  # type: ignore[override]
        """Whether all particles of the thread are done."""
        return self.sweeps >= self.total

    def run_until(self, until: int) -> None:
        """Call `action` for the thread's particles, up to number `until`."""
        for i in self.chunk[self.sweeps : until]:
            self.action(i, build_workspace(self.population.problem, self.population.states[i]))
            self.sweeps += 1
