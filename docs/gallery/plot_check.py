"""
What a model fails to reproduce
===============================

The pairs whose observed proportion is least compatible with the model.
"""

import thali as th

model = th.BradleyTerryLuce().fit(th.datasets.celebrities(), random_seed=1, progressbar=False)
model.plot("check")
