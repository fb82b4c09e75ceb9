"""Plot of log worths with their intervals."""

from typing import TYPE_CHECKING

import numpy as np

from ._fonts import picture
from ._grouped_intervals import compute_rows_height, draw_groups
from ._style import ensure_axes, format_interval_level, measure_label_width, shorten_labels

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_MAX_OPTIONS = 60


@picture("log_worth", "low", "high", made_by="worths()")
def worths(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the log worths of the first 60 options of a table, with their intervals.

    The thin line at 0 is the mean over all options. A difference of log worths is the log odds that
    one option is chosen over the other.

    Parameters
    ----------
    table : pandas.DataFrame
        The table that `worths()` of a fitted model returns.
    ax : matplotlib axes, optional
        Axes to draw in; None creates a new figure.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import pandas as pd
    >>> options = pd.Index(["milk", "tea"], name="option")
    >>> table = pd.DataFrame({"log_worth": [1, -1], "low": [0, -2], "high": [2, 0]}, options)
    >>> [text.get_text() for text in worths(table).get_yticklabels()]
    ['milk', 'tea']
    """
    shown_table = table.head(_MAX_OPTIONS)
    labels = shorten_labels([str(option) for option in shown_table.index])
    height = 1.0 + compute_rows_height(len(labels), 1)
    ax = ensure_axes(ax, 4.2 + measure_label_width(labels), height)
    draw_groups(ax, labels, {"": np.asarray(shown_table[["log_worth", "low", "high"]]).T})
    ax.axvline(0.0, color="0.7", linewidth=0.8, zorder=0)
    ax.set_xlabel(f"log worth (mean and {format_interval_level(table)} interval)")
    if len(table) > len(labels):
        ax.set_title(f"top {len(labels)} of {len(table):,} options", loc="left", fontsize=10)
    return ax
