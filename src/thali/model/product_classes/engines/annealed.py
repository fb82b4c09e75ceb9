"""Independent annealed chains: no resampling and no exchange, predictions are averages over all of them."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.inference.chains import TimeIsUp
from thali.inference.jobs import FitFolder
from thali.inference.seeds import streams
from thali.inference.threads import run_in_threads

from ..problem import Problem
from ..state import MOVES
from .chain import Chain, Schedule
from .evidence_messages import chain_messages, lapse_messages, pooled
from .fit import Fit, Keeper, of_equal_length
from .state_check import refuse_torn

if TYPE_CHECKING:
    from ..arguments import Settings

PILOT = 2  # steps after which the time of a run is estimated
GROWTH = 2.0  # how much longer a sweep takes on the average than in these
SHORT = 1.5  # seconds; no estimate for a shorter run


def run_annealed(
    problem: Problem,
    settings: "Settings",
    *,
    cores: Any = None,
    random_seed: Any = None,
    progressbar: bool = False,
    folder: FitFolder | None = None,
    deadline: float = math.inf,
) -> Fit:
    """Draw from the posterior by independent annealed chains.

    Each starts with classes from the prior, and a and σ fixed or from the prior; the lapse falls geometrically to that
    of the model; then draws are recorded in a long final phase. For starts from the prior, the increments of the
    log-likelihood sum to the logarithm of a weight whose mean is the evidence (annealed importance sampling).
    """
    from thali.inference.progress import Progress

    schedule, keeper = Schedule(problem, settings), Keeper(problem, settings.beta)
    interrupted = False
    chains: list[Chain] = []
    with Progress(progressbar, "annealed chains", settings.groups * schedule.total, "sweeps") as progress:
        try:
            progress.note("compiling, once")
            rngs = streams(random_seed, settings.groups)
            fresh = [Chain(problem, settings, schedule, rng, group, keeper) for group, rng in enumerate(rngs)]
            chains = _begun(fresh, folder)
            chains[0].compile()
            progress.note("")
            run_in_threads(chains, cores, _Watch(chains, folder, progress, deadline))
        except (KeyboardInterrupt, TimeIsUp):
            interrupted = True
    if interrupted and (not chains or min(c.sweeps for c in chains) == 0):
        raise KeyboardInterrupt
    if folder is not None:
        _write(chains, [chain.packed() for chain in chains], folder, not interrupted)
    return _fit_of(chains, schedule, settings, interrupted)


class _Watch:
    """Shows progress, has snapshots written, looks at the clock; runs in the thread of the caller."""

    def __init__(self, chains: list[Chain], folder: FitFolder | None, progress: Any, deadline: float) -> None:
        from time import monotonic

        self.chains, self.folder, self.progress, self.clock = chains, folder, progress, monotonic
        self.deadline = deadline
        self.is_announced = False
        self.began, self.done = math.nan, 0  # after compiled code was loaded

    def update(self, done: int) -> None:
        self.progress.update(done, self._status())
        if math.isnan(self.began) and done:
            self.began, self.done = self.clock(), done
        passed = self.clock() - self.began
        is_over = min(c.sweeps for c in self.chains) >= PILOT * self.chains[0].schedule.step
        if not self.is_announced and is_over and passed > SHORT and done > self.done:
            self.is_announced = True
            expected = passed * GROWTH * sum(c.total for c in self.chains) / (done - self.done)
            self.progress.note(f"about {duration(expected)} in all")
        if self.folder is not None and self.folder.is_due():
            images = [chain.image for chain in self.chains if chain.image is not None]
            if len(images) == len(self.chains):
                _write(self.chains, images, self.folder, False)
            for chain in self.chains:
                chain.image = chain.image if chain.is_done or len(images) < len(self.chains) else None
                chain.image_wanted = chain.image is None
        if self.clock() >= self.deadline:
            raise TimeIsUp

    def _status(self) -> str:
        chain = min(self.chains, key=lambda c: c.sweeps)
        counts = np.sum([c.state.counts for c in self.chains], axis=0)
        words = [
            f"lapse {chain.target.delta.max():.2g}",
            f"{_rate(counts[:, 1].sum(), counts[:, 0].sum()):.0%} accepted",
        ]
        if chain.is_weighted:
            words.append(f"log evidence {pooled(np.array([c.log_weight for c in self.chains]))[0]:.1f}")
        return ", ".join(words)


def duration(seconds: float) -> str:
    """A rounded time in words."""
    if seconds < 90.0:
        return f"{max(1.0, seconds):.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} h"


def _rate(accepted: float, tried: float) -> float:
    return float(accepted) / max(float(tried), 1.0)


def _write(chains: list[Chain], images: list[dict[str, np.ndarray]], folder: FitFolder, has_ended: bool) -> None:
    place = {"done": sum(c.sweeps for c in chains), "total": sum(c.total for c in chains), "unit": "sweeps"}
    folder.write(images, [], [], place, has_ended)


def _begun(chains: list[Chain], folder: FitFolder | None) -> list[Chain]:
    """The chains in the state of their job."""
    if folder is not None and folder.found is not None:
        for chain, state in zip(chains, folder.found.states, strict=True):
            chain.restore(state)
            chain.image = chain.packed() if chain.is_done else None
        refuse_torn(folder.path, (chain.flaw() for chain in chains))
    return chains


def _fit_of(chains: list[Chain], schedule: Schedule, settings: "Settings", interrupted: bool) -> Fit:
    messages: list[str] = []
    if any(not chain.kept for chain in chains):
        lapse = float(np.mean([chain.target.delta.max() for chain in chains]))
        for chain in chains:
            chain.kept = []
            chain.keep(lapse)
        messages.append(
            f"Stopped while the lapse was still {lapse:.2g}, on its way to {settings.lapse:g}: the draws are of a "
            "model with that lapse. With a job the same fit goes on from here."
        )
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
        particles=of_equal_length([chain.kept for chain in chains]),
        log_evidence=found[0],
        log_evidence_se=found[1],
        evidence_sd=found[2],
        trace=trace,
        acceptance={name: _rate(*row[::-1]) for name, row in zip(MOVES, counts, strict=True)},
        messages=messages,
        interrupted=interrupted,
    )
