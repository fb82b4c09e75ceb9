"""Scores of options from 0 to 100, of all people or by group."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import ArgumentError

from ._by_group import MAX_GROUPS, draw_groups, height_of
from ._fonts import picture
from ._style import axes_of, label_width, level_of, short

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_COLUMNS = ["score", "low", "high"]


@picture("score", "low", "high", made_by="scores()")
def scores(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the score of each option and its interval, the option with the highest mean score at the
    top.

    The thin line is the score of an average option, 100 over their number; on an anchored scale
    that of the option which stands for none of the others.

    Parameters
    ----------
    table : pandas.DataFrame
        What `scores()` of a fitted model returned.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ArgumentError
        If there are more than seven groups.

    Examples
    --------
    >>> import pandas as pd
    >>> options = pd.Index(["tea", "milk"], name="option")
    >>> table = pd.DataFrame({"score": [40, 60], "low": [35, 55], "high": [45, 65]}, options)
    >>> [text.get_text() for text in scores(table).get_yticklabels()]
    ['milk', 'tea']
    """
    groups = (
        [""] if table.index.nlevels == 1 else list(dict.fromkeys(table.index.get_level_values(0)))
    )
    if len(groups) > MAX_GROUPS:
        raise ArgumentError(
            f"plots.scores draws at most {MAX_GROUPS} groups; got {len(groups)}. Select fewer."
        )
    mean: Any = table.groupby(level="option", sort=False)["score"].mean()
    options = mean.sort_values(ascending=False, kind="stable").index
    labels = short([str(option) for option in options])
    ax = axes_of(ax, 4.2 + label_width(labels), 1.2 + height_of(len(labels), len(groups)))
    each = {group: table.loc[group] if group != "" else table for group in groups}
    of = "" if len(groups) == 1 else f"{table.index.names[0]} "
    found = {
        f"{of}{group}".strip(): np.asarray(rows.loc[options, _COLUMNS]).T
        for group, rows in each.items()
    }
    draw_groups(ax, labels, found)
    none = table.attrs.get("none")
    ax.axvline(
        100.0 / len(options) if none is None else 100.0, color="0.7", linewidth=0.8, zorder=0
    )
    ax.set_xlim(left=0.0)
    scale = "sum 100" if none is None else f"{short([none])[0]} = 100"
    ax.set_xlabel(f"preference score, {scale} (mean and {level_of(table)} interval)")
    return ax
