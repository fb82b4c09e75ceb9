"""The importance of each attribute for choices."""

from typing import TYPE_CHECKING

import numpy as np

from thali._digits import percent

from ._fonts import picture
from ._style import COLOURS, axes_of, label_width, legend_of, level_of, name_rows, short, thin_grid

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@picture(
    "attribute",
    "importance",
    "range_share",
    "range_share_low",
    "range_share_high",
    made_by="attribute_importance()",
)
def attribute_importance(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the part of each attribute in the ranges of utility.

    A bar is the mean over people, with its interval; bars sum to 100 %. The number to the right is
    the part of choices that the attribute decides: how far they change when all alternatives of a
    task are alike in it. The choice of nothing ("inside") has no part of the ranges and no bar.

    Parameters
    ----------
    table : pandas.DataFrame
        What `attribute_importance()` of a fitted model returned.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes
    """
    names = short(table["attribute"].tolist())
    ax = axes_of(ax, 4.2 + label_width(names), 0.9 + 0.32 * len(names))
    at = np.arange(len(names))
    values, low, high = (
        table[["range_share", "range_share_low", "range_share_high"]].to_numpy(float).T
    )
    ax.barh(at, np.nan_to_num(values), height=0.6, color=COLOURS[0], zorder=2)
    ax.hlines(
        at, low, high, color="0.1", linewidth=1.5, zorder=3, label=f"{level_of(table)} interval"
    )
    name_rows(ax, at, names)
    ax.set(ylim=(len(names) - 0.3, -0.5), xlabel="share of the utility range")
    ax.set_xlim(left=0)
    ax.text(1.02, 1.0, "choices\ndecided", transform=ax.transAxes, fontsize=8, va="bottom")
    for place, part in zip(at.tolist(), table["importance"], strict=True):
        ax.text(
            1.02, place, percent(part), transform=ax.get_yaxis_transform(), fontsize=9, va="center"
        )
    thin_grid(ax, "x")
    legend_of(ax, "lower right", (1.0, 1.0), ncols=2, handlelength=1.5)
    return ax
