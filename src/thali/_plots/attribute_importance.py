"""Plot of the importance of each attribute."""

from typing import TYPE_CHECKING

import numpy as np

from thali._number_format import format_percent

from ._fonts import picture
from ._style import (
    COLOURS,
    add_legend,
    draw_thin_grid,
    ensure_axes,
    format_interval_level,
    label_rows,
    measure_label_width,
    shorten_labels,
)

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
    """Draw the importance of each attribute as a share of utility ranges.

    A bar is the mean over respondents, with its interval; bars sum to 100 %. The number to the
    right is the share of choices that the attribute decides: the change of choice probabilities if
    all alternatives of a task have the same level. The none option ("inside") has no range and no
    bar.

    Parameters
    ----------
    table : pandas.DataFrame
        The table that `attribute_importance()` of a fitted model returns.
    ax : matplotlib axes, optional
        Axes to draw in; None creates a new figure.

    Returns
    -------
    matplotlib axes
    """
    attribute_labels = shorten_labels(table["attribute"].tolist())
    ax = ensure_axes(
        ax, 4.2 + measure_label_width(attribute_labels), 0.9 + 0.32 * len(attribute_labels)
    )
    y = np.arange(len(attribute_labels))
    shares, low, high = (
        table[["range_share", "range_share_low", "range_share_high"]].to_numpy(float).T
    )
    ax.barh(y, np.nan_to_num(shares), height=0.6, color=COLOURS[0], zorder=2)
    ax.hlines(
        y,
        low,
        high,
        color="0.1",
        linewidth=1.5,
        zorder=3,
        label=f"{format_interval_level(table)} interval",
    )
    label_rows(ax, y, attribute_labels)
    ax.set(
        ylim=(len(attribute_labels) - 0.3, -0.5),
        xlabel="utility range as a share of the sum of ranges",
    )
    ax.set_xlim(left=0)
    ax.text(1.02, 1.0, "choices\ndecided", transform=ax.transAxes, fontsize=8, va="bottom")
    for row_y, importance in zip(y.tolist(), table["importance"], strict=True):
        ax.text(
            1.02,
            row_y,
            format_percent(importance),
            transform=ax.get_yaxis_transform(),
            fontsize=9,
            va="center",
        )
    draw_thin_grid(ax, "x")
    add_legend(ax, "lower right", (1.0, 1.0), ncols=2, handlelength=1.5)
    return ax
