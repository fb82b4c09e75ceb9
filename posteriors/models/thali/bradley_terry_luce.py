"""Bradley, Terry and Luce's model of paired comparisons, with ties by Davidson, whose log worths
have a learned spread.

L[i] ~ Normal(0, s^2), log s ~ Normal(log 1.3, 1). With A = 1 / (1 + exp(L[j] - L[i])) the answers
i, tie and j have
probabilities proportional to A, nu sqrt(A (1 - A)) and 1 - A; log nu ~ Normal(0, 2^2). Without ties
in the data
nu = 0. choice_probability is A. The counts of a pair are multinomial.
"""

import thali as th


def fit(data, **run):
    """The fitted model of the data of the JSON file."""
    pairs = th.PairedComparisons(data["counts"], data["labels"], ties=data.get("ties"))
    return th.BradleyTerryLuce(method="mcmc").fit(pairs, **run)
