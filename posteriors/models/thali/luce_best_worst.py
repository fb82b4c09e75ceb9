"""Best and worst of sets as two ends of a ranking by Plackett and Luce, with lapses.

The best is b and the worst is w of a set S of n options with the probability of the rankings of S, by Plackett and
Luce's model with worths u, whose first is b and whose last is w; with the lapse e = 0.01 any of the n (n - 1) answers.
u[i] ~ Gamma(1, 1).
"""

import pandas as pd

import thali as th


def fit(data, **run):
    """The fitted model of the data of the JSON file."""
    choices = th.Choices.from_best_worst(pd.DataFrame(data["rows"]), best="best", worst="worst")
    return th.EliminationByAspects("unique", best_worst="ranking").fit(choices, **run)
