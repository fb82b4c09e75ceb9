"""
Similarities
============

Observed similarities against fitted ones, a point a pair.
"""

import thali as th

model = th.AdditiveClustering(alpha=0.5).fit(
    th.datasets.numbers(), draws=1000, tune=500, random_seed=1, progressbar=False
)
model.plot("similarity")
