"""Draws of worths from the Laplace grid, corrected by chains where the density is skewed."""

import copy
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .hamiltonian_chains import HamiltonianSampler, adapt_step
from .laplace_approximation import Marginal
from .posterior_density import WORTHS, Spreads
from .prior_sd_moves import ScaleState, move_spreads

# up to this asymmetry, mirrored draws have rank probabilities to within 0.01
MAX_ASYMMETRY = 0.5
# limits of coordinates and rows for Metropolis steps, their number in a round and length
_MAX_STEP_SIZE = 20
_MAX_STEP_ROWS = 400
_N_STEPS = 20
_STEP_LENGTH = 0.7
_SKEW_FACTOR = 4  # of rounds if the density is skewed: ends within 0.1 standard deviations
_N_CHAINS = 48
_N_CHAINS_OF_MANY = 16
_MANY_OPTIONS = 1_000
# first and largest number of sweeps; largest drift of the median log spread, in deviations
_FIRST_SWEEPS = 40
_FIRST_SWEEPS_OF_TARGET = 120  # scales of other judges move slowly
_MAX_SWEEPS = 640
_MAX_DRIFT = 0.2
_MAX_SWEEP_ROWS = 100_000  # with more, chains take minutes, and mirrored draws are used
_MAX_SWEEP_TERMS = 1 << 24  # rows times chains times sweeps; with more, sweeps are not doubled


class PosteriorSample(NamedTuple):
    """Draws of parameter vectors (size, n_draws) and of prior sds."""

    points: np.ndarray  # (size, draws)
    spreads: Spreads


def sample_posterior(marginal: Marginal, rng: np.random.Generator, n_draws: int) -> PosteriorSample:
    """Draw from the posterior by the method that suits its size and skewness.

    Metropolis steps where coordinates are few, chains where the density is skew, else the lattice.
    """
    density = marginal.density
    if density.has_target:  # products of worths and discriminations are skew
        state = _sample_by_sweeps(marginal, rng)
    elif density.size <= _MAX_STEP_SIZE and density.n_terms <= _MAX_STEP_ROWS:
        state = _sample_by_steps(marginal, rng, n_draws)
    elif density.n_terms <= _MAX_SWEEP_ROWS and marginal.measure_asymmetry(rng) > MAX_ASYMMETRY:
        state = _sample_by_sweeps(marginal, rng)
    else:
        points, log_sds = marginal.draw_points(rng, n_draws)
        return PosteriorSample(points, Spreads(*np.exp(log_sds)))
    return PosteriorSample(state.points, state.spreads)


class _GridRoots(NamedTuple):
    """Modes of all grid points, with roots of their covariances."""

    roots: np.ndarray  # (points, size, size)
    inverses: np.ndarray  # of the roots
    modes: np.ndarray  # (points, size)


def _sample_by_steps(marginal: Marginal, rng: np.random.Generator, n_draws: int) -> ScaleState:
    """Correct Laplace draws by preconditioned Crank-Nicolson steps, in rounds of 20."""
    # A chain leaves its state after one to eight rounds, and after each of as many more, less one.
    n_rounds = 1
    if not marginal.learned:  # moves of spreads would help tails
        n_rounds *= 2
    # normal proposals seldom reach heavy tails; a copy of `rng` leaves other draws unchanged
    if marginal.measure_asymmetry(copy.deepcopy(rng)) > MAX_ASYMMETRY:
        n_rounds *= _SKEW_FACTOR
    roots, modes = marginal.covariance_roots()
    grid = _GridRoots(roots, np.linalg.inv(roots), modes)
    n_chains = -(-n_draws // n_rounds)
    state = ScaleState.from_points(marginal.density, *marginal.draw_points(rng, n_chains))
    states = []
    for n_steps in [n_rounds * _N_STEPS, *[_N_STEPS] * (n_rounds - 1)]:
        for _ in range(n_steps):
            state = _step_towards_mode(marginal, rng, grid, state)
        states.append(state)
    return _join_states(states)


def _step_towards_mode(
    marginal: Marginal, rng: np.random.Generator, grid: _GridRoots, state: ScaleState
) -> ScaleState:
    """Make one preconditioned Crank-Nicolson step and move the prior sds."""
    # h' = sqrt(1 - beta^2) h + beta xi, xi ~ Normal(0, H^-1), beta = 0.7; h is the deviation from
    # the mode at the lattice point nearest to the standard deviations, which the step leaves fixed,
    # and H the curvature there (Cotter, Roberts, Stuart & White 2013, MCMC methods for functions).
    density = marginal.density
    nearest_points = marginal.nearest_points(state.logs)
    nearest_modes = grid.modes[nearest_points].T
    nearest_roots = grid.roots[nearest_points]
    nearest_inverses = grid.inverses[nearest_points]
    h = state.points - nearest_modes
    xi = np.einsum("dij,jd->id", nearest_roots, rng.standard_normal(h.shape))
    h_new = np.sqrt(1.0 - _STEP_LENGTH**2) * h + _STEP_LENGTH * xi * density.is_free[:, None]
    proposal = ScaleState.from_points(density, nearest_modes + h_new, state.logs)
    log_ratio = proposal.likelihood + density.log_priors(proposal.points, state.spreads)
    log_ratio -= state.likelihood + density.log_priors(state.points, state.spreads)
    for half, deviation in ((0.5, h_new), (-0.5, h)):  # ratio of the normal proposals
        log_ratio += half * (np.einsum("dij,jd->id", nearest_inverses, deviation) ** 2).sum(axis=0)
    state = state.accept_where(-rng.standard_exponential(h.shape[1]) < log_ratio, proposal)
    return move_spreads(rng, density, state, marginal.learned)


def _join_states(states: Sequence[ScaleState]) -> ScaleState:
    """Return the states of chains at several times as one of more chains."""
    return ScaleState(*(np.concatenate(arrays, axis=-1) for arrays in zip(*states, strict=True)))


def _sample_by_sweeps(marginal: Marginal, rng: np.random.Generator) -> ScaleState:
    """Run Hamiltonian chains from Laplace draws; return the second half."""
    # The number of sweeps doubles while the spread drifts.
    density = marginal.density
    sampler = HamiltonianSampler(marginal)
    n_chains = _N_CHAINS
    if density.n_options > _MANY_OPTIONS:
        n_chains = _N_CHAINS_OF_MANY
    state = ScaleState.from_points(density, *marginal.draw_points(rng, n_chains))
    states = []
    n_sweeps = _FIRST_SWEEPS
    if density.has_target:
        n_sweeps = _FIRST_SWEEPS_OF_TARGET
    while True:
        for _ in range(n_sweeps - len(states)):
            state, acceptance = sampler.sweep(rng, state)
            if len(states) < _FIRST_SWEEPS // 2:
                sampler.step = adapt_step(sampler.step, acceptance)
            states.append(state)
        log_spreads = np.array([past_state.logs[WORTHS] for past_state in states[n_sweeps // 2 :]])
        early_spreads = log_spreads[: n_sweeps // 4]
        late_spreads = log_spreads[n_sweeps // 4 :]
        drift = abs(np.median(late_spreads) - np.median(early_spreads))
        is_still = WORTHS not in marginal.learned or drift <= _MAX_DRIFT * log_spreads.std()
        if (
            is_still
            or 2 * n_sweeps > _MAX_SWEEPS
            or 2 * n_sweeps * n_chains * density.n_terms > _MAX_SWEEP_TERMS
        ):
            return _join_states(states[n_sweeps // 2 :])
        n_sweeps *= 2
