"""Nodes of a rooted tree as lists (name, length, parent), and their normalisation.

No function here is recursive: a tree of two thousand options can be two thousand nodes deep.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from thali._labels import check_labels, index_labels, shorten
from thali.errors import DataError

# leaves are equally deep within this share of the depth: written trees are rounded
DEPTH_TOLERANCE = 1e-6
# a tree of depth 1 but for rounding is not rescaled, so that it reads back unchanged
ROUNDING_TOLERANCE = 1e-12


class TreeNodes(NamedTuple):
    """Names, lengths and parents of a tree's nodes, children before parents.

    `names` are "" for nodes without a name. `lengths` are the lengths of the edges above the nodes
    (0 for the root). `parents` are indices into these lists (-1 for the root).
    """

    names: list[str]
    lengths: list[float]
    parents: list[int]

    def add(self, name: str, length: float, children: Sequence[int] = ()) -> int:
        """Append a node as the parent of these children; return its index."""
        node = len(self.names)
        self.names.append(name)
        self.lengths.append(length)
        self.parents.append(-1)
        for child in children:
            self.parents[child] = node
        return node


def find_children(parents: Sequence[int]) -> list[list[int]]:
    """Return the list of children of each node.

    Children are sorted by the first leaf below them.
    """
    root = len(parents) - 1
    first_leaf = list(range(root + 1))
    for node in range(root):
        parent = parents[node]
        if parent >= 0:
            first_leaf[parent] = min(first_leaf[parent], first_leaf[node])
    children: list[list[int]] = [[] for _ in parents]
    for node in sorted(range(root), key=first_leaf.__getitem__):
        if parents[node] >= 0:
            children[parents[node]].append(node)
    return children


def sort_postorder(children: list[list[int]]) -> list[int]:
    """Return node indices in postorder, each after its children.

    This is the order of closing parentheses in Newick text.
    """
    reversed_postorder = []
    nodes_to_visit = [len(children) - 1]
    while nodes_to_visit:
        node = nodes_to_visit.pop()
        reversed_postorder.append(node)
        nodes_to_visit.extend(children[node])
    return reversed_postorder[::-1]


def compute_depths(parents: Sequence[int], lengths: Sequence[float]) -> list[float]:
    """Return the distance of each node from the root."""
    node_depths = [0.0] * len(parents)
    for node in reversed(range(len(parents) - 1)):
        node_depths[node] = node_depths[parents[node]] + lengths[node]
    return node_depths


def normalize_tree(
    nodes: TreeNodes, rescale: str | None = None
) -> tuple[tuple[str, ...], TreeNodes]:
    """Return leaf labels and nodes: leaves first, every leaf at depth 1.

    Inner nodes with one child are removed; a root with one child stays, because a feature can arise
    on the edge below it. The leaves come first, in their order, then the inner nodes in postorder.
    Lengths are divided by the common depth of the leaves.
    """
    nodes = sort_leaves_first(merge_single_children(nodes))
    n_leaves = sum(not children for children in find_children(nodes.parents))
    labels = check_leaf_names(nodes.names[:n_leaves])
    names = [*labels, *nodes.names[n_leaves:]]
    return labels, TreeNodes(names, rescale_lengths(nodes, labels, rescale), nodes.parents)


def check_leaf_names(
    names: Iterable[Any], subject: str = "The leaves of a tree"
) -> tuple[str, ...]:
    """Return leaf names as a tuple; raise unless two or more, distinct, not empty.

    Return them as labels; `subject` names them in errors.
    """
    if not isinstance(names, Iterable):
        raise DataError(f"{subject} must be a sequence of names; got {names!r}.")
    labels = check_labels(names, subject)
    if len(labels) < 2:
        raise DataError(f"{subject} must number at least two; got {shorten(labels) or 'none'}.")
    return labels


def merge_single_children(nodes: TreeNodes) -> TreeNodes:
    """Return the nodes without inner nodes that have one child.

    The child takes over the length, and the name if it has none. Removed nodes stay in the lists
    with parent -1; the root is still the last.
    """
    root = len(nodes.parents) - 1
    names = list(nodes.names)
    lengths = list(nodes.lengths)
    parents = list(nodes.parents)
    has_one_child = [len(children) == 1 for children in find_children(parents)]
    has_one_child[root] = False
    for node in reversed(range(root)):
        parent = parents[node]
        if has_one_child[parent]:
            lengths[node] += lengths[parent]
            names[node] = names[node] or names[parent]
            parents[node] = parents[parent]
    for node in range(root):
        if has_one_child[node]:
            parents[node] = -1
    return TreeNodes(names, lengths, parents)


def sort_leaves_first(nodes: TreeNodes) -> TreeNodes:
    """Return the nodes renumbered: leaves in order, then others in postorder.

    Nodes that are not below the root are dropped.
    """
    children = find_children(nodes.parents)
    node_order = sort_postorder(children)
    node_order = sorted(node for node in node_order if not children[node]) + [
        node for node in node_order if children[node]
    ]
    new_indices = index_labels(node_order)
    return TreeNodes(
        [nodes.names[node] for node in node_order],
        [nodes.lengths[node] for node in node_order],
        [new_indices.get(nodes.parents[node], -1) for node in node_order],
    )


def rescale_lengths(nodes: TreeNodes, labels: tuple[str, ...], rescale: str | None) -> list[float]:
    """Return edge lengths divided by the leaves' depth, so that all leaves are at depth 1.

    The edges above the leaves absorb the rounding, or the missing length with rescale "extend".
    """
    parents = nodes.parents
    n_leaves = len(labels)
    root = len(nodes.parents) - 1
    leaf_depths = compute_depths(parents, nodes.lengths)[:n_leaves]
    max_depth = max(leaf_depths)
    min_depth = min(leaf_depths)
    if not 0.0 < max_depth < math.inf:
        raise DataError(
            "The distance from the root of a tree to a leaf must be finite and positive; it is"
            f" {max_depth:g} for {labels[leaf_depths.index(max_depth)]!r}."
        )
    if max_depth - min_depth > DEPTH_TOLERANCE * max_depth and rescale is None:
        shallow_leaf = labels[leaf_depths.index(min_depth)]
        deep_leaf = labels[leaf_depths.index(max_depth)]
        raise DataError(
            f"All leaves must be at the same distance from the root, but {shallow_leaf!r} is at"
            f" {min_depth:.8g} and {deep_leaf!r} at {max_depth:.8g}; use `rescale='extend'` to"
            " lengthen the shorter paths."
        )
    lengths = np.array(nodes.lengths)
    if abs(max_depth - 1.0) > ROUNDING_TOLERANCE:
        lengths /= max_depth
    lengths[root] = 0.0
    lengths = lengths.tolist()
    node_depths = [0.0] * (root + 1)
    for node in reversed(range(root)):
        parent_depth = node_depths[parents[node]]
        node_depths[node] = parent_depth + lengths[node]
        if node_depths[node] > 1.0 or (node < n_leaves and node_depths[node] < 1.0):
            node_depths[node], lengths[node] = 1.0, 1.0 - parent_depth
    return lengths
