"""
From the prior to the posterior
===============================

The mean log-likelihood at every temperature of a run, whose integral is the log evidence.
"""

import thali as th

model = th.EliminationByAspects("unique")
model = model.fit(th.datasets.celebrities(), draws=200, tune=200, random_seed=1, progressbar=False)
th.plots.temperatures(model.log_evidence(draws=100, random_seed=1, progressbar=False))
