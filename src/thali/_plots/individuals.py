"""What each person prefers, beside the population."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import ArgumentError

from ._fonts import picture
from ._style import COLOURS, axes_of, label_width, level_of, name_rows, short

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_MAX_OPTIONS = 40  # drawn, those that the population prefers
_ROW = 0.34  # inches of an option
_BINS = 60  # across the picture, in which people lie above each other
_MAX_SPREAD = 0.38  # of a row, above and below its middle
_STEP = 0.09  # of a row, from a person to the next where there are few


@picture("mean", made_by="respondents.individuals()")
def individuals(
    table: "pandas.DataFrame", ax: "Axes | None" = None, population: Any = None
) -> "Axes":
    """Draw everybody's share of each option, and the share by the common weights; the most
    preferred at the top.

    A dot is a person, at the posterior mean of the share; of many people dots at the same share lie
    above each other. The diamond is the share by the common weights, its line the interval, and the
    thin line chance, where an option is worth as much as the mean of all.

    Parameters
    ----------
    table : pandas.DataFrame
        What `respondents.individuals()` of a fit with ``people=Individuals()`` returned.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.
    population : pandas.DataFrame, optional
        Mean, low and high of each option by the common weights; None: they are not drawn.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ArgumentError
        If they are weights of features and not shares of options.

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
    if "option" not in table.index.names:
        raise ArgumentError(
            "plots.individuals requires individual shares of options, but these respondents have"
            " weights of features; use plots.group_weights."
        )
    shares = table["mean"].unstack("option")
    middle = shares.mean() if population is None else population["mean"]
    options = middle.sort_values(ascending=False, kind="stable").index[:_MAX_OPTIONS]
    labels = short([str(option) for option in options])
    ax = axes_of(ax, 4.6 + label_width(labels), 1.0 + _ROW * len(labels))
    most = float(np.max(shares[options]))
    if population is not None:
        most = max(most, float(np.max(population["high"])))
    size = float(np.clip(160 / np.sqrt(len(shares)), 4, 20))
    rows = np.arange(len(options))
    for row, option in zip(rows, options, strict=True):
        values = np.asarray(shares[option], float)
        ax.scatter(
            values,
            row + _apart(values, most),
            s=size,
            color=COLOURS[5],
            alpha=0.7,
            linewidths=0,
            zorder=2,
        )
    if population is not None:
        own = population.loc[options]
        ax.hlines(rows, own["low"], own["high"], color=COLOURS[6], linewidth=1.6, zorder=3)
        ax.scatter(
            own["mean"],
            rows,
            s=30,
            marker="D",
            color=COLOURS[1],
            edgecolor="white",
            linewidths=0.6,
            zorder=4,
        )
    ax.axvline(float(np.mean(shares)), color="0.7", linewidth=0.8, zorder=0)
    name_rows(ax, rows, labels)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlim(0.0, 1.03 * most)
    about = (
        "" if population is None else f"\ndiamond: population, with {level_of(population)} interval"
    )
    ax.set_xlabel(
        f"{table.attrs.get('measure', 'share of preference')}; dot: a respondent{about}", fontsize=9
    )
    return ax


def _apart(values: np.ndarray, most: float) -> np.ndarray:
    """How far above or below the middle of its row everybody is drawn, so that people of one share
    lie side by side."""
    places = np.zeros(len(values))
    bins = np.floor(values / max(most, 1e-12) * _BINS).astype(int)
    crowd = np.bincount(bins).max()
    step = min(_STEP, 2 * _MAX_SPREAD / max(crowd - 1, 1))
    for each in np.unique(bins):
        own = np.flatnonzero(bins == each)
        heights = np.arange(len(own)) - (len(own) - 1) / 2
        own = own[np.argsort(np.abs(values[own] - np.median(values[own])), kind="stable")]
        places[own] = step * heights[np.argsort(np.abs(heights), kind="stable")]
    return places
