"""
Weights by group of people
==========================

The same aspects weigh differently in two groups.
"""

import thali as th

data = {
    "first": th.PairedComparisons(
        [[0, 18, 95, 90], [22, 0, 92, 91], [25, 28, 0, 20], [30, 29, 20, 0]]
    ),
    "second": th.PairedComparisons(
        [[0, 20, 60, 55], [20, 0, 58, 61], [60, 62, 0, 21], [65, 59, 19, 0]]
    ),
}
model = th.EliminationByAspects(people=th.people.Groups()).fit(
    data, draws=500, tune=500, random_seed=1, progressbar=False
)
model.plot("group_weights")
