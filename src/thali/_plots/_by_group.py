"""Numbers with intervals of several groups of people, one line a row."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ._style import COLOURS, legend_of, name_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = "osD^vPX"
MAX_GROUPS = len(COLOURS)
_ACROSS = 4  # groups of a line of the legend


def height_of(rows: int, groups: int) -> float:
    """Inches of these rows."""
    return max(rows, 1) * (0.16 + 0.16 * groups)


def draw_groups(ax: "Axes", labels: list[str], found: Mapping[str, np.ndarray]) -> None:
    """Draw the mean, low and high (3, rows) of each group, the first row at the top; one group
    needs no legend."""
    rows = np.arange(len(labels))
    for g, (name, (mean, low, high)) in enumerate(found.items()):
        at = rows + 0.6 * ((g + 0.5) / len(found) - 0.5)
        ax.hlines(at, low, high, color=COLOURS[g], linewidth=1.4)
        ax.scatter(mean, at, s=22, color=COLOURS[g], marker=_MARKERS[g], label=name, zorder=3)
    name_rows(ax, rows, labels)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    for row in rows[:-1]:
        ax.axhline(row + 0.5, color="0.9", linewidth=0.8, zorder=0)
    if len(found) < 2:
        return
    columns = min(len(found), _ACROSS)
    legend_of(
        ax,
        "lower left",
        (0.0, 1.0),
        ncols=columns,
        columnspacing=1.2,
        handletextpad=0.2,
        fontsize=None,
    )
