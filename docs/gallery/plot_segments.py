"""
Segments
========

What the people of each segment prefer, beside everybody.
"""

import thali as th

study = th.datasets.product_choices(people=120, tasks=10, random_seed=1)
model = th.LatentClassLogit(classes=2).fit(study.data, random_seed=1, progressbar=False)
th.plots.segments(model.respondents.segments(2))
