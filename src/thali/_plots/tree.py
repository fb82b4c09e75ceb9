"""A tree over options, from its root to its leaves."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from thali._labels import one_line
from thali._trees.nodes import children, postorder
from thali._trees.tree import Tree
from thali.errors import ArgumentError

from ._fonts import find_fonts, picture
from ._style import label_width, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

_LARGEST, _SMALLEST, _NAME = 9, 5, 8  # points of a label, and of the name of an inner node
_GAP = 2.0  # points between a name and a line
# Where a name is tried, in points from the middle of its edge: above or below it, or on rings around it with a leader.
_ALONG = ((0.0, _GAP, "bottom"), (0.0, -_GAP, "top"))
_BESIDE = tuple(
    (1.6 * radius * float(np.cos(turn)), radius * float(np.sin(turn)), "center")
    for radius in range(10, 90, 8)
    for turn in np.linspace(np.pi, -np.pi, 16, endpoint=False)
)
_LEADER = {"arrowstyle": "-", "color": "0.55", "linewidth": 0.6, "shrinkA": 1, "shrinkB": 0}
_MAX_LEADERS = 12  # names with leaders; more are a thicket, and none is drawn


@picture()
def tree(tree: Tree, ax: "Axes | None" = None) -> "Axes":
    """Draw a tree, the root at the left, the leaves at the right, with edges of their lengths.

    Names of inner nodes are at the edges that lead to them, or near those with a line to the edge, if there is room. If
    there are too many leaves for readable labels, only some are labelled.

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

    if texts := _names(ax, tree, x, y):
        find_fonts([ax])
        if own:
            ax.figure.canvas.figure.draw_without_rendering()  # only now the length of an edge on paper is known
        _place(ax, texts, lines)
    return ax, y


def _names(ax: "Axes", tree: Branches, x: np.ndarray, y: np.ndarray) -> "dict[int, Annotation]":
    """The names of inner nodes, with a leader to the middle of the edge that leads to the node."""
    look = {"textcoords": "offset points", "ha": "center", "fontsize": _NAME, "color": "0.25", "parse_math": False}
    texts = {}
    for node in range(tree.n_leaves, len(tree.names) - 1):
        if name := one_line(tree.names[node]):
            middle = ((x[tree.parents[node]] + x[node]) / 2, y[node])
            texts[node] = ax.annotate(name, middle, (0, 0), **look, arrowprops=_LEADER)
            texts[node].set_in_layout(False)
    return texts


def _place(ax: "Axes", texts: "dict[int, Annotation]", lines: np.ndarray) -> None:
    """Move names to where they touch nothing: along their edges, or beside those; one without room is removed."""
    # The first lines are the edges, in the order of the nodes.
    gap = _GAP * ax.figure.dpi / 72
    drawn = ax.transData.transform(lines.reshape(-1, 2)).reshape(-1, 2, 2)
    taken = [np.array([line.min(axis=0), line.max(axis=0)]) for line in drawn]
    without_room = []
    for node, text in texts.items():
        (start, _), (end, _) = drawn[node]
        fits = end - start >= gap * len(text.get_text())  # letters are about twice as wide as the gap
        if not (fits and _placed(ax, text, _ALONG, taken)):
            without_room.append(text)
        else:
            text.arrow_patch.set_visible(False)  # type: ignore[union-attr]
    for text in without_room:
        if len(without_room) > _MAX_LEADERS or not _placed(ax, text, _BESIDE, taken):
            text.remove()


def _placed(ax: "Axes", text: "Annotation", places: tuple[tuple[float, float, str], ...], taken: list) -> bool:
    """Move a name to the first of the places where it touches none of the boxes `taken`; False if there is none."""
    from matplotlib.text import Text

    gap = _GAP * ax.figure.dpi / 72
    low, high = np.array(taken).transpose(1, 0, 2)
    for across, up, vertical in places:
        text.set(position=(across, up), verticalalignment=vertical)
        text.get_window_extent()  # which moves it
        box = Text.get_window_extent(text)  # without the leader
        corner, opposite = np.array([box.x0 - gap, box.y0]), np.array([box.x1 + gap, box.y1])
        touches = ((corner < high) & (low < opposite)).all(axis=1).any()
        if not touches and (ax.bbox.min < corner).all() and (opposite < ax.bbox.max).all():
            taken.append(np.array([corner, opposite]))
            return True
    return False
