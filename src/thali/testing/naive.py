"""Slow and obvious evaluations, written apart from the fast code that they check."""

import math

import numpy as np

__all__ = ["log_likelihood", "log_joint", "pair_probability"]


def pair_probability(i: int, j: int, features, weights, unique, lapse: float) -> float:
    """Probability that option i is chosen over option j (Görür, Jäkel & Rasmussen 2006, eq. 1, with lapses).

    Parameters
    ----------
    i, j : int
    features : array of 0/1, shape (N, K)
    weights : array, shape (K,)
    unique : array, shape (N,)
        Weight that each option owns alone, besides the features.
    lapse : float in [0, 1)

    Returns
    -------
    float

    Examples
    --------
    >>> pair_probability(0, 1, features=[[1, 0], [1, 1]], weights=[5.0, 3.0], unique=[1.0, 0.0], lapse=0.0)
    0.25
    """
    a, b = float(unique[i]), float(unique[j])
    for k, w in enumerate(weights):
        if features[i][k] and not features[j][k]:
            a += w
        if features[j][k] and not features[i][k]:
            b += w
    p = a / (a + b) if a + b > 0.0 else 0.5
    return (1.0 - lapse) * p + lapse / 2.0


def log_likelihood(data, features, weights, unique, lapse: float) -> float:
    """Log-likelihood of paired comparisons without the binomial coefficients (parameters as `pair_probability`)."""
    total = 0.0
    for i, j, x, y in zip(data.first, data.second, data.wins, data.losses, strict=True):
        p = pair_probability(i, j, features, weights, unique, lapse)
        total += (x * math.log(p) if x else 0.0) + (y * math.log(1.0 - p) if y else 0.0)
    return total


def log_joint(data, features, weights, unique, lapse: float, prior, alpha: float, shape=1.0, rate=1.0) -> float:
    """Log joint density of data, features, weights and fixed unique weights, given alpha.

    `prior` is one of `thali.priors`. An infinite prior counts the columns as an unordered bag of a Poisson process.
    """
    total = log_likelihood(data, features, weights, unique, lapse) + prior.log_prob(np.asarray(features), alpha)
    for w in (*weights, *unique):
        if w > 0.0:
            total += shape * math.log(rate) - math.lgamma(shape) + (shape - 1.0) * math.log(w) - rate * w
    return total
