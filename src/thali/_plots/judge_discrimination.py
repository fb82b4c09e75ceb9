"""Plot of each judge's discrimination with interval."""

from typing import TYPE_CHECKING

import numpy as np

from ._fonts import picture
from ._style import (
    COLOURS,
    draw_background_grid,
    ensure_axes,
    format_interval_name,
    label_rows,
    measure_label_width,
    shorten_labels,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

MAX_JUDGES = 60  # largest number drawn


@picture(
    "discrimination",
    "low",
    "high",
    "comparisons",
    "log_score",
    "log_score_chance",
    made_by="judges()",
    attrs=("answers",),
)
def judges(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the discrimination of each judge with its interval, sharpest first.

    Discrimination 0 is guessing, 1 is the typical judge. Grey judges are predicted no better than
    by chance from the other judges' answers. Of more than 60 judges the 30 sharpest and the 30
    least sharp are drawn.

    Parameters
    ----------
    table : pandas.DataFrame
        The table that `judges()` of a leaderboard returns.
    ax : matplotlib axes, optional
        Axes to draw in; None creates a new figure.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> rows = [("tea", "milk", "tea", "Ann"), ("tea", "milk", "milk", "Bo")] * 9
    >>> rows += [("milk", "tea", "milk", "Bo"), ("milk", "tea", "tea", "Ann")] * 9
    >>> battles = pd.DataFrame(rows, columns=["model_a", "model_b", "winner", "judge"])
    >>> print(judges(th.leaderboard(battles, judges=True, progressbar=False).judges()).get_xlabel())
    discrimination (89 % interval)
    in parentheses: number of comparisons
    grey: no better than chance
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    n_judges = len(table)
    n_per_end = MAX_JUDGES // 2
    shown_judges = table
    if n_judges > MAX_JUDGES:
        shown_judges = table.iloc[np.r_[:n_per_end, n_judges - n_per_end : n_judges]]
    labels = [
        f"{name} ({number:,g})"
        for name, number in zip(
            shorten_labels(shown_judges.index.tolist()),
            shown_judges["comparisons"].tolist(),
            strict=True,
        )
    ]
    rows = np.arange(len(shown_judges))
    ax = ensure_axes(
        ax, 4.6 + measure_label_width(labels), 1.2 + max(0.8, 0.24 * len(shown_judges))
    )
    is_guessing = (shown_judges["log_score"] <= shown_judges["log_score_chance"]).to_numpy()
    colours = np.where(is_guessing, "0.55", COLOURS[0]).tolist()
    ax.axvline(1.0, color="0.7", linewidth=1.0, zorder=1)
    ax.hlines(
        rows, shown_judges["low"], shown_judges["high"], colors=colours, linewidth=1.6, zorder=2
    )
    ax.scatter(shown_judges["discrimination"], rows, s=22, c=colours, zorder=3)
    low = min(0.8, float(np.min(shown_judges["low"])))
    high = max(1.25, float(np.max(shown_judges["high"])))
    ax.set(xscale="log", xlim=(low / 1.1, high * 1.1), ylim=(len(shown_judges) - 0.4, -0.6))
    ticks = [
        mark
        for mark in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
        if low / 1.1 <= mark <= high * 1.1
    ]
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    label_rows(ax, rows, labels)
    x_label_lines = [f"discrimination ({format_interval_name(table)})"]
    x_label_lines.append(f"in parentheses: number of {table.attrs['answers']}")
    if is_guessing.any():
        x_label_lines.append("grey: no better than chance")
    if n_judges > MAX_JUDGES:
        x_label_lines.append(f"{MAX_JUDGES} of {n_judges:,} judges")
    ax.set_xlabel("\n".join(x_label_lines))
    draw_background_grid(ax, "x")
    return ax
