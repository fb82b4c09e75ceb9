"""
Market shares
=============

Shares of products with intervals, before and after a change.
"""

import pandas as pd

import thali as th

study = th.datasets.product_choices(people=40, tasks=6, random_seed=1)
model = th.ProductClasses(study.monotone).fit(
    study.data, draws=100, random_seed=1, progressbar=False
)
market = pd.DataFrame(
    {
        "product": ["A", "B"],
        "price": [100, 300],
        "brand": ["Aika", "Bora"],
        "type": ["bag", "tin"],
        "quality": ["fair", "high"],
        "lamp": ["no", "yes"],
    }
)
shares = model.market_shares(market, change={"price": {"B": 200}})
th.plots.market_shares(shares)
