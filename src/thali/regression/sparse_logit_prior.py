"""Draws from the prior of the sparse multinomial logit, and labels simulated at each of them."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from thali.regression.sparse_logit_chain import Prior
from thali.regression.sparse_logit_posterior import draws_group
from thali.regression.sparse_logit_sweep import INTERCEPT_VARIANCE

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
    """eta and the coefficients, and a label for every row.

    Parameters
    ----------
    prior : Prior
    matrix : array (n, d)
        Standardised covariates.
    classes : array (K,)
    reference : int
        Position of the reference class.
    columns : sequence of str (d,)
    rngs : sequence of numpy.random.Generator
        One a draw.

    Returns
    -------
    xarray.Dataset
        As the group `posterior`.
    array of int (draws, n)
        Codes of the labels.
    """
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
