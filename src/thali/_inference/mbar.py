"""Normalising constants of tempered densities, by MBAR (multistate Bennett acceptance ratio).

Shirts & Chodera (2008), Statistically optimal analysis of samples from multiple equilibrium states.
Each level t has the same number of draws, from the density prior x likelihood^beta[t] / Z[t]. If
only the pooled draws are given, a draw x belongs to level t with probability p[t](x) proportional
to likelihood(x)^beta[t] / Z[t]. log Z maximises the likelihood of the levels of all draws, as in a
multinomial logit without covariates.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .indexing import iterate_slices
from .numerics.shares import scale_to_maximum
from .optimise import Concave, maximise_concave

CHUNK = 1 << 16  # draws whose probabilities are in memory at a time
# share of the information that is added, against division by zero between separate levels
RIDGE = 1e-12


class NormalisingConstants(NamedTuple):
    """Log normalising constants of all temperatures, and influences of blocks of draws."""

    log_z: np.ndarray  # (levels,) of prior x likelihood^beta; 0 on the last level
    influence: np.ndarray  # (ladders, blocks, levels); sums to 0 over blocks


def estimate_constants(
    beta: np.ndarray, energies: np.ndarray, n_blocks: int
) -> NormalisingConstants:
    """Estimate log Z at all temperatures from log-likelihoods.

    `energies` has shape (ladders, draws, levels): one ladder is one set of tempered chains.
    """
    shape = energies.shape
    n_draws, n_levels = math.prod(shape[:2]), shape[2]

    def evaluate(a: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the MBAR objective with gradient and Hessian, per draw and level."""
        objective, gradient, information = (
            0.0,
            np.full(n_levels, float(n_draws)),
            np.zeros((n_levels, n_levels)),
        )
        for _, log_weight in _iterate_log_weights(beta, energies, np.append(a, 0.0)):
            top = log_weight.max(axis=1, keepdims=True)
            p = np.exp(log_weight - top)
            row_sums = p.sum(axis=1, keepdims=True)
            p /= row_sums
            objective -= float((top + np.log(row_sums)).sum())
            gradient -= p.sum(axis=0)
            information -= p.T @ p
            information[np.diag_indices(n_levels)] += p.sum(axis=0)
        objective += n_draws * a.sum()
        information[np.diag_indices(n_levels)] += RIDGE * n_draws
        scale = 1.0 / (n_draws * n_levels)
        return objective * scale, gradient[:-1] * scale, information[:-1, :-1] * scale

    peak = maximise_concave(Concave(evaluate), _estimate_start(beta, energies)[:-1])
    a, information = peak.where, peak.information * n_draws * n_levels
    score = np.zeros((shape[0], n_blocks, n_levels))
    block_index = np.arange(shape[1]) * n_blocks // shape[1]
    for (ladders, draws, levels), log_weight in _iterate_log_weights(
        beta, energies, np.append(a, 0.0)
    ):
        p = scale_to_maximum(log_weight)
        p /= -p.sum(axis=1, keepdims=True)
        p[np.arange(len(p)), levels] += 1.0
        np.add.at(score, (ladders, block_index[draws]), p)
    influence = np.zeros_like(score)
    influence[..., :-1] = -np.linalg.solve(
        information, score[..., :-1].reshape(-1, n_levels - 1).T
    ).T.reshape(*score.shape[:2], -1)
    return NormalisingConstants(-np.append(a, 0.0), influence)


def _iterate_log_weights(
    beta: np.ndarray, energies: np.ndarray, a: np.ndarray
) -> Iterator[tuple[tuple[np.ndarray, ...], np.ndarray]]:
    """Yield, for blocks of draws, their indices and log weights at all temperatures."""
    flat = energies.ravel()
    for draws in iterate_slices(len(flat), 1, CHUNK):
        with np.errstate(invalid="ignore"):
            tempered = np.where(beta == 0.0, 0.0, beta * flat[draws, None])
        yield (
            np.unravel_index(np.arange(draws.start, draws.stop), energies.shape),
            a + tempered,
        )


def _estimate_start(beta: np.ndarray, energies: np.ndarray) -> np.ndarray:
    """Return -log Z at all temperatures from averages over neighbouring ones."""
    steps = []
    for t in range(beta.size - 1):
        step = beta[t] - beta[t + 1]
        up, down = energies[..., t + 1].ravel(), energies[..., t].ravel()
        steps.append(0.5 * (log_mean_exp(step * up) - log_mean_exp(-step * down)))
    return -np.append(np.cumsum(steps[::-1])[::-1], 0.0)


def log_mean_exp(logs: np.ndarray) -> float:
    """Return ln of the mean of exp(logs), without overflow."""
    top = float(logs.max())
    if not math.isfinite(top):
        return top
    return top + math.log(float(np.mean(np.exp(logs - top))))
