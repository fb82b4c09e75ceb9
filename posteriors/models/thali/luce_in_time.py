"""Bradley, Terry and Luce's model of paired comparisons in seasons, from one to the next of which
worths change.

In season t i is chosen over j with the probability (1 - e) u[t, i] / (u[t, i] + u[t, j]) + e / 2
with the lapse e =
0.01. log u[1, i] ~ Normal(0, v^2), log v ~ Normal(log 1.3, 1); log u[t, i] ~ Normal(log u[t - 1,
i], s^2), s ~
HalfNormal(0.5), all independent. Every option takes part from the first season on.
"""

import pandas as pd
from boards import board

import thali as th


def fit(data, **run):
    """The draws of the model of the data of the JSON file."""
    columns = {"first": "first", "second": "second", "chosen": "chosen", "date": "season"}
    choices = th.PairedComparisons.from_trials(pd.DataFrame(data["rows"]), **columns)
    return board(choices, 0.01, period="season", **run)
