"""
Draws of features
=================

The feature matrix of a few draws: how much features differ from draw to draw.
"""

import thali as th

model = th.EliminationByAspects().fit(th.datasets.celebrities(), draws=1000, tune=500, random_seed=1, progressbar=False)
th.plots.feature_samples(model, draws=4)
