"""
Two models, pair by pair
========================

The scores of left-out pairs under one model against those under another.
"""

import thali as th

groups = {
    "politician": ["LBJ", "HW", "CDG"],
    "athlete": ["JU", "CY", "AJF"],
    "star": ["BB", "ET", "SL"],
}
member_of = {who: [group] for group in groups for who in groups[group]}
models = {
    "BTL": th.BradleyTerryLuce("ML"),
    "professions": th.EliminationByAspects(member_of, method="ML"),
}
table = th.compare(models, th.datasets.celebrities(), random_seed=1, progressbar=False)
th.plots.comparison(table)
