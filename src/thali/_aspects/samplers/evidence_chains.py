"""Tempered chains from the posterior down to the prior, for the evidence.

The last level has inverse temperature 0. Its state is replaced after every record by an independent
draw from the prior; swaps with its neighbours carry these draws upwards.
"""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._compile.jit import kernel
from thali._inference.mbar import estimate_constants
from thali._inference.numerics.weight_shares import softmax
from thali._inference.random_seeds import spawn_generators

from ..chain_state import (
    ALPHA,
    COLUMNS,
    FULL,
    ChainModel,
    FeatureState,
    capacity,
    double_capacity,
    replica,
)
from ..kernel_operations import log_likelihood, rebuild_cache, select_cache
from .chains import FeatureChain, SamplingTask
from .draw_record import RecordedDraws
from .sweep_bookkeeping import build_state_with_weights, prepare_state, sample_alpha

if TYPE_CHECKING:
    from ..priors.prior_from_argument import FeaturePrior
    from .tempering import Ladder


# standard deviation of the log-likelihood times the gap between neighbouring levels
LEVEL_SPACING = 1.0
FIRST_RATIO = 1.7  # ratio of neighbouring inverse temperatures of the first ladder
# effective share of prior draws on the lowest level of the first ladder above the prior
PRIOR_OVERLAP = 0.5
MAX_LEVELS = 400
GRID_POINTS = 400  # inverse temperatures at which the standard deviation is computed


@kernel
def update_energies(
    rng: np.random.Generator,
    model: ChainModel,
    caches: Any,
    states: FeatureState,
    ladder: "Ladder",
    energy: np.ndarray,
) -> None:
    """Write the log-likelihood at every temperature to `energy`, after a new prior draw."""
    prior_replica = ladder.at[-1]
    prepare_state(model, replica(states, prior_replica))
    rebuild_cache(
        model.likelihood,
        select_cache(model.likelihood, caches, prior_replica),
        replica(states, prior_replica),
    )
    for t in range(ladder.beta.size):
        level_replica = ladder.at[t]
        energy[t] = log_likelihood(
            model.likelihood,
            select_cache(model.likelihood, caches, level_replica),
            replica(states, level_replica),
        )


def sample_prior_state(
    rng: np.random.Generator,
    model: ChainModel,
    prior: "FeaturePrior",
    n_options: int,
    alpha: float | None,
) -> FeatureState:
    """Sample a state from the prior, with all features that samplers draw with alpha."""
    concentration = sample_alpha(rng, alpha)
    ownership = prior.sample(n_options, concentration, rng)
    state = build_state_with_weights(rng, model, ownership, concentration)
    n_owners = ownership.sum(0)
    if model.lo == 2:
        state.singles[:] = ownership[:, n_owners == 1].sum(1)
    if model.hi < n_options:
        state.whole[FULL] = (n_owners == n_options).sum()
    return state


def copy_prior_state(prior_state: FeatureState, b: FeatureState) -> None:
    """Copy features, unique weights and alpha of a prior draw into another state."""
    n_columns = prior_state.whole[COLUMNS]
    b.Z[:n_columns] = prior_state.Z[:n_columns]
    b.w[:n_columns] = prior_state.w[:n_columns]
    b.m[:n_columns] = prior_state.m[:n_columns]
    b.s[:], b.singles[:] = prior_state.s, prior_state.singles
    b.real[ALPHA] = prior_state.real[ALPHA]
    b.whole[COLUMNS], b.whole[FULL] = n_columns, prior_state.whole[FULL]


