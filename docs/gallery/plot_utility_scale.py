"""
Utility scale
=============

Worths by maximum likelihood, with intervals by quasi-standard errors.
"""

import thali as th

model = th.EliminationByAspects("BTL", method="maximum-likelihood").fit(th.datasets.celebrities())
model.plot("utility_scale")
