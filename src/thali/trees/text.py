"""A tree drawn in plain characters."""

import numpy as np

from .nodes import Nodes, children, depths, postorder

WIDTH = 50  # characters from the root to the leaves


def drawing(tree: Nodes) -> str:
    """The tree, root at the left, one line a leaf, edges to scale, with the names of inner nodes where they fit."""
    below = children(tree.parents)
    order = postorder(below)
    column = np.rint(np.array(depths(tree.parents, tree.lengths)) * WIDTH).astype(int)
    leaves = [node for node in order if not below[node]]
    row = {leaf: number for number, leaf in enumerate(leaves)}
    for node in order:
        if below[node]:
            row[node] = row[below[node][0]]

    lines = np.full((len(leaves), WIDTH + 1), " ")
    goes_down = np.zeros(lines.shape, dtype=bool)
    branches = np.zeros(lines.shape, dtype=bool)
    for node, parent in enumerate(tree.parents[:-1]):
        edge = lines[row[node], column[parent] + 1 : column[node] + (not below[node])]
        edge[:] = "-"
        name = f" {' '.join(tree.names[node].split())} "
        if below[node] and len(name) > 2 and len(edge) >= len(name) + 2:
            edge[1 : len(name) + 1] = list(name)
        goes_down[row[parent] : row[node], column[parent]] = True
        branches[row[node], column[parent]] = True
    # Where a node lies in the column of its parent the two look like one, as they would in any picture so coarse.
    comes_down = np.roll(goes_down, 1, axis=0)
    lines[goes_down] = "|"
    lines[branches] = "-"
    lines[branches & comes_down] = "`"
    lines[branches & goes_down] = "+"
    return "\n".join(
        f"{''.join(line)} {' '.join(tree.names[leaf].split())}" for line, leaf in zip(lines, leaves, strict=True)
    )
