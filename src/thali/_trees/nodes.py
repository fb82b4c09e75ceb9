"""The nodes of a rooted tree, in the one order that all of thali reads: checked, numbered, every
leaf 1 deep.

Nothing here calls itself: a tree of two thousand options can be two thousand nodes deep.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from thali._labels import checked_labels, positions, shorten
from thali.errors import DataError

# leaves are equally deep within this share of the depth: written trees are rounded
SAME_DEPTH = 1e-6
# a tree of this depth but for rounding is not divided by it, so that it reads back as it was
# written
ROUNDING = 1e-12


class Nodes(NamedTuple):
    """The nodes of a tree, each before its parent, so that the root is the last.

    `names` are "" where there is none, `lengths` are those of the edges above the nodes (0 for the
    root), `parents` are places in these lists (-1 for the root).
    """

    names: list[str]
    lengths: list[float]
    parents: list[int]

    def add(self, name: str, length: float, children: Sequence[int] = ()) -> int:
        """Append a node above these children; returned is its place."""
        place = len(self.names)
        self.names.append(name)
        self.lengths.append(length)
        self.parents.append(-1)
        for child in children:
            self.parents[child] = place
        return place


def children(parents: Sequence[int]) -> list[list[int]]:
    """The children of each node; of two, the one with the foremost leaf below it comes first."""
    root = len(parents) - 1
    foremost = list(range(root + 1))
    for node in range(root):
        above = parents[node]
        if above >= 0:
            foremost[above] = min(foremost[above], foremost[node])
    below: list[list[int]] = [[] for _ in parents]
    for node in sorted(range(root), key=foremost.__getitem__):
        if parents[node] >= 0:
            below[parents[node]].append(node)
    return below


def postorder(below: list[list[int]]) -> list[int]:
    """Every node after its children: the order of closing parentheses."""
    order, waiting = [], [len(below) - 1]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting.extend(below[node])
    return order[::-1]


def depths(parents: Sequence[int], lengths: Sequence[float]) -> list[float]:
    """Distance of each node from the root."""
    depth = [0.0] * len(parents)
    for node in reversed(range(len(parents) - 1)):
        depth[node] = depth[parents[node]] + lengths[node]
    return depth


def converged(nodes: Nodes, rescale: str | None = None) -> tuple[tuple[str, ...], Nodes]:
    """The labels of the leaves, and the tree as `Tree` keeps it.

    Inner nodes with one child are taken out; a root with one child stays, for a feature can arise
    on the edge below it. The leaves come first, in the order they had, then the inner nodes as
    `postorder` finds them. Lengths are divided by the common depth of the leaves.
    """
    nodes = numbered(without_single_children(nodes))
    n = sum(not below for below in children(nodes.parents))
    labels = leaf_names(nodes.names[:n])
    return labels, Nodes(
        [*labels, *nodes.names[n:]], levelled(nodes, labels, rescale), nodes.parents
    )


def leaf_names(names: Iterable[Any], what: str = "The leaves of a tree") -> tuple[str, ...]:
    """The names as labels: two at least, distinct and not empty; `what` names them in the error."""
    if not isinstance(names, Iterable):
        raise DataError(f"{what} must be a sequence of names; got {names!r}.")
    labels = checked_labels(names, what)
    if len(labels) < 2:
        raise DataError(f"{what} must include at least two names; got {shorten(labels) or 'none'}.")
    return labels


def without_single_children(nodes: Nodes) -> Nodes:
    """The tree in which each inner node with one child has passed its length, and its name, on to
    that child.

    The nodes passed over stay in the lists with parent -1; the root is still the last.
    """
    root = len(nodes.parents) - 1
    names, lengths, parents = list(nodes.names), list(nodes.lengths), list(nodes.parents)
    single = [len(below) == 1 for below in children(parents)]
    single[root] = False
    for node in reversed(range(root)):
        above = parents[node]
        if single[above]:
            lengths[node] += lengths[above]
            names[node] = names[node] or names[above]
            parents[node] = parents[above]
    for node in range(root):
        if single[node]:
            parents[node] = -1
    return Nodes(names, lengths, parents)


def numbered(nodes: Nodes) -> Nodes:
    """The nodes below the root, leaves first in the order they had, then the others as `postorder`
    finds them."""
    below = children(nodes.parents)
    order = postorder(below)
    order = sorted(node for node in order if not below[node]) + [
        node for node in order if below[node]
    ]
    place = positions(order)
    return Nodes(
        [nodes.names[node] for node in order],
        [nodes.lengths[node] for node in order],
        [place.get(nodes.parents[node], -1) for node in order],
    )


def levelled(nodes: Nodes, labels: tuple[str, ...], rescale: str | None) -> list[float]:
    """The lengths divided by the depth of the deepest leaf, those above leaves such that every leaf
    is 1 deep."""
    parents, n, root = nodes.parents, len(labels), len(nodes.parents) - 1
    depth = depths(parents, nodes.lengths)[:n]
    deepest, shallowest = max(depth), min(depth)
    if not 0.0 < deepest < math.inf:
        raise DataError(
            "The distance from the root of a tree to a leaf must be finite and positive; it is"
            f" {deepest:g} for {labels[depth.index(deepest)]!r}."
        )
    if deepest - shallowest > SAME_DEPTH * deepest and rescale is None:
        high, low = labels[depth.index(shallowest)], labels[depth.index(deepest)]
        raise DataError(
            f"All leaves must have the same distance from the root, but {high!r} has"
            f" {shallowest:.8g} and {low!r} has {deepest:.8g}; use `rescale='extend'` to lengthen"
            " the shorter paths."
        )
    lengths = np.array(nodes.lengths)
    if abs(deepest - 1.0) > ROUNDING:
        lengths /= deepest
    lengths[root] = 0.0
    lengths = lengths.tolist()
    reached = [0.0] * (root + 1)
    for node in reversed(range(root)):
        above = reached[parents[node]]
        reached[node] = above + lengths[node]
        if reached[node] > 1.0 or (node < n and reached[node] < 1.0):
            reached[node], lengths[node] = 1.0, 1.0 - above
    return lengths
