"""Multinomial logit with a Laplace prior of unknown rate.

With the covariates x standardised (mean 0, standard deviation 1, that of all rows), P(y[i] = k) is
proportional to
exp(b[k] + sum_j x[i, j] beta[k, j]); b = beta = 0 for the first class in alphabetical order. b[k] ~
Normal(0, 100), of
variance 100; beta[k, j] has the density exp(-|beta| sqrt(eta)) sqrt(eta) / 2; eta ~ Gamma(1, 1).
"""

import numpy as np

import thali as th


def fit(data, random_seed, draws, tune, chains, **run):
    """The fitted model of the data of the JSON file."""
    length = {"draws": draws, "tune": tune, "chains": chains, "random_state": random_seed}
    return th.SparseMultinomialLogit(**length).fit(np.array(data["X"]), data["y"], **run)
