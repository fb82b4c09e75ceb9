"""Moves of prior standard deviations, alone and together with their parameters."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .posterior_density import DRIFT, WORTHS, Spreads


class ScaleState(NamedTuple):
    """Parameters, log prior sds and log-likelihood of several chains."""

    points: np.ndarray  # (size, chains)
    logs: np.ndarray  # (4, chains) logs of the standard deviations; NaN where the density has none
    likelihood: np.ndarray  # (chains,)

    @property
    def spreads(self) -> Spreads:
        """Prior standard deviations of each chain."""
        return Spreads(*np.exp(self.logs))

    def accept_where(self, is_accepted: np.ndarray, proposal: "ScaleState") -> "ScaleState":
        """Return the state with the proposal in chains that accepted it."""
        return ScaleState(
            *(np.where(is_accepted, new, old) for new, old in zip(proposal, self, strict=True))
        )

    @classmethod
    def from_points(cls, density: Any, points: np.ndarray, log_sds: np.ndarray) -> "ScaleState":
        """Return the state of chains at these parameters and log sds."""
        with np.errstate(over="ignore", invalid="ignore"):
            return cls(points, log_sds, density.log_likelihoods(points))


# Slices -------------------------------------------------------------------------------------------


_SLICE_WIDTH, _STEPS_OUT = 1.0, 20  # width of slices, and steps out in both directions together


def sample_by_slice(
    rng: np.random.Generator, log_density: Callable[[np.ndarray], np.ndarray], x: np.ndarray
) -> np.ndarray:
    """Update each entry of x by slice sampling with stepping out (Neal 2003)."""
    log_height = log_density(x) - rng.standard_exponential(x.shape)
    low = x - _SLICE_WIDTH * rng.random(x.shape)
    high = low + _SLICE_WIDTH
    steps_low = np.floor(_STEPS_OUT * rng.random(x.shape))
    for interval_end, end_step, n_steps in (
        (low, -_SLICE_WIDTH, steps_low),
        (high, _SLICE_WIDTH, _STEPS_OUT - 1 - steps_low),
    ):
        for k in range(_STEPS_OUT):
            is_outside = (k < n_steps) & (log_density(interval_end) > log_height)
            if not is_outside.any():
                break
            interval_end[is_outside] += end_step
    new_x = x.copy()
    is_open = np.ones(x.shape, bool)
    while is_open.any():
        candidates = low + (high - low) * rng.random(x.shape)
        is_inside = log_density(np.where(is_open, candidates, x)) > log_height
        new_x = np.where(is_open & is_inside, candidates, new_x)
        is_open &= ~is_inside
        low = np.where(is_open & (candidates < x), candidates, low)
        high = np.where(is_open & (candidates >= x), candidates, high)
    return new_x


# The moves ----------------------------------------------------------------------------------------


# range of the log standard deviation of steps along scales
_MIN_LOG_STEP = math.log(0.02)
_MAX_LOG_STEP = math.log(2.0)


def sample_spread(rng: np.random.Generator, density: Any, state: ScaleState, k: int) -> ScaleState:
    """Sample prior sd number k given the parameters, by slice sampling."""
    log_density = density.conditional_log_spread_density(state.points, k)
    return state._replace(
        logs=_replace_row(state.logs, k, sample_by_slice(rng, log_density, state.logs[k]))
    )


def move_spread_with_coordinates(
    rng: np.random.Generator, density: Any, state: ScaleState, k: int
) -> ScaleState:
    """Propose to scale prior sd number k and its parameters by one factor."""
    n_chains = state.points.shape[1]
    old_log_sd = state.logs[k]
    log_factor = rng.standard_normal(n_chains) * np.exp(
        rng.uniform(_MIN_LOG_STEP, _MAX_LOG_STEP, n_chains)
    )
    # the prior of the scaled coordinates cancels with the change of volume
    with np.errstate(over="ignore", invalid="ignore"):
        proposal = ScaleState.from_points(
            density,
            density.scale_coordinates(state.points, k, np.exp(log_factor)),
            _replace_row(state.logs, k, old_log_sd + log_factor),
        )
        log_ratio = proposal.likelihood - state.likelihood
        log_ratio = (
            log_ratio
            + density.log_spread_prior(k, old_log_sd + log_factor)
            - density.log_spread_prior(k, old_log_sd)
        )
    return state.accept_where(-rng.standard_exponential(n_chains) < log_ratio, proposal)


def move_spreads(
    rng: np.random.Generator, density: Any, state: ScaleState, learned: Sequence[int]
) -> ScaleState:
    """Update each learned prior sd, alone and together with its parameters."""
    for k in learned:
        state = sample_spread(rng, density, state, k)
        state = move_spread_with_coordinates(rng, density, state, k)
    if not density.has_target:
        return state
    if {WORTHS, DRIFT}.issubset(learned):
        state = trade_scale_for_discrimination(rng, density, state)
    return trade_scale_of_each_judge(rng, density, state)


def trade_scale_for_discrimination(
    rng: np.random.Generator, density: Any, state: ScaleState
) -> ScaleState:
    """Propose to multiply all worths and divide discriminations by one factor."""
    # Only the target's answers tell the two apart, so a trajectory changes them slowly. The prior
    # of the worths given their standard deviations cancels with the change of volume.
    n_chains = state.points.shape[1]
    log_factor = rng.standard_normal(n_chains) * np.exp(
        rng.uniform(_MIN_LOG_STEP, _MAX_LOG_STEP, n_chains)
    )
    points = density.scale_worths(state.points, log_factor)
    logs = state.logs.copy()
    logs[[WORTHS, DRIFT]] += log_factor
    with np.errstate(over="ignore", invalid="ignore"):
        proposal = ScaleState.from_points(density, points, logs)
        log_ratio = proposal.likelihood - state.likelihood
        for k in (WORTHS, DRIFT):
            log_ratio = (
                log_ratio
                + density.log_spread_prior(k, logs[k])
                - density.log_spread_prior(k, state.logs[k])
            )
        level_squares = points[density.level] ** 2 - state.points[density.level] ** 2
        log_ratio = log_ratio - 0.5 * level_squares
    return state.accept_where(-rng.standard_exponential(n_chains) < log_ratio, proposal)


_N_TRADES = 4  # proposals of each judge, which need no likelihood


def trade_scale_of_each_judge(
    rng: np.random.Generator, density: Any, state: ScaleState
) -> ScaleState:
    """Propose to multiply each judge's worths and divide its discrimination by one factor."""
    # This leaves the log odds of the judge's answers unchanged, so priors alone decide.
    points = state.points.copy()
    worths = density.worths_by_period(points)  # a view
    common = points[density.common]
    log_d = points[density.judges.start : density.level]
    spreads = state.spreads
    for _ in range(_N_TRADES):
        step = np.exp(rng.uniform(_MIN_LOG_STEP, _MAX_LOG_STEP, log_d.shape))
        log_factor = rng.standard_normal(log_d.shape) * step
        proposal = worths * np.exp(log_factor)[:, None]
        squares_change = ((proposal - common) ** 2 - (worths - common) ** 2).sum(axis=1)
        log_d_change = (log_d - log_factor) ** 2 - log_d**2
        log_ratio = (
            density.n_options * log_factor
            - 0.5 * squares_change / spreads.drift**2
            - 0.5 * log_d_change / spreads.judges**2
        )
        is_accepted = -rng.standard_exponential(log_d.shape) < log_ratio
        worths[...] = np.where(is_accepted[:, None], proposal, worths)
        log_d[...] = np.where(is_accepted, log_d - log_factor, log_d)
    return state._replace(points=points)


def _replace_row(array: np.ndarray, row_index: int, values: np.ndarray) -> np.ndarray:
    """Return a copy of an array with one row replaced."""
    changed_array = array.copy()
    changed_array[row_index] = values
    return changed_array