class PriorLadder(FeatureChain):
    """A tempered chain down to the prior that records log-likelihoods at all temperatures."""

    task: Any
    states: Any
    energies: np.ndarray  # (draws, levels) log-likelihoods

    def __init__(self, task: SamplingTask, rng: np.random.Generator) -> None:
        super().__init__(task, rng)
        self.energies = np.empty((task.draws, len(task.temperatures)))
        self._level_energies = np.empty(len(task.temperatures))

    def run_until(self, until: int) -> None:
        """Run and record every replica until it has done `until` sweeps."""
        while self.sweeps < until:
            n_rounds, n_extra_sweeps = divmod(self.sweeps, self.thin)
            super().run_until(min(until, self.sweeps + self.thin - n_extra_sweeps))
            if self.sweeps == (n_rounds + 1) * self.thin:
                self._redraw_prior()
                if n_rounds >= self.task.tune:
                    self.energies[n_rounds - self.task.tune] = self._level_energies
        super().run_until(until)

    def collect_draws(self, stop: int) -> RecordedDraws:
        """Return draws before index `stop`, with log-likelihoods at all temperatures."""
        with np.errstate(divide="ignore"):  # the temperature of the prior is infinite
            return super().collect_draws(stop)

    def _redraw_prior(self) -> None:
        """Replace the state at inverse temperature 0 by a prior draw; update energies."""
        task = self.task
        prior_state = sample_prior_state(
            self.rng, task.model, task.prior, task.n_options, task.alpha
        )
        while capacity(replica(self.states, 0)) <= prior_state.whole[COLUMNS]:
            self.states = double_capacity(self.states)
        copy_prior_state(prior_state, replica(self.states, self.ladder.at[-1]))
        update_energies(
            self.rng, task.model, self.caches, self.states, self.ladder, self._level_energies
        )


def place_first_levels(energies: np.ndarray) -> np.ndarray:
    """Choose first inverse temperatures, in equal ratios, from prior log-likelihoods.

    On the lowest level above the prior the weights likelihood^beta of prior draws still have half
    their effective size.
    """
    log_ratios = energies[np.isfinite(energies)] - energies.max()

    def effective_share(beta: float) -> float:
        """Return the effective share of prior draws weighted by likelihood^beta."""
        likelihood_powers = np.exp(beta * log_ratios)
        return float(likelihood_powers.sum() ** 2 / (likelihood_powers**2).sum() / energies.size)

    low_log_beta, high_log_beta = -40.0, 0.0  # of log beta
    if effective_share(1.0) >= PRIOR_OVERLAP:
        return np.array([1.0, 0.0])
    for _ in range(40):
        middle_log_beta = 0.5 * (low_log_beta + high_log_beta)
        if effective_share(math.exp(middle_log_beta)) >= PRIOR_OVERLAP:
            low_log_beta = middle_log_beta
        else:
            high_log_beta = middle_log_beta
    n_gaps = math.ceil(-low_log_beta / math.log(FIRST_RATIO))
    return np.append(np.exp(np.linspace(0.0, low_log_beta, n_gaps + 1)), 0.0)


def place_levels(beta: np.ndarray, energies: np.ndarray) -> np.ndarray:
    """Choose inverse temperatures so that sd(log-likelihood) times each gap is constant.

    The constant is about LEVEL_SPACING. The standard deviation at any inverse temperature is
    computed from all draws, weighted.
    """
    negative_log_z = -estimate_constants(beta, energies, 1).log_z
    log_likelihoods = energies[np.isfinite(energies)]
    log_mixture = np.logaddexp.reduce(
        negative_log_z[:, None] + beta[:, None] * log_likelihoods, axis=0
    )
    beta_grid = np.append(0.0, np.geomspace(0.01 * beta[-2], 1.0, GRID_POINTS))
    sd_by_beta = np.empty(beta_grid.size)
    for grid_index, beta_g in enumerate(beta_grid):
        weights = softmax(beta_g * log_likelihoods - log_mixture)
        sd_by_beta[grid_index] = math.sqrt(
            float(weights @ (log_likelihoods - weights @ log_likelihoods) ** 2)
        )
    cumulative_sd = np.append(
        0.0, np.cumsum(0.5 * (sd_by_beta[1:] + sd_by_beta[:-1]) * np.diff(beta_grid))
    )
    n_gaps = int(min(max(1, math.ceil(cumulative_sd[-1] / LEVEL_SPACING)), MAX_LEVELS - 1))
    return np.append(
        np.interp(np.linspace(cumulative_sd[-1], 0.0, n_gaps + 1)[:-1], cumulative_sd, beta_grid),
        0.0,
    )


def build_ladders(
    task: SamplingTask, beta: np.ndarray, n_ladders: int, seed: np.random.SeedSequence
) -> list[PriorLadder]:
    """Build independent tempered chains with these inverse temperatures."""
    with np.errstate(divide="ignore"):
        ladder_task = replace(task, temperatures=tuple(1.0 / beta), lengthens=False)
    return [PriorLadder(ladder_task, rng) for rng in spawn_generators(seed, n_ladders)]
