"""Plot of effects or marginal means of a conjoint experiment, one row per level."""

from typing import TYPE_CHECKING

import numpy as np

from thali._labels import join_lines

from ._fonts import picture
from ._grouped_intervals import MARKERS
from ._style import (
    COLOURS,
    add_legend,
    draw_row_dividers,
    ensure_axes,
    label_grouped_rows,
    measure_label_width,
    place_grouped_rows,
    shorten_labels,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_SPREAD = 0.16  # inches between the first and the last group of a row


@picture("attribute", "level", "estimate", "low", "high", made_by="amce() or marginal_means()")
def conjoint_estimates(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw effects or marginal means as points with intervals, grouped by attribute.

    The baseline of an attribute is a hollow point at zero. Groups of respondents are side by side.
    The dashed line is zero for effects, and the mean of all profiles for marginal means.

    Parameters
    ----------
    table : pandas.DataFrame
        A table of estimates that `thali.amce` or `thali.marginal_means` returns.
    ax : matplotlib axes, optional
        Axes to draw in; None creates a new figure.

    Returns
    -------
    matplotlib axes
    """
    is_first = ~table.duplicated(["attribute", "level"])
    attributes = table["attribute"][is_first].tolist()
    levels = table["level"][is_first].tolist()
    headings = shorten_labels(list(dict.fromkeys(attributes)))
    y, heading_y = place_grouped_rows(attributes)
    labels = [join_lines(level) for level in levels]
    ax = ensure_axes(ax, 4.0 + measure_label_width([*labels, *headings]), 0.9 + y[-1])
    is_base = np.zeros(len(table), bool)
    centre = 0.0
    axis_label = "effect against the baseline"
    if "baseline" in table:
        is_base = (table["level"] == table["baseline"]).to_numpy()
    else:
        centre = np.average(table["estimate"].fillna(0.0), weights=table["profiles"])
        axis_label = "marginal mean"
    ax.axvline(centre, color="0.5", linewidth=0.9, linestyle="--", zorder=0)
    groups = [""]
    if "group" in table:
        groups = list(dict.fromkeys(table["group"]))
    n_rows = len(levels)
    for index, group in enumerate(groups):
        rows = table.iloc[index * n_rows : (index + 1) * n_rows]
        row_y = y + _SPREAD * ((index + 0.5) / len(groups) - 0.5)
        colour = COLOURS[index]
        ax.hlines(row_y, rows["low"], rows["high"], color=colour, linewidth=1.4, zorder=2)
        ax.scatter(
            rows["estimate"],
            row_y,
            s=22,
            marker=MARKERS[index],
            facecolor=np.where(is_base[:n_rows], "white", colour),
            edgecolor=colour,
            zorder=3,
        )
        if group:
            ax.plot([], [], MARKERS[index], color=colour, markersize=5, label=group)
    ax.set(ylim=(y[-1] + 0.16, 0), xlabel=axis_label)
    label_grouped_rows(ax, y, labels, heading_y, headings)
    draw_row_dividers(ax, heading_y)
    if len(groups) > 1:
        add_legend(ax, "lower right", (1.0, 1.0), ncols=len(groups), handletextpad=0.2)
    return ax
