"""Rows with one interval per group of respondents, drawn in several plots."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ._style import COLOURS, add_legend, label_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "osD^vPX"
MAX_GROUPS = len(COLOURS)
_LEGEND_COLUMNS = 4  # groups per line of the legend


def compute_rows_height(n_rows: int, n_groups: int) -> float:
    """Return the height in inches of rows with several intervals each."""
    return max(n_rows, 1) * (0.16 + 0.16 * n_groups)


def draw_groups(
    ax: "Axes", labels: list[str], intervals_by_group: Mapping[str, np.ndarray]
) -> None:
    """Draw each group's mean and interval in every row, arrays (3, n_rows).

    The first row is at the top; one group has no legend.
    """
    rows = np.arange(len(labels))
    for group_index, (group, (mean, low, high)) in enumerate(intervals_by_group.items()):
        row_positions = rows + 0.6 * ((group_index + 0.5) / len(intervals_by_group) - 0.5)
        ax.hlines(row_positions, low, high, color=COLOURS[group_index], linewidth=1.4)
        ax.scatter(
            mean,
            row_positions,
            s=22,
            color=COLOURS[group_index],
            marker=MARKERS[group_index],
            label=group,
            zorder=3,
        )
    label_rows(ax, rows, labels)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    for row in rows[:-1]:
        ax.axhline(row + 0.5, color="0.9", linewidth=0.8, zorder=0)
    if len(intervals_by_group) < 2:
        return
    n_columns = min(len(intervals_by_group), _LEGEND_COLUMNS)
    add_legend(
        ax,
        "lower left",
        (0.0, 1.0),
        ncols=n_columns,
        columnspacing=1.2,
        handletextpad=0.2,
        fontsize=None,
    )
