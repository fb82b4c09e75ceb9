"""
Scores of best and worst
========================

Scores from 0 to 100 of the options, by segment of the people who named the best and the worst of
sets.
"""

import numpy as np
import pandas as pd

import thali as th

rng, rows = np.random.default_rng(3), []
options = np.array(["tea", "coffee", "milk", "juice", "water", "soda"])
for person in range(40):
    worth = np.linspace(1, -1, 6)[:: 1 if person % 3 else -1] + 0.5 * rng.normal(size=6)
    for task in range(8):
        shown = rng.choice(6, 4, replace=False)
        order = shown[np.argsort(worth[shown] + rng.gumbel(size=4))]
        items = dict(zip(["item1", "item2", "item3", "item4"], options[shown], strict=True))
        rows.append(
            {
                "person": person,
                "task": task,
                **items,
                "best": options[order[-1]],
                "worst": options[order[0]],
            }
        )
data = th.Choices.from_best_worst(pd.DataFrame(rows), respondent="person")
model = th.BradleyTerryLuce(people=th.people.Individuals())
model.fit(data, random_seed=1, progressbar=False)
th.plots.scores(model.scores(model.respondents.segments(2)))
