"""
What a model fails to reproduce
===============================

The pairs whose observed proportion is least compatible with the model.
"""

import thali as th

model = th.EliminationByAspects("BTL").fit(
    th.datasets.celebrities(), draws=500, tune=500, random_seed=1, progressbar=False
)
model.plot("check")
