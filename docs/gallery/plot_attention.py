"""
Attribute non-attendance
========================

The share of the population that attends to each attribute, and the respondents by their individual
probability.
"""

import numpy as np
import pandas as pd

import thali as th

rng, rows = np.random.default_rng(1), []
for person in range(60):
    taste = rng.normal([-2.0, 1.8, 1.5], 0.4) * (rng.random(3) >= [0.5, 0.2, 0.0])
    for task in range(12):
        x = rng.integers(2, size=(3, 3))
        utility = x @ taste + rng.gumbel(size=3)
        rows += [(person, task, j, int(j == utility.argmax()), *x[j]) for j in range(3)]
table = pd.DataFrame(rows, columns=["id", "task", "alt", "choice", "dear", "zoom", "wifi"])
model = th.HierarchicalLogit(attention=True)
model.fit(th.ChoiceExperiment.from_frame(table), draws=300, random_seed=1, progressbar=False)
model.plot("attention")
