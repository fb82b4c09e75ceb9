"""Logit of choices between products by people who may each ignore some of the attributes.

P(x | task of person n) = exp(z(x) . b[n]) / sum over the products of the task; z(x) holds, for
every attribute and
every level but the first in `levels`, 1 if the product has that level. b[n] is beta[n], with 0 in
place of all
coefficients of each attribute k that the person ignores: attends[n, k] ~ Bernoulli(theta[k]),
theta[k] ~ Beta(1, 1).
beta[n] ~ Normal(mu, Sigma), mu ~ Normal(0, s^2 I) with s = 10, Sigma ~ inverse Wishart(nu, nu v I)
with nu = 3 more
than the number of coefficients and v = 0.2.
"""

import pandas as pd

import thali as th


def fit(data, **run):
    """The fitted model of the data of the JSON file."""
    experiment = th.ChoiceExperiment.from_frame(pd.DataFrame(data["rows"]), levels=data["levels"])
    return th.HierarchicalLogit(attention=True).fit(experiment, **run)
