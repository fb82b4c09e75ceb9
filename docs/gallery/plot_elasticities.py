"""
Elasticities
============

By how many per cent each share changes if the price of a product rises by one per cent.
"""

import pandas as pd

import thali as th

study = th.datasets.product_choices(people=40, tasks=6, random_seed=1)
model = th.MultinomialLogit(linear="price").fit(study.data)
market = pd.DataFrame({"product": ["A", "B", "C"], "price": [100, 300, 200], "brand": ["Aika", "Bora", "Bora"]})
market = market.assign(type=["bag", "tin", "tin"], quality=["fair", "high", "low"], lamp=["no", "yes", "yes"])
th.plots.elasticities(model.elasticities(market))
