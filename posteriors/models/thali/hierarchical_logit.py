"""Logit of choices between products by people whose tastes are normally distributed.

P(x | task of person n) = exp(z(x) . beta[n]) / sum over the products of the task; z(x) holds, for
every attribute and
every level but the first in `levels`, 1 if the product has that level. beta[n] ~ Normal(mu, Sigma),
mu ~ Normal(0, s^2
I) with s = 10, Sigma ~ inverse Wishart(nu, nu I) with nu = 3 more than the number of coefficients.
"""

import pandas as pd

import thali as th


def fit(data, **run):
    """The fitted model of the data of the JSON file."""
    experiment = th.ChoiceExperiment.from_frame(pd.DataFrame(data["rows"]), levels=data["levels"])
    return th.HierarchicalLogit().fit(experiment, **run)
