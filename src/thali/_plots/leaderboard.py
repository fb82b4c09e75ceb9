"""A leaderboard: ratings with their intervals, ranks, and groups that cannot be told apart."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import positions
from thali._paired.findings import MAX_OPTIONS
from thali._posterior.interval import interval_name

from ._style import COLOURS, hide_spines, label_width, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH, _PANELS = 4.6, (4, 3, 2)  # inches besides names, so that a phone shows them; widths of ratings, ranks, groups


def leaderboard(board: Any, axes: "list[Axes] | None" = None) -> "list[Axes]":
    """Draw the first 60 options of a leaderboard, and say how many there are: ratings, ranks, and groups of several.

    Dots are means (left) and ranks (middle), lines their 89 % intervals. Options on one line of the right panel, at its
    dots, cannot be told apart.

    Parameters
    ----------
    board : Leaderboard
        As `thali.leaderboard` gives it.
    axes : list of three matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    list of matplotlib axes
        Ratings, ranks, groups.

    Examples
    --------
    >>> import thali as th
    >>> board = th.leaderboard(th.datasets.celebrities(), progressbar=False)
    >>> [ax.get_xlabel() for ax in leaderboard(board)]
    ['rating (89 % interval)', 'rank (89 % interval)', 'tiers']
    """
    table = board.table.head(MAX_OPTIONS)
    labels = short(table.index.tolist())
    n = len(labels)
    if axes is None:
        axes = new_axes(_WIDTH + label_width(labels), 1.2 + max(1.0, 0.24 * n), columns=3)
        place: Any = axes[0].get_subplotspec()
        place.get_gridspec().set_width_ratios(_PANELS)
    ratings, ranks, right = axes
    rows = np.arange(n)
    for ax, name in ((ratings, "rating"), (ranks, "rank")):
        ax.hlines(rows, table[f"{name}_low"], table[f"{name}_high"], color="0.4", linewidth=1.4)
        ax.scatter(table[name], rows, s=18, color=COLOURS[0], zorder=3)
        ax.set_xlabel(f"{name} ({interval_name()})")
        ax.locator_params(axis="x", nbins=4, integer=True)
        ax.grid(axis="x", color="0.9", linewidth=0.8)
        ax.set_axisbelow(True)
    place = positions(table.index)
    drawn = [[place[member] for member in members if member in place] for members in board.groups if len(members) > 1]
    for number, (lane, members) in enumerate(_lanes([members for members in drawn if len(members) > 1])):
        colour = COLOURS[number % len(COLOURS)]
        right.vlines(lane, members[0], members[-1], color=colour, linewidth=1.6)
        right.scatter([lane] * len(members), members, s=14, color=colour, zorder=3)
    if len(board.table) > n:
        ratings.set_title(f"top {n} of {len(board.table):,} options", loc="left", fontsize=10)
    right.set(xlabel="tiers", xticks=[])
    right.margins(x=0.2)
    right.set_xlim(left=-0.8, right=max(right.get_xlim()[1], 0.8))
    for ax in axes:
        ax.set_yticks(rows, labels if ax is ratings else [""] * n, parse_math=False)
        ax.set_ylim(n - 0.4, -0.6)
        ax.tick_params(axis="y", length=0)
        hide_spines(ax, "left")
    return list(axes)


def _lanes(groups: list[list[int]]) -> list[tuple[int, list[int]]]:
    """Each group with the first place, from the left, where it touches no other."""
    ends: list[int] = []
    found = []
    for members in groups:
        lane = next((k for k, end in enumerate(ends) if end < members[0]), len(ends))
        ends[lane : lane + 1] = [members[-1]]
        found.append((lane, members))
    return found
