"""Ratings of options in each period."""

from typing import TYPE_CHECKING

import numpy as np

from thali._labels import positions
from thali._posterior.interval import interval_name

from ._fonts import picture
from ._style import COLOURS, axes_of, grid_below, hide_spines, interval_of, label_width, short

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_STYLES = ("-", "--", ":", "-.")
_MOST_TICKS = 12  # names of periods


@picture(
    "option",
    "period",
    "rating",
    "low",
    "high",
    "rank",
    made_by="worths_in_time()",
    attrs=("better", "worse"),
)
def worths_in_time(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the rating of each option in each period, with bands of their intervals and names at the
    ends of lines.

    Seven options have colours, bands and names: those that have surely become better or worse since
    they entered, and the first of the last period; the others are grey.

    Parameters
    ----------
    table : pandas.DataFrame
        What `worths_in_time()` of a leaderboard returned; ``attrs["better"]`` and
        ``attrs["worse"]`` are the options that surely changed.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

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
    at = positions(periods)
    last = table.loc[table["period"] == periods[-1]].sort_values("rank", kind="stable")
    order = list(dict.fromkeys([*last["option"], *table["option"]]))
    moved = {*table.attrs["better"], *table.attrs["worse"]}
    named = sorted(
        sorted(order, key=lambda option: option not in moved)[: len(COLOURS)], key=order.index
    )
    labels = short(named)
    others = [option for option in order if option not in named]
    ax = axes_of(ax, min(9.0, 3.5 + 0.5 * len(periods)) + label_width(labels), 4.2)
    own = {str(option): rows for option, rows in table.groupby("option", sort=False)}
    for option in others:
        rows = own[option]
        ax.plot(
            [at[name] for name in rows["period"]],
            rows["rating"],
            color="0.8",
            linewidth=0.9,
            zorder=1,
        )
    marker = "o" if len(periods) <= _MOST_TICKS else ""
    for place, option in enumerate(named):
        rows, colour = own[option], COLOURS[place]
        x = np.array([at[name] for name in rows["period"]])
        ax.fill_between(
            x, rows["low"], rows["high"], color=colour, alpha=0.13, linewidth=0, zorder=2
        )
        style = {"linestyle": _STYLES[place % len(_STYLES)], "marker": marker, "markersize": 3.5}
        ax.plot(x, rows["rating"], color=colour, linewidth=1.7, zorder=3, **style)
    low, high = ax.get_ylim()
    ends = [float(own[option]["rating"].iloc[-1]) for option in named]
    for place, height in zip(range(len(named)), _apart(ends, 0.05 * (high - low)), strict=True):
        begin = (len(periods) - 1, ends[place])
        ax.annotate(
            f"{labels[place]} ",
            begin,
            (len(periods) - 1 + 0.03 * max(1, len(periods) - 1), height),
            color=COLOURS[place],
            va="center",
            fontsize=9,
            annotation_clip=False,
            parse_math=False,
        )
    step = -(-len(periods) // _MOST_TICKS)
    ticks = list(range(len(periods) - 1, -1, -step))[::-1]
    ax.set_xticks(ticks, [periods[k] for k in ticks], parse_math=False)
    if max(map(len, periods)) * len(ticks) > 60:
        ax.tick_params(axis="x", rotation=40)
        for tick in ax.get_xticklabels():
            tick.set(ha="right", rotation_mode="anchor")
    ax.set_xlim(-0.02 * len(periods), len(periods) - 1 + 0.01 * len(periods))
    ax.set_ylabel(f"rating ({interval_name(interval_of(table))})")
    if others:
        ax.set_title(f"grey: {len(others):,} more options", loc="left", fontsize=9)
    grid_below(ax, "y")
    hide_spines(ax)
    return ax


def _apart(heights: list[float], least: float) -> list[float]:
    """The heights, moved as little as lets no two be nearer than that, in the same order."""
    order = np.argsort(heights)
    found = np.array(heights, float)[order]
    for _ in range(200):
        gaps = least - np.diff(found)
        if not (gaps > 1e-9).any():
            break
        push = np.maximum(gaps, 0.0) / 2.0
        found[:-1] -= push
        found[1:] += push
    moved = np.empty(len(found))
    moved[order] = found
    return moved.tolist()
