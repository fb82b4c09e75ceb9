"""Moves of scales: of standard deviations, and of these with what they spread."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .density import Density, Spreads


class ScaleState(NamedTuple):
    """The state of chains."""

    points: np.ndarray  # (size, chains)
    logs: np.ndarray  # (4, chains) logs of the standard deviations; NaN where the density has none
    likelihood: np.ndarray  # (chains,)

    @property
    def spreads(self) -> Spreads:
        """The standard deviations."""
        return Spreads(*np.exp(self.logs))

    def moved_where(self, taken: np.ndarray, ahead: "ScaleState") -> "ScaleState":
        """Return another state where a move is taken."""
        return ScaleState(
            *(np.where(taken, new, old) for new, old in zip(ahead, self, strict=True))
        )

    @classmethod
    def at(cls, density: Density, points: np.ndarray, logs: np.ndarray) -> "ScaleState":
        """Return the state at points."""
        with np.errstate(over="ignore", invalid="ignore"):
            return cls(points, logs, density.log_likelihoods(points))


# Slices -------------------------------------------------------------------------------------------


_WIDTH, _OUT = 1.0, 20  # of slices, and steps out on either side


def sliced(
    rng: np.random.Generator, log_density: Callable[[np.ndarray], np.ndarray], here: np.ndarray
) -> np.ndarray:
    """A draw that leaves each of several densities of one variable invariant (Neal 2003, stepping
    out)."""
    level = log_density(here) - rng.standard_exponential(here.shape)
    low = here - _WIDTH * rng.random(here.shape)
    high, left = low + _WIDTH, np.floor(_OUT * rng.random(here.shape))
    for end, step, room in ((low, -_WIDTH, left), (high, _WIDTH, _OUT - 1 - left)):
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
        low, high = (
            np.where(open_ & (new < here), new, low),
            np.where(open_ & (new >= here), new, high),
        )
    return found


# The moves ----------------------------------------------------------------------------------------


# least and greatest log standard deviation of steps along scales
_SCALES = math.log(0.02), math.log(2.0)


def draw_spread(
    rng: np.random.Generator, density: Density, state: ScaleState, k: int
) -> ScaleState:
    """Draw the standard deviation k given all else."""
    log_density = density.conditional_log_spread_density(state.points, k)
    return state._replace(logs=_with(state.logs, k, sliced(rng, log_density, state.logs[k])))


def scale_with_spread(
    rng: np.random.Generator, density: Density, state: ScaleState, k: int
) -> ScaleState:
    """Move the standard deviation k together with all that it spreads, by Metropolis' rule."""
    count, old = state.points.shape[1], state.logs[k]
    c = rng.standard_normal(count) * np.exp(rng.uniform(*_SCALES, count))
    # the prior of what is scaled, and its volume, cancel
    with np.errstate(over="ignore", invalid="ignore"):
        ahead = ScaleState.at(
            density,
            density.scale_coordinates(state.points, k, np.exp(c)),
            _with(state.logs, k, old + c),
        )
        rise = ahead.likelihood - state.likelihood
        rise = rise + density.log_spread_prior(k, old + c) - density.log_spread_prior(k, old)
    return state.moved_where(-rng.standard_exponential(count) < rise, ahead)


def _with(array: np.ndarray, row: int, values: np.ndarray) -> np.ndarray:
    """Return the array with another row."""
    found = array.copy()
    found[row] = values
    return found
