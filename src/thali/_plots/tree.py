"""A tree over options, from its root to its leaves."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from thali._labels import one_line
from thali._trees.nodes import find_children, sort_postorder
from thali._trees.tree import Tree
from thali.errors import ArgumentError

from ._fonts import find_fonts, picture
from ._style import axes_of, hide_spines, label_width, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

_LARGEST, _SMALLEST, _NAME = 9, 5, 8  # points of a label, and of the name of an inner node
_GAP = 2.0  # points between a name and a line
_PLACES = ((_GAP, "bottom"), (-_GAP, "top"))  # where a name is tried: above its edge, and below it


@picture()
def tree(tree: Tree, ax: "Axes | None" = None) -> "Axes":
    """Draw a tree, the root at the left, the leaves at the right, with edges of their lengths.

    Names of inner nodes are at the edges that lead to them, if there is room. If there are too many
    leaves for readable labels, only some are labelled.

    Parameters
    ----------
    tree : Tree
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ArgumentError
        If it is no tree.

    Examples
    --------
    >>> from thali._trees.tree import Tree
    >>> ax = tree(Tree.from_groups({"hot": ["tea", "coffee"], "cold": ["milk", "juice"]}))
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['tea', 'coffee', 'milk', 'juice']
    """
    if not isinstance(tree, Tree):
        raise ArgumentError(f"plots.tree requires a Tree; got {type(tree).__name__}.")
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
    """Draw branches with every node at its depth; returned are the axes and the heights of the
    nodes."""
    from matplotlib.collections import LineCollection

    below = find_children(tree.parents.tolist())
    order = sort_postorder(below)
    leaves = [node for node in order if not below[node]]
    n = len(leaves)
    x, y = depths, np.zeros(len(order))
    y[leaves] = np.arange(n)
    for node in order:
        if below[node]:
            y[node] = (y[below[node][0]] + y[below[node][-1]]) / 2

    labels = short([tree.names[leaf] for leaf in leaves])
    own = ax is None
    ax = axes_of(ax, 4.2 + label_width(labels), 0.8 + max(1.2, min(0.24 * n, 24.0)))
    edges = [
        [(x[parent], y[node]), (x[node], y[node])] for node, parent in enumerate(tree.parents[:-1])
    ]
    forks = [
        [(x[node], y[at[0]]), (x[node], y[at[-1]])] for node, at in enumerate(below) if len(at) > 1
    ]
    lines = np.array([*edges, *forks])
    ax.add_collection(
        LineCollection(list(lines), colors="0.25", linewidths=1.2 if n <= 100 else 0.7)
    )
    deepest = float(x.max())
    ax.set(xlim=(-0.01 * deepest, 1.005 * deepest), ylim=(n - 0.4, -0.6))

    room = ax.get_window_extent().height / ax.figure.dpi * 72 / n
    step = int(np.ceil(1.2 * _SMALLEST / room))
    size = float(np.clip(room / 1.2, _SMALLEST, _LARGEST))
    ax.yaxis.tick_right()
    ax.set_yticks(np.arange(0, n, step), labels[::step], parse_math=False, fontsize=size)
    ax.tick_params(axis="y", length=0, pad=2)
    hide_spines(ax, "left")

    if texts := _names(ax, tree, x, y):
        find_fonts([ax])
        if own:
            # only now the length of an edge on paper is known
            ax.figure.canvas.figure.draw_without_rendering()
        _place(ax, texts, lines)
    return ax, y


def _names(ax: "Axes", tree: Branches, x: np.ndarray, y: np.ndarray) -> "dict[int, Annotation]":
    """The names of inner nodes, at the middle of the edges that lead to them."""
    look = {
        "textcoords": "offset points",
        "ha": "center",
        "fontsize": _NAME,
        "color": "0.25",
        "parse_math": False,
    }
    texts = {}
    for node in range(tree.n_leaves, len(tree.names) - 1):
        if name := one_line(tree.names[node]):
            middle = ((x[tree.parents[node]] + x[node]) / 2, y[node])
            texts[node] = ax.annotate(name, middle, (0, 0), **look)
            texts[node].set_in_layout(False)
    return texts


def _place(ax: "Axes", texts: "dict[int, Annotation]", lines: np.ndarray) -> None:
    """Move names to where they touch nothing; one without room along its edge is removed."""
    gap = _GAP * ax.figure.dpi / 72
    # the first are edges, in order of nodes
    drawn = ax.transData.transform(lines.reshape(-1, 2)).reshape(-1, 2, 2)
    taken = [np.array([line.min(axis=0), line.max(axis=0)]) for line in drawn]
    for node, text in texts.items():
        length = drawn[node][1, 0] - drawn[node][0, 0]
        fits = length >= gap * len(text.get_text())  # letters are about twice as wide as the gap
        if not (fits and _is_placed(ax, text, taken)):
            text.remove()


def _is_placed(ax: "Axes", text: "Annotation", taken: list[np.ndarray]) -> bool:
    """Whether a name found a place where it touches none of the boxes `taken`, to which it is
    added."""
    gap = _GAP * ax.figure.dpi / 72
    low, high = np.array(taken).transpose(1, 0, 2)
    for up, vertical in _PLACES:
        text.set(position=(0.0, up), verticalalignment=vertical)
        box = text.get_window_extent()
        corner, opposite = np.array([box.x0 - gap, box.y0]), np.array([box.x1 + gap, box.y1])
        touches = ((corner < high) & (low < opposite)).all(axis=1).any()
        if not touches and (ax.bbox.min < corner).all() and (opposite < ax.bbox.max).all():
            taken.append(np.array([corner, opposite]))
            return True
    return False
