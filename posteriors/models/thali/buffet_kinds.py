"""Elimination by an unknown number of unknown aspects, with weights by two unknown kinds of people.

Person n of kind z[n] chooses i over j with the probability p = (1 - e) A[z[n], i, j] / (A[z[n], i,
j] + A[z[n], j, i])
+ e / 2 with the lapse e = 0.01, A[g, i, j] = u[g, i] + sum_k w[g, k] f[i, k] (1 - f[j, k]). z[n] =
g with probability
pi[g], independent; pi ~ Dirichlet(1, 1). u[g, i] ~ Gamma(1, 1), w[g, k] ~ Gamma(1, 1), independent.
f ~ Indian buffet
process of concentration alpha over the options: a column with the owners h, m of N options, is one
of Poisson(alpha
(m - 1)! (N - m)! / N!) of its kind; alpha ~ Gamma(1, 1).
"""

import pandas as pd

import thali as th


def fit(data, **run):
    """The fitted model of the data of the JSON file."""
    columns = {"first": "first", "second": "second", "chosen": "chosen", "respondent": "person"}
    choices = th.PairedComparisons.from_trials(pd.DataFrame(data["rows"]), **columns)
    return th.EliminationByAspects("ibp", people=th.people.LatentClasses(2)).fit(choices, **run)
