"""Elimination by an unknown number of unknown aspects, beside covariates of a comparison.

The first option i is chosen over the second j with the probability (1 - e) q / (1 + q) + e / 2,
with the lapse e = 0.01
and the odds q = A[i, j] / A[j, i] exp(beta[order] + beta[louder] x), x by how much the first is
louder; A[i, j] = u[i]
+ sum_k w[k] f[i, k] (1 - f[j, k]). beta ~ Normal(0, 1), independent. u[i] ~ Gamma(1, 1), w[k] ~
Gamma(1, 1); f ~ Indian
buffet process of concentration alpha over the options: a column with the owners h, m of N options,
is one of
Poisson(alpha (m - 1)! (N - m)! / N!) of its kind; alpha ~ Gamma(1, 1).
"""

import pandas as pd

import thali as th


def fit(data, **run):
    """The fitted model of the data of the JSON file."""
    columns = {"first": "first", "second": "second", "chosen": "chosen"}
    trials = th.PairedComparisons.from_trials(
        pd.DataFrame(data["rows"]), **columns, covariates=["order", "louder"]
    )
    return th.EliminationByAspects("ibp").fit(trials, **run)
