"""Normalising constants of tempered densities, from draws of all of them (the multistate acceptance
ratio).

Shirts & Chodera (2008), Statistically optimal analysis of samples from multiple equilibrium states.
As many draws come from each level t, whose density is prior x likelihood^beta[t] / Z[t]. Given all
draws, and not which came from which level, a draw x belongs to level t with probability p[t](x)
proportional to likelihood(x)^beta[t] / Z[t]; log Z maximises the likelihood of the levels that the
draws came from, as in a multinomial logit without covariates.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .optimise import Concave, maximum

CHUNK = 1 << 16  # draws whose probabilities are in memory at a time
# share of the information that is added, so that levels without any overlap divide by no zero
RIDGE = 1e-12


class Combined(NamedTuple):
    """Normalising constants, and what every block of draws contributes to their error."""

    log_z: np.ndarray  # (levels,) of prior x likelihood^beta; 0 on the last level
    influence: np.ndarray  # (ladders, blocks, levels) of each block: they sum to 0 over blocks


def combined(beta: np.ndarray, energies: np.ndarray, blocks: int) -> Combined:
    """Combine the draws (ladders, draws, levels) of all levels."""
    shape = energies.shape
    total, size = math.prod(shape[:2]), shape[2]

    def at(a: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        value, gradient, information = 0.0, np.full(size, float(total)), np.zeros((size, size))
        for _, log_weight in _weights(beta, energies, np.append(a, 0.0)):
            top = log_weight.max(axis=1, keepdims=True)
            p = np.exp(log_weight - top)
            sums = p.sum(axis=1, keepdims=True)
            p /= sums
            value -= float((top + np.log(sums)).sum())
            gradient -= p.sum(axis=0)
            information -= p.T @ p
            information[np.diag_indices(size)] += p.sum(axis=0)
        value += total * a.sum()
        information[np.diag_indices(size)] += RIDGE * total
        scale = 1.0 / (total * size)
        return value * scale, gradient[:-1] * scale, information[:-1, :-1] * scale

    top = maximum(Concave(at), _start(beta, energies)[:-1])
    a, information = top.where, top.information * total * size
    score = np.zeros((shape[0], blocks, size))
    of_draw = np.arange(shape[1]) * blocks // shape[1]
    for (ladders, draws, levels), log_weight in _weights(beta, energies, np.append(a, 0.0)):
        p = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
        p /= -p.sum(axis=1, keepdims=True)
        p[np.arange(len(p)), levels] += 1.0
        np.add.at(score, (ladders, of_draw[draws]), p)
    influence = np.zeros_like(score)
    influence[..., :-1] = -np.linalg.solve(
        information, score[..., :-1].reshape(-1, size - 1).T
    ).T.reshape(*score.shape[:2], -1)
    return Combined(-np.append(a, 0.0), influence)


def _weights(
    beta: np.ndarray, energies: np.ndarray, a: np.ndarray
) -> Iterator[tuple[tuple[np.ndarray, ...], np.ndarray]]:
    """For some draws at a time: (ladder, draw, level) they came from, and a[t] + log density at t,
    (draws, levels)."""
    flat = energies.ravel()
    for first in range(0, len(flat), CHUNK):
        with np.errstate(invalid="ignore"):
            some = np.where(beta == 0.0, 0.0, beta * flat[first : first + CHUNK, None])
        yield np.unravel_index(np.arange(first, first + len(some)), energies.shape), a + some


def _start(beta: np.ndarray, energies: np.ndarray) -> np.ndarray:
    """Minus log Z from neighbours alone: the mean of the exponential averages in either
    direction."""
    steps = []
    for t in range(beta.size - 1):
        step = beta[t] - beta[t + 1]
        up, down = energies[..., t + 1].ravel(), energies[..., t].ravel()
        steps.append(0.5 * (log_mean(step * up) - log_mean(-step * down)))
    return -np.append(np.cumsum(steps[::-1])[::-1], 0.0)


def log_mean(logs: np.ndarray) -> float:
    """The logarithm of the mean of exponentials."""
    top = float(logs.max())
    return top + math.log(float(np.mean(np.exp(logs - top)))) if math.isfinite(top) else top
