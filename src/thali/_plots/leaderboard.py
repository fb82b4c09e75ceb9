"""Plot of a leaderboard: ratings with intervals, ranks and tiers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import index_labels

from ._fonts import picture
from ._style import (
    COLOURS,
    create_axes,
    draw_background_grid,
    format_interval_name,
    label_rows,
    measure_label_width,
    shorten_labels,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_MAX_OPTIONS = 60
# inches without names, to fit on a phone; relative widths of ratings, ranks, tiers
_PANELS_WIDTH, _PANEL_RATIOS = 4.6, (4, 3, 2)


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
    """Draw ratings, ranks and tiers of the first 60 options.

    The title states the number of options. Dots are means (left) and ranks (middle), lines their
    intervals. Options with dots on one line of the right panel cannot be distinguished.

    Parameters
    ----------
    table : pandas.DataFrame
        The `table` of a leaderboard; ``attrs["tiers"]`` contains the members of each tier.
    ax : sequence of three matplotlib axes, optional
        Axes to draw in; None creates a new figure.

    Returns
    -------
    list of matplotlib axes
        Ratings, ranks, tiers.

    Examples
    --------
    >>> import thali as th
    >>> board = th.leaderboard(th.datasets.celebrities(), progressbar=False)
    >>> [ax.get_xlabel() for ax in leaderboard(board.table)]
    ['rating (89 % interval)', 'rank (89 % interval)', 'tiers']
    """
    full_table, table = table, table.head(_MAX_OPTIONS)
    labels = shorten_labels(table.index.tolist())
    n = len(labels)
    axes = ax
    if axes is None:
        axes = create_axes(
            _PANELS_WIDTH + measure_label_width(labels), 1.2 + max(1.0, 0.24 * n), columns=3
        )
        row_of: Any = axes[0].get_subplotspec()
        row_of.get_gridspec().set_width_ratios(_PANEL_RATIOS)
    ratings, ranks, tiers = axes
    rows = np.arange(n)
    interval = format_interval_name(table)
    for panel, name in ((ratings, "rating"), (ranks, "rank")):
        panel.hlines(rows, table[f"{name}_low"], table[f"{name}_high"], color="0.4", linewidth=1.4)
        panel.scatter(table[name], rows, s=18, color=COLOURS[0], zorder=3)
        panel.set_xlabel(f"{name} ({interval})")
        panel.locator_params(axis="x", nbins=4, integer=True)
        draw_background_grid(panel, "x")
    row_of = index_labels(table.index)
    tier_rows = [
        [row_of[member] for member in members if member in row_of]
        for members in table.attrs["tiers"]
    ]
    for tier_index, (lane, members) in enumerate(
        _assign_lanes([members for members in tier_rows if len(members) > 1])
    ):
        colour = COLOURS[tier_index % len(COLOURS)]
        tiers.vlines(lane, members[0], members[-1], color=colour, linewidth=1.6)
        tiers.scatter([lane] * len(members), members, s=14, color=colour, zorder=3)
    if len(full_table) > n:
        ratings.set_title(f"top {n} of {len(full_table):,} options", loc="left", fontsize=10)
    tiers.set(xlabel="tiers", xticks=[])
    tiers.margins(x=0.2)
    tiers.set_xlim(left=-0.8, right=max(tiers.get_xlim()[1], 0.8))
    for panel in axes:
        label_rows(panel, rows, [""] * n)
        panel.set_ylim(n - 0.4, -0.6)
    label_rows(ratings, rows, labels)
    return list(axes)


def _assign_lanes(groups: list[list[int]]) -> list[tuple[int, list[int]]]:
    """Return (lane, tier) of each tier, in the leftmost lane without overlap."""
    ends: list[int] = []
    lanes = []
    for members in groups:
        lane = next((k for k, end in enumerate(ends) if end < members[0]), len(ends))
        ends[lane : lane + 1] = [members[-1]]
        lanes.append((lane, members))
    return lanes
