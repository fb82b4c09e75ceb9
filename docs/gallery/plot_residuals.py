"""
Residuals
=========

Deviance residuals, a point a pair; the largest are named.
"""

import thali as th

model = th.EliminationByAspects("BTL", method="maximum-likelihood").fit(th.datasets.celebrities())
th.plots.residuals(model)
