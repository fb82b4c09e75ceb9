"""
Calibration
===========

Whether classes occur as often as predicted, in rows that the model has not seen.
"""

import numpy as np
import pandas as pd

import thali as th

rng = np.random.default_rng(1)
X = pd.DataFrame(rng.normal(size=(600, 2)), columns=["length", "width"])
scores = np.column_stack([X["length"], X["width"], np.zeros(600)]) + rng.gumbel(size=(600, 3))
y = np.array(["reed", "moss", "fern"])[scores.argmax(axis=1)]
model = th.SparseMultinomialLogit(draws=200, tune=200, random_state=1).fit(
    X[:300], y[:300], progressbar=False
)
table = model.calibration(X[300:], y[300:])
ax = table.plot.scatter("predicted", "observed")
ax.vlines(table["predicted"], table["low"], table["high"])
ax.axline((0, 0), slope=1, color="0.7")
