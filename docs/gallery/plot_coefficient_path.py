"""
Coefficients against the rate of their prior
============================================

Which coefficients of the sparse logit stay away from zero as eta rises.
"""

import numpy as np
import pandas as pd

import thali as th

rng = np.random.default_rng(1)
X = pd.DataFrame(rng.normal(size=(120, 3)), columns=["length", "width", "age"])
y = np.where(X["length"] > 0.6, "reed", np.where(X["width"] > 0, "moss", "fern"))
th.plots.coefficient_path(th.SparseMultinomialLogit(method="map", eta=20.0), X, y)
