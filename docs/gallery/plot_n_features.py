"""
Number of features
==================

The posterior distribution of the number of features.
"""

import thali as th

model = th.EliminationByAspects().fit(
    th.datasets.celebrities(), draws=1000, tune=500, random_seed=1, progressbar=False
)
table = model.findings()["n_features"].table
ax = table["probability"].plot.bar(rot=0)
ax.set_xlabel("number of aspects")
ax.set_ylabel("posterior probability")
