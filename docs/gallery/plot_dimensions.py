"""
Dimensions and their highest objects
====================================

The objects with the highest values on each dimension; pale dimensions differ between restarts.
"""

import thali as th

made = th.datasets.additive(24, n_features=5, sigma=0.5, random_seed=1)
model = th.NonnegativeDimensions().fit(made.data, random_seed=1, progressbar=False)
model.plot("dimensions")
