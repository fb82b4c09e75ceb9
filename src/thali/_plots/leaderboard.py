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
_PANELS_WIDTH = 4.6
_PANEL_RATIOS = (4, 3, 2)


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
    full_table = table
    table = table.head(_MAX_OPTIONS)
    labels = shorten_labels(table.index.tolist())
    n = len(labels)
    axes = ax
    if axes is None:
        axes = create_axes(
            _PANELS_WIDTH + measure_label_width(labels), 1.2 + max(1.0, 0.24 * n), columns=3
        )
        panel_spec: Any = axes[0].get_subplotspec()
        panel_spec.get_gridspec().set_width_ratios(_PANEL_RATIOS)
    rating_axes, rank_axes, tier_axes = axes
    rows = np.arange(n)
    interval_name = format_interval_name(table)
    for panel, quantity in ((rating_axes, "rating"), (rank_axes, "rank")):
        panel.hlines(
            rows, table[f"{quantity}_low"], table[f"{quantity}_high"], color="0.4", linewidth=1.4
        )
        panel.scatter(table[quantity], rows, s=18, color=COLOURS[0], zorder=3)
        panel.set_xlabel(f"{quantity} ({interval_name})")
        panel.locator_params(axis="x", nbins=4, integer=True)
        draw_background_grid(panel, "x")
    row_by_option = index_labels(table.index)
    tier_rows = [
        [row_by_option[member] for member in members if member in row_by_option]
        for members in table.attrs["tiers"]
    ]
    for tier_index, (lane, member_rows) in enumerate(
        _assign_lanes([member_rows for member_rows in tier_rows if len(member_rows) > 1])
    ):
        colour = COLOURS[tier_index % len(COLOURS)]
        tier_axes.vlines(lane, member_rows[0], member_rows[-1], color=colour, linewidth=1.6)
        tier_axes.scatter([lane] * len(member_rows), member_rows, s=14, color=colour, zorder=3)
    if len(full_table) > n:
        rating_axes.set_title(f"top {n} of {len(full_table):,} options", loc="left", fontsize=10)
    tier_axes.set(xlabel="tiers", xticks=[])
    tier_axes.margins(x=0.2)
    tier_axes.set_xlim(left=-0.8, right=max(tier_axes.get_xlim()[1], 0.8))
    for panel in axes:
        label_rows(panel, rows, [""] * n)
        panel.set_ylim(n - 0.4, -0.6)
    label_rows(rating_axes, rows, labels)
    return list(axes)


def _assign_lanes(tier_rows: list[list[int]]) -> list[tuple[int, list[int]]]:
    """Return (lane, tier) of each tier, in the leftmost lane without overlap."""
    lane_ends: list[int] = []
    lanes = []
    for member_rows in tier_rows:
        lane = next((k for k, end in enumerate(lane_ends) if end < member_rows[0]), len(lane_ends))
        lane_ends[lane : lane + 1] = [member_rows[-1]]
        lanes.append((lane, member_rows))
    return lanes
