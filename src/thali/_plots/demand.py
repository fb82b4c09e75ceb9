"""A demand curve."""

from typing import TYPE_CHECKING

import numpy as np

from thali._digits import percent
from thali.errors import ArgumentError

from ._fonts import picture
from ._style import (
    COLOURS,
    axes_of,
    draw_intervals,
    hide_spines,
    label_width,
    legend_of,
    level_of,
    name_rows,
    short,
    thin_grid,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@picture("share", "share_low", "share_high", made_by="demand()")
def demand(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the share of a product at each price, with its interval; of several products a line
    each.

    Parameters
    ----------
    table : data frame
        What `demand` of a fitted model returned, or several such tables with a column `product`
        before.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ArgumentError
        If it is another table.

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
    found = list(table.columns)
    several = found[:1] == ["product"] and len(found) > 1
    if found[several] == "share":
        raise ArgumentError(
            "`table` contains no demand; pass the table returned by `demand` of a fitted model."
        )
    product = table.attrs.get("product")
    if several:
        curves = {
            str(label): rows.iloc[:, 1:] for label, rows in table.groupby("product", sort=False)
        }
    else:
        curves = {str(product): table}
    attribute, label = str(found[several]), f"{level_of(table)} interval"
    of = "predicted share" if product is None else f"predicted share of {short([product])[0]}"
    if not several and table.iloc[:, 0].dtype.kind not in "iuf":
        return _in_words(table, ax, attribute, of, label)
    ax = axes_of(ax, 5.6, 3.6)
    ends = []
    for number, (name, curve) in enumerate(zip(short(list(curves)), curves.values(), strict=True)):
        colour = COLOURS[number % len(COLOURS)]
        rows = curve.sort_values(curve.columns[0], kind="stable")
        at, share = rows.iloc[:, 0].to_numpy(float), rows["share"].to_numpy(float)
        low, high = rows["share_low"].to_numpy(float), rows["share_high"].to_numpy(float)
        ax.fill_between(
            at, low, high, color=colour, alpha=0.2, linewidth=0, label=None if several else label
        )
        ax.plot(
            at,
            share,
            "o-",
            color=colour,
            markersize=5,
            markeredgecolor="white",
            zorder=3,
            label=name if several else None,
        )
        ends.append(high.max())
    ax.set_xlabel(attribute, parse_math=False)
    ax.set_ylabel(f"{of} (band: {label})" if several else of, parse_math=False)
    ax.set_ylim(0, min(1.0, 1.08 * float(max(ends))))
    ax.yaxis.set_major_formatter(_percent)
    thin_grid(ax, "y")
    hide_spines(ax)
    if several:
        legend_of(ax, "lower left", (0.0, 1.0), ncols=3, handlelength=1.5)
    else:
        legend_of(ax, "lower right", (1.0, 1.0))
    return ax


def _in_words(
    table: "pandas.DataFrame", ax: "Axes | None", attribute: str, of: str, label: str
) -> "Axes":
    """The shares at values that are no numbers, one below the other."""
    names = short([str(value) for value in table.iloc[:, 0]])
    ax = axes_of(ax, 4.4 + label_width(names), 0.9 + 0.34 * len(names))
    at = np.arange(len(names), dtype=float)
    draw_intervals(ax, at, table["share"], table["share_low"], table["share_high"], label)
    ax.set(
        ylim=(len(names) - 0.45, -0.55),
        xlim=(0, min(1.0, 1.08 * table["share_high"].to_numpy(float).max())),
    )
    ax.set_xlabel(of, parse_math=False)
    name_rows(ax, at, names)
    ax.set_title(attribute, loc="left", fontsize=9, parse_math=False)
    ax.xaxis.set_major_formatter(_percent)
    thin_grid(ax, "x")
    legend_of(ax, "lower right", (1.0, 1.0))
    return ax


def _percent(value: float, _: float) -> str:
    return percent(value)
