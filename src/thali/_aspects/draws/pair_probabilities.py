"""Choice probabilities of pairs at posterior draws, in NumPy."""

from collections.abc import Iterator

import numpy as np

from thali._inference.index_arithmetic import iterate_slices
from thali._inference.numerics.weight_shares import divide_positive, mix_with_guess

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
    i = np.asarray(i, dtype=np.intp)
    j = np.asarray(j, dtype=np.intp)
    n_options = features.shape[-1]
    if n_options * n_options <= 4 * len(
        i
    ):  # with most pairs required, matrix products of all pairs are fast
        all_advantages = _compute_all_advantages(features, weights)
        first_advantage = all_advantages[:, i, j]
        second_advantage = all_advantages[:, j, i]
    else:
        first_advantage = np.zeros((len(features), len(i)))
        second_advantage = np.zeros_like(first_advantage)
        for k in range(features.shape[1]):
            has_first = features[:, k, i]
            has_second = features[:, k, j]
            weight = weights[:, k, None]
            first_advantage += np.where(has_first & ~has_second, weight, 0.0)
            second_advantage += np.where(has_second & ~has_first, weight, 0.0)
    return first_advantage + unique_weights[:, i], second_advantage + unique_weights[:, j]


def _compute_all_advantages(features: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return sum_k w_k f_ik (1 - f_jk) for all i, j."""
    # Products are computed for draws of one size, so that rounding does not depend on other draws.
    n_slots = (features.any(axis=2) * np.arange(1, features.shape[1] + 1)).max(axis=1, initial=0)
    advantages = np.empty((len(features), features.shape[2], features.shape[2]))
    for used_slots in np.flatnonzero(np.bincount(n_slots)):
        draw_indices = np.flatnonzero(n_slots == used_slots)
        ownership = features[draw_indices, :used_slots]
        advantages[draw_indices] = (ownership * weights[draw_indices, :used_slots, None]).transpose(
            0, 2, 1
        ) @ (~ownership).astype(float)
    return advantages


def compute_choice_probability(
    first_advantage: np.ndarray, second_advantage: np.ndarray, lapse: float
) -> np.ndarray:
    """Return the probability that i is chosen over j, from the two advantages.

    p̃ = (1 - ε) A_ij / (A_ij + A_ji) + ε/2, the fraction being 1/2 where both are 0
    """
    first_share = divide_positive(first_advantage, first_advantage + second_advantage, 0.5)
    return mix_with_guess(first_share, lapse)


def iterate_advantages(
    feature_columns: FeatureColumns, i: np.ndarray, j: np.ndarray
) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Yield (draws, i's advantage, j's advantage) for blocks of draws."""
    option_indices, pair_positions = np.unique(np.concatenate([i, j]), return_inverse=True)
    i, j = np.split(pair_positions, 2)
    max_features = int(feature_columns.n_features.max(initial=0))
    n_selected = len(option_indices)
    n_numbers = max_features * n_selected + min(n_selected * n_selected, 4 * len(i)) + len(i)
    for draw_slice in iterate_slices(feature_columns.n_draws, n_numbers):
        features, weights = feature_columns.to_dense(
            draw_slice.start, draw_slice.stop, option_indices
        )
        unique_weights = feature_columns.unique_weights[draw_slice][:, option_indices]
        yield draw_slice, *compute_advantages(features, weights, unique_weights, i, j)


def iterate_probabilities(
    feature_columns: FeatureColumns,
    i: np.ndarray,
    j: np.ndarray,
    lapse: float,
    covariate_offsets: CovariateOffsets | None = None,
) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Yield (draws, P(i over j), P(j over i)) for blocks of draws."""
    for draw_slice, first_advantage, second_advantage in iterate_advantages(
        feature_columns, np.asarray(i), np.asarray(j)
    ):
        if covariate_offsets is not None:
            first_advantage, second_advantage = multiply_first_advantage(
                first_advantage, second_advantage, covariate_offsets.log_odds(draw_slice)
            )
        # The reverse probability has its own formula: 1 - p would lose digits of a small one.
        yield (
            draw_slice,
            compute_choice_probability(first_advantage, second_advantage, lapse),
            compute_choice_probability(second_advantage, first_advantage, lapse),
        )


def compute_probability_draws(
    feature_columns: FeatureColumns,
    i: np.ndarray,
    j: np.ndarray,
    lapse: float,
    covariate_offsets: CovariateOffsets | None = None,
) -> np.ndarray:
    """Return the probability of choosing i over j, shape (n_draws, n_pairs)."""
    probabilities = np.empty((feature_columns.n_draws, len(i)))
    for draw_slice, p_first, _ in iterate_probabilities(
        feature_columns, i, j, lapse, covariate_offsets
    ):
        probabilities[draw_slice] = p_first
    return probabilities


def compute_mean_probabilities(
    feature_columns: FeatureColumns,
    i: np.ndarray,
    j: np.ndarray,
    lapse: float,
    covariate_offsets: CovariateOffsets | None = None,
) -> np.ndarray:
    """Return the posterior mean probability of choosing i over j, shape (n_pairs,)."""
    summed_probability = np.zeros(len(i))
    for _, p_first, _ in iterate_probabilities(feature_columns, i, j, lapse, covariate_offsets):
        summed_probability += p_first.sum(axis=0)
    return summed_probability / feature_columns.n_draws
