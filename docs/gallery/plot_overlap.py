"""
Features on a plane
===================

Similar objects close together, with an outline around those that share a feature.
"""

import thali as th

model = th.AdditiveClustering(alpha=0.5).fit(
    th.datasets.numbers(), draws=1000, tune=500, random_seed=1, progressbar=False
)
th.plots.overlap(model)
