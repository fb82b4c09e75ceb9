"""Draws from the prior of the sparse multinomial logit, and labels simulated at each of them."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .chain import SLAB_DF, SLAB_SCALE, Prior
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
    """The scales and the coefficients, and a label for every row."""
    n, d = matrix.shape
    free = np.arange(len(classes)) != reference
    every, coefs, codes, likelihoods = [], [], [], []
    for rng in rngs:
        coef = np.zeros((len(classes), d + 1))
        scales, coef[free, :d] = (_horseshoe if prior.is_horseshoe else _laplace)(prior, rng, (free.sum(), d))
        if prior.intercept:
            coef[free, d] = math.sqrt(INTERCEPT_VARIANCE) * rng.standard_normal(free.sum())
        linear = matrix @ coef[:, :d].T + coef[:, d]
        log_p = linear - np.logaddexp.reduce(linear, axis=1, keepdims=True)
        drawn = np.argmax(log_p + rng.gumbel(size=log_p.shape), axis=1)
        every.append(scales)
        coefs.append(coef[free])
        codes.append(drawn)
        likelihoods.append(log_p[np.arange(n), drawn].sum())
    labels = np.asarray(classes.astype(str) if classes.dtype == object else classes)[free]
    scales = {name: np.array([[each[name] for each in every]]) for name in every[0]}
    group = draws_group(np.array([coefs]), scales, np.array([likelihoods]), labels, columns, prior.intercept)
    return group, np.array(codes)


def _laplace(prior: Prior, rng: np.random.Generator, size: tuple[int, int]) -> tuple[dict[str, float], np.ndarray]:
    eta = rng.gamma(prior.shape, 1.0 / prior.rate) if prior.eta is None else prior.eta
    return {"eta": eta}, rng.laplace(scale=1.0 / math.sqrt(eta), size=size)


def _horseshoe(prior: Prior, rng: np.random.Generator, size: tuple[int, int]) -> tuple[dict[str, float], np.ndarray]:
    tau = prior.global_scale * abs(rng.standard_cauchy())
    slab = SLAB_SCALE * math.sqrt(0.5 * SLAB_DF / rng.gamma(0.5 * SLAB_DF))
    spread = tau * np.abs(rng.standard_cauchy(size))
    return {"tau": tau, "slab": slab}, rng.standard_normal(size) / np.hypot(1.0 / spread, 1.0 / slab)
