"""What people would pay for the levels of attributes."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ._fonts import picture
from ._style import axes_of, draw_intervals, label_width, legend_of, level_of, name_rows, short

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@picture("attribute", "level", "over", "wtp", "wtp_low", "wtp_high", made_by="willingness_to_pay()")
def willingness_to_pay(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the amount that the median person would pay for each level, its interval, and how far
    people differ.

    A line that leaves the picture ends in an arrow.

    Parameters
    ----------
    table : data frame
        What `willingness_to_pay` of a fitted model returned.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ArgumentError
        If it is another table.

    Examples
    --------
    >>> import pandas as pd
    >>> row = {
    ...     "attribute": "zoom",
    ...     "level": "yes",
    ...     "over": "no",
    ...     "wtp": 12.0,
    ...     "wtp_low": 8.0,
    ...     "wtp_high": 16.0,
    ... }
    >>> [text.get_text() for text in willingness_to_pay(pd.DataFrame([row])).get_yticklabels()]
    ['zoom: yes over no']
    """
    names = short([_name(row) for row in table.to_dict("records")])
    ax = axes_of(ax, 4.2 + label_width(names), 1.1 + 0.3 * len(names))
    at, level = np.arange(len(names), dtype=float), level_of(table)
    ends = table[["wtp_low", "wtp_high"]].to_numpy(float)
    people = (
        table[["respondents_low", "respondents_high"]].to_numpy(float)
        if "respondents_low" in table
        else ends
    )
    low, high = _range(np.hstack([ends, table[["wtp"]].to_numpy(float)]), people)
    ax.axvline(0.0, color="0.5", linewidth=0.9, linestyle="--", zorder=0)
    if "respondents_low" in table:
        apart = people.clip(low, high)
        ax.hlines(
            at,
            apart[:, 0],
            apart[:, 1],
            color="0.55",
            linewidth=1.0,
            zorder=1,
            label=f"{level} of respondents",
        )
        _mark_ends(ax, at, people, low, high)
    else:
        _mark_ends(ax, at, ends, low, high)
    label = (
        f"median respondent, {level} interval"
        if "respondents_low" in table
        else f"{level} interval"
    )
    shown = ends.clip(low, high)
    draw_intervals(ax, at, table["wtp"].clip(low, high), shown[:, 0], shown[:, 1], label)
    price = table.attrs.get("price")
    ax.set(xlim=(low, high), ylim=(len(names) - 0.4, -0.6))
    units = "" if price is None else f", in units of {price}"
    ax.set_xlabel(f"willingness to pay{units}", parse_math=False)
    name_rows(ax, at, names)
    ax.grid(axis="x", color="0.92", linewidth=0.7, zorder=0)
    legend_of(ax, "lower right", (1.0, 1.0), ncols=2, handlelength=1.5)
    return ax


def _name(row: dict[Any, Any]) -> str:
    return f"{row['attribute']}: {row['level']}" + (f" over {row['over']}" if row["over"] else "")


def _range(intervals: np.ndarray, people: np.ndarray) -> tuple[float, float]:
    """What the picture shows: all intervals that are finite, and people up to three times as
    far."""
    finite = intervals[np.isfinite(intervals)]
    most = float(np.abs(finite).max(initial=0.0)) or 1.0
    others = people[np.isfinite(people)]
    low = min(0.0, finite.min(initial=0.0), others.clip(-3 * most, 3 * most).min(initial=0.0))
    high = max(0.0, finite.max(initial=0.0), others.clip(-3 * most, 3 * most).max(initial=0.0))
    room = 0.06 * (high - low) or 1.0  # where nothing is finite
    return float(low - room), float(high + room)


def _mark_ends(ax: "Axes", at: np.ndarray, people: np.ndarray, low: float, high: float) -> None:
    """Arrows where a line goes on beyond the picture."""
    for ends, edge, marker in ((people[:, 0] < low, low, "<"), (people[:, 1] > high, high, ">")):
        ax.plot(
            np.full(int(ends.sum()), edge),
            at[ends],
            marker,
            color="0.55",
            markersize=5,
            clip_on=False,
            zorder=1,
        )
