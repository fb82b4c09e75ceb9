"""Which people care about the same classes of products."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.plots._style import SHADES, label_width, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NAMED = 40  # people whose labels are written
_LEAST_RANGE = 0.5  # classes: smaller differences than that are noise, and look like it
_SMALLEST, _LARGEST = 3.2, 7.0  # inches of a side


def people(model: Any, axes: "Axes | None" = None) -> "Axes":
    """Draw how many classes each two people share; those who share classes are neighbours.

    The diagonal, how many classes a person owns, is left grey, since it would take up the scale.

    Parameters
    ----------
    model : ProductClasses
        Fitted; or the table that its `people()` returned.
    axes : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes
    """
    from matplotlib import colormaps

    table = model.people() if hasattr(model, "people") else model
    shared = table.to_numpy(float, copy=True)
    np.fill_diagonal(shared, np.nan)
    number = len(shared)
    named = number <= _MOST_NAMED
    labels = short([str(label) for label in table.index]) if named else []
    if axes is None:
        side = float(np.clip(0.19 * number, _SMALLEST, _LARGEST))
        margin = label_width(labels) if named else 0.4
        axes = new_axes(side + margin + 1.1, side + margin + 0.4)[0]
    colours = colormaps[SHADES].with_extremes(bad="0.85")
    low, high = (float(np.nanmin(shared)), float(np.nanmax(shared))) if number > 1 else (0.0, 1.0)
    image = axes.imshow(shared, cmap=colours, vmin=low, vmax=max(high, low + _LEAST_RANGE), interpolation="nearest")
    if named:
        size = 9 if number <= 20 else 7.5
        axes.set_yticks(range(number), labels, fontsize=size, parse_math=False)
        axes.set_xticks(range(number), labels, fontsize=size, rotation=90, parse_math=False)
    else:
        axes.set(xticks=[], yticks=[], xlabel=f"{number:,} respondents", ylabel="in the order of clustering")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    bar = axes.figure.colorbar(image, ax=axes, shrink=0.8, pad=0.02)
    bar.set_label("classes shared (posterior mean)")
    bar.outline.set_visible(False)  # type: ignore[operator]
    return axes
