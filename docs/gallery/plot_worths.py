"""
Worths
======

The log worth of each option, with its interval.
"""

import thali as th

model = th.BradleyTerryLuce().fit(th.datasets.celebrities(), random_seed=1, progressbar=False)
model.plot("worths")
