"""The classes of products that people care about: the share of owners and the importance of
each."""

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from thali._arguments import whole
from thali.errors import ArgumentError

from ._fonts import picture
from ._style import COLOURS, hide_spines, label_width, legend_of, new_axes

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas
    from matplotlib.axes import Axes

_LINE = 46  # letters of a line of a name
_MAX_LINES = 3
_LIKED, _EITHER, _DISLIKED = COLOURS[0], COLOURS[5], COLOURS[1]


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
    """Draw the most important classes of products: the share of people who own each, and its
    importance.

    Lines are a standard error over groups to either side. The label below gives the share of the
    total importance that the drawn classes have.

    Parameters
    ----------
    table : pandas.DataFrame
        What `classes()` of a fitted model returned.
    ax : sequence of two matplotlib axes, optional
        Where to draw: shares, importance; a new figure if None.
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
    table = table.head(whole("max_classes", max_classes, 1))
    if not len(table):
        raise ArgumentError("The table contains no product classes, so there is nothing to draw.")
    names = [_wrapped(name) for name in table["product_class"]]
    lines = [name.count("\n") + 1 for name in names]
    axes = ax
    if axes is None:
        width = 5.2 + label_width([line for name in names for line in name.split("\n")])
        axes = new_axes(width, 0.9 + 0.15 * sum(lines) + 0.14 * len(names), columns=2)
    shares, importance = axes
    # Names of several lines need more room.
    height = np.array(lines) + 0.9
    at = np.cumsum(height) - height / 2
    liked = table["liked"].to_numpy(float)
    colours = [_LIKED if each > 0.8 else _DISLIKED if each < 0.2 else _EITHER for each in liked]
    panels = ((shares, "share", "share of respondents"), (importance, "importance", "importance"))
    for panel, column, label in panels:
        values, errors = (
            table[column].to_numpy(float),
            np.nan_to_num(table[f"{column}_se"].to_numpy(float)),
        )
        low = np.minimum(errors, values)  # a share is not below 0
        panel.barh(at, values, height=1.2, color=colours, zorder=2)
        panel.errorbar(
            values, at, xerr=[low, errors], fmt="none", ecolor="0.15", elinewidth=1.1, zorder=3
        )
        panel.set(ylim=(at[-1] + height[-1] / 2, 0), xlabel=label)
        panel.set_xlim(left=0)
        panel.grid(axis="x", color="0.9", linewidth=0.7, zorder=0)
        panel.tick_params(axis="y", length=0)
        hide_spines(panel, "left")
        panel.set_yticks(at, [""] * len(at))
    shares.set_yticks(at, names, fontsize=9, parse_math=False, linespacing=1.1)
    covered = 100 * float(table["importance"].to_numpy(float).sum())
    importance.set_xlabel(f"importance ({covered:.0f} % shown)")
    _legend(shares, colours)
    return [shares, importance]


def _wrapped(name: str) -> str:
    """A name on up to three lines."""
    lines = textwrap.wrap(name, _LINE, break_long_words=True)
    if len(lines) > _MAX_LINES:
        lines = [*lines[: _MAX_LINES - 1], f"{lines[_MAX_LINES - 1][: _LINE - 1]}…"]
    return "\n".join(lines)


def _legend(ax: "Axes", colours: list[str]) -> None:
    """A legend of the colours above the bars, if there are several."""
    from matplotlib.patches import Patch

    meaning = {_LIKED: "liked", _DISLIKED: "disliked", _EITHER: "liked by some, disliked by others"}
    used = [colour for colour in meaning if colour in colours]
    if used == [_LIKED]:
        return
    patches = [Patch(color=colour, label=meaning[colour]) for colour in used]
    options = {"handlelength": 1.0, "borderaxespad": 0.2, "columnspacing": 1.0}
    legend_of(ax, "lower left", (0.0, 1.0), handles=patches, ncols=len(used), **options)
