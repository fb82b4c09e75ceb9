"""Plot of product classes: share of owners and importance."""

from typing import TYPE_CHECKING

import numpy as np

from thali._argument_checks import check_integer
from thali.errors import ArgumentError

from ._fonts import picture
from ._style import (
    COLOURS,
    add_legend,
    create_axes,
    draw_thin_grid,
    label_rows,
    measure_label_width,
    wrap_name,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas
    from matplotlib.axes import Axes

_LINE_LENGTH = 46  # characters per line of a name
_LIKED = COLOURS[0]
_EITHER = COLOURS[5]
_DISLIKED = COLOURS[1]


@picture(
    "product_class",
    "liked",
    "share",
    "share_se",
    "importance",
    "importance_se",
    made_by="classes()",
)
def classes(
    table: "pandas.DataFrame", ax: "Sequence[Axes] | None" = None, max_classes: int = 15
) -> "list[Axes]":
    """Draw owner share and importance of the most important product classes.

    Lines are one standard error over groups to either side. The axis label states the share of the
    total importance of the classes shown.

    Parameters
    ----------
    table : pandas.DataFrame
        The table that `classes()` of a fitted model returns.
    ax : sequence of two matplotlib axes, optional
        Axes of shares and importance; None creates a new figure.
    max_classes : int
        The largest number of classes to show.

    Returns
    -------
    list of matplotlib axes

    Raises
    ------
    ArgumentError
        If the table has no row, or `max_classes` is less than 1.
    """
    table = table.head(check_integer("max_classes", max_classes, 1))
    if not len(table):
        raise ArgumentError("The table contains no product classes, so there is nothing to draw.")
    class_labels = [wrap_name(name, _LINE_LENGTH, 3) for name in table["product_class"]]
    n_lines = [name.count("\n") + 1 for name in class_labels]
    axes = ax
    if axes is None:
        width = 5.2 + measure_label_width(class_labels)
        axes = create_axes(width, 0.9 + 0.15 * sum(n_lines) + 0.14 * len(class_labels), columns=2)
    share_axes, importance_axes = axes
    # names on several lines need more room
    height = np.array(n_lines) + 0.9
    y = np.cumsum(height) - height / 2
    liked_share = table["liked"].to_numpy(float)
    colours = np.select(
        [liked_share > 0.8, liked_share < 0.2], [_LIKED, _DISLIKED], _EITHER
    ).tolist()
    panels = (
        (share_axes, "share", "share of respondents"),
        (importance_axes, "importance", "importance"),
    )
    for panel, column, label in panels:
        estimates = table[column].to_numpy(float)
        standard_errors = np.nan_to_num(table[f"{column}_se"].to_numpy(float))
        lower_errors = np.minimum(standard_errors, estimates)  # a share is not negative
        panel.barh(y, estimates, height=1.2, color=colours, zorder=2)
        panel.errorbar(
            estimates,
            y,
            xerr=[lower_errors, standard_errors],
            fmt="none",
            ecolor="0.15",
            elinewidth=1.1,
            zorder=3,
        )
        panel.set(ylim=(y[-1] + height[-1] / 2, 0), xlabel=label)
        panel.set_xlim(left=0)
        draw_thin_grid(panel, "x")
        label_rows(panel, y, [""] * len(y))
    share_axes.set_yticks(y, class_labels, fontsize=9, parse_math=False, linespacing=1.1)
    shown_percent = 100 * float(table["importance"].to_numpy(float).sum())
    importance_axes.set_xlabel(f"importance ({shown_percent:.0f} % shown)")
    _add_colour_legend(share_axes, colours)
    return [share_axes, importance_axes]


def _add_colour_legend(ax: "Axes", colours: list[str]) -> None:
    """Add a legend of the bars' colours, if there are several."""
    from matplotlib.patches import Patch

    meaning_by_colour = {
        _LIKED: "liked",
        _DISLIKED: "disliked",
        _EITHER: "liked by some, disliked by others",
    }
    colours_present = [colour for colour in meaning_by_colour if colour in colours]
    if colours_present == [_LIKED]:
        return
    patches = [Patch(color=colour, label=meaning_by_colour[colour]) for colour in colours_present]
    add_legend(
        ax,
        "lower left",
        (0.0, 1.0),
        handles=patches,
        ncols=len(patches),
        handlelength=1.0,
        borderaxespad=0.2,
        columnspacing=1.0,
    )
