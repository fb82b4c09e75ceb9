"""Bradley, Terry and Luce's model of paired comparisons by judges who differ in how sharply they
see worths.

Judge n chooses i over j with the probability (1 - e) / (1 + exp(-d[n] (log u[i] - log u[j]))) + e /
2 with the lapse e
= 0.01. log u[i] ~ Normal(0, s^2), log s ~ Normal(log 1.3, 1); log d[n] = g[n] - mean(g), g[n] ~
Normal(0, tau^2), tau ~
HalfNormal(0.5), all independent. choice_probability is that of a judge with d = 1.
"""

import pandas as pd
from boards import board

import thali as th


def fit(data, **run):
    """The draws of the model of the data of the JSON file."""
    columns = {"first": "first", "second": "second", "chosen": "chosen", "respondent": "judge"}
    choices = th.PairedComparisons.from_trials(pd.DataFrame(data["rows"]), **columns)
    return board(choices, 0.01, judges=True, **run)
