"""
Features of nearly the same owners
==================================

Features of different draws are matched; a cell says how surely an option has each.
"""

import matplotlib.pyplot as plt

import thali as th

made = th.datasets.additive(24, n_features=5, sigma=0.5, random_seed=1)
model = th.AdditiveClustering().fit(
    made.data, draws=300, tune=300, random_seed=1, progressbar=False
)
table = model.membership()
ax = plt.figure().add_subplot()
ax.imshow(table, cmap="Blues", vmin=0, vmax=1, aspect="auto")
ax.set(xlabel="feature", ylabel="option", yticks=range(len(table)), yticklabels=table.index)
