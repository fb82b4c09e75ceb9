"""Independent annealed chains: no resampling and no exchange, predictions are averages over all of them."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.inference.arrays import Arrays
from thali.inference.seeds import streams

from ..particles import load
from ..state import MOVES, Problem
from .chain import Chain, Schedule, every, kept_after
from .evidence_messages import chain_messages, lapse_messages, pooled
from .fit import Fit, Keeper, draws_between, joined_chains
from .packing import rows_of

if TYPE_CHECKING:
    import xarray

    from ..arguments import Settings


def annealed_chains(problem: Problem, settings: "Settings", sweeps: int, random_seed: Any) -> list[Chain]:
    """Chains at their starts, which are to make so many sweeps after annealing.

    Each starts with classes from the prior, and a and σ fixed or from the prior; the lapse falls geometrically to that
    of the model; then draws are recorded in a long final phase. For starts from the prior, the increments of the
    log-likelihood sum to the logarithm of a weight whose mean is the evidence (annealed importance sampling).
    """
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
    draws, sweeps = load(tree["particles"].to_dataset()), kept_after(int(tree.attrs["sweeps"]))
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
        wanted = {number for number in kept_after(sweeps).tolist() if number % apart == 0}
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
