"""Which words go together: a noisy or over an unknown number of features, a likelihood of the
user's own.

Of `asked` people yes[i, j] say that the words i and j go together: yes[i, j] ~ Binomial(asked, 1 -
q[i, j]) without the
binomial coefficient, q[i, j] = (1 - leak) exp(-sum_k w[k] f[i, k] f[j, k]), each unordered pair
once. w[k] ~ Gamma(1,
1); f ~ Indian buffet process of concentration alpha over the words: a column with the owners h, m
of N words, is one of
Poisson(alpha (m - 1)! (N - m)! / N!) of its kind; alpha ~ Gamma(1, 1).
"""

import math
from typing import NamedTuple

import numpy as np

import thali as th


class Words(NamedTuple):
    """How many of those asked say that two words go together."""

    yes: np.ndarray
    asked: int
    leak: float
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
    log_no = math.log1p(-data.leak) - shared
    return data.yes[i, j] * math.log(-math.expm1(log_no)) + (data.asked - data.yes[i, j]) * log_no


def fit(data, **run):
    """The fitted model of the data of the JSON file."""
    words = Words(np.array(data["yes"]), data["asked"], data["leak"], tuple(data["labels"]))
    likelihood = th.likelihoods.Custom(log_likelihood, of_pair=of_pair)
    return th.LatentFeatureModel(th.priors.IndianBuffet(), likelihood).fit(words, **run)
