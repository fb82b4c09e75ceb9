"""Plot of the ratings of options in each period."""

from typing import TYPE_CHECKING

import numpy as np

from thali._labels import index_labels

from ._fonts import picture
from ._style import (
    COLOURS,
    draw_background_grid,
    ensure_axes,
    format_interval_name,
    hide_spines,
    measure_label_width,
    shorten_labels,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_STYLES = ("-", "--", ":", "-.")
_MAX_TICKS = 12  # on the axis of periods


@picture(
    "option",
    "period",
    "rating",
    "rating_low",
    "rating_high",
    "rank",
    made_by="worths_in_time()",
    attrs=("better", "worse"),
)
def worths_in_time(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the rating of each option in each period.

    Seven options have colours, interval bands and names: options that have surely become better or
    worse since they entered, and the best of the last period; the other options are grey.

    Parameters
    ----------
    table : pandas.DataFrame
        The table that `worths_in_time()` of a leaderboard returns; ``attrs["better"]`` and
        ``attrs["worse"]`` are the options that have surely changed.
    ax : matplotlib axes, optional
        Axes to draw in; None creates a new figure.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> rows = [
    ...     ("tea", "milk", "tea", 1),
    ...     ("tea", "milk", "tea", 1),
    ...     ("tea", "milk", "milk", 2),
    ... ] * 9
    >>> rows += [("milk", "tea", "tea", 3), ("milk", "tea", "milk", 3)] * 9
    >>> games = pd.DataFrame(rows, columns=["left", "right", "winner", "season"])
    >>> worths_in_time(
    ...     th.leaderboard(games, period="season", progressbar=False).worths_in_time()
    ... ).get_ylabel()
    'rating (89 % interval)'
    """
    periods = list(dict.fromkeys(table["period"]))
    period_index = index_labels(periods)
    last_period = table.loc[table["period"] == periods[-1]].sort_values("rank", kind="stable")
    options = list(dict.fromkeys([*last_period["option"], *table["option"]]))
    changed_options = {*table.attrs["better"], *table.attrs["worse"]}
    named_options = sorted(
        sorted(options, key=lambda option: option not in changed_options)[: len(COLOURS)],
        key=options.index,
    )
    labels = shorten_labels(named_options)
    grey_options = [option for option in options if option not in named_options]
    ax = ensure_axes(ax, min(9.0, 3.5 + 0.5 * len(periods)) + measure_label_width(labels), 4.2)
    rows_by_option = {str(option): rows for option, rows in table.groupby("option", sort=False)}
    for option in grey_options:
        rows = rows_by_option[option]
        ax.plot(
            [period_index[name] for name in rows["period"]],
            rows["rating"],
            color="0.8",
            linewidth=0.9,
            zorder=1,
        )
    marker = ""
    if len(periods) <= _MAX_TICKS:
        marker = "o"
    for index, option in enumerate(named_options):
        rows = rows_by_option[option]
        colour = COLOURS[index]
        x = np.array([period_index[name] for name in rows["period"]])
        ax.fill_between(
            x,
            rows["rating_low"],
            rows["rating_high"],
            color=colour,
            alpha=0.13,
            linewidth=0,
            zorder=2,
        )
        ax.plot(
            x,
            rows["rating"],
            color=colour,
            linewidth=1.7,
            linestyle=_STYLES[index % len(_STYLES)],
            marker=marker,
            markersize=3.5,
            zorder=3,
        )
    last_ratings = [float(rows_by_option[option]["rating"].iloc[-1]) for option in named_options]
    _label_line_ends(ax, len(periods) - 1, last_ratings, labels)
    _label_periods(ax, periods)
    ax.set_ylabel(f"rating ({format_interval_name(table)})")
    if grey_options:
        ax.set_title(f"grey: {len(grey_options):,} more options", loc="left", fontsize=9)
    draw_background_grid(ax, "y")
    hide_spines(ax)
    return ax


def _label_line_ends(ax: "Axes", end: int, ratings: list[float], labels: list[str]) -> None:
    """Write option labels at the right ends of lines that end in period `end`."""
    low, high = ax.get_ylim()
    heights = _separate_heights(ratings, 0.05 * (high - low))
    for index, (label, rating, height) in enumerate(zip(labels, ratings, heights, strict=True)):
        ax.annotate(
            f"{label} ",
            (end, rating),
            (end + 0.03 * max(1, end), height),
            color=COLOURS[index],
            va="center",
            fontsize=9,
            annotation_clip=False,
            parse_math=False,
        )


def _label_periods(ax: "Axes", periods: list[str]) -> None:
    """Label at most twelve periods on the x axis, rotated if long."""
    tick_step = -(-len(periods) // _MAX_TICKS)
    ticks = list(range(len(periods) - 1, -1, -tick_step))[::-1]
    ax.set_xticks(ticks, [periods[k] for k in ticks], parse_math=False)
    if max(map(len, periods)) * len(ticks) > 60:
        ax.tick_params(axis="x", rotation=40)
        for tick in ax.get_xticklabels():
            tick.set(ha="right", rotation_mode="anchor")
    ax.set_xlim(-0.02 * len(periods), len(periods) - 1 + 0.01 * len(periods))


def _separate_heights(heights: list[float], min_gap: float) -> list[float]:
    """Return label heights moved apart to at least `min_gap`."""
    height_order = np.argsort(heights)
    separated_heights = np.array(heights, float)[height_order]
    for _ in range(200):
        gaps = min_gap - np.diff(separated_heights)
        if not (gaps > 1e-9).any():
            break
        push = np.maximum(gaps, 0.0) / 2.0
        separated_heights[:-1] -= push
        separated_heights[1:] += push
    heights_in_order = np.empty(len(separated_heights))
    heights_in_order[height_order] = separated_heights
    return heights_in_order.tolist()
