"""Additive clustering of triplets with an unknown number of features.

Of the three pairs of a triplet, those with i and j of s[i, j] = sum_k w[k] f[i, k] f[j, k], one is
called the most
similar, with the probability .99 exp(s[i, j]) / (sum of exp(s) over the three) + .01 / 3; the third
object is the odd
one out. w[k] ~ Gamma(1, 1). The columns that all objects own cancel.
f ~ Indian buffet process of concentration alpha over the objects: a column with the owners h, m of
N objects,
is one of Poisson(alpha (m - 1)! (N - m)! / N!) of its kind;
alpha ~ Gamma(1, 1).
"""

import thali as th


def fit(data, **run):
    """The fitted model of the data of the JSON file."""
    triplets = th.Triplets(data["triplets"], data["labels"])
    return th.AdditiveClustering("ibp").fit(triplets, **run)
