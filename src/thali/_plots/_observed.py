"""What was observed against what a model says of it, a point each, the worst of them named."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ._style import COLOURS, hide_spines, label_width, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WORST = 5  # points that are named
_MARKERS = "osD^v"


def new_observed_axes(named: list[str], height: float) -> "Axes":
    """Return axes with room for the names of the worst points on the right."""
    (ax,) = new_axes(4.8 + label_width([line for name in named for line in name.split("\n")]), height)
    return ax


def draw_observed(
    ax: "Axes", said: np.ndarray, observed: np.ndarray, low: np.ndarray, high: np.ndarray, ends: Any
) -> None:
    """Draw a point for each observation, with the interval of what the model says, about the line of equality."""
    ax.plot(ends, ends, color="0.6", linewidth=0.8, zorder=1)
    bars = {"fmt": "none", "elinewidth": 0.8, "alpha": min(1.0, 0.15 + 30 / len(observed)), "zorder": 2}
    # a mean may lie outside an equal-tailed interval, hence the maximum
    ax.errorbar(said, observed, xerr=np.maximum([said - low, high - said], 0.0), ecolor="0.45", **bars)
    ax.scatter(said, observed, s=9, color="0.3", linewidth=0, zorder=3)


def name_worst(
    ax: "Axes", said: np.ndarray, observed: np.ndarray, worst: np.ndarray, named: list[str], title: str
) -> None:
    """Mark the worst points, and name them in a legend."""
    for k, name, marker, colour in zip(worst, named, _MARKERS, COLOURS, strict=False):
        ax.plot(
            said[k],
            observed[k],
            marker,
            markersize=8,
            markerfacecolor="none",
            markeredgewidth=1.8,
            color=colour,
            label=name,
            zorder=4,
        )
    hide_spines(ax)
    legend = ax.legend(
        title=title,
        loc="upper left",
        bbox_to_anchor=(1.02, 1),
        frameon=False,
        fontsize=8,
        labelspacing=0.9,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
