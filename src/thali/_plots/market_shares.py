"""Shares in a simulated market, before and after a change."""

from typing import TYPE_CHECKING

import numpy as np

from thali._digits import percent

from ._fonts import picture
from ._style import COLOURS, axes_of, label_width, legend_of, level_of, name_rows, short, thin_grid

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@picture("share", "share_low", "share_high", made_by="market_shares()")
def market_shares(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the share of every product with its interval; with a change, the share after it below,
    and the difference.

    Parameters
    ----------
    table : data frame
        What `ProductClasses.market_shares` returned.
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
    ...     {"share": [0.6, 0.4], "share_low": [0.5, 0.3], "share_high": [0.7, 0.5]},
    ...     index=["A", "B"],
    ... )
    >>> ax = market_shares(table)
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['A', 'B']
    """
    changed = "after" in table
    names = short(
        [
            ": ".join(map(str, label)) if isinstance(label, tuple) else str(label)
            for label in table.index
        ]
    )
    height = 0.36 if changed else 0.62
    size = 4.4 + label_width(names) + 1.4 * changed, 0.9 + (0.5 if changed else 0.34) * len(names)
    ax = axes_of(ax, *size)
    at = np.arange(len(names), dtype=float)
    bars = [("share", -0.2 if changed else 0.0, COLOURS[5] if changed else COLOURS[0], "now")]
    if changed:
        bars.append(("after", 0.2, COLOURS[0], "after the change"))
    for name, shift, colour, label in bars:
        values = table[name].to_numpy(float)
        ends = table[[f"{name}_low", f"{name}_high"]].to_numpy(float)
        ax.barh(at + shift, values, height=height, color=colour, zorder=2, label=label)
        ax.hlines(at + shift, *ends.T, color="0.1", linewidth=1.2, zorder=3)
    ends = table[[f"{name}_high" for name, *_ in bars]].to_numpy(float)
    ax.set(ylim=(len(names) - 0.45, -0.55), xlim=(0, min(1.0, 1.05 * float(ends.max()))))
    ax.set_xlabel(f"predicted share (line: {level_of(table)} interval)")
    name_rows(ax, at, names)
    ax.xaxis.set_major_formatter(lambda value, _: percent(value))
    thin_grid(ax, "x")
    if changed:
        _write_changes(ax, at, table)
        legend_of(ax, "lower left", (0.0, 1.0), ncols=2, handlelength=1.0)
    return ax


def _write_changes(ax: "Axes", at: np.ndarray, table: "pandas.DataFrame") -> None:
    """The difference of every share in percentage points, with its interval, to the right of the
    bars."""
    across = ax.get_yaxis_transform()
    ax.text(1.03, 1.02, "change (points)", transform=ax.transAxes, fontsize=8, va="bottom")
    for place, row in zip(at, table.to_dict("records"), strict=True):
        middle, low, high = (_points(row[name]) for name in ("change", "change_low", "change_high"))
        ax.text(
            1.03, place, f"{middle} ({low} to {high})", transform=across, va="center", fontsize=8.5
        )


def _points(share: float) -> str:
    shown = f"{100 * share:+.1f}"
    return "0.0" if float(shown) == 0 else shown.replace("-", "−")
