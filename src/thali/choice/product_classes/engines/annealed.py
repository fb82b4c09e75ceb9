"""Independent annealed chains: no resampling and no exchange, predictions are averages over all of them."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.inference.arrays import Arrays, packed_streams, unpacked_streams
from thali.inference.chains import Chain as ChainOfDraws
from thali.inference.seeds import streams

from ..arguments import STEPS, Settings
from ..likelihood import log_likelihood, write_hits
from ..particles import Particles, joined, load
from ..state import CLASSES, MOVES, SWEEPS, Problem, State, Target, Work, empty_state, target_of, workspace
from ..sweep import draw_state, sweep
from .fit import (
    Fit,
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
from .path import CAP, chain_messages, lapse_messages, pooled

if TYPE_CHECKING:
    import xarray


# One annealed chain: from the prior to the posterior along the lapse path, then draws from there ----------------------


EVERY = 4  # sweeps between two draws, as long as there are few
MAX_RECORDED = 500  # draws that a chain records, after which only every other one stays
DROPPED = 8  # the first of this many parts of the final phase is discarded: it still drifts
FIRST = 0.02  # u of the first sweep


def every(sweeps: int) -> int:
    """Sweeps between two of the draws that are recorded after this many sweeps of the final phase."""
    found = EVERY if sweeps >= EVERY else 1
    while sweeps // found > MAX_RECORDED:
        found *= 2
    return found


def recorded_sweeps(sweeps: int) -> np.ndarray:
    """After which of so many sweeps of the final phase the draws of the posterior were recorded."""
    step = every(sweeps)
    numbers = np.arange(step, sweeps + 1, step)
    return numbers[numbers > sweeps // DROPPED]


class Schedule:
    """The decrease of the lapse, and when something is recorded: the same for all chains, whatever their length."""

    annealing: int
    lapses: np.ndarray
    lapse: float
    step: int
    others: np.ndarray
    person: np.ndarray

    def __init__(self, problem: Problem, settings: "Settings") -> None:
        self.annealing = STEPS * settings.sweeps_per_step
        end = 1.0 / settings.lapse - 1.0 if settings.lapse > 0.0 else CAP["lapse"]
        self.lapses = 1.0 / (1.0 + np.geomspace(min(FIRST, end), end, self.annealing))
        self.lapse, self.step = settings.lapse, settings.sweeps_per_step
        self.others = np.diff(problem.tasks.first_row) - 1
        self.person = np.repeat(np.arange(problem.n_people), np.diff(problem.tasks.first_task))

    def next_stop(self, sweep: int) -> int:
        """The next sweep after which something other than a sweep is due."""
        if sweep < self.annealing:
            return sweep + 1
        done = sweep - self.annealing
        apart = every(done + 1)
        due = (done // apart + 1) * apart
        return min(self.annealing + due, (sweep // self.step + 1) * self.step)

    def is_recorded(self, sweep: int) -> bool:
        """Whether the state after this many sweeps is a draw."""
        done = sweep - self.annealing
        return done > 0 and done % every(done) == 0


class Chain(ChainOfDraws):
    """A chain with its own random stream."""

    group: int
    keeper: "Keeper"
    problem: "Problem"
    schedule: "Schedule"
    sampler: str
    is_weighted: bool
    log_weight: float
    rng: np.random.Generator
    state: State
    target: Target
    work: Work
    total: int

    def __init__(
        self,
        problem: Problem,
        settings: "Settings",
        schedule: Schedule,
        rng: np.random.Generator,
        group: int,
        keeper: Keeper,
        sweeps: int,
    ) -> None:
        self.problem, self.schedule, self.rng, self.group, self.keeper = problem, schedule, rng, group, keeper
        self.sampler = settings.sampler
        self.is_weighted = settings.start == "prior"
        self.target = target_of(problem, 1.0)
        self.state = draw_state(rng, problem, shapes_from_prior=self.is_weighted)
        self.work = workspace(problem, self.state)
        self.total = schedule.annealing + sweeps
        self.log_weight = -float(np.log(schedule.others + 1.0).sum()) if self.is_weighted else math.nan
        self.kept: list[tuple[int, Particles]] = []  # after how many sweeps of the final phase; the draw
        self.trace: list[tuple[float, ...]] = []
        self._nothing = draws_between(keeper.draw(self.state, group, 0.0, schedule.lapse), 0, 0)

    @property
    def sweeps(self) -> int:  # type: ignore[override]
        return int(self.state.whole[SWEEPS])

    @property
    def is_done(self) -> bool:  # type: ignore[override]
        return self.sweeps >= self.total

    @property
    def recorded(self) -> int:
        """Sweeps of the final phase, of which every one might be a draw."""
        return max(0, self.sweeps - self.schedule.annealing)

    @property
    def can_be_shown(self) -> bool:
        return self.sweeps > 0

    def run_to(self, until: int) -> None:
        schedule = self.schedule
        self._sweep(0)  # compiled now, or loaded
        while (done := self.sweeps) < until:
            if done < schedule.annealing:
                self._cool(schedule.lapses[done])
            # A hot chain would take a and σ far away, from where they return slowly.
            self.target.held[0] = done < schedule.annealing and not self.is_weighted
            stop = min(until, schedule.next_stop(done))
            self._sweep(stop - done)
            if stop % schedule.step == 0:
                if stop >= schedule.annealing and schedule.lapse == 0.0:
                    self._harden(stop == schedule.annealing)
                self.trace.append((self._log_likelihood(), float(self.state.whole[CLASSES]), self.log_weight))
            if schedule.is_recorded(stop):
                now = stop - schedule.annealing
                earlier = [each for each in self.kept if each[0] % every(now) == 0]
                self.kept = [*earlier, (now, self.draw(schedule.lapse))]

    def _sweep(self, number: int) -> None:
        self.state, self.work = sweep(self.rng, self.problem, self.target, self.state, self.work, number, self.sampler)

    def draw(self, lapse: float) -> Particles:
        """The state as a draw of a model with this lapse."""
        return self.keeper.draw(self.state, self.group, self._log_likelihood(), lapse)

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

    def packed(self) -> Arrays:
        """Everything that the rest of the chain depends on, but for the recorded draws."""
        return {
            "stream": packed_streams([self.rng]),
            "delta": self.target.delta.copy(),
            "log_weight": np.array(self.log_weight),
            "trace": np.array(self.trace, float).reshape(-1, 3),
            **packed_states([self.state]),
        }

    def restore(self, arrays: Arrays) -> None:
        """Restore what `packed` gave."""
        self.state = unpacked_states(arrays, empty_state(self.problem))[0]
        self.work = workspace(self.problem, self.state)
        self.rng = unpacked_streams(arrays["stream"])[0]
        self.target.delta[:] = arrays["delta"]
        self.log_weight = float(arrays["log_weight"])
        self.trace = [tuple(row) for row in arrays["trace"].tolist()]
        refuse_torn([self._flaw()])

    def drawn(self, first: int, last: int) -> Arrays:
        """The draws that were recorded after sweep `first` of the final phase, up to sweep `last`, and still are."""
        own = [(sweep, draw) for sweep, draw in self.kept if first < sweep <= last]
        return rows_of(joined([self._nothing, *(draw for _, draw in own)]), [sweep for sweep, _ in own])

    def adopt(self, draws: Arrays) -> None:
        """Take over those of the draws, as `drawn` gave them, that this chain would have recorded and kept."""
        apart = every(self.recorded)
        found = draws_from(draws, self._nothing) if draws else []  # those of the first sweeps may all be dropped
        self.kept = [each for each in found if each[0] % apart == 0]

    def _flaw(self) -> str:
        """The reason why this is not the state of a chain between two sweeps; empty if it is."""
        if len(self.trace) != self.sweeps // self.schedule.step:
            return f"it does not hold what belongs to its {self.sweeps} sweeps"
        return flaw_of(self.state, self.problem)


def annealed_chains(problem: Problem, settings: "Settings", sweeps: int, random_seed: Any) -> list[Chain]:
    """Chains at their starts, which are to make so many sweeps after annealing."""
    # Each starts with classes from the prior, and a and σ fixed or from the prior; the lapse falls geometrically to
    # that of the model; then draws are recorded in a long final phase. For starts from the prior, the increments of the
    # log-likelihood sum to the logarithm of a weight whose mean is the evidence (annealed importance sampling).
    schedule, keeper = Schedule(problem, settings), Keeper(problem, settings.beta)
    rngs = streams(random_seed, settings.groups)
    return [Chain(problem, settings, schedule, rng, group, keeper, sweeps) for group, rng in enumerate(rngs)]


def status_of(chains: Sequence[Chain]) -> str:
    """How far the chains are, in words."""
    chain = min(chains, key=lambda c: c.sweeps)
    counts = np.sum([c.state.counts for c in chains], axis=0)
    words = [f"lapse {chain.target.delta.max():.2g}", f"{_rate(counts[:, 1].sum(), counts[:, 0].sum()):.0%} accepted"]
    if chain.is_weighted:
        words.append(f"log evidence {pooled(np.array([c.log_weight for c in chains]))[0]:.1f}")
    return ", ".join(words)


def draws_in(tree: "xarray.DataTree") -> list[Arrays]:
    """The draws that a posterior holds, of each chain, as chains adopt them."""
    draws, sweeps = load(tree["particles"].to_dataset()), recorded_sweeps(int(tree.attrs["sweeps"]))
    parts = np.split(np.arange(draws.n_draws), np.flatnonzero(np.diff(draws.group)) + 1)
    of_chains = [draws_between(draws, part[0], part[-1] + 1) for part in parts]
    if len(sweeps) != len(parts[0]):  # a chain that was stopped at once has its state in place of draws
        of_chains, sweeps = [draws_between(each, 0, 0) for each in of_chains], sweeps[:0]
    return [rows_of(each, sweeps.tolist()) for each in of_chains]


def _rate(accepted: float, tried: float) -> float:
    return float(accepted) / max(float(tried), 1.0)


def fit_of(chains: Sequence[Chain], settings: "Settings") -> Fit:
    """What chains found, whether or not they reached their end."""
    interrupted = not all(chain.is_done for chain in chains)
    chains = [chain for chain in chains if chain.sweeps]
    sweeps = min(chain.recorded for chain in chains)
    schedule = chains[0].schedule
    messages: list[str] = []
    if sweeps == 0:
        lapse = float(np.mean([chain.target.delta.max() for chain in chains]))
        messages.append(
            f"Stopped while the lapse was still {lapse:.2g}, on its way to {settings.lapse:g}: the draws are of a "
            "model with that lapse. With a job, or by continue_fit, the same fit goes on from here."
        )
        draws = [[chain.draw(lapse)] for chain in chains]
    else:
        apart = max(every(chain.recorded) for chain in chains)
        wanted = {number for number in recorded_sweeps(sweeps).tolist() if number % apart == 0}
        draws = [[draw for number, draw in chain.kept if number in wanted] for chain in chains]
        draws = draws if wanted else [[chain.draw(schedule.lapse)] for chain in chains]
    lengths = min(len(chain.trace) for chain in chains)
    rows = np.array([chain.trace[:lengths] for chain in chains], float).reshape(len(chains), lengths, 3)
    trace = {"log_likelihood": rows[:, :, 0], "n_classes": rows[:, :, 1]}
    found = (math.nan, math.nan, math.nan)
    if settings.start == "fixed":
        messages.append("The evidence is not estimated: only chains with start='prior' have weights.")
    elif min(chain.sweeps for chain in chains) < schedule.annealing:
        messages.append("The evidence is not known: the chains were stopped while the lapse was falling.")
    else:
        steps = schedule.annealing // schedule.step
        at_step = np.arange(1, steps + 1) * schedule.step - 1
        trace |= {"lapse": schedule.lapses[at_step], "log_evidence": rows[:, :steps, 2]}
        weights = np.array([chain.log_weight for chain in chains])
        found = pooled(weights)
        messages += chain_messages(weights)
    if not interrupted and settings.lapse == 0.0:
        kept = np.unique(np.concatenate([chain.people_with_lapse() for chain in chains]))
        messages += lapse_messages(kept.tolist(), float(schedule.lapses[-1]))
    counts = np.sum([chain.state.counts for chain in chains], axis=0)
    return Fit(
        particles=joined_chains(draws),
        sweeps=sweeps,
        log_evidence=found[0],
        log_evidence_se=found[1],
        evidence_sd=found[2],
        trace=trace,
        acceptance={name: _rate(*row[::-1]) for name, row in zip(MOVES, counts, strict=True)},
        messages=messages,
        interrupted=interrupted,
    )
