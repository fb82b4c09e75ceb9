"""
A tree of options
=================

The relations that a phylogenetic prior uses.
"""

import thali as th

tree = th.Tree.from_groups(
    {"hot": ["tea", "coffee"], "cold": ["milk", "juice", "water"]}, leaf_length=0.3
)
th.plots.tree(tree)
