"""Plot of each respondent's preference shares, with the population's."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ._fonts import picture
from ._style import (
    COLOURS,
    ensure_axes,
    format_interval_level,
    label_rows,
    measure_label_width,
    shorten_labels,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_MAX_OPTIONS = 40  # most preferred by the population
_ROW = 0.34  # inches per option
_BINS = 60  # bins of shares, in which dots are spread vertically
_MAX_SPREAD = 0.38  # share of a row, above and below its middle
_MAX_STEP = 0.09  # share of a row, between neighbouring dots


@picture("mean", made_by="respondents.individuals()")
def individuals(
    table: "pandas.DataFrame", ax: "Axes | None" = None, population: Any = None
) -> "Axes":
    """Draw each respondent's share of each option, most preferred at the top.

    A dot is a respondent, at the posterior mean of the share; dots of many respondents with equal
    shares are spread vertically. The diamond is the share by the common weights, its line the
    interval. The thin line is chance: an option whose worth equals the mean worth.

    Parameters
    ----------
    table : pandas.DataFrame
        The table that `respondents.individuals()` of a fit with ``people=Individuals()`` returns.
    ax : matplotlib axes, optional
        Axes to draw in; None creates a new figure.
    population : pandas.DataFrame, optional
        Mean, low and high of each option by the common weights; None omits them.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.MultiIndex.from_product(
    ...     [["Ann", "Bob"], ["tea", "milk"]], names=["respondent", "option"]
    ... )
    >>> ax = individuals(pd.DataFrame({"mean": [0.3, 0.7, 0.4, 0.6]}, rows))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['milk', 'tea']
    """
    shares = table["mean"].unstack("option")
    mean_shares = shares.mean()
    if population is not None:
        mean_shares = population["mean"]
    options = mean_shares.sort_values(ascending=False, kind="stable").index[:_MAX_OPTIONS]
    labels = shorten_labels([str(option) for option in options])
    ax = ensure_axes(ax, 4.6 + measure_label_width(labels), 1.0 + _ROW * len(labels))
    max_share = float(np.max(shares[options]))
    if population is not None:
        max_share = max(max_share, float(np.max(population["high"])))
    dot_area = float(np.clip(160 / np.sqrt(len(shares)), 4, 20))
    rows = np.arange(len(options))
    for row_y, option in zip(rows, options, strict=True):
        respondent_shares = np.asarray(shares[option], float)
        ax.scatter(
            respondent_shares,
            row_y + _spread_points(respondent_shares, max_share),
            s=dot_area,
            color=COLOURS[5],
            alpha=0.7,
            linewidths=0,
            zorder=2,
        )
    if population is not None:
        _draw_population(ax, rows, population.loc[options])
    ax.axvline(float(np.mean(shares)), color="0.7", linewidth=0.8, zorder=0)
    label_rows(ax, rows, labels)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlim(0.0, 1.03 * max_share)
    population_note = ""
    if population is not None:
        interval_level = format_interval_level(population)
        population_note = f"\ndiamond: population, with {interval_level} interval"
    ax.set_xlabel(
        f"{table.attrs.get('measure', 'share of preference')}; dot: a respondent{population_note}",
        fontsize=9,
    )
    return ax


def _draw_population(ax: "Axes", rows: np.ndarray, population_rows: "pandas.DataFrame") -> None:
    """Draw the population's interval and mean of each option."""
    ax.hlines(
        rows,
        population_rows["low"],
        population_rows["high"],
        color=COLOURS[6],
        linewidth=1.6,
        zorder=3,
    )
    ax.scatter(
        population_rows["mean"],
        rows,
        s=30,
        marker="D",
        color=COLOURS[1],
        edgecolor="white",
        linewidths=0.6,
        zorder=4,
    )


def _spread_points(shares: np.ndarray, max_share: float) -> np.ndarray:
    """Return vertical offsets by which dots of equal shares do not overlap."""
    offsets = np.zeros(len(shares))
    bin_indices = np.floor(shares / max(max_share, 1e-12) * _BINS).astype(int)
    max_bin_count = np.bincount(bin_indices).max()
    dot_step = min(_MAX_STEP, 2 * _MAX_SPREAD / max(max_bin_count - 1, 1))
    for share_bin in np.unique(bin_indices):
        respondent_indices = np.flatnonzero(bin_indices == share_bin)
        heights = np.arange(len(respondent_indices)) - (len(respondent_indices) - 1) / 2
        respondent_indices = respondent_indices[
            np.argsort(
                np.abs(shares[respondent_indices] - np.median(shares[respondent_indices])),
                kind="stable",
            )
        ]
        offsets[respondent_indices] = dot_step * heights[np.argsort(np.abs(heights), kind="stable")]
    return offsets
