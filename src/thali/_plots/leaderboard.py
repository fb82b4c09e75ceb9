"""A leaderboard: ratings with their intervals, ranks, and groups that cannot be told apart."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import positions
from thali._posterior.interval import interval_name

from ._fonts import picture
from ._style import COLOURS, hide_spines, interval_of, label_width, new_axes, short

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_MAX_OPTIONS = 60
# inches besides names, so that a phone shows them; widths of ratings, ranks, groups
_WIDTH, _PANELS = 4.6, (4, 3, 2)


@picture(
    "rating",
    "rating_low",
    "rating_high",
    "rank",
    "rank_low",
    "rank_high",
    made_by="leaderboard(...)",
    attrs=("tiers",),
)
def leaderboard(table: "pandas.DataFrame", ax: "Sequence[Axes] | None" = None) -> "list[Axes]":
    """Draw the first 60 options of a leaderboard, and say how many there are: ratings, ranks, and
    groups of several.

    Dots are means (left) and ranks (middle), lines their intervals. Options on one line of the
    right panel, at its dots, cannot be told apart.

    Parameters
    ----------
    table : pandas.DataFrame
        The `table` of a leaderboard, whose ``attrs["tiers"]`` are the members of each tier.
    ax : sequence of three matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    list of matplotlib axes
        Ratings, ranks, groups.

    Examples
    --------
    >>> import thali as th
    >>> board = th.leaderboard(th.datasets.celebrities(), progressbar=False)
    >>> [ax.get_xlabel() for ax in leaderboard(board.table)]
    ['rating (89 % interval)', 'rank (89 % interval)', 'tiers']
    """
    everything, table = table, table.head(_MAX_OPTIONS)
    labels = short(table.index.tolist())
    n = len(labels)
    axes = ax
    if axes is None:
        axes = new_axes(_WIDTH + label_width(labels), 1.2 + max(1.0, 0.24 * n), columns=3)
        place: Any = axes[0].get_subplotspec()
        place.get_gridspec().set_width_ratios(_PANELS)
    ratings, ranks, right = axes
    rows = np.arange(n)
    interval = interval_name(interval_of(table))
    for panel, name in ((ratings, "rating"), (ranks, "rank")):
        panel.hlines(rows, table[f"{name}_low"], table[f"{name}_high"], color="0.4", linewidth=1.4)
        panel.scatter(table[name], rows, s=18, color=COLOURS[0], zorder=3)
        panel.set_xlabel(f"{name} ({interval})")
        panel.locator_params(axis="x", nbins=4, integer=True)
        panel.grid(axis="x", color="0.9", linewidth=0.8)
        panel.set_axisbelow(True)
    place = positions(table.index)
    drawn = [
        [place[member] for member in members if member in place] for members in table.attrs["tiers"]
    ]
    for number, (lane, members) in enumerate(
        _lanes([members for members in drawn if len(members) > 1])
    ):
        colour = COLOURS[number % len(COLOURS)]
        right.vlines(lane, members[0], members[-1], color=colour, linewidth=1.6)
        right.scatter([lane] * len(members), members, s=14, color=colour, zorder=3)
    if len(everything) > n:
        ratings.set_title(f"top {n} of {len(everything):,} options", loc="left", fontsize=10)
    right.set(xlabel="tiers", xticks=[])
    right.margins(x=0.2)
    right.set_xlim(left=-0.8, right=max(right.get_xlim()[1], 0.8))
    for panel in axes:
        panel.set_yticks(rows, labels if panel is ratings else [""] * n, parse_math=False)
        panel.set_ylim(n - 0.4, -0.6)
        panel.tick_params(axis="y", length=0)
        hide_spines(panel, "left")
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
