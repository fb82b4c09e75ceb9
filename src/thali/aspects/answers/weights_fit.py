"""The weights of known features: the most probable ones, and the likelihood with all of them integrated out.

Features with the same owners explain the same thing, and so does the additive constant where a feature is owned by all.
Such copies are one term here, whose summed weight T has a Gamma prior of as many times the shape:

    log likelihood of the terms = (b' T - T' G T / 2) / sigma^2 + constant

G_kl counts the judgements of the measured pairs inside both terms, b_k adds them up.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .feature_gain import log_feature_gain, log_grid

# Coordinate ascent ends when no weight moves by more than this (times the largest weight if that is above 1) ...
MIN_MOVE = 1e-10
# ... or after so many cycles; a hundred are usual.
MAX_CYCLES = 20_000


@dataclass(frozen=True)
class Terms:
    """Several sets of features with d terms each, on one data set, as the likelihood sees them."""

    gram: np.ndarray  # (sets, d, d)
    sums: np.ndarray  # (sets, d)
    copies: np.ndarray  # (sets, d), >= 1
    n_pairs: int
    squares: float  # sum of the squared similarities, each times the number of judgements that it is the mean of
    log_judgements: float  # sum of the logarithms of these numbers

    @classmethod
    def of(
        cls, owners: np.ndarray, copies: np.ndarray, first: Any, second: Any, values: Any, judgements: Any
    ) -> "Terms":
        """From owners, bool (sets, d, n), and the measured pairs."""
        inside = (owners[:, :, first] & owners[:, :, second]).astype(float)
        summed = judgements * values
        logs = float(np.log(judgements).sum())
        gram = (inside * judgements) @ inside.swapaxes(1, 2)
        return cls(gram, inside @ summed, copies, len(values), float(values @ summed), logs)

    def log_likelihood(self, weights: np.ndarray, sigma2: float) -> np.ndarray:
        """Log-likelihood of all data by set; `weights` (sets, d) are those of the terms."""
        fit = _fit(self.gram, self.sums, weights)
        constant = 0.5 * self.log_judgements - 0.5 * self.n_pairs * np.log(2 * np.pi * sigma2)
        return (fit - 0.5 * self.squares) / sigma2 + constant


def argmax_weights(terms: Terms, sigma2: float, shape: float, rate: float) -> np.ndarray:
    r"""The most probable weights of known features.

    .. math:: \hat w = \arg\max_w \; \log p(S \mid F, w) + \sum_k \log \mathrm{Gamma}(w_k; \text{shape}, \text{rate})
    """
    return _ascend(terms, terms.copies * (shape - 1.0), sigma2, rate)


def log_evidence(terms: Terms, sigma2: float, shape: float, rate: float) -> np.ndarray:
    """Log likelihood of the data given the features alone, their weights integrated out.

    Exact for one and two terms. For more it is the Laplace approximation in the logarithms of the weights, where the
    density has one mode and none of it lies on the boundary, times the ratio of exact and approximate integral for
    each weight alone, the others at the mode; that is good to a few hundredths.
    """
    shapes = terms.copies * shape
    empty = terms.log_likelihood(np.zeros(shapes.shape), sigma2)
    if shapes.shape[1] == 0:
        return empty
    if shapes.shape[1] == 1:
        return empty + log_feature_gain(terms.gram[:, 0, 0], terms.sums[:, 0], sigma2, shapes[:, 0], rate)
    mode = _ascend(terms, shapes, sigma2, rate)
    if shapes.shape[1] == 2:
        return empty + _integral_of_two(terms, mode, sigma2, shapes, rate)
    return empty + _laplace(terms, mode, sigma2, shapes, rate)


def _fit(gram: np.ndarray, sums: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """b' T - T' G T / 2."""
    return np.einsum("sk,sk->s", sums - 0.5 * np.einsum("skl,sl->sk", gram, weights), weights)


def _ascend(terms: Terms, power: np.ndarray, sigma2: float, rate: float) -> np.ndarray:
    """The largest value of power' log T - rate T + (b' T - T' G T / 2) / sigma2 over T >= 0, by cyclic ascent."""
    gram, sums = terms.gram, terms.sums
    weights = np.zeros(sums.shape)
    diagonal = np.einsum("skk->sk", gram)
    for _ in range(MAX_CYCLES):
        before = weights.copy()
        for k in range(sums.shape[1]):
            rest = sums[:, k] - np.einsum("sl,sl->s", gram[:, k], weights) + diagonal[:, k] * weights[:, k]
            weights[:, k] = _largest(diagonal[:, k], rest - rate * sigma2, power[:, k] * sigma2)
        scale = max(1.0, weights.max(initial=0.0))
        if np.abs(weights - before).max(initial=0.0) < MIN_MOVE * scale:
            break
    return weights


