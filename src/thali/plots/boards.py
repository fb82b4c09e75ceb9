"""Leaderboards of the parts of a leaderboard side by side, each beside that of all together."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import plural
from thali.paired.findings import MAX_OF_PARTS, MAX_PARTS
from thali.posterior.interval import INTERVAL

from ._style import COLOURS, label_width, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def boards(board: Any, axes: "list[Axes] | None" = None) -> "list[Axes]":
    """Draw the ratings of the first 20 options in each of the first 8 parts, in the order of all together.

    Dots are means, lines their 89 % intervals; in grey those of all comparisons together. The title of a panel names
    the part, the line above them says how many options and parts there are.

    Parameters
    ----------
    board : Leaderboard
        As `thali.leaderboard(by=)` gives it.
    axes : list of matplotlib axes, optional
        Where to draw, one a part; a new figure if None.

    Returns
    -------
    list of matplotlib axes

    Raises
    ------
    DataError
        If the leaderboard has no parts.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> rows = [("ant", "bee", "ant", "de"), ("bee", "ant", "ant", "en"), ("bee", "ant", "bee", "en")] * 9
    >>> battles = pd.DataFrame(rows, columns=["model_a", "model_b", "winner", "language"])
    >>> [ax.get_title(loc="left") for ax in boards(th.leaderboard(battles, by="language", progressbar=False))]
    ['de', 'en']
    """
    parts = board.by_part()
    names = list(board.boards)[:MAX_PARTS]
    whole = board.table.head(MAX_OF_PARTS)
    labels, n = short(whole.index.tolist()), len(whole)
    if axes is None:
        axes = new_axes(1.2 + 2.2 * len(names) + label_width(labels), 1.5 + max(1.0, 0.26 * n), columns=len(names))
        shown = (n, len(board.table), "option"), (len(names), len(board.boards), "part")
        if left_out := [f"the first {few} of {plural(all_, what)}" for few, all_, what in shown if few < all_]:
            axes[0].figure.suptitle("; ".join(left_out), x=0.01, ha="left", fontsize=9)
    axes = list(np.atleast_1d(np.asarray(axes, dtype=object)))
    rows, ends = np.arange(n), ["rating_low", "rating_high"]
    drawn = {name: parts.loc[name].reindex(whole.index) for name in names}
    shown = np.concatenate([each[ends].to_numpy() for each in (whole, *drawn.values())])
    least, most = np.nanmin(shown), np.nanmax(shown)
    for ax, name in zip(axes, names, strict=True):
        own = drawn[name]
        ax.hlines(rows - 0.16, whole["rating_low"], whole["rating_high"], color="0.75", linewidth=1.4)
        ax.scatter(whole["rating"], rows - 0.16, s=12, color="0.75", zorder=2)
        ax.hlines(rows + 0.16, own["rating_low"], own["rating_high"], color=COLOURS[0], linewidth=1.4)
        ax.scatter(own["rating"], rows + 0.16, s=18, color=COLOURS[0], zorder=3)
        ax.set_title(short([name])[0], loc="left", fontsize=10, parse_math=False)
        ax.set_xlabel(f"rating ({INTERVAL:.0%} interval)")
        ax.grid(axis="x", color="0.9", linewidth=0.8)
        ax.set_axisbelow(True)
        ax.set_yticks(rows, labels if ax is axes[0] else [""] * n, parse_math=False)
        ax.set_ylim(n - 0.4, -0.6)
        ax.set_xlim(least - 0.05 * (most - least), most + 0.05 * (most - least))
        ax.tick_params(axis="y", length=0)
        ax.spines[["top", "right", "left"]].set_visible(False)
    return axes
