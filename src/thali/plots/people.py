"""People who care about the same classes of products."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ._draws import is_table
from ._fonts import picture
from ._style import SHADES, label_width, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_NAMED = 40  # people whose labels are written
_MIN_RANGE = 0.5  # classes: smaller differences are noise
_SMALLEST, _LARGEST = 3.2, 7.0  # inches of a side


@picture
def people(model: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw how many classes each two people share; those who share classes are neighbours.

    The diagonal, the number of classes of a person, is grey, because it would dominate the scale.

    Parameters
    ----------
    model : ProductClasses
        Fitted; or the table that its `people()` returned.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes
    """
    from matplotlib import colormaps

    table = model if is_table(model) else model.people()
    shared = table.to_numpy(float, copy=True)
    np.fill_diagonal(shared, np.nan)
    number = len(shared)
    named = number <= _MAX_NAMED
    labels = short([str(label) for label in table.index]) if named else []
    if ax is None:
        side = float(np.clip(0.19 * number, _SMALLEST, _LARGEST))
        margin = label_width(labels) if named else 0.4
        ax = new_axes(side + margin + 1.1, side + margin + 0.4)[0]
    colours = colormaps[SHADES].with_extremes(bad="0.85")
    low, high = (float(np.nanmin(shared)), float(np.nanmax(shared))) if number > 1 else (0.0, 1.0)
    image = ax.imshow(shared, cmap=colours, vmin=low, vmax=max(high, low + _MIN_RANGE), interpolation="nearest")
    if named:
        size = 9 if number <= 20 else 7.5
        ax.set_yticks(range(number), labels, fontsize=size, parse_math=False)
        ax.set_xticks(range(number), labels, fontsize=size, rotation=90, parse_math=False)
    else:
        ax.set(xticks=[], yticks=[], xlabel=f"{number:,} respondents", ylabel="in the order of clustering")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, pad=0.02)
    bar.set_label("classes shared (posterior mean)")
    bar.outline.set_visible(False)  # type: ignore[operator]
    return ax
