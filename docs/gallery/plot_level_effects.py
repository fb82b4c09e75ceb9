"""
Effects of levels
=================

How often one level is preferred to another, all else being equal.
"""

import thali as th

study = th.datasets.product_choices(people=40, tasks=6, random_seed=1)
model = th.ProductClasses(study.monotone).fit(
    study.data, draws=100, random_seed=1, progressbar=False
)
model.plot("level_effects")
