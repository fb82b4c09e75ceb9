"""
Chains
======

The draws of each chain: lines that lie on each other are good, lines that keep apart are not.
"""

import thali as th

model = th.EliminationByAspects().fit(
    th.datasets.celebrities(), draws=1000, tune=500, random_seed=1, progressbar=False
)
model.posterior_["posterior"]["log_likelihood"].plot.line(x="draw", hue="chain")
