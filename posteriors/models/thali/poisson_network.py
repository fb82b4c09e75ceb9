"""Messages between people: Poisson counts over an unknown number of features, a likelihood of the
user's own.

messages[i, j] ~ Poisson(days (rate + sum_k w[k] f[i, k] f[j, k])), each unordered pair once,
without the factorials.
w[k] ~ Gamma(1, 1); f ~ Indian buffet process of concentration alpha over the people: a column with
the owners h, m of N
people, is one of Poisson(alpha (m - 1)! (N - m)! / N!) of its kind; alpha ~ Gamma(1, 1).
"""

import math
from typing import NamedTuple

import numpy as np

import thali as th


class Messages(NamedTuple):
    """How many messages two people have exchanged."""

    messages: np.ndarray
    days: float
    rate: float
    labels: tuple


def log_likelihood(data, features, weights):
    """Of all pairs."""
    total = 0.0
    for i in range(len(features)):
        for j in range(i + 1, len(features)):
            total += of_pair(data, i, j, np.sum(features[i] * features[j] * weights))
    return total


def of_pair(data, i, j, shared):
    """The term of one pair."""
    mean = data.days * (data.rate + shared)
    return data.messages[i, j] * math.log(mean) - mean


def fit(data, **run):
    """The fitted model of the data of the JSON file."""
    network = Messages(
        np.array(data["messages"]), data["days"], data["rate"], tuple(data["labels"])
    )
    likelihood = th.likelihoods.Custom(log_likelihood, of_pair=of_pair)
    return th.LatentFeatureModel(th.priors.IndianBuffet(), likelihood).fit(network, **run)
