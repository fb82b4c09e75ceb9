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

from .index_arithmetic import iterate_slices
from .maximisation import Concave, maximise_concave
from .numerics.weight_shares import scale_to_maximum

CHUNK = 1 << 16  # draws whose probabilities are in memory at a time
# share of the information that is added, against division by zero between separate levels
RIDGE = 1e-12


class NormalisingConstants(NamedTuple):
    """Log normalising constants of all temperatures, and influences of blocks of draws."""

    log_z: np.ndarray  # (levels,) of prior x likelihood^beta; 0 on the last level
    influence: np.ndarray  # (ladders, blocks, levels); sums to 0 over blocks


def estimate_constants(
    beta: np.ndarray, log_likelihoods: np.ndarray, n_blocks: int
) -> NormalisingConstants:
    """Estimate log Z at all temperatures from log-likelihoods.

    `log_likelihoods` has shape (ladders, draws, levels): one ladder is one set of tempered chains.
    """
    shape = log_likelihoods.shape
    n_draws = math.prod(shape[:2])
    n_levels = shape[2]

    def evaluate(a: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the MBAR objective with gradient and Hessian, per draw and level."""
        objective = 0.0
        gradient = np.full(n_levels, float(n_draws))
        information = np.zeros((n_levels, n_levels))
        for _, log_weight in _iterate_log_weights(beta, log_likelihoods, np.append(a, 0.0)):
            max_log_weight = log_weight.max(axis=1, keepdims=True)
            p = np.exp(log_weight - max_log_weight)
            row_sums = p.sum(axis=1, keepdims=True)
            p /= row_sums
            objective -= float((max_log_weight + np.log(row_sums)).sum())
            gradient -= p.sum(axis=0)
            information -= p.T @ p
            information[np.diag_indices(n_levels)] += p.sum(axis=0)
        objective += n_draws * a.sum()
        information[np.diag_indices(n_levels)] += RIDGE * n_draws
        scale = 1.0 / (n_draws * n_levels)
        return objective * scale, gradient[:-1] * scale, information[:-1, :-1] * scale

    maximum = maximise_concave(Concave(evaluate), _estimate_start(beta, log_likelihoods)[:-1])
    a = maximum.where
    information = maximum.information * n_draws * n_levels
    scores = np.zeros((shape[0], n_blocks, n_levels))
    block_of_draw = np.arange(shape[1]) * n_blocks // shape[1]
    for (ladder_indices, draw_indices, level_indices), log_weight in _iterate_log_weights(
        beta, log_likelihoods, np.append(a, 0.0)
    ):
        p = scale_to_maximum(log_weight)
        p /= -p.sum(axis=1, keepdims=True)
        p[np.arange(len(p)), level_indices] += 1.0
        np.add.at(scores, (ladder_indices, block_of_draw[draw_indices]), p)
    influence = np.zeros_like(scores)
    influence[..., :-1] = -np.linalg.solve(
        information, scores[..., :-1].reshape(-1, n_levels - 1).T
    ).T.reshape(*scores.shape[:2], -1)
    return NormalisingConstants(-np.append(a, 0.0), influence)


def _iterate_log_weights(
    beta: np.ndarray, log_likelihoods: np.ndarray, a: np.ndarray
) -> Iterator[tuple[tuple[np.ndarray, ...], np.ndarray]]:
    """Yield, for blocks of draws, their indices and log weights at all temperatures."""
    flat_log_likelihoods = log_likelihoods.ravel()
    for draws in iterate_slices(len(flat_log_likelihoods), 1, CHUNK):
        with np.errstate(invalid="ignore"):
            tempered_log_likelihoods = np.where(
                beta == 0.0, 0.0, beta * flat_log_likelihoods[draws, None]
            )
        yield (
            np.unravel_index(np.arange(draws.start, draws.stop), log_likelihoods.shape),
            a + tempered_log_likelihoods,
        )


def _estimate_start(beta: np.ndarray, log_likelihoods: np.ndarray) -> np.ndarray:
    """Return -log Z at all temperatures from averages over neighbouring ones."""
    log_ratios = []
    for t in range(beta.size - 1):
        temperature_step = beta[t] - beta[t + 1]
        next_log_likelihoods = log_likelihoods[..., t + 1].ravel()
        own_log_likelihoods = log_likelihoods[..., t].ravel()
        log_ratios.append(
            0.5
            * (
                log_mean_exp(temperature_step * next_log_likelihoods)
                - log_mean_exp(-temperature_step * own_log_likelihoods)
            )
        )
    return -np.append(np.cumsum(log_ratios[::-1])[::-1], 0.0)


def log_mean_exp(logs: np.ndarray) -> float:
    """Return ln of the mean of exp(logs), without overflow."""
    maximum = float(logs.max())
    if not math.isfinite(maximum):
        return maximum
    return maximum + math.log(float(np.mean(np.exp(logs - maximum))))
