"""Plot of a tree over options, with edge lengths."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from thali._labels import join_lines
from thali._trees.tree import Tree
from thali._trees.tree_nodes import find_children, sort_postorder
from thali.errors import ArgumentError

from ._fonts import picture, set_fallback_fonts
from ._style import ensure_axes, hide_spines, measure_label_width, shorten_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

# points
_MAX_FONT_SIZE = 9
_MIN_FONT_SIZE = 5
_NAME_FONT_SIZE = 8
_GAP = 2.0  # points between a name and a line
_OFFSETS = ((_GAP, "bottom"), (-_GAP, "top"))  # tried positions of a name: above and below its edge


@picture()
def tree(tree: Tree, ax: "Axes | None" = None) -> "Axes":
    """Draw a tree from its root at the left, with edge lengths.

    Names of inner nodes are written at the edges that lead to them, if there is room. With too many
    leaves for readable labels, only some are labelled.

    Parameters
    ----------
    tree : Tree
    ax : matplotlib axes, optional
        Axes to draw in; None creates a new figure.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ArgumentError
        If `tree` is not a Tree.

    Examples
    --------
    >>> from thali._trees.tree import Tree
    >>> ax = tree(Tree.from_groups({"hot": ["tea", "coffee"], "cold": ["milk", "juice"]}))
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['tea', 'coffee', 'milk', 'juice']
    """
    if not isinstance(tree, Tree):
        raise ArgumentError(f"plots.tree requires a Tree; got {type(tree).__name__}.")
    ax, _ = draw_branches(tree, tree.depths, ax)
    ax.set(xlim=(-0.01, 1.005), xlabel="distance from the root")
    ax.set_xticks(np.linspace(0, 1, 5), ["0", "0.25", "0.5", "0.75", "1"])
    return ax


class Branches(Protocol):
    """Parts of a tree that plots need: names, parents, number of leaves (first).

    The root is last.
    """

    @property
    def names(self) -> Sequence[str]: ...

    @property
    def parents(self) -> np.ndarray: ...

    @property
    def n_leaves(self) -> int: ...


def draw_branches(
    tree: Branches, depths: np.ndarray, ax: "Axes | None"
) -> "tuple[Axes, np.ndarray]":
    """Draw edges with nodes at given depths; return axes and heights of nodes."""
    from matplotlib.collections import LineCollection

    children = find_children(tree.parents.tolist())
    node_order = sort_postorder(children)
    leaves = [node for node in node_order if not children[node]]
    n = len(leaves)
    x = depths
    y = np.zeros(len(node_order))
    y[leaves] = np.arange(n)
    for node in node_order:
        if children[node]:
            y[node] = (y[children[node][0]] + y[children[node][-1]]) / 2

    labels = shorten_labels([tree.names[leaf] for leaf in leaves])
    is_new_figure = ax is None
    ax = ensure_axes(ax, 4.2 + measure_label_width(labels), 0.8 + max(1.2, min(0.24 * n, 24.0)))
    edge_lines = [
        [(x[parent], y[node]), (x[node], y[node])] for node, parent in enumerate(tree.parents[:-1])
    ]
    fork_lines = [
        [(x[node], y[child_nodes[0]]), (x[node], y[child_nodes[-1]])]
        for node, child_nodes in enumerate(children)
        if len(child_nodes) > 1
    ]
    lines = np.array([*edge_lines, *fork_lines])
    line_width = 1.2
    if n > 100:
        line_width = 0.7
    ax.add_collection(LineCollection(list(lines), colors="0.25", linewidths=line_width))
    max_depth = float(x.max())
    ax.set(xlim=(-0.01 * max_depth, 1.005 * max_depth), ylim=(n - 0.4, -0.6))

    points_per_leaf = ax.get_window_extent().height / ax.figure.dpi * 72 / n
    label_step = int(np.ceil(1.2 * _MIN_FONT_SIZE / points_per_leaf))
    font_size = float(np.clip(points_per_leaf / 1.2, _MIN_FONT_SIZE, _MAX_FONT_SIZE))
    ax.yaxis.tick_right()
    ax.set_yticks(
        np.arange(0, n, label_step), labels[::label_step], parse_math=False, fontsize=font_size
    )
    ax.tick_params(axis="y", length=0, pad=2)
    hide_spines(ax, "left")

    if text_by_node := _annotate_nodes(ax, tree, x, y):
        set_fallback_fonts([ax])
        if is_new_figure:
            # the lengths of edges in pixels are known after layout
            ax.figure.canvas.figure.draw_without_rendering()
        _place_names(ax, text_by_node, lines)
    return ax, y


def _annotate_nodes(
    ax: "Axes", tree: Branches, x: np.ndarray, y: np.ndarray
) -> "dict[int, Annotation]":
    """Write names of inner nodes at their edges; return texts by node."""
    text_by_node = {}
    for node in range(tree.n_leaves, len(tree.names) - 1):
        if name := join_lines(tree.names[node]):
            edge_middle = ((x[tree.parents[node]] + x[node]) / 2, y[node])
            text_by_node[node] = ax.annotate(
                name,
                edge_middle,
                (0, 0),
                textcoords="offset points",
                ha="center",
                fontsize=_NAME_FONT_SIZE,
                color="0.25",
                parse_math=False,
            )
            text_by_node[node].set_in_layout(False)
    return text_by_node


def _place_names(ax: "Axes", texts: "dict[int, Annotation]", lines: np.ndarray) -> None:
    """Move names to free places, and remove those that find none."""
    min_gap = _GAP * ax.figure.dpi / 72
    # the first lines are edges, in order of nodes
    pixel_lines = ax.transData.transform(lines.reshape(-1, 2)).reshape(-1, 2, 2)
    occupied_boxes = [np.array([line.min(axis=0), line.max(axis=0)]) for line in pixel_lines]
    for node, text in texts.items():
        edge_length = pixel_lines[node][1, 0] - pixel_lines[node][0, 0]
        # Characters are about twice as wide as the gap.
        has_room = edge_length >= min_gap * len(text.get_text())
        if not (has_room and _place_name(ax, text, occupied_boxes)):
            text.remove()


def _place_name(ax: "Axes", text: "Annotation", occupied_boxes: list[np.ndarray]) -> bool:
    """Move a name to a free place; return False if there is none."""
    # Its box is added to the occupied boxes.
    min_gap = _GAP * ax.figure.dpi / 72
    low, high = np.array(occupied_boxes).transpose(1, 0, 2)
    for offset, vertical_alignment in _OFFSETS:
        text.set(position=(0.0, offset), verticalalignment=vertical_alignment)
        box = text.get_window_extent()
        lower_corner = np.array([box.x0 - min_gap, box.y0])
        upper_corner = np.array([box.x1 + min_gap, box.y1])
        is_overlapping = ((lower_corner < high) & (low < upper_corner)).all(axis=1).any()
        if (
            not is_overlapping
            and (ax.bbox.min < lower_corner).all()
            and (upper_corner < ax.bbox.max).all()
        ):
            occupied_boxes.append(np.array([lower_corner, upper_corner]))
            return True
    return False
