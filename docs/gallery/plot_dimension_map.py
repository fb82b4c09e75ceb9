"""
Values of all objects on all dimensions
=======================================

Objects are ordered by the dimension on which they are highest.
"""

import thali as th

made = th.datasets.additive(24, n_features=5, sigma=0.5, random_seed=1)
model = th.NonnegativeDimensions().fit(made.data, random_seed=1, progressbar=False)
model.plot("dimension_map")
