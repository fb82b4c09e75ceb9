"""Chains on a ladder from the posterior down to the prior, whose log-likelihoods give the evidence.

The last level has inverse temperature 0. Its state is replaced after every record by an independent
draw from the prior; swaps with its neighbours carry these draws upwards.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from thali._compile.jit import kernel
from thali._inference.mbar import estimate_constants
from thali._inference.seeds import spawn_generators

from ..operations import cache_at, log_likelihood, rebuild
from ..state import ALPHA, COLUMNS, FULL, ChainModel, FeatureState, capacity, grown, replica
from .chains import FeatureChain
from .loop import prepare, with_weights
from .record import ChainDraws

STEP = 1.0  # standard deviations of the log-likelihood times the gap between neighbouring levels
RATIO = 1.7  # of neighbouring inverse temperatures of the first ladder
# share of prior draws that count on the lowest level above the prior of the first ladder
OVERLAP = 0.5
MAX_LEVELS = 400
GRID = 400  # inverse temperatures at which the standard deviation is looked at


@kernel
def completed(rng: Any, model: Any, caches: Any, states: Any, steps: Any, energy: Any) -> Any:
    """Fill in what follows from the draw just put on the last level, and note the log-likelihood of
    every level."""
    last = steps.at[steps.beta.shape[0] - 1]
    prepare(model, replica(states, last))
    rebuild(model.likelihood, cache_at(model.likelihood, caches, last), replica(states, last))
    for t in range(steps.beta.shape[0]):
        r = steps.at[t]
        energy[t] = log_likelihood(
            model.likelihood, cache_at(model.likelihood, caches, r), replica(states, r)
        )


def independent_draw(
    rng: np.random.Generator, model: ChainModel, prior: Any, n: int, alpha: float | None
) -> FeatureState:
    """A state drawn from the prior, with the numbers of the columns that samplers draw with
    alpha."""
    concentration = rng.standard_exponential() if alpha is None else alpha
    matrix = prior.sample(n, concentration, rng)
    state = with_weights(rng, model, matrix, concentration)
    owners = matrix.sum(0)
    if model.lo == 2:
        state.singles[:] = matrix[:, owners == 1].sum(1)
    if model.hi < n:
        state.whole[FULL] = (owners == n).sum()
    return state


class ToThePrior(FeatureChain):
    """A tempered chain whose hottest level is the prior; it records the log-likelihoods of all
    levels."""

    task: Any
    energies: np.ndarray  # (draws, levels)
    energies: np.ndarray  # (draws, levels)

    def __init__(self, task: Any, rng: np.random.Generator) -> None:
        super().__init__(task, rng)
        self.energies = np.empty((task.draws, len(task.temperatures)))
        self._seen = np.empty(len(task.temperatures))

    def run_until(self, until: int) -> None:
        """Run until this many sweeps of every replica are done and recorded."""
        while self.sweeps < until:
            number, rest = divmod(self.sweeps, self.thin)
            super().run_until(min(until, self.sweeps + self.thin - rest))
            if self.sweeps == (number + 1) * self.thin:
                self._redraw_prior()
                if number >= self.task.tune:
                    self.energies[number - self.task.tune] = self._seen
        super().run_until(until)

    def draws_before(self, last: int) -> ChainDraws:
        with np.errstate(divide="ignore"):  # the temperature of the prior is infinite
            return super().draws_before(last)

    def _redraw_prior(self) -> None:
        """An independent draw from the prior on the last level; the log-likelihoods of all levels
        into `_seen`."""
        raise NotImplementedError


class PriorLadder(ToThePrior):
    """A ladder of one group."""

    states: Any

    def _redraw_prior(self) -> None:
        task = self.task
        new = independent_draw(self.rng, task.model, task.prior, task.n_options, task.alpha)
        columns = new.whole[COLUMNS]
        while capacity(replica(self.states, 0)) <= columns:
            self.states = grown(self.states)
        b = replica(self.states, self.ladder.at[-1])
        b.Z[:columns], b.w[:columns], b.m[:columns] = (
            new.Z[:columns],
            new.w[:columns],
            new.m[:columns],
        )
        b.s[:], b.singles[:] = new.s, new.singles
        b.real[ALPHA], b.whole[COLUMNS], b.whole[FULL] = new.real[ALPHA], columns, new.whole[FULL]
        completed(self.rng, task.model, self.caches, self.states, self.ladder, self._seen)


def first_ladder(energies: np.ndarray) -> np.ndarray:
    """Inverse temperatures in equal ratios, from log-likelihoods of draws from the prior alone.

    On the lowest level above the prior the weights likelihood^beta of prior draws still have half
    their effective size.
    """
    logs = energies[np.isfinite(energies)] - energies.max()

    def share(beta: float) -> float:
        weights = np.exp(beta * logs)
        return float(weights.sum() ** 2 / (weights**2).sum() / energies.size)

    low, high = -40.0, 0.0  # of log beta
    if share(1.0) >= OVERLAP:
        return np.array([1.0, 0.0])
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if share(math.exp(middle)) >= OVERLAP else (low, middle)
    gaps = math.ceil(-low / math.log(RATIO))
    return np.append(np.exp(np.linspace(0.0, low, gaps + 1)), 0.0)


def placed(beta: np.ndarray, energies: np.ndarray) -> np.ndarray:
    """Inverse temperatures between which the log-likelihood's standard deviation times the gap is
    about STEP.

    The standard deviation at any inverse temperature is that of all draws, weighted.
    """
    a = -estimate_constants(beta, energies, 1).log_z
    logs = energies[np.isfinite(energies)]
    mixture = np.logaddexp.reduce(a[:, None] + beta[:, None] * logs, axis=0)
    grid = np.append(0.0, np.geomspace(0.01 * beta[-2], 1.0, GRID))
    sd = np.empty(grid.size)
    for g, at in enumerate(grid):
        weights = at * logs - mixture
        weights = np.exp(weights - weights.max())
        weights /= weights.sum()
        sd[g] = math.sqrt(float(weights @ (logs - weights @ logs) ** 2))
    way = np.append(0.0, np.cumsum(0.5 * (sd[1:] + sd[:-1]) * np.diff(grid)))
    gaps = int(min(max(1, math.ceil(way[-1] / STEP)), MAX_LEVELS - 1))
    return np.append(np.interp(np.linspace(way[-1], 0.0, gaps + 1)[:-1], way, grid), 0.0)


def on_ladder(
    task: Any, beta: np.ndarray, ladders: int, seed: Any, made_of: Any = PriorLadder
) -> list[Any]:
    """Independent ladders of these levels, each at its start; `made_of`: their class."""
    with np.errstate(divide="ignore"):
        levels = replace(task, temperatures=tuple(1.0 / beta), lengthens=False)
    return [made_of(levels, rng) for rng in spawn_generators(seed, ladders)]
