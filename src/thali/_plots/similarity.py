"""Observed similarities against fitted ones."""

from typing import TYPE_CHECKING

import numpy as np

from thali._digits import number, percent

from ._fonts import picture
from ._style import label_width, legend_of, level_of, mark_points, new_axes, shortened

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_WORST = 5


@picture("a", "b", "observed", "fitted", "low", "high", made_by="findings()['similarity']")
def similarity(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the observed similarity of each measured pair against the fitted one.

    A point is a pair: across, the posterior mean of its similarity, with its interval; up, what was observed. The
    observations scatter about the line by the standard deviation of a similarity; bars are intervals of the fitted
    value only and need not reach the line. The five pairs farthest from the line are named. If there are more
    than 2,000 pairs, 2,000 evenly spaced ones are shown. The title gives the variance that the posterior mean explains.

    Parameters
    ----------
    table : pandas.DataFrame
        The table of the finding "similarity" of a fit to similarities.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes

    References
    ----------
    Navarro & Griffiths (2007), section 4, "approximate expectation".
    """
    observed, fitted, low, high = (table[name].to_numpy(float) for name in ("observed", "fitted", "low", "high"))
    shown = shortened([*table["a"], *table["b"]])
    worst = np.argsort(-np.abs(observed - fitted), kind="stable")[:_WORST]
    named = [
        _name(shown[row["a"]], shown[row["b"]], row["observed"], row["fitted"])
        for row in table.iloc[worst].to_dict("records")
    ]
    if ax is None:
        (ax,) = new_axes(4.8 + label_width([line for name in named for line in name.split("\n")]), 4.8)
    ends = np.array([min(observed.min(), low.min()), max(observed.max(), high.max())])
    ends += np.array([-0.03, 0.03]) * max(float(np.ptp(ends)), 1e-9)
    ax.plot(ends, ends, color="0.6", linewidth=0.8, zorder=1)
    bars = {"fmt": "none", "elinewidth": 0.8, "alpha": min(1.0, 0.15 + 30 / len(table)), "zorder": 2}
    # a mean may lie outside an equal-tailed interval, hence the maximum
    ax.errorbar(fitted, observed, xerr=np.maximum([fitted - low, high - fitted], 0.0), ecolor="0.45", **bars)
    ax.scatter(fitted, observed, s=9, color="0.3", linewidth=0, zorder=3)
    mark_points(ax, fitted[worst], observed[worst], named)
    ax.set(xlim=ends, ylim=ends, aspect="equal", anchor="W", ylabel="observed similarity")
    of = table.attrs.get("of", len(table))
    of_all = "" if len(table) == of else f", {len(table):,} of {of:,} pairs"
    ax.set_xlabel(f"fitted similarity (mean and {level_of(table)} interval{of_all})")
    if "explained" in table.attrs:
        ax.set_title(_title(table.attrs["explained"]), fontsize=10, loc="left")
    ax.spines[["top", "right"]].set_visible(False)
    legend_of(ax, "upper left", (1.02, 1), title="worst-fitting pairs", labelspacing=0.9)
    return ax


def _title(share: float) -> str:
    return "all similarities are equal" if np.isnan(share) else f"variance accounted for: {percent(share, 1)}"


def _name(a: str, b: str, observed: float, fitted: float) -> str:
    between = "\nand " if len(a) + len(b) > 20 else " and "
    return f"{a}{between}{b}\nobserved {number(observed)}, fitted {number(fitted)}"
