"""
Demand curve
============

The share of a product at each price, with its interval.
"""

import pandas as pd

import thali as th

study = th.datasets.product_choices(people=40, tasks=6, random_seed=1)
model = th.MultinomialLogit(linear="price").fit(study.data)
market = pd.DataFrame({"product": ["A", "B"], "price": [100, 300], "brand": ["Aika", "Bora"]})
market = market.assign(type=["bag", "tin"], quality=["fair", "high"], lamp=["no", "yes"])
curve = model.demand("price", "B", [100, 150, 200, 250, 300], market)
ax = curve.plot("price", "share", marker="o", legend=False)
ax.fill_between(curve["price"], curve["share_low"], curve["share_high"], alpha=0.2)
ax.set_ylabel("share of B (89 % interval)")
