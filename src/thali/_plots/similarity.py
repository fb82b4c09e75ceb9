"""Observed similarities against fitted ones."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._aspects.findings.additive import fitted_similarities
from thali._digits import number, percent

from ._draws import is_table
from ._fonts import picture
from ._observed import WORST, draw_observed, name_worst, new_observed_axes
from ._style import level_of, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@picture
def similarity(model: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw the observed similarity of each measured pair against the fitted one.

    A point is a pair: across, the posterior mean of its similarity, with its interval; up, what was observed. The
    observations scatter about the line by the standard deviation of a similarity; bars are intervals of the fitted
    value only and need not reach the line. The five pairs farthest from the line are named. If there are more
    than 2,000 pairs, 2,000 evenly spaced ones are shown. The title gives the variance that the posterior mean explains.

    Parameters
    ----------
    model : fitted model, or pandas.DataFrame
        Of similarities; or a table with the columns a, b, observed, fitted, low and high.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes

    References
    ----------
    Navarro & Griffiths (2007), section 4, "approximate expectation".
    """
    table = model if is_table(model) else fitted_similarities(model, "plots.similarity")
    observed, fitted, low, high = (table[name].to_numpy(float) for name in ("observed", "fitted", "low", "high"))
    labels = list(dict.fromkeys([*table["a"], *table["b"]]))
    shortened = dict(zip(labels, short(labels), strict=True))
    worst = np.argsort(-np.abs(observed - fitted), kind="stable")[:WORST]
    named = [
        _name(shortened[row["a"]], shortened[row["b"]], row["observed"], row["fitted"])
        for row in table.iloc[worst].to_dict("records")
    ]
    if ax is None:
        ax = new_observed_axes(named, 4.8)
    ends = np.array([min(observed.min(), low.min()), max(observed.max(), high.max())])
    ends += np.array([-0.03, 0.03]) * max(float(np.ptp(ends)), 1e-9)
    draw_observed(ax, fitted, observed, low, high, ends)
    name_worst(ax, fitted, observed, worst, named, "worst-fitting pairs")
    ax.set(xlim=ends, ylim=ends, aspect="equal", anchor="W", ylabel="observed similarity")
    of = table.attrs.get("of", len(table))
    of_all = "" if len(table) == of else f", {len(table):,} of {of:,} pairs"
    ax.set_xlabel(f"fitted similarity (mean and {level_of(table)} interval{of_all})")
    if "explained" in table.attrs:
        ax.set_title(_title(table.attrs["explained"]), fontsize=10, loc="left")
    return ax


def _title(share: float) -> str:
    return "all similarities are equal" if np.isnan(share) else f"variance accounted for: {percent(share, 1)}"


def _name(a: str, b: str, observed: float, fitted: float) -> str:
    between = "\nand " if len(a) + len(b) > 20 else " and "
    return f"{a}{between}{b}\nobserved {number(observed)}, fitted {number(fitted)}"
