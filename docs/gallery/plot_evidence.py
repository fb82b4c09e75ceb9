"""
Log evidence of models
======================

The log evidence of each model with its interval, and its posterior probability.
"""

import thali as th

groups = {"politician": ["LBJ", "HW", "CDG"], "athlete": ["JU", "CY", "AJF"], "star": ["BB", "ET", "SL"]}
models = {
    "BTL": th.EliminationByAspects("unique"),
    "professions": th.EliminationByAspects({who: [group] for group in groups for who in groups[group]}),
}
table = th.compare(models, th.datasets.celebrities(), by="evidence", draws=100, random_seed=1, progressbar=False)
th.plots.evidence(table)
