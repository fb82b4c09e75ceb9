"""Elimination by an unknown number of unknown aspects, out of sets of any size.

Out of a set S option x is chosen with probability (1 - e) q(x | S) + e / |S|, with the lapse e =
0.01. Aspect k has the
owners h[k]; q(x | S) = sum of w[k] q(x | S and h[k]) over the aspects with x in h[k] that some but
not all of S own,
divided by the sum of w[k] over all aspects that some but not all of S own; q(x | x) = 1, and 1 /
|S| if there is no
such aspect. Each option has an aspect of its own, of weight u[i] ~ Gamma(1, 1). There are further
ones: w[k] ~ Gamma(1,
1), f ~ Indian buffet process of concentration alpha over the options: a column with the owners h, m
of N options, is
one of Poisson(alpha (m - 1)! (N - m)! / N!) of its kind; alpha ~ Gamma(1, 1). rows hold one option
of one set each: the
set's number, the option, whether it was chosen, and how many such choices there were (equal in all
rows of a set).
"""

import pandas as pd

import thali as th


def fit(data, **run):
    """The fitted model of the data of the JSON file."""
    choices = th.Choices(
        pd.DataFrame(data["rows"]),
        choice_id="set",
        alternative="option",
        chosen="chosen",
        count="times",
    )
    return th.EliminationByAspects("ibp").fit(choices, **run)
