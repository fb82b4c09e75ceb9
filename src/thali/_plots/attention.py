"""Who attends to which attribute."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ._fonts import picture
from ._style import axes_of, draw_intervals, label_width, legend_of, level_of, name_rows, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS = 25  # of the probabilities of people
_HIGH = 0.34  # of the highest bar, in rows


@picture(made_by="attention()", has="shares")
def attention(found: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw the part of the people who attend to each attribute with its interval, and what is known
    of each person.

    The grey bars above a line count the respondents by the probability that they attend: with two
    heaps, at 0 and 1, it is known who ignores the attribute; with one in between, only how many do.

    Parameters
    ----------
    found : AttentionTables
        What `attention()` of a fitted model returned.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes
    """
    shares = found.shares.sort_values("attends", kind="stable")
    names = short(shares.index.tolist())
    ax = axes_of(ax, 4.4 + label_width(names), 1.0 + 0.55 * len(names))
    at, edges = np.arange(len(names), dtype=float), np.linspace(0.0, 1.0, _BINS + 1)
    counts = np.stack([np.histogram(found.people[name], edges)[0] for name in shares.index])
    heights = _HIGH * 2 * counts / max(1, counts.max())
    for place, own in zip(at.tolist(), heights, strict=True):
        label = "respondents, by individual probability" if place == 0 else None
        ax.bar(
            edges[:-1],
            -own,
            np.diff(edges),
            place - 0.08,
            align="edge",
            color="0.78",
            zorder=1,
            label=label,
        )
    label = f"population share, {level_of(shares)} interval"
    draw_intervals(ax, at, shares["attends"], shares["low"], shares["high"], label)
    ax.set(xlim=(-0.02, 1.02), ylim=(len(names) - 0.7, -0.9), xlabel="probability of attending")
    name_rows(ax, at, names)
    ax.grid(axis="x", color="0.92", linewidth=0.7, zorder=0)
    ax.set_axisbelow(True)
    legend_of(ax, "lower right", (1.0, 1.0), handlelength=1.5)
    return ax
