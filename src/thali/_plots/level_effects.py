"""Preferences between the levels of an attribute."""

from typing import TYPE_CHECKING

import numpy as np

from ._fonts import picture
from ._style import (
    axes_of,
    divide_rows,
    draw_intervals,
    grouped_rows,
    label_width,
    legend_of,
    level_of,
    name_grouped_rows,
    short,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

# up to this many pairs of an attribute all are drawn; else every level against the worst one
_MAX_PAIRS = 3


@picture("attribute", "level", "over", "effect", "low", "high", made_by="level_effects()")
def level_effects(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the probability that one level of an attribute is preferred to another, all else being
    equal.

    A point is the mean over people, its thick line the interval over draws; where people differ,
    the thin line holds most of them. The dashed line is indifference. For an attribute with four
    levels or more each is compared with the worst one, or with the first if there is no direction.

    Parameters
    ----------
    table : pandas.DataFrame
        What `level_effects()` of a fitted model returned.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes
    """
    table = _drawn(table)
    heads = short(list(dict.fromkeys(table["attribute"])))
    places, head_places = grouped_rows(table["attribute"].tolist())
    labels = _labels(table)
    width = label_width([*labels, *(f"{head} " for head in heads)])
    deepest = places[-1] + 0.16
    ax = axes_of(ax, 4.0 + width, 0.75 + deepest)
    middle, ends = table["effect"].to_numpy(), table[["low", "high"]].to_numpy()
    ax.axvline(0.5, color="0.5", linewidth=0.9, linestyle="--", zorder=0)
    if "respondents_low" in table:
        people = table[["respondents_low", "respondents_high"]].to_numpy()
        ax.hlines(
            places,
            people[:, 0],
            people[:, 1],
            color="0.55",
            linewidth=1.0,
            zorder=1,
            label=f"{level_of(table)} of respondents",
        )
    draw_intervals(ax, places, middle, ends[:, 0], ends[:, 1], f"mean, {level_of(table)} interval")
    ax.set(xlim=(-0.01, 1.01), ylim=(deepest, 0), xlabel="probability of being preferred")
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])
    name_grouped_rows(ax, places, labels, head_places, heads)
    divide_rows(ax, head_places)
    legend_of(ax, "lower right", (1.0, 1.0), ncols=2, handlelength=1.5)
    return ax


def _drawn(table: "pandas.DataFrame") -> "pandas.DataFrame":
    """All pairs of an attribute with few levels, else those with the level that is never the better
    one."""
    kept = []
    for _, rows in table.groupby("attribute", sort=False):
        base = [level for level in rows["over"].unique() if level not in set(rows["level"])]
        versus = np.isin(rows["over"], base)
        # For very many levels, neighbours are compared, and the two ends.
        kept.append(rows if len(rows) <= _MAX_PAIRS or versus.sum() < 3 else rows[versus])
    import pandas as pd

    found = pd.concat(kept)
    found.attrs.update(table.attrs)
    return found


def _labels(table: "pandas.DataFrame") -> list[str]:
    """The labels of the rows."""
    shown = {}
    # two levels of one attribute must not look the same
    for _, rows in table.groupby("attribute", sort=False):
        levels = list(dict.fromkeys([*rows["level"], *rows["over"]]))
        shown |= {
            (rows["attribute"].iloc[0], level): name
            for level, name in zip(levels, short(levels), strict=True)
        }
    return [
        f"{shown[attribute, level]} over {shown[attribute, other]}"
        for attribute, level, other in table[["attribute", "level", "over"]].itertuples(index=False)
    ]
