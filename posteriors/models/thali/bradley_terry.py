"""Bradley, Terry and Luce's model of paired comparisons, with lapses.

p[i, j] = (1 - e) A[i, j] / (A[i, j] + A[j, i]) + e / 2 with the lapse e = 0.01, A[i, j] = u[i].
counts[i, j] ~ Binomial(counts[i, j] + counts[j, i], p[i, j]), each unordered pair once.
u[i] ~ Gamma(1, 1).
"""

import thali as th


def fit(data, **run):
    """The fitted model of the data of the JSON file."""
    pairs = th.PairedComparisons(data["counts"], data["labels"])
    return th.EliminationByAspects("unique").fit(pairs, **run)
