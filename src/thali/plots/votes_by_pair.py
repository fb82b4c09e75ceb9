"""How many comparisons each pair of options has."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data.choices import Choices
from thali.paired.findings import MAX_OF_PAIRS

from ._style import GRID, SHADES, label_width, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NEAR = 0.15  # of the logarithmic bar: marks that are nearer to its ends are not written
_MAX_WRITTEN = 12  # options up to which cells hold their numbers


def votes_by_pair(board: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw how many comparisons each two of the first 40 options of a leaderboard have, in its order; none is white.

    Shades are those of the logarithm, as the bar beside them says.

    Parameters
    ----------
    board : Leaderboard
        As `thali.leaderboard` gives it.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import thali as th
    >>> votes_by_pair(th.leaderboard(th.datasets.celebrities(), progressbar=False)).get_title()
    'comparisons of each pair'
    """
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import FuncFormatter

    table = board.votes_by_pair()
    count, shown = len(table), table.iloc[:MAX_OF_PAIRS, :MAX_OF_PAIRS]
    numbers, labels, n = shown.to_numpy(float), short(shown.index.tolist()), len(shown)
    if ax is None:
        side = 1.2 + max(1.6, 0.22 * n)
        ax = new_axes(side + 1.1 + label_width(labels), side + label_width(labels))[0]
    there = np.ma.masked_less_equal(numbers, 0.0)
    least, most = (float(there.min()), float(there.max())) if there.count() else (1.0, 1.0)
    shades = LogNorm(0.5 * least, most)
    image = ax.imshow(there, cmap=SHADES, norm=shades, aspect="equal")
    inner = (float(f"{mark:.2g}") for mark in np.geomspace(least, most, 4)[1:-1])
    near = (most / least) ** _NEAR
    marks = sorted({least, most, *(mark for mark in inner if least * near < mark < most / near)})
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.6, ticks=marks, format=FuncFormatter(lambda mark, _: f"{mark:,g}"))
    bar.ax.minorticks_off()
    if n <= _MAX_WRITTEN:
        for i, j in zip(*np.nonzero(numbers), strict=True):
            colour = "white" if shades(numbers[i, j]) > 0.6 else "black"
            ax.text(j, i, f"{numbers[i, j]:,g}", ha="center", va="center", fontsize=7, color=colour)
    places = np.arange(n)
    ax.set_xticks(places, labels, rotation=90, parse_math=False)
    ax.set_yticks(places, labels, parse_math=False)
    ax.set_xticks(places[:-1] + 0.5, minor=True)
    ax.set_yticks(places[:-1] + 0.5, minor=True)
    ax.grid(which="minor", color=GRID, linewidth=0.6)
    ax.tick_params(which="both", length=0)
    ax.spines[:].set_visible(False)
    of_all = f", the first {n} of {count:,} options" if count > n else ""
    counted = "sets that hold" if isinstance(board.data, Choices) else "comparisons of"
    ax.set_title(f"{counted} each pair{of_all}", loc="left" if of_all else "center", fontsize=10)
    return ax
