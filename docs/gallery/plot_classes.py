"""
Product classes
===============

The classes of products that people care about: who owns them, and how much they matter.
"""

import thali as th

study = th.datasets.product_choices(people=40, tasks=6, random_seed=1)
model = th.ProductClasses(study.monotone).fit(
    study.data, draws=100, random_seed=1, progressbar=False
)
classes = model.classes().head(8)
ax = classes.iloc[::-1].plot.barh("product_class", ["share", "importance"])
ax.set_ylabel("")
