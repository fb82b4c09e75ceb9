"""
Weights against the shape of their prior
========================================

How many weights of Plackett-Luce regression stay above zero as a shrinks.
"""

import numpy as np
import pandas as pd

import thali as th

rng = np.random.default_rng(1)
X = pd.DataFrame(rng.normal(size=(120, 2)), columns=["length", "width"])
y = np.where(X["length"] > 0.6, "reed", np.where(X["width"] > 0, "moss", "fern"))
th.plots.path(th.PlackettLuceRegression(), X, y, [0.5, 1, 1.1, 2])
