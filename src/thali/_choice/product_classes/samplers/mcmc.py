"""Markov chains of product classes, annealed from prior to posterior during tuning."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from thali._inference.array_dict_encoding import Arrays, pack_generators, unpack_generators
from thali._inference.index_arithmetic import part_indices
from thali._inference.markov_chains import Chain, choose_recorded_chains
from thali._inference.random_seeds import spawn_generators
from thali._number_format import format_percent

from ..fit_preparation import USUAL_CLASSES
from ..likelihood import log_likelihood, write_hits
from ..ragged_draws import Particles, choose_spacing, concatenate_draws, read_particles
from ..state import (
    SWEEPS,
    ClassProblem,
    ClassState,
    ClassWorkspace,
    PosteriorTarget,
    build_empty_state,
    build_target,
    build_workspace,
)
from ..sweep import draw_state, sweep_state
from .stored_draws import (
    DrawRecorder,
    EngineResult,
    build_draw_rows,
    concatenate_chains,
    describe_state_flaw,
    pack_states,
    refuse_damaged_states,
    slice_draws,
    split_draw_rows,
    unpack_states,
)
from .tempering_path import LAST_LAPSE, format_lapse_messages

if TYPE_CHECKING:
    import xarray

    from thali._inference.markov_chains import Run

START_ODDS = 0.02  # against a lapse in the first sweep


def list_kept_draws(draws: int) -> np.ndarray:
    """Return which draws of a chain are kept, counted from 1."""
    spacing = choose_spacing(draws)
    return np.arange(spacing, draws + 1, spacing)


class ClassChain(Chain):
    """One Markov chain of product classes, annealed in the first half of tuning.

    The lapse falls from near 1 to its value.
    """

    problem: ClassProblem
    draw_recorder: DrawRecorder
    lapse: float
    rng: np.random.Generator
    state: ClassState
    target: PosteriorTarget
    work: ClassWorkspace
    thin: int
    tune: int
    total: int
    lapses: np.ndarray
    kept_draws: list[tuple[int, Particles]]

    def __init__(
        self, problem: ClassProblem, lapse: float, rng: np.random.Generator, run: "Run", draws: int
    ) -> None:
        """Draw the starting state from the prior and set up the record."""
        assert run.thin is not None
        self.problem = problem
        self.lapse = lapse
        self.rng = rng
        self.draw_recorder = DrawRecorder(problem)
        self.thin = run.thin
        self.tune = run.tune * run.thin
        self.total = self.tune + draws * self.thin
        final_odds = 1.0 / (lapse or LAST_LAPSE) - 1.0
        odds_path = np.geomspace(min(START_ODDS, final_odds), final_odds, self.tune // 2)
        odds_path[-1:] = final_odds
        self.lapses = 1.0 / (1.0 + odds_path)
        self.target = build_target(problem, 1.0 / (1.0 + final_odds))
        self.state = draw_state(rng, problem)
        self.work = build_workspace(problem, self.state)
        self.kept_draws = []  # draws with their numbers, from 1
        self._person = part_indices(problem.tasks.first_task)
        self.hits = np.empty(problem.n_tasks)
        self._no_draws = slice_draws(self.draw_recorder.record(self.state, 0, 0.0, lapse), 0, 0)

    @property
    def sweeps(self) -> int:  # type: ignore[override]
        """Number of sweeps done, tuning included."""
        return int(self.state.whole[SWEEPS])

    @property
    def is_done(self) -> bool:  # type: ignore[override]
        """Whether all sweeps are done."""
        return self.sweeps >= self.total

    def run_until(self, until: int) -> None:
        """Run the chain until it has done `until` sweeps, recording draws."""
        self._sweep(0)  # compiles or loads the kernels
        while (n_sweeps := self.sweeps) < until:
            is_hot = n_sweeps < len(self.lapses)
            if is_hot:
                self.target.delta[:] = self.lapses[n_sweeps]
            # a hot chain would move a and sigma far away, and they return slowly
            self.target.fixes_shapes[0] = is_hot
            next_stop = min(until, (n_sweeps // self.thin + 1) * self.thin)
            if is_hot:
                next_stop = n_sweeps + 1
            self._sweep(next_stop - n_sweeps)
            if self.sweeps % self.thin == 0 and self.sweeps >= len(self.lapses):
                self.remove_needless_lapses()
                if self.sweeps > self.tune:
                    self._record()

    def _sweep(self, sweeps: int) -> None:
        """Run `sweeps` sweeps at the current lapse rates."""
        self.state, self.work = sweep_state(
            self.rng, self.problem, self.target, self.state, self.work, sweeps
        )

    def _record(self) -> None:
        """Record the current state; keep fewer earlier draws as the chain grows."""
        draw_number = self.recorded
        spacing = choose_spacing(self.recorded)
        self._keep_every(spacing)
        if draw_number % spacing == 0:
            self.kept_draws.append((draw_number, self.draw()))

    def _keep_every(self, step: int) -> None:
        """Keep only draws whose number is a multiple of `step`."""
        self.kept_draws = [draw for draw in self.kept_draws if draw[0] % step == 0]

    def draw(self) -> Particles:
        """Return the current state as a draw."""
        log_likelihood_now = log_likelihood(self.problem, self.target, self.state, self.work)
        return self.draw_recorder.record(self.state, 0, log_likelihood_now, self.lapse)

    def remove_needless_lapses(self) -> None:
        """Set lapse rates to 0 for respondents without impossible choices."""
        if self.lapse == 0.0 and self.target.delta.any():
            write_hits(self.problem, self.state, self.work, self.hits)
            is_impossible = np.bincount(self._person, self.hits == 0.0, self.problem.n_people) > 0
            self.target.delta[~is_impossible[self._person]] = 0.0

    def respondents_with_lapse(self) -> np.ndarray:
        """Return respondents who still need lapses in a model without them."""
        return np.unique(self._person[self.target.delta > self.lapse])

    def pack_state(self) -> Arrays:
        """Return the arrays from which the chain can resume."""
        return {
            "stream": pack_generators([self.rng]),
            "delta": self.target.delta.copy(),
            **pack_states([self.state]),
        }

    def restore_state(self, arrays: Arrays) -> None:
        """Restore the chain from the arrays of `pack_state`."""
        self.state = unpack_states(arrays, build_empty_state(self.problem))[0]
        self.work = build_workspace(self.problem, self.state)
        self.rng = unpack_generators(arrays["stream"])[0]
        self.target.delta[:] = arrays["delta"]
        refuse_damaged_states([describe_state_flaw(self.state, self.problem)])

    def read_draws(self, start: int, stop: int) -> Arrays:
        """Return the kept draws after number `start`, up to `stop`."""
        requested_draws = [
            (number, draw) for number, draw in self.kept_draws if start < number <= stop
        ]
        return build_draw_rows(
            concatenate_draws([self._no_draws, *(draw for _, draw in requested_draws)]),
            [number for number, _ in requested_draws],
        )

    def adopt_draws(self, draws: Arrays) -> None:
        """Replace the chain's kept draws by stored ones."""
        self.kept_draws = []
        if draws:
            self.kept_draws = split_draw_rows(draws, self._no_draws)
        self._keep_every(choose_spacing(self.recorded))


