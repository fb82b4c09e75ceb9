"""Luce's model of choices out of sets, with lapses.

Out of a set S option x is chosen with probability (1 - e) u[x] / sum of u over S + e / |S|, with the lapse e = 0.01.
u[i] ~ Gamma(1, 1). rows hold one option of one set each: the set's number, the option, whether it was chosen, and how
many such choices there were (equal in all rows of a set).
"""

import pandas as pd

import thali as th


def fit(data, **run):
    """The fitted model of the data of the JSON file."""
    choices = th.Choices(
        pd.DataFrame(data["rows"]), choice_id="set", alternative="option", chosen="chosen", count="times"
    )
    return th.EliminationByAspects("unique").fit(choices, **run)
