"""
Willingness to pay
==================

What the median person would pay for a level, and how far people differ.
"""

import thali as th

study = th.datasets.product_choices(people=40, tasks=6, random_seed=1)
model = th.ProductClasses(study.monotone).fit(
    study.data, draws=100, random_seed=1, progressbar=False
)
th.plots.willingness_to_pay(model.willingness_to_pay("price"))
