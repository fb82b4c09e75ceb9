"""Plot of market shares, before and after a change."""

from typing import TYPE_CHECKING, Any

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


@picture("share", "share_low", "share_high", made_by="market_shares()")
def market_shares(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the share of each product with its interval.

    With a change, the share after it is drawn below, and the difference is written at the right.

    Parameters
    ----------
    table : data frame
        The table that `ProductClasses.market_shares` returns.
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
    >>> table = pd.DataFrame(
    ...     {"share": [0.6, 0.4], "share_low": [0.5, 0.3], "share_high": [0.7, 0.5]},
    ...     index=["A", "B"],
    ... )
    >>> ax = market_shares(table)
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['A', 'B']
    """
    has_change = "after" in table
    product_labels = shorten_labels(list(map(_join_label, table.index)))
    bar_height = 0.62
    row_height = 0.34
    bar_series = [("share", 0.0, COLOURS[0], "now")]
    if has_change:
        bar_height = 0.36
        row_height = 0.5
        bar_series = [
            ("share", -0.2, COLOURS[5], "now"),
            ("after", 0.2, COLOURS[0], "after the change"),
        ]
    width = 4.4 + measure_label_width(product_labels) + 1.4 * has_change
    ax = ensure_axes(ax, width, 0.9 + row_height * len(product_labels))
    y = np.arange(len(product_labels), dtype=float)
    for share_column, y_shift, colour, label in bar_series:
        shares = table[share_column].to_numpy(float)
        limits = table[[f"{share_column}_low", f"{share_column}_high"]].to_numpy(float)
        ax.barh(y + y_shift, shares, height=bar_height, color=colour, zorder=2, label=label)
        ax.hlines(y + y_shift, *limits.T, color="0.1", linewidth=1.2, zorder=3)
    upper_limits = table[[f"{column}_high" for column, *_ in bar_series]].to_numpy(float)
    ax.set(
        ylim=(len(product_labels) - 0.45, -0.55),
        xlim=(0, min(1.0, 1.05 * float(upper_limits.max()))),
    )
    ax.set_xlabel(f"predicted share (line: {format_interval_level(table)} interval)")
    label_rows(ax, y, product_labels)
    ax.xaxis.set_major_formatter(lambda value, _: format_percent(value))
    draw_thin_grid(ax, "x")
    if has_change:
        _write_changes(ax, y, table)
        add_legend(ax, "lower left", (0.0, 1.0), ncols=2, handlelength=1.0)
    return ax


def _write_changes(ax: "Axes", y: np.ndarray, table: "pandas.DataFrame") -> None:
    """Write each share's change in percentage points beside its bar."""
    transform = ax.get_yaxis_transform()
    ax.text(1.03, 1.02, "change (points)", transform=ax.transAxes, fontsize=8, va="bottom")
    for row_y, row in zip(y, table.to_dict("records"), strict=True):
        mean, low, high = (
            _format_points(row[name]) for name in ("change", "change_low", "change_high")
        )
        ax.text(
            1.03, row_y, f"{mean} ({low} to {high})", transform=transform, va="center", fontsize=8.5
        )


def _format_points(difference: float) -> str:
    """Return a difference of shares as text in percentage points."""
    points_text = f"{100 * difference:+.1f}"
    if float(points_text) == 0:
        return "0.0"
    return points_text.replace("-", "−")


def _join_label(label: Any) -> str:
    """Return a row's index label, one or several parts, as one text."""
    if isinstance(label, tuple):
        return ": ".join(map(str, label))
    return str(label)
