"""
Utility scale
=============

Worths by maximum likelihood, with intervals by quasi-standard errors.
"""

import thali as th

model = th.EliminationByAspects("BTL", method="maximum-likelihood").fit(th.datasets.celebrities())
table = model.findings()["utility_scale"].table.sort_values("utility")
errors = [table["utility"] - table["low"], table["high"] - table["utility"]]
ax = table["utility"].plot.barh(xerr=errors)
ax.set_xlabel("utility (89 % interval)")
