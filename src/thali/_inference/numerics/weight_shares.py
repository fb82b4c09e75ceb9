"""Weights as shares of their sum, and probabilities of two outcomes."""

from typing import Any

import numpy as np


def compute_shares(weights: np.ndarray) -> np.ndarray:
    """Divide weights by their sum over the last axis.

    Examples
    --------
    >>> compute_shares(np.array([[1.0, 3.0]])).tolist()
    [[0.25, 0.75]]
    """
    return weights / weights.sum(axis=-1, keepdims=True)


def scale_to_maximum(logs: np.ndarray) -> np.ndarray:
    """Return exp(logs), scaled to a maximum of 1 over the last axis.

    Examples
    --------
    >>> scale_to_maximum(np.array([1000.0, -1000.0])).tolist()
    [1.0, 0.0]
    """
    return np.exp(logs - logs.max(axis=-1, keepdims=True))


def softmax(logs: np.ndarray, axis: int = -1) -> np.ndarray:
    """Return exp(logs), divided by its sum along an axis.

    Examples
    --------
    >>> softmax(np.array([1000.0, 1000.0])).tolist()
    [0.5, 0.5]
    """
    odds = np.exp(logs - logs.max(axis=axis, keepdims=True))
    odds /= odds.sum(axis=axis, keepdims=True)
    return odds


def stack_outcomes(p: np.ndarray) -> np.ndarray:
    """Return the probabilities p and 1 - p of two outcomes along a new last axis.

    Examples
    --------
    >>> stack_outcomes(np.array([0.25])).tolist()
    [[0.25, 0.75]]
    """
    return np.stack([p, 1.0 - p], axis=-1)


def mix_with_guess(p: np.ndarray, lapse: float) -> np.ndarray:
    """Return the probability of one of two answers, if a share `lapse` of answers are guesses.

    Examples
    --------
    >>> float(mix_with_guess(np.array(0.75), 0.5))
    0.625
    """
    return (1.0 - lapse) * p + lapse / 2.0


def divide_positive(
    numerator: np.ndarray | float,
    denominator: np.ndarray | float,
    otherwise: np.ndarray | float = 0.0,
) -> Any:
    """Return numerator / denominator, or `otherwise` where the denominator is not above 0.

    Examples
    --------
    >>> divide_positive(np.array([1.0, 3.0]), np.array([4.0, 0.0])).tolist()
    [0.25, 0.0]
    """
    shape = np.broadcast_shapes(np.shape(numerator), np.shape(denominator))
    return np.divide(numerator, denominator, out=np.full(shape, otherwise), where=denominator > 0.0)


def replace_zeros(divisors: np.ndarray) -> np.ndarray:
    """Replace zeros by 1, where the quotient is 0 anyway.

    Examples
    --------
    >>> replace_zeros(np.array([2.0, 0.0])).tolist()
    [2.0, 1.0]
    """
    return np.where(divisors > 0.0, divisors, 1.0)
