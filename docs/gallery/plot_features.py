"""
Probable features
=================

Features in rows of squares, shaded by weight; above each its probability.
"""

import thali as th

model = th.EliminationByAspects().fit(
    th.datasets.celebrities(), draws=1000, tune=500, random_seed=1, progressbar=False
)
model.plot("features")
