"""Logit of choices between products by people who differ in their tastes and ignore some attributes.

P(x | task of person n) = exp(z(x) . (beta[n] h[n])) / sum over the products of the task; z(x) holds, for every
attribute and every level but the first in `levels`, 1 if the product has that level. h[n, k] = 1 if person n attends to
the attribute of coefficient k, else 0; n attends to attribute a with probability theta[a], independent; theta[a] ~
Uniform(0, 1). beta[n] ~ Normal(mu, Sigma), mu ~ Normal(0, s^2 I) with s = 10, Sigma ~ inverse Wishart(nu, nu V I) with
nu = 3 more than the number of coefficients and V = 0.2.
"""

import pandas as pd

import thali as th


def fit(data, **run):
    """The fitted model of the data of the JSON file."""
    experiment = th.ChoiceExperiment.from_frame(pd.DataFrame(data["rows"]), levels=data["levels"])
    return th.HierarchicalLogit(attention=True).fit(experiment, **run)
