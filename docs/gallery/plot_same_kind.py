"""
Who is of the same kind
=======================

Kinds of people whose members are learned from their answers.
"""

import numpy as np
import pandas as pd

import thali as th

rng, rows = np.random.default_rng(2), []
for person in range(24):
    worth = np.array([4.0, 2.0, 1.0, 0.5]) if person % 3 else np.array([0.5, 1.0, 2.0, 4.0])
    for i, j in (rng.choice(4, 2, replace=False) for _ in range(12)):
        chosen = i if rng.random() < worth[i] / (worth[i] + worth[j]) else j
        rows.append((f"p{person}", *(["tea", "coffee", "milk", "water"][k] for k in (i, j, chosen))))
trials = pd.DataFrame(rows, columns=["person", "first", "second", "chosen"])
data = th.PairedComparisons.from_trials(trials, "first", "second", "chosen", subject="person")
model = th.EliminationByAspects("unique", kinds=2).fit(data, draws=500, tune=500, random_seed=1, progressbar=False)
th.plots.same_kind(model)
