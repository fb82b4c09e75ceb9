"""Elimination by three unknown aspects.

p[i, j] = (1 - e) A[i, j] / (A[i, j] + A[j, i]) + e / 2 with the lapse e = 0.01, A[i, j] = u[i] +
sum_k w[k] f[i, k] (1
- f[j, k]). counts[i, j] ~ Binomial(counts[i, j] + counts[j, i], p[i, j]), each unordered pair once.
u[i] ~ Gamma(1, 1),
w[k] ~ Gamma(1, 1); f[i, k] ~ Bernoulli(pi[k]), pi[k] ~ Beta(alpha / K, 1), K = 3; alpha ~ Gamma(1,
1).
"""

import thali as th


def fit(data, **run):
    """The fitted model of the data of the JSON file."""
    pairs = th.PairedComparisons(data["counts"], data["labels"])
    return th.EliminationByAspects(3, tempering=8).fit(pairs, **run)
