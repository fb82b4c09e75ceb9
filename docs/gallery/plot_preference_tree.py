"""
A preference tree
=================

Known aspects that are nested, with branches as long as the weights.
"""

import thali as th

groups = {
    "politician": ["LBJ", "HW", "CDG"],
    "athlete": ["JU", "CY", "AJF"],
    "star": ["BB", "ET", "SL"],
}
member_of = {who: [group] for group in groups for who in groups[group]}
model = th.EliminationByAspects(member_of, method="maximum-likelihood").fit(
    th.datasets.celebrities()
)
model.plot("preference_tree")
