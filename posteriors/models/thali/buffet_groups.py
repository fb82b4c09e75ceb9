"""Elimination by an unknown number of unknown aspects common to groups of people, each with weights
of its own.

For i and j, counts[g, i, j] (i chosen over j by group g) ~ Binomial(counts[g, i, j] + counts[g, j,
i], p[g, i, j]),
once for each unordered pair and group; p[g, i, j] = (1 - e) A[g, i, j] / (A[g, i, j] + A[g, j, i])
+ e / 2 with the
lapse e = 0.01, A[g, i, j] = u[g, i] + sum_k w[g, k] f[i, k] (1 - f[j, k]).
u[g, i] ~ Gamma(1, 1), w[g, k] ~ Gamma(1, 1), independent.
f ~ Indian buffet process of concentration alpha over the options: a column with the owners h, m of
N
options, is one of Poisson(alpha (m - 1)! (N - m)! / N!) of its kind; alpha ~ Gamma(1, 1).
"""

import thali as th


def fit(data, **run):
    """The fitted model of the data of the JSON file."""
    of_groups = zip(data["groups"], data["counts"], strict=True)
    pairs = {group: th.PairedComparisons(counts, data["labels"]) for group, counts in of_groups}
    return th.EliminationByAspects("ibp", people=th.people.Groups()).fit(pairs, **run)