def build_chains(
    problem: ClassProblem, lapse: float, run: "Run", draws: int, random_seed: np.random.SeedSequence
) -> list[ClassChain]:
    """Build chains that start from prior draws with a = 2, sigma = 0.6."""
    return [
        ClassChain(problem, lapse, rng, run, draws)
        for rng in spawn_generators(random_seed, run.chains)
    ]


def format_chain_status(chains: Sequence[ClassChain]) -> str:
    """Return lapse rate and acceptance rate of the chains as text."""
    slowest_chain = min(chains, key=lambda c: c.sweeps)
    n_tried, n_accepted = np.sum([c.state.counts for c in chains], axis=(0, 1))
    return (
        f"lapse {slowest_chain.target.delta.max():.2g},"
        f" {format_percent(n_accepted / max(n_tried, 1))} accepted"
    )


def compute_mean_classes(chains: Sequence[ClassChain]) -> float:
    """Return the mean number of classes over the kept draws.

    Without draws, USUAL_CLASSES.
    """
    class_counts = [len(draw.n_owners) for chain in chains for _, draw in chain.kept_draws]
    if not class_counts:
        return USUAL_CLASSES
    return float(np.mean(class_counts))


def read_chain_draws(tree: "xarray.DataTree") -> list[Arrays]:
    """Return the draws of each chain stored in a posterior tree."""
    draws = read_particles(tree["particles"].to_dataset())
    draw_numbers = list_kept_draws(int(tree.attrs["draws"])).tolist()
    chain_bounds = np.flatnonzero(np.diff(draws.group, prepend=-1, append=-1)).tolist()
    return [
        build_draw_rows(slice_draws(draws, start, stop), draw_numbers)
        for start, stop in pairwise(chain_bounds)
    ]


def build_engine_result(chains: Sequence[ClassChain]) -> EngineResult:
    """Return draws and messages of finished or interrupted chains."""
    chain_indices, n_recorded = choose_recorded_chains(chains)
    recorded_chains = [chains[index] for index in chain_indices]
    spacing = max(choose_spacing(chain.recorded) for chain in recorded_chains)
    draws_by_chain = [
        [
            draw
            for number, draw in chain.kept_draws
            if number <= n_recorded and number % spacing == 0
        ]
        for chain in recorded_chains
    ]
    messages = []
    is_complete = all(chain.is_done for chain in chains)
    if is_complete:
        lapsed_respondents = np.unique(
            np.concatenate([chain.respondents_with_lapse() for chain in chains])
        )
        messages = format_lapse_messages(lapsed_respondents.tolist())
    return EngineResult(
        concatenate_chains(draws_by_chain),
        messages=messages,
        interrupted=not is_complete,
        draws=n_recorded,
    )
