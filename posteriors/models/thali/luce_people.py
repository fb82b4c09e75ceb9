"""Bradley, Terry and Luce's model of paired comparisons by people who differ, with lapses.

Person n chooses i over j with the probability p[n, i, j] = (1 - e) u[n, i] / (u[n, i] + u[n, j]) + e / 2 with the lapse
e = 0.01. u[n, i] = v[i] r[n, i]; v[i] ~ Gamma(1, 1), r[n, i] ~ Gamma(kappa, kappa), of mean 1, all independent; kappa ~
Gamma(2, rate 0.1). choice_probability is the mean of p over new people: over r given v and kappa.
"""

import pandas as pd

import thali as th


def fit(data, **run):
    """The fitted model of the data of the JSON file."""
    columns = {"first": "first", "second": "second", "chosen": "chosen", "respondent": "person"}
    choices = th.PairedComparisons.from_trials(pd.DataFrame(data["rows"]), **columns)
    return th.EliminationByAspects("unique", people=th.people.Individuals()).fit(choices, **run)
