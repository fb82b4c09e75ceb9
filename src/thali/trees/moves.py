"""Local moves on trees: the neighbours of a tree, as a search visits them.

A tree is held as its clades and their depths here: the sets of leaves with an inner node of their own below the root,
and the distance of that node from the root.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

from .nodes import Nodes, converged
from .tree import Tree, frozen

INTERCHANGE, REGRAFT, JOIN, COLLAPSE, LENGTH = "interchange", "regraft", "join", "collapse", "length"
MIN_SHARE = 1e-3  # share of the room between parent and nearest child that a node keeps from either when lengths change

Leaves = frozenset[int]
Clades = dict[Leaves, float]  # depths


class Neighbour(NamedTuple):
    """A tree one move away."""

    move: str
    tree: Tree


def neighbours(tree: Tree, step: float) -> list[Neighbour]:
    """All trees one move away from this one, each once; the names of clades that stay are kept.

    - interchange: a child of an inner node and a sibling of that node change places (nearest-neighbour interchange;
      of a binary rooted tree with n leaves there are 2 (n - 2))
    - join: two of three or more children of a node get a node of their own, halfway down to them
    - collapse: an inner node is taken out
    - regraft: a leaf or clade leaves its node and becomes a child of another one
    - length: an inner node, or all of them, move up or down, by `step` in the logit of their place between the node
      above and the nearest one below (of all nodes, between the root and the leaves)
    """
    clades = clades_of(tree)
    found: dict[object, Neighbour] = {}
    own = key_of(clades)
    for move, changed in _changes(clades, tree.n_leaves, step):
        key = key_of(changed)
        if key != own and key not in found:
            found[key] = Neighbour(move, tree_of(changed, tree))
    return list(found.values())


def clades_of(tree: Tree) -> Clades:
    """The clades of a tree and the depths of their nodes."""
    place = {label: number for number, label in enumerate(tree.labels)}
    depth = tree.depths[tree.n_leaves :].tolist()
    members = [frozenset(place[label] for label in clade) for clade in tree.clades()]
    return dict(zip(members, depth, strict=False))


def key_of(clades: Clades) -> frozenset[tuple[Leaves, float]]:
    """What is the same for equal trees."""
    return frozenset((clade, round(depth, 9)) for clade, depth in clades.items())


def tree_of(clades: Clades, like: Tree) -> Tree:
    """The tree of these clades, with the leaves of another tree, and its names of clades that both have."""
    named = like.clades()
    nodes = Nodes([], [], [])
    top = [nodes.add(label, 0.0) for label in like.labels]  # the highest node above each leaf so far
    depth = [1.0] * like.n_leaves
    for members in [*sorted(clades, key=lambda clade: (len(clade), sorted(clade))), None]:
        leaves = sorted(members) if members is not None else range(like.n_leaves)
        below = list(dict.fromkeys(top[leaf] for leaf in leaves))
        at = 0.0 if members is None else clades[members]
        for node in below:
            nodes.lengths[node] = max(0.0, depth[node] - at)
        name = "" if members is None else named.get(frozenset(like.labels[leaf] for leaf in leaves), "")
        above = nodes.add(name, 0.0, below)
        depth.append(at)
        for leaf in leaves:
            top[leaf] = above
    return frozen(*converged(nodes))


def _changes(clades: Clades, n: int, step: float) -> Iterator[tuple[str, Clades]]:
    """Moves, and the clades after each."""
    everything = frozenset(range(n))
    inner = sorted(clades, key=lambda clade: (len(clade), sorted(clade)))
    parts = [*(frozenset([leaf]) for leaf in range(n)), *inner]
    above = {part: min((c for c in inner if part < c), key=len, default=None) for part in parts}
    children = {node: [part for part in parts if above[part] == node] for node in [*inner, None]}

    def depth(part: Leaves | None) -> float:
        return 0.0 if part is None else clades[part] if len(part) > 1 else 1.0

    for node in inner:
        parent = above[node]
        for child in children[node]:
            for sibling in children[parent]:
                if sibling != node:
                    at = depth(node)
                    lower = at if at < depth(sibling) else 0.5 * (depth(parent) + depth(sibling))
                    others = {clade: d for clade, d in clades.items() if clade != node}
                    yield INTERCHANGE, others | {(node - child) | sibling: lower}
    for node in [*inner, None]:
        if len(children[node]) > 2:
            for first, one in enumerate(children[node]):
                for other in children[node][:first]:
                    yield JOIN, clades | {one | other: 0.5 * (depth(node) + min(depth(one), depth(other)))}
    for node in inner:
        yield COLLAPSE, {clade: d for clade, d in clades.items() if clade != node}
    for part in parts:
        for target in [*inner, None]:
            if target != above[part] and not (target is not None and target <= part) and depth(target) < depth(part):
                yield REGRAFT, _regrafted(clades, part, target, everything)
    for way in (-step, step):
        for node in inner:
            low, high = depth(above[node]), min(map(depth, children[node]))
            yield (
                LENGTH,
                clades | {node: low + (high - low) * _moved((depth(node) - low) / max(high - low, 1e-12), way)},
            )
        if len(inner) > 1:
            yield LENGTH, {clade: _moved(d, way) for clade, d in clades.items()}


def _regrafted(clades: Clades, part: Leaves, target: Leaves | None, everything: Leaves) -> Clades:
    """The clades after a part has left the nodes above it and become a child of the target; None: of the root."""
    changed: Clades = {}
    for clade, depth in clades.items():
        inside = target is not None and target <= clade
        now = clade if clade <= part else clade | part if inside else clade - part
        if len(now) > 1 and (now != everything or clade == everything):
            changed[now] = max(depth, changed.get(now, 0.0))  # a node that is left with one child gives way to it
    return changed


def _moved(place: float, way: float) -> float:
    """A place in (0, 1) after a step of its logit."""
    within = min(max(place, MIN_SHARE), 1.0 - MIN_SHARE)
    return 1.0 / (1.0 + math.exp(-(math.log(within / (1.0 - within)) + way)))
