"""Chains that anneal from the prior to the posterior, and then draw from it."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from thali._digits import percent
from thali._inference.arrays import Arrays, pack_generators, unpack_generators
from thali._inference.chains import Chain, choose_recorded_chains
from thali._inference.seeds import spawn_generators

from ..arguments import USUAL_CLASSES
from ..likelihood import log_likelihood, write_hits
from ..particles import Particles, joined, load, spacing
from ..state import (
    SWEEPS,
    ClassProblem,
    ClassState,
    PosteriorTarget,
    Work,
    empty_state,
    target_of,
    workspace,
)
from ..sweep import draw_state, sweep
from .fit import (
    EngineResult,
    Keeper,
    draws_between,
    draws_from,
    flaw_of,
    joined_chains,
    packed_states,
    refuse_torn,
    rows_of,
    unpacked_states,
)
from .path import LAST_LAPSE, lapse_messages

if TYPE_CHECKING:
    import xarray

    from thali._inference.chains import Run

FIRST_ODDS = 0.02  # against a lapse in the first sweep


def kept_numbers(draws: int) -> np.ndarray:
    """Return which of so many draws of a chain are kept, counted from 1."""
    return np.arange(spacing(draws), draws + 1, spacing(draws))


class ClassChain(Chain):
    """A chain with its own random stream: the lapse falls in the first half of tuning, as if
    choices were cooled."""

    problem: ClassProblem
    keeper: Keeper
    lapse: float
    rng: np.random.Generator
    state: ClassState
    target: PosteriorTarget
    work: Work
    thin: int
    tune: int
    total: int
    lapses: np.ndarray
    kept: list[tuple[int, Particles]]

    def __init__(
        self, problem: ClassProblem, lapse: float, rng: np.random.Generator, run: "Run", draws: int
    ) -> None:
        assert run.thin is not None
        self.problem, self.lapse, self.rng, self.keeper = problem, lapse, rng, Keeper(problem)
        self.thin, self.tune = run.thin, run.tune * run.thin
        self.total = self.tune + draws * self.thin
        end = 1.0 / (lapse or LAST_LAPSE) - 1.0
        odds = np.geomspace(min(FIRST_ODDS, end), end, self.tune // 2)
        odds[-1:] = end
        self.lapses = 1.0 / (1.0 + odds)
        self.target = target_of(problem, 1.0 / (1.0 + end))
        self.state = draw_state(rng, problem)
        self.work = workspace(problem, self.state)
        self.kept = []  # draws with their numbers, from 1
        others = np.diff(problem.tasks.first_row) - 1
        self._person = np.repeat(np.arange(problem.n_people), np.diff(problem.tasks.first_task))
        self.hits = np.empty(len(others))
        self._nothing = draws_between(self.keeper.draw(self.state, 0, 0.0, lapse), 0, 0)

    @property
    def sweeps(self) -> int:  # type: ignore[override]
        return int(self.state.whole[SWEEPS])

    @property
    def is_done(self) -> bool:  # type: ignore[override]
        return self.sweeps >= self.total

    @property
    def recorded(self) -> int:
        return max(0, self.sweeps - self.tune) // self.thin

    def run_until(self, until: int) -> None:
        self._sweep(0)  # compiled now, or loaded
        while (done := self.sweeps) < until:
            is_hot = done < len(self.lapses)
            if is_hot:
                self.target.delta[:] = self.lapses[done]
            # a hot chain would take a and sigma far away, from where they return slowly
            self.target.held[0] = is_hot
            self._sweep(1 if is_hot else min(until, (done // self.thin + 1) * self.thin) - done)
            if self.sweeps % self.thin == 0 and self.sweeps >= len(self.lapses):
                self.harden()
                if self.sweeps > self.tune:
                    self._record()

    def _sweep(self, number: int) -> None:
        self.state, self.work = sweep(
            self.rng, self.problem, self.target, self.state, self.work, number
        )

    def _record(self) -> None:
        now, apart = self.recorded, spacing(self.recorded)
        self.kept = [each for each in self.kept if each[0] % apart == 0]
        if now % apart == 0:
            self.kept.append((now, self.draw()))

    def draw(self) -> Particles:
        fit = log_likelihood(self.problem, self.target, self.state, self.work)
        return self.keeper.draw(self.state, 0, fit, self.lapse)

    def harden(self) -> None:
        """In a model without lapse, end that of the respondents all of whose choices are
        satisfied."""
        if self.lapse == 0.0 and self.target.delta.any():
            write_hits(self.problem, self.target, self.state, self.work, self.hits)
            impossible = np.bincount(self._person, self.hits == 0.0, self.problem.n_people) > 0
            self.target.delta[~impossible[self._person]] = 0.0

    def respondents_with_lapse(self) -> np.ndarray:
        """Return the numbers of respondents whose choices are not satisfied in a model without
        lapse."""
        return np.unique(self._person[self.target.delta > self.lapse])

    def pack_state(self) -> Arrays:
        delta = self.target.delta.copy()
        return {
            "stream": pack_generators([self.rng]),
            "delta": delta,
            **packed_states([self.state]),
        }

    def restore(self, arrays: Arrays) -> None:
        self.state = unpacked_states(arrays, empty_state(self.problem))[0]
        self.work = workspace(self.problem, self.state)
        self.rng = unpack_generators(arrays["stream"])[0]
        self.target.delta[:] = arrays["delta"]
        refuse_torn([flaw_of(self.state, self.problem)])

    def read_draws(self, start: int, stop: int) -> Arrays:
        """Return the draws after number `start`, up to number `stop`, that are still kept."""
        own = [(number, draw) for number, draw in self.kept if start < number <= stop]
        return rows_of(
            joined([self._nothing, *(draw for _, draw in own)]), [number for number, _ in own]
        )

    def adopt(self, draws: Arrays) -> None:
        found = draws_from(draws, self._nothing) if draws else []
        self.kept = [each for each in found if each[0] % spacing(self.recorded) == 0]


def chains_of(
    problem: ClassProblem, lapse: float, run: "Run", draws: int, random_seed: np.random.SeedSequence
) -> list[ClassChain]:
    """Return chains at their starts, each with classes from the prior, a = 2 and sigma = 0.6."""
    return [
        ClassChain(problem, lapse, rng, run, draws)
        for rng in spawn_generators(random_seed, run.chains)
    ]


def status_of(chains: Sequence[ClassChain]) -> str:
    """Describe how far the chains are."""
    chain = min(chains, key=lambda c: c.sweeps)
    tried, accepted = np.sum([c.state.counts for c in chains], axis=(0, 1))
    return f"lapse {chain.target.delta.max():.2g}, {percent(accepted / max(tried, 1))} accepted"


def classes_in(chains: Sequence[ClassChain]) -> float:
    """Return how many classes a draw has, on average over all that are kept; the usual number
    before there is one."""
    counts = [len(draw.n_owners) for chain in chains for _, draw in chain.kept]
    return float(np.mean(counts)) if counts else USUAL_CLASSES


def draws_in(tree: "xarray.DataTree") -> list[Arrays]:
    """Return the draws that a posterior has, of each chain, as chains adopt them."""
    draws, numbers = load(tree["particles"].to_dataset()), kept_numbers(int(tree.attrs["draws"]))
    ends = np.flatnonzero(np.diff(draws.group, prepend=-1, append=-1)).tolist()
    return [rows_of(draws_between(draws, *pair), numbers.tolist()) for pair in pairwise(ends)]


def fit_of(chains: Sequence[ClassChain]) -> EngineResult:
    """Return what chains found, whether or not they reached their end."""
    places, length = choose_recorded_chains(chains)
    kept = [chains[place] for place in places]
    apart = max(spacing(chain.recorded) for chain in kept)
    draws = [
        [draw for number, draw in chain.kept if number <= length and number % apart == 0]
        for chain in kept
    ]
    messages, is_whole = [], all(chain.is_done for chain in chains)
    if is_whole:
        unsatisfied = np.unique(
            np.concatenate([chain.respondents_with_lapse() for chain in chains])
        )
        messages = lapse_messages(unsatisfied.tolist())
    return EngineResult(
        joined_chains(draws), messages=messages, interrupted=not is_whole, draws=length
    )
