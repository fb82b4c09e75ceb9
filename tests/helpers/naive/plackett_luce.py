"""Plackett–Luce regression, slow and obvious, written apart from the fast code that it checks."""

import math
from typing import Any

import numpy as np

__all__ = ["em", "em_step", "log_likelihood", "log_posterior"]


def log_likelihood(W: Any, y: Any, weights: Any) -> float:
    """Σ_i ln of the probability of class y_i (Archambeau & Caron 2012, equation 4)."""
    total = 0.0
    for row, k in zip(W, y, strict=True):
        scores = [sum(w * x for w, x in zip(row, own, strict=True)) for own in weights]
        total += math.log(scores[k] / sum(scores))
    return total


def log_posterior(W: Any, y: Any, weights: Any, a: float) -> float:
    """Log-likelihood + (a − 1) Σ ln of the weights divided by their sum; zeros are left out."""
    relative = np.asarray(weights) / np.sum(weights)
    return log_likelihood(W, y, weights) + (a - 1.0) * float(np.log(relative[relative > 0.0]).sum())


def em_step(W: Any, y: Any, weights: Any, a: float, b: float) -> np.ndarray:
    """One step of expectation–maximisation, λ ← max(a − 1 + λ R, 0) / (b + s) (equation 10, the sum
    over y_i = k)."""
    W, weights = np.asarray(W), np.asarray(weights)
    of_class, of_all = np.zeros_like(weights), np.zeros(W.shape[1])
    for row, k in zip(W, y, strict=True):
        of_class[k] += row / (row @ weights[k])
        of_all += row / (row @ weights.sum(axis=0))
    return np.maximum(a - 1.0 + weights * of_class, 0.0) / (b + of_all)


def em(W: Any, y: Any, n_classes: int, a: float, b: float, steps: int) -> np.ndarray:
    """Weights after so many steps from equal ones."""
    weights = np.ones((n_classes, np.shape(W)[1]))
    for _ in range(steps):
        weights = em_step(W, y, weights, a, b)
    return weights
