"""Moves of scales: of standard deviations, of what has them, and of all discriminations against all worths."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .density import Density, Spreads


class ScaleState(NamedTuple):
    """Where chains stand."""

    points: np.ndarray  # (size, chains)
    logs: np.ndarray  # (3, chains) logs of the standard deviations; NaN for what there is not

    @property
    def spreads(self) -> Spreads:
        """The standard deviations."""
        return Spreads(*np.exp(self.logs))


# Slices ---------------------------------------------------------------------------------------------------------------


_OUT = 20  # steps out on either side


def sliced(
    rng: np.random.Generator, log_density: Callable[[np.ndarray], np.ndarray], here: np.ndarray, width: float
) -> np.ndarray:
    """A draw that leaves each of several densities of one variable invariant (Neal 2003, stepping out)."""
    level = log_density(here) - rng.standard_exponential(here.shape)
    low = here - width * rng.random(here.shape)
    high, left = low + width, np.floor(_OUT * rng.random(here.shape))
    for end, step, room in ((low, -width, left), (high, width, _OUT - 1 - left)):
        for k in range(_OUT):
            outside = (k < room) & (log_density(end) > level)
            if not outside.any():
                break
            end[outside] += step
    found, open_ = here.copy(), np.ones(here.shape, bool)
    while open_.any():
        new = low + (high - low) * rng.random(here.shape)
        inside = log_density(np.where(open_, new, here)) > level
        found = np.where(open_ & inside, new, found)
        open_ &= ~inside
        low, high = np.where(open_ & (new < here), new, low), np.where(open_ & (new >= here), new, high)
    return found


# The moves ------------------------------------------------------------------------------------------------------------


_WIDTH = 1.0  # of slices
_SCALES = math.log(0.02), math.log(2.0)  # least and greatest log standard deviation of steps along scales


def spread_given_points(rng: np.random.Generator, density: Density, state: ScaleState, k: int) -> ScaleState:
    """tau (0), s (1) or v (2) drawn given all else."""
    log_density = density.log_spread_given(state.points, k)
    return state._replace(logs=_with(state.logs, k, sliced(rng, log_density, state.logs[k], _WIDTH)))


def spread_with_points(rng: np.random.Generator, density: Density, state: ScaleState, k: int) -> ScaleState:
    """tau with all log discriminations, s with all changes in time, or v with all biases, larger or smaller."""

    def scaled(c: np.ndarray) -> np.ndarray:
        points = state.points.copy()
        if k != 1:
            points[density.judges if k == 0 else density.bias] *= np.exp(c)
            return points
        worths = points[density.worths].reshape(density.n_periods, density.n_options, -1)
        entering = worths[density.entry, np.arange(density.n_options)]
        worths = np.where(density.present[..., None], entering + np.exp(c) * (worths - entering), 0.0)
        points[density.worths] = worths.reshape(-1, points.shape[1])
        return points

    def log_density(c: np.ndarray) -> np.ndarray:  # the prior of what is scaled, and its volume, cancel
        return density.log_likelihoods(scaled(c)) + density.log_spread_prior(k, state.logs[k] + c)

    c = _step_along(rng, log_density, state.points.shape[1])
    return ScaleState(scaled(c), _with(state.logs, k, state.logs[k] + c))


def sharper(rng: np.random.Generator, density: Density, state: ScaleState, with_drift: bool) -> ScaleState:
    """All discriminations up, all differences of worths down, and s `with_drift`; the likelihood sees nothing of it."""
    is_moved = np.flatnonzero(density.present.ravel())
    mean = state.points[is_moved].mean(axis=0)

    def scaled(c: np.ndarray) -> ScaleState:
        points, logs = state.points.copy(), state.logs.copy()
        points[is_moved] = mean + np.exp(-c) * (points[is_moved] - mean)
        points[density.judges] += c
        logs[1] -= c if with_drift else 0.0
        return ScaleState(points, logs)

    def log_density(c: np.ndarray) -> np.ndarray:
        there = scaled(c)
        found = density.log_priors(there.points, there.spreads) - (len(is_moved) - 1) * c
        return found + density.log_spread_prior(1, there.logs[1]) if with_drift else found

    return scaled(_step_along(rng, log_density, state.points.shape[1]))


def _step_along(rng: np.random.Generator, log_density: Callable[[np.ndarray], np.ndarray], chains: int) -> np.ndarray:
    """A step from 0 by Metropolis' rule, for each chain; 0 if it is not taken."""
    c = rng.standard_normal(chains) * np.exp(rng.uniform(*_SCALES, chains))
    with np.errstate(over="ignore", invalid="ignore"):
        rise = log_density(c) - log_density(np.zeros(chains))
    return np.where(-rng.standard_exponential(chains) < rise, c, 0.0)


def _with(array: np.ndarray, row: int, values: np.ndarray) -> np.ndarray:
    """The array with another row."""
    found = array.copy()
    found[row] = values
    return found
