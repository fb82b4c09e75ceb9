"""A tree over options, from its root to its leaves."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from thali.trees.nodes import children, postorder

from ._style import label_width, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from thali.trees.tree import Tree

_LARGEST, _SMALLEST, _NAME = 9, 5, 8  # points of a label, and of the name of an inner node
_GAP = 2.0  # points between a name and a line


def tree(tree: "Tree", ax: "Axes | None" = None) -> "Axes":
    """Draw a tree, the root at the left, the leaves at the right, with edges of their lengths.

    Names of inner nodes are at the edges that lead to them, if there is room. If there are too many leaves for
    readable labels, only some are labelled.

    Parameters
    ----------
    tree : Tree
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes

    Example
    -------
    >>> from thali.trees.tree import Tree
    >>> ax = tree(Tree.from_groups({"hot": ["tea", "coffee"], "cold": ["milk", "juice"]}))
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['tea', 'coffee', 'milk', 'juice']
    """
    ax, _ = draw(tree, tree.depths, ax)
    ax.set(xlim=(-0.01, 1.005), xlabel="distance from the root")
    ax.set_xticks(np.linspace(0, 1, 5), ["0", "0.25", "0.5", "0.75", "1"])
    return ax


class Branches(Protocol):
    """Nodes as those of a `Tree`: the leaves first, every node before its parent, the root last."""

    @property
    def names(self) -> Sequence[str]: ...

    @property
    def parents(self) -> np.ndarray: ...

    @property
    def n_leaves(self) -> int: ...


def draw(tree: Branches, depths: np.ndarray, ax: "Axes | None") -> "tuple[Axes, np.ndarray]":
    """Draw branches with every node at its depth; returned are the axes and the heights of the nodes."""
    from matplotlib.collections import LineCollection

    below = children(tree.parents.tolist())
    order = postorder(below)
    leaves = [node for node in order if not below[node]]
    n = len(leaves)
    x, y = depths, np.zeros(len(order))
    y[leaves] = np.arange(n)
    for node in order:
        if below[node]:
            y[node] = (y[below[node][0]] + y[below[node][-1]]) / 2

    labels = short([tree.names[leaf] for leaf in leaves])
    own = ax is None
    if ax is None:
        (ax,) = new_axes(4.2 + label_width(labels), 0.8 + max(1.2, min(0.24 * n, 24.0)))
    edges = [[(x[parent], y[node]), (x[node], y[node])] for node, parent in enumerate(tree.parents[:-1])]
    forks = [[(x[node], y[at[0]]), (x[node], y[at[-1]])] for node, at in enumerate(below) if len(at) > 1]
    lines = np.array([*edges, *forks])
    ax.add_collection(LineCollection(list(lines), colors="0.25", linewidths=1.2 if n <= 100 else 0.7))
    deepest = float(x.max())
    ax.set(xlim=(-0.01 * deepest, 1.005 * deepest), ylim=(n - 0.4, -0.6))

    room = ax.get_window_extent().height / ax.figure.dpi * 72 / n
    step = int(np.ceil(1.2 * _SMALLEST / room))
    size = float(np.clip(room / 1.2, _SMALLEST, _LARGEST))
    ax.yaxis.tick_right()
    ax.set_yticks(np.arange(0, n, step), labels[::step], parse_math=False, fontsize=size)
    ax.tick_params(axis="y", length=0, pad=2)
    ax.spines[["top", "right", "left"]].set_visible(False)

    if any(tree.names[node] for node in range(n, len(order) - 1)):
        if own:
            ax.figure.canvas.figure.draw_without_rendering()  # only now the length of an edge on paper is known
        _name_nodes(ax, tree, x, y, lines)
    return ax, y


def _name_nodes(ax: "Axes", tree: Branches, x: np.ndarray, y: np.ndarray, lines: np.ndarray) -> None:
    """Write the names of inner nodes above the edges that lead to them, or else below, where they touch nothing."""
    gap = _GAP * ax.figure.dpi / 72
    drawn = ax.transData.transform(lines.reshape(-1, 2)).reshape(-1, 2, 2)
    low, high = drawn.min(axis=1), drawn.max(axis=1)
    for node in range(tree.n_leaves, len(tree.names) - 1):
        name = " ".join(tree.names[node].split())
        (start, _), (end, _) = drawn[node]  # the first lines are the edges, in the order of the nodes
        if not name or end - start < gap * len(name):  # letters are about twice as wide as the gap
            continue
        middle = (x[tree.parents[node]] + x[node]) / 2
        for up in (1, -1):
            text = ax.annotate(
                name,
                (middle, y[node]),
                (0, up * _GAP),
                textcoords="offset points",
                ha="center",
                va="bottom" if up > 0 else "top",
                fontsize=_NAME,
                color="0.25",
                parse_math=False,
            )
            text.set_in_layout(False)
            box = text.get_window_extent()
            corner, opposite = np.array([box.x0 - gap, box.y0]), np.array([box.x1 + gap, box.y1])
            touches = ((corner < high) & (low < opposite)).all(axis=1).any()
            if not touches and (ax.bbox.min < corner).all() and (opposite < ax.bbox.max).all():
                low, high = np.vstack([low, corner]), np.vstack([high, opposite])
                break
            text.remove()
