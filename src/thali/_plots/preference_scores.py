"""Plot of preference scores from 0 to 100, overall or by group."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import ArgumentError

from ._fonts import picture
from ._grouped_intervals import MAX_GROUPS, compute_rows_height, draw_groups
from ._style import ensure_axes, format_interval_level, measure_label_width, shorten_labels

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_COLUMNS = ["score", "low", "high"]


@picture("score", "low", "high", made_by="scores()")
def scores(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the score of each option and its interval, highest mean first.

    The thin line is the score of an average option, 100 divided by the number of options; on an
    anchored scale it is the score of the none option.

    Parameters
    ----------
    table : pandas.DataFrame
        The table that `scores()` of a fitted model returns.
    ax : matplotlib axes, optional
        Axes to draw in; None creates a new figure.

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
    rows_by_group: dict[Any, Any] = {"": table}
    if table.index.nlevels > 1:
        groups = dict.fromkeys(table.index.get_level_values(0))
        rows_by_group = {group: table.loc[group] for group in groups}
    if len(rows_by_group) > MAX_GROUPS:
        raise ArgumentError(
            f"plots.scores draws at most {MAX_GROUPS} groups; got {len(rows_by_group)}. Select"
            " fewer."
        )
    mean_scores: Any = table.groupby(level="option", sort=False)["score"].mean()
    options = mean_scores.sort_values(ascending=False, kind="stable").index
    labels = shorten_labels([str(option) for option in options])
    height = 1.2 + compute_rows_height(len(labels), len(rows_by_group))
    ax = ensure_axes(ax, 4.2 + measure_label_width(labels), height)
    group_prefix = ""
    if len(rows_by_group) > 1:
        group_prefix = f"{table.index.names[0]} "
    intervals = {
        f"{group_prefix}{group}".strip(): np.asarray(rows.loc[options, _COLUMNS]).T
        for group, rows in rows_by_group.items()
    }
    draw_groups(ax, labels, intervals)
    none_option = table.attrs.get("none")
    reference_score = 100.0 / len(options)
    scale_note = "sum 100"
    if none_option is not None:
        reference_score = 100.0
        scale_note = f"{shorten_labels([none_option])[0]} = 100"
    ax.axvline(reference_score, color="0.7", linewidth=0.8, zorder=0)
    ax.set_xlim(left=0.0)
    ax.set_xlabel(
        f"preference score, {scale_note} (mean and {format_interval_level(table)} interval)"
    )
    return ax
