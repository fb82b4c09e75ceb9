"""The product classes of a fit: who owns them, and how much they matter."""

from typing import TYPE_CHECKING, Any

from thali._plots._style import COLOURS, create_axes, hide_spines, shorten_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_CLASSES = 12


def class_shares(model: Any) -> "list[Axes]":
    """Draw share of respondents and importance of the most important product classes."""
    table = model.classes().head(_MAX_CLASSES)
    rows = range(len(table))
    axes = create_axes(8.0, 1.2 + 0.3 * len(table), columns=2)
    for ax, column, colour in zip(axes, ("share", "importance"), COLOURS, strict=False):
        ax.barh(rows, table[column], xerr=table[f"{column}_se"], color=colour)
        ax.set(xlabel=column, ylim=(len(table) - 0.4, -0.6), yticks=[])
        hide_spines(ax)
    axes[0].set_yticks(rows, shorten_labels(list(table["product_class"])))
    return axes
