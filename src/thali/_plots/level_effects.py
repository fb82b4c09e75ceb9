"""Plot of the probabilities that one level is preferred to another."""

from typing import TYPE_CHECKING

import numpy as np

from ._fonts import picture
from ._style import (
    add_legend,
    draw_intervals,
    draw_row_dividers,
    ensure_axes,
    format_interval_level,
    label_grouped_rows,
    measure_label_width,
    place_grouped_rows,
    shorten_labels,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

# with more pairs of an attribute, every level is compared with the worst
_MAX_PAIRS = 3


@picture("attribute", "level", "over", "effect", "low", "high", made_by="level_effects()")
def level_effects(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the probability that a level is preferred to another level.

    All other attributes are equal. A point is the mean over respondents, its thick line the
    interval over draws; if respondents differ, the thin line contains most of them. The dashed line
    is indifference. For an attribute with four levels or more each is compared with the worst
    level, or with the first if there is no direction.

    Parameters
    ----------
    table : pandas.DataFrame
        The table that `level_effects()` of a fitted model returns.
    ax : matplotlib axes, optional
        Axes to draw in; None creates a new figure.

    Returns
    -------
    matplotlib axes
    """
    table = _select_rows(table)
    headings = shorten_labels(list(dict.fromkeys(table["attribute"])))
    y, heading_y = place_grouped_rows(table["attribute"].tolist())
    labels = _format_labels(table)
    width = measure_label_width([*labels, *(f"{head} " for head in headings)])
    lowest_row_y = y[-1] + 0.16
    ax = ensure_axes(ax, 4.0 + width, 0.75 + lowest_row_y)
    mean = table["effect"].to_numpy()
    interval = table[["low", "high"]].to_numpy()
    ax.axvline(0.5, color="0.5", linewidth=0.9, linestyle="--", zorder=0)
    if "respondents_low" in table:
        respondent_limits = table[["respondents_low", "respondents_high"]].to_numpy()
        ax.hlines(
            y,
            respondent_limits[:, 0],
            respondent_limits[:, 1],
            color="0.55",
            linewidth=1.0,
            zorder=1,
            label=f"{format_interval_level(table)} of respondents",
        )
    draw_intervals(
        ax,
        y,
        mean,
        interval[:, 0],
        interval[:, 1],
        f"mean, {format_interval_level(table)} interval",
    )
    ax.set(xlim=(-0.01, 1.01), ylim=(lowest_row_y, 0), xlabel="probability of being preferred")
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])
    label_grouped_rows(ax, y, labels, heading_y, headings)
    draw_row_dividers(ax, heading_y)
    add_legend(ax, "lower right", (1.0, 1.0), ncols=2, handlelength=1.5)
    return ax


def _select_rows(table: "pandas.DataFrame") -> "pandas.DataFrame":
    """Return rows for all pairs of levels; for pairs with the base level if many."""
    # The base is the level that is never the better one.
    selected_rows = []
    for _, rows in table.groupby("attribute", sort=False):
        base_levels = [level for level in rows["over"].unique() if level not in set(rows["level"])]
        is_against_base = np.isin(rows["over"], base_levels)
        # with very many levels, neighbours are compared, and the two ends
        if len(rows) > _MAX_PAIRS and is_against_base.sum() >= 3:
            rows = rows[is_against_base]
        selected_rows.append(rows)
    import pandas as pd

    selected_table = pd.concat(selected_rows)
    selected_table.attrs.update(table.attrs)
    return selected_table


def _format_labels(table: "pandas.DataFrame") -> list[str]:
    """Return row labels such as "2x over 1x"."""
    short_by_level = {}
    # labels of two levels of one attribute must differ
    for _, rows in table.groupby("attribute", sort=False):
        levels = list(dict.fromkeys([*rows["level"], *rows["over"]]))
        short_by_level |= {
            (rows["attribute"].iloc[0], level): name
            for level, name in zip(levels, shorten_labels(levels), strict=True)
        }
    return [
        f"{short_by_level[attribute, level]} over {short_by_level[attribute, base]}"
        for attribute, level, base in table[["attribute", "level", "over"]].itertuples(index=False)
    ]
