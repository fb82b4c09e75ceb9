"""Plot of utilities of a maximum-likelihood fit, with intervals."""

from typing import TYPE_CHECKING

import numpy as np

from thali._inference.numerics.ranks import sort_descending

from ._fonts import picture
from ._style import (
    COLOURS,
    draw_background_grid,
    ensure_axes,
    format_interval_name,
    label_rows,
    measure_label_width,
    shorten_labels,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@picture("utility", "low", "high", made_by="findings()['utility_scale']")
def utility_scale(table: "pandas.DataFrame", ax: "Axes | None" = None, sort: bool = True) -> "Axes":
    """Draw the utility (worth) of each option on a logarithmic axis.

    The intervals are computed from quasi-variances, which require no reference option: two options
    whose intervals do not overlap differ. (Without quasi-variances, they are intervals of each
    option separately.) A triangle at the left end represents an option of utility 0.

    Parameters
    ----------
    table : pandas.DataFrame
        The table of the finding "utility_scale" of a fit by maximum likelihood.
    ax : matplotlib axes, optional
        Axes to draw in; None creates a new figure.
    sort : bool
        Whether to sort options by utility, highest first; otherwise they are in the order of the
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
    utilities, lower_limits, upper_limits = (
        table[name].to_numpy(float) for name in ("utility", "low", "high")
    )
    labels = shorten_labels([str(label) for label in table.index])
    n = len(labels)
    ax = ensure_axes(ax, 4.2 + measure_label_width(labels), 1.0 + max(1.0, min(0.24 * n, 24.0)))
    interval_name = format_interval_name(table)
    if table.attrs.get("errors") == "quasi-variances":
        interval_name += " from quasi-variances"
    rows = np.arange(n)
    is_positive = utilities > 0.0
    low = lower_limits[is_positive]
    high = upper_limits[is_positive]
    ax.errorbar(
        utilities[is_positive],
        rows[is_positive],
        xerr=[utilities[is_positive] - low, high - utilities[is_positive]],
        fmt="o",
        markersize=5,
        color=COLOURS[0],
        ecolor="0.4",
        elinewidth=1.2,
        capsize=2.5,
    )
    _scale_logarithmically(ax, float(low.min()), float(high.max()))
    ax.plot(
        np.full(n - is_positive.sum(), 0.01),
        rows[~is_positive],
        marker="<",
        color=COLOURS[0],
        linestyle="none",
        transform=ax.get_yaxis_transform(),
    )
    points_per_row = ax.get_window_extent().height / ax.figure.dpi * 72 / n
    label_step = int(np.ceil(6.0 / points_per_row))
    font_size = float(np.clip(points_per_row / 1.2, 5, 9))
    label_rows(ax, rows[::label_step], labels[::label_step], fontsize=font_size)
    ax.set(ylim=(n - 0.4, -0.6), xlabel=f"utility ({interval_name})")
    draw_background_grid(ax, "x")
    return ax


def _scale_logarithmically(ax: "Axes", low: float, high: float) -> None:
    """Set a logarithmic x axis from `low` to `high` with plain tick labels."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    ax.set_xscale("log")
    margin_factor = max(high / low, 1.1) ** 0.05
    ax.set_xlim(low / margin_factor, high * margin_factor)
    ratio = high / low
    if ratio < 8:
        ax.xaxis.set_major_locator(MaxNLocator(5))
    else:
        subs: tuple[int, ...] = (1,)
        if ratio < 500:
            subs = (1, 2, 5)
        ax.xaxis.set_major_locator(LogLocator(subs=subs, numticks=12))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
