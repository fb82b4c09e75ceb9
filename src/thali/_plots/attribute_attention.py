"""Plot of the share of respondents who attend to each attribute."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ._fonts import picture
from ._style import (
    add_legend,
    draw_intervals,
    ensure_axes,
    format_interval_level,
    label_rows,
    measure_label_width,
    shorten_labels,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS = 25  # of individual probabilities
_MAX_BAR_HEIGHT = 0.34  # in rows


@picture(made_by="attention()", has="shares")
def attention(found: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw the share of respondents who attend to each attribute.

    A line is the interval of the share. The grey bars above it count the respondents by the
    probability that they attend: with two peaks, at 0 and 1, respondents who ignore the attribute
    are identified; with one peak in between, only their share is.

    Parameters
    ----------
    found : AttentionTables
        The table that `attention()` of a fitted model returns.
    ax : matplotlib axes, optional
        Axes to draw in; None creates a new figure.

    Returns
    -------
    matplotlib axes
    """
    shares = found.shares.sort_values("attends", kind="stable")
    attribute_labels = shorten_labels(shares.index.tolist())
    ax = ensure_axes(
        ax, 4.4 + measure_label_width(attribute_labels), 1.0 + 0.55 * len(attribute_labels)
    )
    y, bin_edges = np.arange(len(attribute_labels), dtype=float), np.linspace(0.0, 1.0, _BINS + 1)
    respondent_counts = np.stack(
        [np.histogram(found.people[name], bin_edges)[0] for name in shares.index]
    )
    heights = _MAX_BAR_HEIGHT * 2 * respondent_counts / max(1, respondent_counts.max())
    for row_y, bar_heights in zip(y.tolist(), heights, strict=True):
        label = "respondents, by individual probability" if row_y == 0 else None
        ax.bar(
            bin_edges[:-1],
            -bar_heights,
            np.diff(bin_edges),
            row_y - 0.08,
            align="edge",
            color="0.78",
            zorder=1,
            label=label,
        )
    interval_label = f"population share, {format_interval_level(shares)} interval"
    draw_intervals(ax, y, shares["attends"], shares["low"], shares["high"], interval_label)
    ax.set(
        xlim=(-0.02, 1.02),
        ylim=(len(attribute_labels) - 0.7, -0.9),
        xlabel="probability of attending",
    )
    label_rows(ax, y, attribute_labels)
    ax.grid(axis="x", color="0.92", linewidth=0.7, zorder=0)
    ax.set_axisbelow(True)
    add_legend(ax, "lower right", (1.0, 1.0), handlelength=1.5)
    return ax
