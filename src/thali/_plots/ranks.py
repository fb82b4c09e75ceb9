"""Plot of the posterior probabilities of each option's ranks."""

from typing import TYPE_CHECKING

import numpy as np

from thali.errors import ArgumentError

from ._fonts import picture
from ._style import (
    SHADES,
    compute_integer_ticks,
    ensure_axes,
    format_interval_name,
    measure_label_width,
    shorten_labels,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


MIN_DRAWN = 0.005  # less probable ranks are white


@picture("rank", "rank_low", "rank_high", "p_1", made_by="ranks(every_rank=True)")
def ranks(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the probability of each rank of each option, best first.

    Darker cells are more probable; white is below 0.005. Dot and line are the posterior mean of the
    rank and its interval. Options are ranked by worth, or by utility, the total weight of their
    aspects: of two options, the one with the higher utility is chosen more often.

    Parameters
    ----------
    table : pandas.DataFrame
        The table that `ranks(every_rank=True)` of a fitted model returns.
    ax : matplotlib axes, optional
        Axes to draw in; None creates a new figure.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import thali as th
    >>> model = th.EliminationByAspects("unique")
    >>> model = model.fit(
    ...     th.datasets.celebrities(), draws=200, tune=200, random_seed=1, progressbar=False
    ... )
    >>> ranks(model.ranks(every_rank=True)).get_xlabel()
    'rank (mean and 89 % interval)'
    """
    labels = shorten_labels(table.index.tolist())
    n = len(labels)
    if f"p_{n}" not in table:
        raise ArgumentError(
            "plots.ranks requires the probability of every rank: pass `ranks(every_rank=True)`."
        )
    cell_size = 0.34
    font_size = 10
    if n > 12:
        cell_size = max(0.13, 4.4 / n)
    if n > 24:
        font_size = 6
    ax = ensure_axes(
        ax,
        1.6 + measure_label_width(labels) * (font_size / 10) + cell_size * n,
        1.0 + cell_size * n,
    )
    probabilities = table[[f"p_{r + 1}" for r in range(n)]].to_numpy()
    drawn_probabilities = np.ma.masked_less(probabilities, MIN_DRAWN)
    image = ax.imshow(
        drawn_probabilities,
        cmap=SHADES,
        vmin=0.0,
        vmax=max(float(probabilities.max()), 1e-9),
        extent=(0.5, n + 0.5, n - 0.5, -0.5),
    )
    rows = np.arange(n)
    mean, low, high = (table[name].to_numpy() for name in ("rank", "rank_low", "rank_high"))
    # a white edge makes dots and lines visible on pale and dark cells
    ax.hlines(rows, low, high, color="white", linewidth=2.6, zorder=2)
    ax.hlines(rows, low, high, color="black", linewidth=1.0, zorder=3)
    ax.scatter(mean, rows, s=16, color="black", edgecolor="white", linewidth=0.8, zorder=4)
    ax.set_yticks(rows, labels, fontsize=font_size)
    for text in ax.get_yticklabels():
        text.set_parse_math(False)
    ax.set_xticks(compute_integer_ticks(n))
    ax.tick_params(axis="x", labelsize=font_size)
    ax.set_xlabel(f"rank (mean and {format_interval_name(table)})")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.figure.colorbar(image, ax=ax, label="probability", shrink=min(1.0, 0.5 + 2.0 / n), pad=0.02)
    return ax
