"""Elimination by an unknown number of unknown aspects.

p[i, j] = (1 - e) A[i, j] / (A[i, j] + A[j, i]) + e / 2 with the lapse e = 0.01, A[i, j] = u[i] +
sum_k w[k] f[i, k] (1
- f[j, k]). counts[i, j] ~ Binomial(counts[i, j] + counts[j, i], p[i, j]), each unordered pair once.
u[i] ~ Gamma(1, 1),
w[k] ~ Gamma(1, 1); f ~ Indian buffet process of concentration alpha over the options: a column with
the owners h, m of
N options, is one of Poisson(alpha (m - 1)! (N - m)! / N!) of its kind; alpha ~ Gamma(1, 1).
"""

import thali as th


def fit(data, **run):
    """The fitted model of the data of the JSON file."""
    pairs = th.PairedComparisons(data["counts"], data["labels"])
    return th.EliminationByAspects("ibp").fit(pairs, **run)
