"""Bradley, Terry and Luce's model with Davidson's ties.

The first, the second or neither of i and j is chosen with probabilities p / (1 + r), (1 - p) / (1 +
r) and r / (1 + r),
r = nu sqrt(p (1 - p)), nu ~ Gamma(1, 1), where p = (1 - e) A[i, j] / (A[i, j] + A[j, i]) + e / 2
with the lapse
e = 0.01, A[i, j] = u[i]. counts[i, j] (i chosen over j), counts[j, i] and ties[i, j] (neither) are
multinomial,
each unordered pair once.
u[i] ~ Gamma(1, 1).
"""

import thali as th


def fit(data, **run):
    """The fitted model of the data of the JSON file."""
    pairs = th.PairedComparisons(data["counts"], data["labels"], ties=data["ties"])
    return th.EliminationByAspects("unique", ties="davidson").fit(pairs, **run)
