"""Plot of the share of respondents that the best sets of options reach."""

from typing import TYPE_CHECKING

import numpy as np

from ._fonts import picture
from ._grouped_intervals import compute_rows_height, draw_groups
from ._style import ensure_axes, format_interval_level, measure_label_width, shorten_member_list

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@picture("members", "reach", "low", "high", made_by="respondents.reach()")
def reach(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the share of respondents reached by the best sets of options.

    A line is the interval of the share.

    Parameters
    ----------
    table : pandas.DataFrame
        The table that `respondents.reach()` of a fitted model returns.
    ax : matplotlib axes, optional
        Axes to draw in; None creates a new figure.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame(
    ...     {"members": [("tea", "milk")], "reach": [0.8], "low": [0.7], "high": [0.9]}
    ... )
    >>> [text.get_text() for text in reach(table).get_yticklabels()]
    ['tea, milk']
    """
    labels = [shorten_member_list(", ".join(members)) for members in table["members"]]
    ax = ensure_axes(
        ax, 3.6 + measure_label_width(labels), 0.9 + compute_rows_height(len(labels), 1)
    )
    draw_groups(ax, labels, {"": 100.0 * np.asarray(table[["reach", "low", "high"]], float).T})
    ax.set_xlim(right=100.5)
    ax.set_xlabel(f"% of respondents reached ({format_interval_level(table)} interval)")
    return ax
