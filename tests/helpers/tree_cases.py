"""Trees for several tests."""

from itertools import combinations

import numpy as np
from scipy.cluster.hierarchy import linkage, to_tree

from thali import Tree

CELEBRITIES = {
    "politicians": ["LBJ", "HW", "CDG"],
    "athletes": ["JU", "CY", "AJF"],
    "film stars": ["BB", "ET", "SL"],
}


def random_linkage(n, label="option {}"):
    """The tree of a clustering of random points."""
    points = np.random.default_rng(n).normal(size=(n, 3))
    labels = [label.format(k) for k in range(n)]

    def write(cluster, height):
        if cluster.is_leaf():
            return f"'{labels[cluster.id]}':{height}"
        below = ",".join(write(part, cluster.dist) for part in (cluster.left, cluster.right))
        return f"({below}):{height - cluster.dist}"

    root = to_tree(linkage(points, "average"))
    return Tree.from_newick(f"{write(root, root.dist)};").for_labels(labels)


def caterpillar(n):
    """As text, (((x0, x1), x2), ...)."""
    return (
        "(" * (n - 1)
        + "x0:1"
        + "".join(f",x{k}:{k}){f'c{k}:1' if k < n - 1 else ''}" for k in range(1, n))
        + ";"
    )


def random_tree(rng, n):
    """Newick text of a random tree with zero edges and single children; its labels, forks and
    length unscaled."""
    labels = [f"{'ab'[k % 2]} '{k}(" if k % 3 else f"o_{k}" for k in range(n)]
    fork, scale, total = np.zeros((n, n)), float(np.exp(rng.normal(scale=5))), 0.0

    def edge(above, below):
        nonlocal total
        total += below - above
        return f":{(below - above) * scale!r}"

    def subtree(leaves, above):
        depth = (
            1.0 if len(leaves) == 1 else above if rng.random() < 0.2 else rng.uniform(above, 1.0)
        )
        if len(leaves) == 1:
            text = "'" + labels[leaves[0]].replace("'", "''") + "'"
        else:
            parts = np.array_split(leaves, min(len(leaves), rng.integers(2, 5)))
            for one, other in combinations(parts, 2):
                fork[np.ix_(one, other)] = fork[np.ix_(other, one)] = depth
            text = f"({','.join(subtree(part, depth) for part in parts)})"
        if rng.random() < 0.2:  # the edge in two pieces
            middle = rng.uniform(above, depth)
            text, depth = f"({text}{edge(middle, depth)})", middle
        return text + edge(above, depth)

    parts = np.array_split(rng.permutation(n), min(n, rng.integers(1, 4)))
    text = f"({','.join(subtree(part, 0.0) for part in parts)}):7;"
    written = sorted(range(n), key=lambda k: text.index("'" + labels[k].replace("'", "''") + "'"))
    return text, tuple(labels[k] for k in written), fork[np.ix_(written, written)], total
