"""
Regions of classes
==================

Which class is the most probable one where.
"""

import numpy as np
import pandas as pd

import thali as th

rng = np.random.default_rng(1)
X = pd.DataFrame(rng.normal(size=(120, 2)), columns=["length", "width"])
y = np.where(X["length"] > 0.6, "reed", np.where(X["width"] > 0, "moss", "fern"))
model = th.PlackettLuceRegression(method="map", a=1.0).fit(X, y)
th.plots.decision(model, X, y)
