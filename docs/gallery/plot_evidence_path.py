"""
Evidence
========

The log evidence against the steps of tempering, a line a group of particles.
"""

import thali as th

study = th.datasets.product_choices(people=40, tasks=6, random_seed=1)
model = th.ProductClasses(study.monotone, method="smc").fit(
    study.data, draws=8, chains=3, sweeps_per_step=10, random_seed=1, progressbar=False
)
th.plots.evidence_path(model)
