"""Draws from the prior of the sparse multinomial logit, and labels simulated at each of them."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .chain import Prior
from .draws import draws_group
from .sweep import INTERCEPT_VARIANCE

if TYPE_CHECKING:
    import xarray


def sample_coefficients(
    prior: Prior,
    matrix: np.ndarray,
    classes: np.ndarray,
    reference: int,
    columns: Sequence[str],
    rngs: Sequence[np.random.Generator],
) -> "tuple[xarray.Dataset, np.ndarray]":
    """eta and the coefficients, and a label for every row."""
    n, d = matrix.shape
    free = np.arange(len(classes)) != reference
    etas, coefs, codes, likelihoods = [], [], [], []
    for rng in rngs:
        eta = rng.gamma(prior.shape, 1.0 / prior.rate) if prior.eta is None else prior.eta
        coef = np.zeros((len(classes), d + 1))
        coef[free, :d] = rng.laplace(scale=1.0 / math.sqrt(eta), size=(free.sum(), d))
        if prior.intercept:
            coef[free, d] = math.sqrt(INTERCEPT_VARIANCE) * rng.standard_normal(free.sum())
        linear = matrix @ coef[:, :d].T + coef[:, d]
        log_p = linear - np.logaddexp.reduce(linear, axis=1, keepdims=True)
        drawn = np.argmax(log_p + rng.gumbel(size=log_p.shape), axis=1)
        etas.append(eta)
        coefs.append(coef[free])
        codes.append(drawn)
        likelihoods.append(log_p[np.arange(n), drawn].sum())
    labels = np.asarray(classes.astype(str) if classes.dtype == object else classes)[free]
    group = draws_group(np.array([coefs]), np.array([etas]), np.array([likelihoods]), labels, columns, prior.intercept)
    return group, np.array(codes)
