"""Shared by the pictures: colours that everybody can distinguish, new axes, labels that fit."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import display_width, one_line
from thali._posterior.interval import INTERVAL, level_name

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

# Okabe & Ito (2008), Color universal design; without its yellow, which is too pale for thin lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# One hue from white to dark, the same to everybody's eye: darker is more, and next to nothing is
# next to white.
SHADES = "Blues"
GRID = "0.88"  # lines between the cells of a matrix
_PALEST = 0.2  # shade of the least weight of an owner, which differs from white
MAX_LABEL_LENGTH = 32


def new_axes(width: float, height: float, rows: int = 1, columns: int = 1) -> "list[Axes]":
    """Axes of a new figure of this size in inches, with room for what is drawn outside them."""
    from matplotlib import pyplot

    _, axes = pyplot.subplots(
        rows, columns, figsize=(width, height), layout="constrained", squeeze=False
    )
    return list(axes.flat)


def axes_of(ax: "Axes | None", width: float, height: float) -> "Axes":
    """The axes that were given, or those of a new figure of this size."""
    return new_axes(width, height)[0] if ax is None else ax


def shades_of_owners() -> "Colormap":
    """The shades of cells whose option has a feature; a cell without it is white, the least weight
    is not."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps[SHADES](np.linspace(_PALEST, 1.0, 256))).with_extremes(
        bad="white"
    )


def head_columns(ax: "Axes", mesh: Any, label: str) -> None:
    """Write above a matrix what its columns are, without a frame; `mesh`: the cells that a bar of
    shades is beside, None for none."""
    ax.xaxis.set_label_position("top")
    ax.tick_params(length=0, top=False, bottom=False, labeltop=True, labelbottom=False)
    ax.spines[:].set_visible(False)
    if mesh is not None:
        inches = ax.get_window_extent().height / ax.figure.dpi
        ax.figure.colorbar(mesh, ax=ax, label=label, shrink=min(1.0, 5 / inches))


def thin_grid(ax: "Axes", axis: Any) -> None:
    """Draw thin lines at the ticks of an axis, behind all else."""
    ax.grid(axis=axis, color="0.9", linewidth=0.7, zorder=0)


def grid_below(ax: "Axes", axis: Any) -> None:
    """Draw lines at the ticks of an axis, below what is drawn, ticks included."""
    ax.grid(axis=axis, color="0.9", linewidth=0.8)
    ax.set_axisbelow(True)


def hide_spines(ax: "Axes", *more: str) -> None:
    """Draw no frame at the top and on the right, nor on these sides."""
    ax.spines[["top", "right", *more]].set_visible(False)


def whole_ticks(most: int) -> list[int]:
    """The whole numbers from 1 to `most`, evenly spaced; all of them up to 12."""
    step = next(
        step
        for power in (1, 10, 100, 1000, 10_000)
        for step in (power, 5 * power)
        if most <= 12 * step
    )
    return [1, *range(step, most + 1, step)] if step > 1 else list(range(1, most + 1))


def interval_of(table: "pandas.DataFrame") -> float:
    """The probability of the intervals of a table."""
    return float(table.attrs.get("interval", INTERVAL))


def level_of(table: "pandas.DataFrame") -> str:
    """The same in words."""
    return level_name(interval_of(table))


def short(labels: list[str]) -> list[str]:
    """Labels on one line, cut to 32 characters where two do not become the same, else cut and
    numbered."""
    lines = list(map(one_line, labels))
    half = MAX_LABEL_LENGTH // 2
    for cut in (
        lambda line: f"{line[: half - 1]}…{line[-half:]}",
        lambda line: f"{line[: MAX_LABEL_LENGTH - 1]}…",
        lambda line: f"…{line[1 - MAX_LABEL_LENGTH :]}",
    ):
        shortened = [line if len(line) <= MAX_LABEL_LENGTH else cut(line) for line in lines]
        if len(set(shortened)) == len(labels):
            return shortened
    return [f"{number} {line[: MAX_LABEL_LENGTH - 1]}" for number, line in enumerate(lines)]


def shortened(labels: list[str]) -> dict[str, str]:
    """What is written for each of these labels."""
    distinct = list(dict.fromkeys(labels))
    return dict(zip(distinct, short(distinct), strict=True))


def short_set(members: str) -> str:
    """The labels of a set, cut to 32 characters; the rest of it is left to the table."""
    line = one_line(members)
    return (
        line if len(line) <= MAX_LABEL_LENGTH else line[: MAX_LABEL_LENGTH - 1].rstrip(", ") + "…"
    )


def label_width(labels: list[str]) -> float:
    """Approximate width of the longest of these labels in inches."""
    return 0.085 * max(map(display_width, labels), default=0)


_MARKERS = "osD^v"


def mark_points(ax: "Axes", x: np.ndarray, y: np.ndarray, names: list[str]) -> "list[Line2D]":
    """Mark up to five points, each with an open marker that a legend names."""
    marks = []
    for number, name in enumerate(names):
        look = {
            "color": COLOURS[number],
            "markerfacecolor": "none",
            "markeredgewidth": 1.8,
            "linestyle": "none",
        }
        marks += ax.plot(
            x[number], y[number], _MARKERS[number], markersize=8, label=name, zorder=4, **look
        )
    return marks


def legend_of(ax: "Axes", corner: Any, at: tuple[float, float], **look: Any) -> "Legend":
    """A legend without a frame, outside the axes at this corner, whose names are written as they
    are."""
    made = ax.legend(loc=corner, bbox_to_anchor=at, **({"frameon": False, "fontsize": 8} | look))
    for text in made.get_texts():
        text.set_parse_math(False)
    return made


def name_rows(ax: "Axes", at: Any, labels: list[str], **look: Any) -> None:
    """Write names at the left of rows, with neither ticks nor a frame."""
    ax.set_yticks(at, labels, parse_math=False, **look)
    ax.tick_params(axis="y", length=0)
    hide_spines(ax, "left")


def draw_intervals(ax: "Axes", at: Any, mean: Any, low: Any, high: Any, label: str) -> None:
    """Draw a dot and its interval in each row."""
    ax.hlines(at, low, high, color=COLOURS[0], linewidth=3.2, zorder=2, label=label)
    ax.plot(mean, at, "o", color=COLOURS[0], markersize=5.5, markeredgecolor="white", zorder=3)


_ROW, _HEAD = 0.21, 0.27  # inches of a row, and of the name above a group of rows


def grouped_rows(groups: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Positions of rows, and of the names above each group of them ("": none), in inches from the
    top."""
    has_name = np.array(
        [bool(group) and groups[:place][-1:] != [group] for place, group in enumerate(groups)]
    )
    at = 0.05 + _HEAD * np.cumsum(has_name) + _ROW * (np.arange(len(groups)) + 0.5)
    return at, at[has_name] - (_ROW + _HEAD) / 2


def name_grouped_rows(
    ax: "Axes", at: np.ndarray, labels: list[str], heads: np.ndarray, names: list[str]
) -> None:
    """Write the labels of rows, and in bold the names above groups of them."""
    name_rows(ax, [*at, *heads], [*labels, *names], fontsize=9)
    for text in ax.get_yticklabels()[len(at) :]:
        text.set_fontweight("bold")


def divide_rows(ax: "Axes", heads: np.ndarray) -> None:
    """Draw lines between groups of rows."""
    for head in heads[1:]:
        ax.axhline(head - _HEAD * 0.62, color="0.88", linewidth=0.8, zorder=0)
