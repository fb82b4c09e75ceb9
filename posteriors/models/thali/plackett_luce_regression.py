"""Plackett-Luce regression, its shape unknown.

With the covariates x standardised (mean 0, standard deviation 1, that of all rows), W[i] holds
exp(x[i, j]) and
exp(-x[i, j]) of every covariate and a 1. P(y[i] = k) = sum_j W[i, j] l[k, j] / sum over all classes
of the same;
l[k, j] ~ Gamma(a, 1), p(a) proportional to 1 / a for a from 0.1 to 10.
"""

import numpy as np

import thali as th


def fit(data, random_seed, draws, tune, chains, **run):
    """The fitted model of the data of the JSON file."""
    length = {"draws": draws, "tune": tune, "chains": chains, "random_state": random_seed}
    return th.PlackettLuceRegression(a_range=(0.1, 10.0), **length).fit(
        np.array(data["X"]), data["y"], **run
    )
