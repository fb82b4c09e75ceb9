"""Plackett and Luce's model of rankings, with lapses.

Out of a set S option x is chosen with probability (1 - e) u[x] / sum of u over S + e / |S|, with the lapse e = 0.01.
A ranking is a series of such choices: the best of all, the best of the rest, and so on. u[i] ~ Gamma(1, 1).
"""

import thali as th


def fit(data, **run):
    """The fitted model of the data of the JSON file."""
    choices = th.Choices.from_rankings(data["rankings"])
    return th.EliminationByAspects("unique").fit(choices, **run)
