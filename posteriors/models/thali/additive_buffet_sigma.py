"""Additive clustering with an unknown number of features and unknown precision.

similarity[i, j] ~ Normal(c + sum_k w[k] f[i, k] f[j, k], sigma^2), each unordered pair once,
without the diagonal.
c ~ Gamma(1, 10) and w[k] ~ Gamma(1, 10) by shape and rate; sigma^2 ~ inverse Gamma(2, 0.02 times
the variance
of the similarities (divided by their number)).
f ~ Indian buffet process of concentration alpha over the options: a column with the owners h, m of
N options,
is one of Poisson(alpha (m - 1)! (N - m)! / N!) of its kind;
alpha ~ Gamma(1, 1).
"""

import numpy as np

import thali as th


def fit(data, **run):
    """The fitted model of the data of the JSON file."""
    similarities = th.Similarities(np.array(data["similarity"], float), data["labels"])
    return th.AdditiveClustering("ibp", sigma="learned", weight_prior=(1.0, 10.0)).fit(
        similarities, **run
    )
