"""Plot of a product's demand curve: share by price."""

from typing import TYPE_CHECKING

import numpy as np

from thali._number_format import format_percent
from thali.errors import ArgumentError

from ._fonts import picture
from ._style import (
    COLOURS,
    add_legend,
    draw_intervals,
    draw_thin_grid,
    ensure_axes,
    format_interval_level,
    hide_spines,
    label_rows,
    measure_label_width,
    shorten_labels,
    wrap_name,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_LINE_LENGTH = 36  # characters of a label along the height of a picture


@picture("share", "share_low", "share_high", made_by="demand()")
def demand(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the share of a product at each price, with intervals.

    Several products have one line each.

    Parameters
    ----------
    table : data frame
        The table that `demand` of a fitted model returns, or several such tables with a first
        column `product`.
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
    ...     {
    ...         "price": [1, 2],
    ...         "share": [0.6, 0.4],
    ...         "share_low": [0.5, 0.3],
    ...         "share_high": [0.7, 0.5],
    ...     }
    ... )
    >>> demand(table).get_xlabel()
    'price'
    """
    column_names = list(table.columns)
    has_products = column_names[:1] == ["product"] and len(column_names) > 1
    if column_names[has_products] == "share":
        raise ArgumentError(
            "`table` contains no demand; pass the table returned by `demand` of a fitted model."
        )
    product = table.attrs.get("product")
    if has_products:
        curves = {
            str(label): rows.iloc[:, 1:] for label, rows in table.groupby("product", sort=False)
        }
    else:
        curves = {str(product): table}
    attribute = str(column_names[has_products])
    interval_label = f"{format_interval_level(table)} interval"
    share_label = "predicted share"
    if product is not None:
        share_label += f" of {shorten_labels([product])[0]}"
    if not has_products and table.iloc[:, 0].dtype.kind not in "iuf":
        return _draw_categorical_demand(table, ax, attribute, share_label, interval_label)
    ax = ensure_axes(ax, 5.6, 3.6)
    curve_labels = shorten_labels(list(curves))
    upper_limits = []
    band_label = None
    if has_products:
        share_label += f" (band: {interval_label})"
    else:
        curve_labels = [None]
        band_label = interval_label
    for curve_index, (curve_label, curve) in enumerate(
        zip(curve_labels, curves.values(), strict=True)
    ):
        upper_limits.append(
            _draw_curve(ax, curve, COLOURS[curve_index % len(COLOURS)], curve_label, band_label)
        )
    ax.set_xlabel(attribute, parse_math=False)
    ax.set_ylabel(wrap_name(share_label, _LINE_LENGTH, 2), parse_math=False)
    ax.set_ylim(0, min(1.0, 1.08 * max(upper_limits)))
    ax.yaxis.set_major_formatter(_format_percent)
    draw_thin_grid(ax, "y")
    hide_spines(ax)
    if has_products:
        add_legend(ax, "lower left", (0.0, 1.0), ncols=3, handlelength=1.5)
    else:
        add_legend(ax, "lower right", (1.0, 1.0))
    return ax


def _draw_curve(
    ax: "Axes",
    curve: "pandas.DataFrame",
    colour: str,
    curve_label: str | None,
    band_label: str | None,
) -> float:
    """Draw a demand curve with interval band; return its largest upper limit."""
    sorted_curve = curve.sort_values(curve.columns[0], kind="stable")
    price = sorted_curve.iloc[:, 0].to_numpy(float)
    share = sorted_curve["share"].to_numpy(float)
    low = sorted_curve["share_low"].to_numpy(float)
    high = sorted_curve["share_high"].to_numpy(float)
    ax.fill_between(price, low, high, color=colour, alpha=0.2, linewidth=0, label=band_label)
    ax.plot(
        price,
        share,
        "o-",
        label=curve_label,
        color=colour,
        markersize=5,
        markeredgecolor="white",
        zorder=3,
    )
    return float(high.max())


def _draw_categorical_demand(
    table: "pandas.DataFrame",
    ax: "Axes | None",
    attribute: str,
    share_label: str,
    interval_label: str,
) -> "Axes":
    """Draw shares at values that are not numbers, one row each."""
    value_labels = shorten_labels([str(category) for category in table.iloc[:, 0]])
    ax = ensure_axes(ax, 4.4 + measure_label_width(value_labels), 0.9 + 0.34 * len(value_labels))
    y = np.arange(len(value_labels), dtype=float)
    draw_intervals(ax, y, table["share"], table["share_low"], table["share_high"], interval_label)
    ax.set(
        ylim=(len(value_labels) - 0.45, -0.55),
        xlim=(0, min(1.0, 1.08 * table["share_high"].to_numpy(float).max())),
    )
    ax.set_xlabel(share_label, parse_math=False)
    label_rows(ax, y, value_labels)
    ax.set_title(attribute, loc="left", fontsize=9, parse_math=False)
    ax.xaxis.set_major_formatter(_format_percent)
    draw_thin_grid(ax, "x")
    add_legend(ax, "lower right", (1.0, 1.0))
    return ax


def _format_percent(share: float, _: float) -> str:
    """Return a tick's share as a percentage text."""
    return format_percent(share)
