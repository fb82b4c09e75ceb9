"""
What each person prefers
========================

Scores of each respondent, which vary about those of the population.
"""

import numpy as np
import pandas as pd

import thali as th

rng, rows = np.random.default_rng(3), []
for person in range(40):
    worth = np.array([2.0, 1.5, 1.0, 1.0, 0.5]) * rng.gamma(1.5, 1 / 1.5, 5)
    for i, j in zip(*np.triu_indices(5, 1), strict=True):
        chosen = i if rng.random() < worth[i] / (worth[i] + worth[j]) else j
        rows.append(
            (
                f"p{person}",
                *(["tea", "coffee", "milk", "juice", "water"][k] for k in (i, j, chosen)),
            )
        )
trials = pd.DataFrame(rows, columns=["person", "first", "second", "chosen"])
data = th.PairedComparisons.from_trials(trials, "first", "second", "chosen", respondent="person")
model = th.BradleyTerryLuce(people=th.people.Individuals())
model.fit(data, random_seed=1, progressbar=False)
shares = model.respondents.individuals()["mean"].unstack("option")
ax = shares.plot.box(vert=False)
ax.set_xlabel("preference score of each respondent")
