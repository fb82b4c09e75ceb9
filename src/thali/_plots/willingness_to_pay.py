"""Plot of willingness to pay for levels of attributes."""

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
    import pandas
    from matplotlib.axes import Axes


@picture("attribute", "level", "over", "wtp", "wtp_low", "wtp_high", made_by="willingness_to_pay()")
def willingness_to_pay(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the median respondent's willingness to pay for each level.

    Thick lines are intervals, thin lines the range of respondents. A line that leaves the plot ends
    in an arrow.

    Parameters
    ----------
    table : data frame
        The table that `willingness_to_pay` of a fitted model returns.
    ax : matplotlib axes, optional
        Axes to draw in; None creates a new figure.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ArgumentError
        If it is a different table.

    Examples
    --------
    >>> import pandas as pd
    >>> row = {
    ...     "attribute": "zoom",
    ...     "level": "yes",
    ...     "over": "no",
    ...     "wtp": 12.0,
    ...     "wtp_low": 8.0,
    ...     "wtp_high": 16.0,
    ... }
    >>> [text.get_text() for text in willingness_to_pay(pd.DataFrame([row])).get_yticklabels()]
    ['zoom: yes over no']
    """
    level_labels = shorten_labels([_format_comparison(row) for row in table.to_dict("records")])
    ax = ensure_axes(ax, 4.2 + measure_label_width(level_labels), 1.1 + 0.3 * len(level_labels))
    y = np.arange(len(level_labels), dtype=float)
    interval_level = format_interval_level(table)
    interval_ends = table[["wtp_low", "wtp_high"]].to_numpy(float)
    interval_label = f"{interval_level} interval"
    respondent_limits = interval_ends
    if has_respondents := "respondents_low" in table:
        interval_label = f"median respondent, {interval_label}"
        respondent_limits = table[["respondents_low", "respondents_high"]].to_numpy(float)
    low, high = _compute_limits(
        np.hstack([interval_ends, table[["wtp"]].to_numpy(float)]), respondent_limits
    )
    ax.axvline(0.0, color="0.5", linewidth=0.9, linestyle="--", zorder=0)
    if has_respondents:
        respondent_range = respondent_limits.clip(low, high)
        ax.hlines(
            y,
            respondent_range[:, 0],
            respondent_range[:, 1],
            color="0.55",
            linewidth=1.0,
            zorder=1,
            label=f"{interval_level} of respondents",
        )
    _draw_arrows(ax, y, respondent_limits, low, high)
    interval_shown = interval_ends.clip(low, high)
    draw_intervals(
        ax,
        y,
        table["wtp"].clip(low, high),
        interval_shown[:, 0],
        interval_shown[:, 1],
        interval_label,
    )
    price_attribute = table.attrs.get("price")
    ax.set(xlim=(low, high), ylim=(len(level_labels) - 0.4, -0.6))
    x_label = "willingness to pay"
    if price_attribute is not None:
        x_label += f", in units of {price_attribute}"
    ax.set_xlabel(x_label, parse_math=False)
    label_rows(ax, y, level_labels)
    ax.grid(axis="x", color="0.92", linewidth=0.7, zorder=0)
    add_legend(ax, "lower right", (1.0, 1.0), ncols=2, handlelength=1.5)
    return ax


def _format_comparison(row: dict[Any, Any]) -> str:
    """Return words for a level and the one it is compared with."""
    comparison = f"{row['attribute']}: {row['level']}"
    if row["over"]:
        comparison += f" over {row['over']}"
    return comparison


def _compute_limits(intervals: np.ndarray, respondent_limits: np.ndarray) -> tuple[float, float]:
    """Return axis limits that contain finite intervals and most respondents."""
    finite_ends = intervals[np.isfinite(intervals)]
    max_end = float(np.abs(finite_ends).max(initial=0.0)) or 1.0
    finite_respondent_limits = respondent_limits[np.isfinite(respondent_limits)]
    all_ends = np.append(finite_ends, finite_respondent_limits.clip(-3 * max_end, 3 * max_end))
    low = all_ends.min(initial=0.0)
    high = all_ends.max(initial=0.0)
    margin = 0.06 * (high - low) or 1.0  # where nothing is finite
    return float(low - margin), float(high + margin)


def _draw_arrows(ax: "Axes", y: np.ndarray, intervals: np.ndarray, low: float, high: float) -> None:
    """Draw arrows where an interval continues beyond the axis limits."""
    for is_beyond, axis_limit, marker in (
        (intervals[:, 0] < low, low, "<"),
        (intervals[:, 1] > high, high, ">"),
    ):
        ax.plot(
            np.full(int(is_beyond.sum()), axis_limit),
            y[is_beyond],
            marker,
            color="0.55",
            markersize=5,
            clip_on=False,
            zorder=1,
        )
