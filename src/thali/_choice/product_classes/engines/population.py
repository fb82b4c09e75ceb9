"""Groups of particles: moved in threads, weighed, resampled."""

from collections.abc import Callable
from typing import Any

import numpy as np

from thali._inference.threads import NoProgress, SlicedWork, run_in_threads

from ..likelihood import write_hits
from ..state import (
    ClassProblem,
    ClassState,
    PosteriorTarget,
    Work,
    copy_state,
    target_of,
    workspace,
)
from ..sweep import draw_state, sweep

CHUNK = 8  # particles that a thread takes at a time


class ParticlePopulation:
    """All particles, group after group; each slot has its own random stream, which resampling does
    not move."""

    cores: int | None
    groups: int
    problem: ClassProblem
    states: list[ClassState]
    hard: PosteriorTarget
    rngs: list[np.random.Generator]

    def __init__(
        self, problem: ClassProblem, groups: int, rngs: list[np.random.Generator], cores: int | None
    ) -> None:
        self.problem, self.groups, self.rngs, self.cores = problem, groups, rngs, cores
        self.states = [draw_state(rng, problem, shapes_from_prior=True) for rng in rngs]
        self.hard = target_of(problem)

    @property
    def size(self) -> int:
        return len(self.states)

    def each(self, action: Callable[[int, Work], None], progress: Any = None) -> None:
        """Apply an action to every particle, in threads. An action that has started is finished,
        even after Ctrl-C."""
        chunks = [range(i, min(i + CHUNK, self.size)) for i in range(0, self.size, CHUNK)]
        run_in_threads(
            [_Chunk(self, action, chunk) for chunk in chunks], self.cores, progress or NoProgress()
        )

    def sweep(self, target: PosteriorTarget, sweeps: int, progress: Any = None) -> None:
        """Run this many sweeps of every particle."""

        def move(i: int, work: Work) -> None:
            self.states[i], _ = sweep(
                self.rngs[i], self.problem, target, self.states[i], work, sweeps
            )

        self.each(move, progress)

    def hits(self) -> np.ndarray:
        """Return the likelihoods (particles, tasks) of hard choices, without lapse."""
        hits = np.empty((self.size, self.problem.n_tasks))
        self.each(
            lambda i, work: write_hits(self.problem, self.hard, self.states[i], work, hits[i])
        )
        return hits

    def resample(self, weights: np.ndarray, uniforms: np.ndarray) -> None:
        """Systematic resampling within groups; survivors keep their places, and their copies
        replace the others."""
        for group, (w, uniform) in enumerate(
            zip(weights.reshape(self.groups, -1), uniforms, strict=True)
        ):
            counts = np.bincount(systematic(w, uniform), minlength=len(w))
            first = group * len(w)
            free = iter(np.flatnonzero(counts == 0))
            for i in np.flatnonzero(counts > 1):
                for _ in range(counts[i] - 1):
                    j = first + next(free)
                    self.states[j] = copy_state(self.states[first + i])


def systematic(weights: np.ndarray, uniform: float) -> np.ndarray:
    """Indices drawn by one uniform number: the points (U + r) / P in the cumulated weights."""
    size = len(weights)
    ends = np.cumsum(weights)
    points = (uniform + np.arange(size)) / size * ends[-1]
    return np.minimum(np.searchsorted(ends, points, side="right"), np.flatnonzero(weights)[-1])


class _Chunk(SlicedWork):
    """Some particles, one after the other."""

    def __init__(
        self, population: ParticlePopulation, action: Callable[[int, Work], None], chunk: range
    ) -> None:
        self.population, self.action, self.chunk = population, action, chunk
        self.sweeps, self.total = 0, len(chunk)

    @property
    def is_done(self) -> bool:  # type: ignore[override]
        return self.sweeps >= self.total

    def run_until(self, until: int) -> None:
        for i in self.chunk[self.sweeps : until]:
            self.action(i, workspace(self.population.problem, self.population.states[i]))
            self.sweeps += 1
