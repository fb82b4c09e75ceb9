"""Choice probabilities of posterior draws, in plain NumPy: many draws and many pairs at once."""

from collections.abc import Iterator

import numpy as np

from thali._inference.indexing import iterate_slices

from .columns import FeatureColumns
from .covariates import Lift, lifted


def advantages(
    features: np.ndarray,
    weights: np.ndarray,
    unique_weights: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Weight of what each option of a pair has and the other lacks.

    A_ij = sum_k w_k f_ik (1 - f_jk) + u_i
    """
    first, second = np.asarray(first, dtype=np.intp), np.asarray(second, dtype=np.intp)
    n = features.shape[-1]
    if n * n <= 4 * len(first):  # most pairs are wanted: matrix products have them all
        everything = _all_advantages(features, weights)
        ij, ji = everything[:, first, second], everything[:, second, first]
    else:
        ij = np.zeros((len(features), len(first)))
        ji = np.zeros_like(ij)
        for k in range(features.shape[1]):
            of_first, of_second = features[:, k, first], features[:, k, second]
            weight = weights[:, k, None]
            ij += np.where(of_first & ~of_second, weight, 0.0)
            ji += np.where(of_second & ~of_first, weight, 0.0)
    return ij + unique_weights[:, first], ji + unique_weights[:, second]


def _all_advantages(features: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """sum_k w_k f_ik (1 - f_jk) of all i, j; a draw's products have its own size, and rounding
    knows no other draws."""
    sizes = (features.any(axis=2) * np.arange(1, features.shape[1] + 1)).max(axis=1, initial=0)
    found = np.empty((len(features), features.shape[2], features.shape[2]))
    for size in np.flatnonzero(np.bincount(sizes)):
        draws = np.flatnonzero(sizes == size)
        owned = features[draws, :size]
        found[draws] = (owned * weights[draws, :size, None]).transpose(0, 2, 1) @ (~owned).astype(
            float
        )
    return found


def lapsing(ij: np.ndarray, ji: np.ndarray, lapse: float) -> np.ndarray:
    """Probability that i is chosen, from the two advantages.

    p̃ = (1 - ε) A_ij / (A_ij + A_ji) + ε/2, the fraction being 1/2 where both are 0
    """
    total = ij + ji
    fraction = np.divide(ij, total, out=np.full(np.shape(total), 0.5), where=total > 0)
    return (1 - lapse) * fraction + lapse / 2


def advantage_blocks(
    columns: FeatureColumns, first: np.ndarray, second: np.ndarray
) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """The two advantages of each pair, block of draws by block of draws, so that memory stays
    bounded."""
    options, place = np.unique(np.concatenate([first, second]), return_inverse=True)
    first, second = np.split(place, 2)
    width, m = int(columns.n_features.max(initial=0)), len(options)
    for draws in iterate_slices(
        columns.n_draws, width * m + min(m * m, 4 * len(first)) + len(first)
    ):
        features, weights = columns.dense(draws.start, draws.stop, options)
        unique_weights = columns.unique_weights[draws][:, options]
        yield draws, *advantages(features, weights, unique_weights, first, second)


def probability_blocks(
    columns: FeatureColumns,
    first: np.ndarray,
    second: np.ndarray,
    lapse: float,
    lift: Lift | None = None,
) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """p̃ of each pair and the reverse probability, block of draws by block of draws; `lift`: by
    covariates."""
    for draws, ij, ji in advantage_blocks(columns, np.asarray(first), np.asarray(second)):
        if lift is not None:
            ij, ji = lifted(ij, ji, lift.of(draws))
        # The reverse probability from its own advantage: 1 - p would lose the digits of a small
        # one.
        yield draws, lapsing(ij, ji, lapse), lapsing(ji, ij, lapse)


def probability_draws(
    columns: FeatureColumns,
    first: np.ndarray,
    second: np.ndarray,
    lapse: float,
    lift: Lift | None = None,
) -> np.ndarray:
    """Probability that the first option of each pair is chosen over the second, draw by draw."""
    probabilities = np.empty((columns.n_draws, len(first)))
    for draws, p, _ in probability_blocks(columns, first, second, lapse, lift):
        probabilities[draws] = p
    return probabilities


def mean_probabilities(
    columns: FeatureColumns,
    first: np.ndarray,
    second: np.ndarray,
    lapse: float,
    lift: Lift | None = None,
) -> np.ndarray:
    """Posterior mean of the probability that the first option of each pair is chosen over the
    second."""
    total = np.zeros(len(first))
    for _, p, _ in probability_blocks(columns, first, second, lapse, lift):
        total += p.sum(axis=0)
    return total / columns.n_draws
