"""Additive clustering with six features.

similarity[i, j] ~ Normal(c + sum_k w[k] f[i, k] f[j, k], sigma^2), each unordered pair once,
without the diagonal.
c ~ Gamma(1, 10) and w[k] ~ Gamma(1, 10) by shape and rate; sigma is known.
f[i, k] ~ Bernoulli(pi[k]), pi[k] ~ Beta(alpha / K, 1), K = 6; alpha ~ Gamma(1, 1).
"""

import numpy as np

import thali as th


def fit(data, **run):
    """The fitted model of the data of the JSON file."""
    similarities = th.Similarities(
        np.array(data["similarity"], float), data["labels"], sigma=data["sigma"]
    )
    return th.AdditiveClustering(6, weight_prior=(1.0, 10.0)).fit(similarities, **run)
