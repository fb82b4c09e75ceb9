"""
Chains
======

The chains of the scalars: lines that lie on each other are good, lines that keep apart are not.
"""

import thali as th

model = th.EliminationByAspects().fit(
    th.datasets.celebrities(), draws=1000, tune=500, random_seed=1, progressbar=False
)
model.plot("trace")
