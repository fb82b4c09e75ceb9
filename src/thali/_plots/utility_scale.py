"""The utility scale of a maximum-likelihood fit, with error bars."""

from typing import TYPE_CHECKING

import numpy as np

from thali._inference.numerics.ranks import sort_descending
from thali._posterior.interval import interval_name

from ._fonts import picture
from ._style import COLOURS, axes_of, grid_below, interval_of, label_width, name_rows, short

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@picture("utility", "low", "high", made_by="findings()['utility_scale']")
def utility_scale(table: "pandas.DataFrame", ax: "Axes | None" = None, sort: bool = True) -> "Axes":
    """Draw the utility of each option, for which Bradley and Terry's models say worth, on a
    logarithmic axis.

    The intervals are those of quasi-variances, which need no option as a reference: two options
    whose intervals do not overlap differ. (Where no quasi-variances exist, they are intervals of
    each option by itself.) A triangle at the left end stands for an option of utility 0.

    Parameters
    ----------
    table : pandas.DataFrame
        The table of the finding "utility_scale" of a fit by maximum likelihood.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.
    sort : bool
        Whether options are sorted by utility, the highest first; else they are in the order of the
        data.

    Returns
    -------
    matplotlib axes

    References
    ----------
    Firth & de Menezes (2004), Quasi-variances. Biometrika 91.

    Examples
    --------
    >>> import thali as th
    >>> model = th.EliminationByAspects("unique", method="maximum-likelihood").fit(
    ...     th.datasets.celebrities()
    ... )
    >>> utility_scale(model.findings()["utility_scale"].table).get_yticklabels()[0].get_text()
    'LBJ'
    """
    if sort:
        table = table.iloc[sort_descending(table["utility"].to_numpy())]
    utility, lows, highs = (table[name].to_numpy(float) for name in ("utility", "low", "high"))
    labels = short([str(label) for label in table.index])
    n = len(labels)
    ax = axes_of(ax, 4.2 + label_width(labels), 1.0 + max(1.0, min(0.24 * n, 24.0)))
    whose = " from quasi-variances" if table.attrs.get("errors") == "quasi-variances" else ""
    rows = np.arange(n)
    some = utility > 0.0
    low, high = lows[some], highs[some]
    bars = {
        "fmt": "o",
        "markersize": 5,
        "color": COLOURS[0],
        "ecolor": "0.4",
        "elinewidth": 1.2,
        "capsize": 2.5,
    }
    ax.errorbar(utility[some], rows[some], xerr=[utility[some] - low, high - utility[some]], **bars)
    _scale_logarithmically(ax, float(low.min()), float(high.max()))
    none = {
        "marker": "<",
        "color": COLOURS[0],
        "linestyle": "none",
        "transform": ax.get_yaxis_transform(),
    }
    ax.plot(np.full(n - some.sum(), 0.01), rows[~some], **none)
    room = ax.get_window_extent().height / ax.figure.dpi * 72 / n
    step = int(np.ceil(6.0 / room))
    size = float(np.clip(room / 1.2, 5, 9))
    name_rows(ax, rows[::step], labels[::step], fontsize=size)
    ax.set(ylim=(n - 0.4, -0.6), xlabel=f"utility ({interval_name(interval_of(table))}{whose})")
    grid_below(ax, "x")
    return ax


def _scale_logarithmically(ax: "Axes", low: float, high: float) -> None:
    """A logarithmic axis from low to high with plain numbers at its ticks."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    ax.set_xscale("log")
    room = max(high / low, 1.1) ** 0.05
    ax.set_xlim(low / room, high * room)
    ratio = high / low
    ticks = (
        MaxNLocator(5)
        if ratio < 8
        else LogLocator(subs=(1, 2, 5) if ratio < 500 else (1,), numticks=12)
    )
    ax.xaxis.set_major_locator(ticks)
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
