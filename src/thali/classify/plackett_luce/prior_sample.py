"""Draws from the prior of Plackett–Luce regression, and labels simulated at each of them."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .draws import chosen_rows, draws_group, logits_of
from .state import Prior

if TYPE_CHECKING:
    import xarray


def sample_weights(
    prior: Prior, W: np.ndarray, classes: np.ndarray, columns: Sequence[str], rngs: Sequence[np.random.Generator]
) -> "tuple[xarray.Dataset, np.ndarray]":
    """The shape a and the weights, and a label for every row."""
    with np.errstate(divide="ignore"):
        logs = np.log(W)
    rows = np.arange(len(W))
    shapes, weights, codes, likelihoods = [], [], [], []
    for rng in rngs:
        a = math.exp(rng.uniform(prior.low, prior.high)) if prior.learned else math.exp(prior.low)
        log_weights = _log_gamma(rng, a, (len(classes), W.shape[1]))  # the rate b has no influence
        log_scores = np.logaddexp.reduce(logs[:, None, :] + log_weights, axis=2)
        log_p = log_scores - np.logaddexp.reduce(log_scores, axis=1, keepdims=True)
        drawn = np.argmax(log_p + rng.gumbel(size=log_p.shape), axis=1)
        relative = np.exp(log_weights - log_weights.max())
        shapes.append(a)
        weights.append(relative / relative.sum())
        codes.append(drawn)
        likelihoods.append(log_p[rows, drawn].sum())
    labels = np.array(codes)
    chosen, drawn_weights = chosen_rows(len(W)), np.array([weights])
    logits = chosen, logits_of(drawn_weights, W[chosen], labels[:, chosen])
    group = draws_group(np.array([shapes]), np.array([likelihoods]), drawn_weights, logits, classes, columns)
    return group, labels


def _log_gamma(rng: np.random.Generator, a: float, shape: tuple[int, int]) -> np.ndarray:
    """Logarithms of Gamma(a, 1) variables, also where a is so small that they leave the range of floats."""
    return np.log(rng.standard_gamma(a + 1.0, shape)) - rng.standard_exponential(shape) / a
