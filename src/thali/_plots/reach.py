"""The sets of options that reach most people."""

from typing import TYPE_CHECKING

import numpy as np

from ._by_group import draw_groups, height_of
from ._fonts import picture
from ._style import axes_of, label_width, level_of, short_set

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@picture("members", "reach", "low", "high", made_by="respondents.reach()")
def reach(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the share of people whom each of the best sets of options reaches, and its interval.

    Parameters
    ----------
    table : pandas.DataFrame
        What `respondents.reach()` of a fitted model returned.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

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
    labels = [short_set(", ".join(members)) for members in table["members"]]
    ax = axes_of(ax, 3.6 + label_width(labels), 0.9 + height_of(len(labels), 1))
    draw_groups(ax, labels, {"": 100.0 * np.asarray(table[["reach", "low", "high"]], float).T})
    ax.set_xlim(right=100.5)
    ax.set_xlabel(f"% of respondents reached ({level_of(table)} interval)")
    return ax
