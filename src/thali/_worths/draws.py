"""Draws of worths from the lattice, corrected where the density is skew."""

from typing import NamedTuple

import numpy as np

from .chains import Sampler, adapted
from .density import WORTHS, Spreads
from .laplace import Marginal
from .scales import ScaleState, draw_spread, scale_with_spread

# standard deviation of log odds up to which mirrored draws have rank probabilities to within 0.01
SYMMETRIC = 0.5
# coordinates and rows, Metropolis steps and their length
_FEW, _FEW_ROWS, _STEPS, _LENGTH = 20, 400, 20, 0.7
_CHAINS, _FEW_CHAINS, _MANY_OPTIONS = 48, 16, 1_000
# and standard deviations by which the median log spread may move
_SWEEPS, _MOST_SWEEPS, _STILL = 40, 640, 0.2
_MOST_ROWS = 100_000  # above, chains take minutes, and mirrored draws stay
_MOST_TERMS = 1 << 24  # rows times chains times sweeps: above, sweeps are not doubled


class Drawn(NamedTuple):
    """Draws of points."""

    points: np.ndarray  # (size, draws)
    spreads: Spreads


def draw(marginal: Marginal, rng: np.random.Generator, count: int) -> Drawn:
    """Return draws: by Metropolis steps of few coordinates, by chains of a skew density, from the
    lattice otherwise."""
    density = marginal.density
    if density.size <= _FEW and density.n_terms <= _FEW_ROWS:
        state = _by_steps(marginal, rng, count)
    elif density.n_terms <= _MOST_ROWS and marginal.asymmetry(rng) > SYMMETRIC:
        state = _by_sweeps(marginal, rng)
    else:
        points, logs = marginal.draws(rng, count)
        return Drawn(points, Spreads(*np.exp(logs)))
    return Drawn(state.points, state.spreads)


def _by_steps(marginal: Marginal, rng: np.random.Generator, count: int) -> ScaleState:
    """Return draws after 20 steps, each of which draws standard deviations, too, alone and with
    what they spread."""
    # h' = sqrt(1 - beta^2) h + beta xi, xi ~ Normal(0, H^-1), beta = 0.7; h is the deviation from
    # the mode at the lattice point nearest to the standard deviations, which the step leaves fixed,
    # and H the curvature there (Cotter, Roberts, Stuart & White 2013, MCMC methods for functions).
    density = marginal.density
    roots, middles = marginal.roots()
    precisions = np.linalg.inv(roots)
    state = ScaleState.at(density, *marginal.draws(rng, count))
    for _ in range(_STEPS if marginal.learned else 2 * _STEPS):  # moves of spreads help tails
        near = marginal.nearest(state.logs)
        middle, root, whitened = middles[near].T, roots[near], precisions[near]
        away = state.points - middle
        there = np.sqrt(1.0 - _LENGTH**2) * away
        there += (
            _LENGTH
            * np.einsum("dij,jd->id", root, rng.standard_normal(away.shape))
            * density.is_free[:, None]
        )
        ahead = ScaleState.at(density, middle + there, state.logs)
        rise = ahead.likelihood + density.log_priors(ahead.points, state.spreads)
        rise -= state.likelihood + density.log_priors(state.points, state.spreads)
        for sign, each in ((0.5, there), (-0.5, away)):
            rise += sign * (np.einsum("dij,jd->id", whitened, each) ** 2).sum(axis=0)
        state = state.moved_where(-rng.standard_exponential(count) < rise, ahead)
        for k in marginal.learned:
            state = scale_with_spread(rng, density, draw_spread(rng, density, state, k), k)
    return state


def _by_sweeps(marginal: Marginal, rng: np.random.Generator) -> ScaleState:
    """Return the later half of the sweeps of chains that start from the lattice, doubled while the
    spread moves."""
    density, sampler = marginal.density, Sampler(marginal)
    chains = _CHAINS if density.n_options <= _MANY_OPTIONS else _FEW_CHAINS
    state, states = ScaleState.at(density, *marginal.draws(rng, chains)), []
    count = _SWEEPS
    while True:
        for _ in range(count - len(states)):
            state, accepted = sampler.sweep(rng, state)
            if len(states) < _SWEEPS // 2:
                sampler.step = adapted(sampler.step, accepted)
            states.append(state)
        quarter = np.array([each.logs[WORTHS] for each in states[count // 2 :]])
        first, last = quarter[: count // 4], quarter[count // 4 :]
        moved = abs(np.median(last) - np.median(first))
        is_still = WORTHS not in marginal.learned or moved <= _STILL * quarter.std()
        if (
            is_still
            or 2 * count > _MOST_SWEEPS
            or 2 * count * chains * density.n_terms > _MOST_TERMS
        ):
            later = states[count // 2 :]
            return ScaleState(*(np.concatenate(each, axis=-1) for each in zip(*later, strict=True)))
        count *= 2