def _largest(a: np.ndarray, g: np.ndarray, p: np.ndarray) -> np.ndarray:
    """argmax over w >= 0 of p log w + g w - a w^2 / 2; a is 0 only where g is negative."""
    root = np.sqrt(g * g + 4 * a * p)
    above = g > 0  # each side without cancellation
    return np.where(above, (g + root) / np.where(above, 2 * a, 1.0), 2 * p / np.where(root > g, root - g, 1.0))


def _log_prior(weights: np.ndarray, shapes: np.ndarray, rate: float) -> np.ndarray:
    """log density of the logarithms of Gamma variables."""
    from scipy.special import gammaln

    return shapes * np.log(rate * weights) - rate * weights - gammaln(shapes)


def _laplace(terms: Terms, mode: np.ndarray, sigma2: float, shapes: np.ndarray, rate: float) -> np.ndarray:
    d = shapes.shape[1]
    curvature = terms.gram * mode[:, :, None] * mode[:, None, :] / sigma2
    own = np.einsum("skk->sk", curvature) + shapes
    prior = _log_prior(mode, shapes, rate)
    together = _fit(terms.gram, terms.sums, mode) / sigma2 + prior.sum(axis=1) + 0.5 * d * np.log(2 * np.pi)
    together -= 0.5 * np.linalg.slogdet(curvature + np.eye(d) * shapes[:, None, :])[1]
    area = np.einsum("skk->sk", terms.gram)
    rest = terms.sums - np.einsum("skl,sl->sk", terms.gram, mode) + area * mode
    alone = (rest * mode - 0.5 * area * mode**2) / sigma2 + prior + 0.5 * np.log(2 * np.pi / own)
    return together + (log_feature_gain(area, rest, sigma2, shapes, rate) - alone).sum(axis=1)


def _integral_of_two(terms: Terms, mode: np.ndarray, sigma2: float, shapes: np.ndarray, rate: float) -> np.ndarray:
    """The second weight in closed form, the first by the trapezoidal rule in its logarithm."""
    gram, sums = terms.gram, terms.sums
    # curvature of the first weight after maximising over the second
    left = gram[:, 0, 0] - gram[:, 0, 1] ** 2 / np.maximum(gram[:, 1, 1], np.finfo(float).tiny)
    steps, width = log_grid(shapes[:, 0], mode[:, 0] * np.sqrt(np.maximum(left, 0.0) / sigma2))
    first = mode[:, :1] * np.exp(steps)
    rest = sums[:, 1:] - gram[:, 0, 1, None] * first
    logs = (sums[:, :1] * first - 0.5 * gram[:, 0, 0, None] * first**2) / sigma2
    logs += _log_prior(first, shapes[:, :1], rate)
    logs += log_feature_gain(gram[:, 1, 1, None], rest, sigma2, shapes[:, 1:], rate)
    top = logs.max(axis=1)
    return top + np.log(np.exp(logs - top[:, None]).sum(axis=1) * width)
