"""Additive clustering with known features and unknown precision.

similarity[i, j] ~ Normal(c + sum_k w[k] f[i, k] f[j, k], sigma^2), each unordered pair once,
without the diagonal.
c ~ Gamma(1, 10) and w[k] ~ Gamma(1, 10) by shape and rate; sigma^2 ~ inverse Gamma(2, 0.02 times
the variance
of the similarities (divided by their number)).
f is known: f[i, k] = 1 if features[label of i] names feature k.
"""

import numpy as np

import thali as th


def fit(data, **run):
    """The fitted model of the data of the JSON file."""
    similarities = th.Similarities(np.array(data["similarity"], float), data["labels"])
    return th.AdditiveClustering(data["features"], weight_prior=(1.0, 10.0)).fit(
        similarities, **run
    )
