"""Multinomial logit with a regularised horseshoe prior.

With the covariates x standardised (mean 0, standard deviation 1, that of all rows), P(y[i] = k) is
proportional to
exp(b[k] + sum_j x[i, j] beta[k, j]); b = beta = 0 for the first class in alphabetical order. b[k] ~
Normal(0, 100), of
variance 100; beta[k, j] ~ Normal(0, 1 / (1 / c^2 + 1 / (tau l[k, j])^2)), the second argument a
variance; l[k, j] and
tau ~ half-Cauchy of scale 1; c^2 ~ Inverse-Gamma(2, 12.5).
"""

import numpy as np

import thali as th


def fit(data, random_seed, draws, tune, chains, **run):
    """The fitted model of the data of the JSON file."""
    length = {"draws": draws, "tune": tune, "chains": chains, "random_state": random_seed}
    return th.SparseMultinomialLogit(prior="horseshoe", **length).fit(
        np.array(data["X"]), data["y"], **run
    )
