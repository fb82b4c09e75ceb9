"""Choice probabilities of pairs at posterior draws, in NumPy."""

from collections.abc import Iterator

import numpy as np

from thali._inference.indexing import iterate_slices
from thali._inference.numerics.shares import divide_positive, mix_with_guess

from .covariate_offsets import CovariateOffsets, multiply_first_advantage
from .feature_columns import FeatureColumns


def compute_advantages(
    features: np.ndarray,
    weights: np.ndarray,
    unique_weights: np.ndarray,
    i: np.ndarray,
    j: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return w(i without j) and w(j without i), summed weights of unshared features.

    A_ij = sum_k w_k f_ik (1 - f_jk) + u_i
    """
    i, j = np.asarray(i, dtype=np.intp), np.asarray(j, dtype=np.intp)
    n_options = features.shape[-1]
    if n_options * n_options <= 4 * len(
        i
    ):  # with most pairs required, matrix products of all pairs are fast
        all_advantages = _compute_all_advantages(features, weights)
        ij, ji = all_advantages[:, i, j], all_advantages[:, j, i]
    else:
        ij = np.zeros((len(features), len(i)))
        ji = np.zeros_like(ij)
        for k in range(features.shape[1]):
            has_first, has_second = features[:, k, i], features[:, k, j]
            weight = weights[:, k, None]
            ij += np.where(has_first & ~has_second, weight, 0.0)
            ji += np.where(has_second & ~has_first, weight, 0.0)
    return ij + unique_weights[:, i], ji + unique_weights[:, j]


def _compute_all_advantages(features: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return sum_k w_k f_ik (1 - f_jk) for all i, j."""
    # Products are computed for draws of one size, so that rounding does not depend on other draws.
    sizes = (features.any(axis=2) * np.arange(1, features.shape[1] + 1)).max(axis=1, initial=0)
    advantages = np.empty((len(features), features.shape[2], features.shape[2]))
    for size in np.flatnonzero(np.bincount(sizes)):
        draws = np.flatnonzero(sizes == size)
        owned = features[draws, :size]
        advantages[draws] = (owned * weights[draws, :size, None]).transpose(0, 2, 1) @ (
            ~owned
        ).astype(float)
    return advantages


def compute_choice_probability(ij: np.ndarray, ji: np.ndarray, lapse: float) -> np.ndarray:
    """Return the probability that i is chosen over j, from the two advantages.

    p̃ = (1 - ε) A_ij / (A_ij + A_ji) + ε/2, the fraction being 1/2 where both are 0
    """
    return mix_with_guess(divide_positive(ij, ij + ji, 0.5), lapse)


def iterate_advantages(
    columns: FeatureColumns, i: np.ndarray, j: np.ndarray
) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Yield (draws, i's advantage, j's advantage) for blocks of draws."""
    options, positions = np.unique(np.concatenate([i, j]), return_inverse=True)
    i, j = np.split(positions, 2)
    width, m = int(columns.n_features.max(initial=0)), len(options)
    n_numbers = width * m + min(m * m, 4 * len(i)) + len(i)
    for draws in iterate_slices(columns.n_draws, n_numbers):
        features, weights = columns.to_dense(draws.start, draws.stop, options)
        unique_weights = columns.unique_weights[draws][:, options]
        yield draws, *compute_advantages(features, weights, unique_weights, i, j)


def iterate_probabilities(
    columns: FeatureColumns,
    i: np.ndarray,
    j: np.ndarray,
    lapse: float,
    offsets: CovariateOffsets | None = None,
) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Yield (draws, P(i over j), P(j over i)) for blocks of draws."""
    for draws, ij, ji in iterate_advantages(columns, np.asarray(i), np.asarray(j)):
        if offsets is not None:
            ij, ji = multiply_first_advantage(ij, ji, offsets.log_odds(draws))
        # The reverse probability has its own formula: 1 - p would lose digits of a small one.
        yield (
            draws,
            compute_choice_probability(ij, ji, lapse),
            compute_choice_probability(ji, ij, lapse),
        )


def compute_probability_draws(
    columns: FeatureColumns,
    i: np.ndarray,
    j: np.ndarray,
    lapse: float,
    offsets: CovariateOffsets | None = None,
) -> np.ndarray:
    """Return the probability of choosing i over j, shape (n_draws, n_pairs)."""
    probabilities = np.empty((columns.n_draws, len(i)))
    for draws, p, _ in iterate_probabilities(columns, i, j, lapse, offsets):
        probabilities[draws] = p
    return probabilities


def compute_mean_probabilities(
    columns: FeatureColumns,
    i: np.ndarray,
    j: np.ndarray,
    lapse: float,
    offsets: CovariateOffsets | None = None,
) -> np.ndarray:
    """Return the posterior mean probability of choosing i over j, shape (n_pairs,)."""
    total = np.zeros(len(i))
    for _, p, _ in iterate_probabilities(columns, i, j, lapse, offsets):
        total += p.sum(axis=0)
    return total / columns.n_draws
