"""Shared style of the plots: axes, colours for all kinds of vision, grids and labels."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from thali._labels import display_width, join_lines
from thali._posterior.posterior_interval import INTERVAL, describe_interval, format_level

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

# Okabe & Ito (2008), Color universal design; without yellow, which is too pale for thin lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# for points inside and outside of their predictive intervals
MISSED_STYLES = ((False, "inside", "o", COLOURS[0]), (True, "outside", "D", COLOURS[1]))
# one hue from white to dark, for all kinds of colour vision: larger is darker
SHADES = "Blues"
GRID = "0.88"  # lines between the cells of a matrix
_MIN_SHADE = 0.2  # smallest weight of an owner, distinct from white
MAX_LABEL_LENGTH = 32


def create_axes(width: float, height: float, rows: int = 1, columns: int = 1) -> "list[Axes]":
    """Return new axes, rows x columns, in a figure of this size in inches.

    The layout has room for labels outside the axes.
    """
    from matplotlib import pyplot

    _, axes = pyplot.subplots(
        rows, columns, figsize=(width, height), layout="constrained", squeeze=False
    )
    return list(axes.flat)


def ensure_axes(ax: "Axes | None", width: float, height: float) -> "Axes":
    """Return `ax`, or the axes of a new figure of this size if it is None."""
    if ax is None:
        return create_axes(width, height)[0]
    return ax


def build_owner_colormap() -> "Colormap":
    """Return a colour map of feature weights, white only for NaN (no owner)."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps[SHADES](np.linspace(_MIN_SHADE, 1.0, 256))).with_extremes(
        bad="white"
    )


def label_columns(ax: "Axes", mesh: Any, label: str) -> None:
    """Label the columns of a drawn matrix at its top, without a frame.

    `mesh` contains the cells that a colour bar describes; None for no bar.
    """
    ax.xaxis.set_label_position("top")
    ax.tick_params(length=0, top=False, bottom=False, labeltop=True, labelbottom=False)
    ax.spines[:].set_visible(False)
    if mesh is not None:
        height_inches = ax.get_window_extent().height / ax.figure.dpi
        ax.figure.colorbar(mesh, ax=ax, label=label, shrink=min(1.0, 5 / height_inches))


def draw_thin_grid(ax: "Axes", axis: Literal["x", "y"]) -> None:
    """Draw thin lines at the ticks of an axis, in the background."""
    ax.grid(axis=axis, color="0.9", linewidth=0.7, zorder=0)


def draw_background_grid(ax: "Axes", axis: Literal["x", "y"]) -> None:
    """Draw lines at the ticks of an axis, behind all other elements."""
    ax.grid(axis=axis, color="0.9", linewidth=0.8)
    ax.set_axisbelow(True)


def hide_spines(ax: "Axes", *sides: str) -> None:
    """Hide the frame's top and right sides, and the given others."""
    ax.spines[["top", "right", *sides]].set_visible(False)


def compute_integer_ticks(maximum: int) -> list[int]:
    """Return evenly spaced integers from 1 to `maximum`; all up to 12."""
    step = next(
        step
        for power in (1, 10, 100, 1000, 10_000)
        for step in (power, 5 * power)
        if maximum <= 12 * step
    )
    return list(dict.fromkeys([1, *range(step, maximum + 1, step)]))


def read_interval_probability(table: "pandas.DataFrame") -> float:
    """Return the interval probability stored in a table's `attrs`."""
    return float(table.attrs.get("interval", INTERVAL))


def format_interval_level(table: "pandas.DataFrame") -> str:
    """Return the interval probability of a table as text, such as "89 %"."""
    return format_level(read_interval_probability(table))


def format_interval_name(table: "pandas.DataFrame") -> str:
    """Return the interval's name as text, such as "89 % interval"."""
    return describe_interval(read_interval_probability(table))


def shorten_labels(labels: list[str]) -> list[str]:
    """Return labels cut to one line of 32 characters that remain distinct.

    If shortened labels would be equal, they are numbered.
    """
    lines = list(map(join_lines, labels))
    half_length = MAX_LABEL_LENGTH // 2
    for shorten_line in (
        lambda line: f"{line[: half_length - 1]}…{line[-half_length:]}",
        lambda line: f"{line[: MAX_LABEL_LENGTH - 1]}…",
        lambda line: f"…{line[1 - MAX_LABEL_LENGTH :]}",
    ):
        short_labels = lines[:]
        for index, line in enumerate(lines):
            if len(line) > MAX_LABEL_LENGTH:
                short_labels[index] = shorten_line(line)
        if len(set(short_labels)) == len(labels):
            return short_labels
    return [f"{index} {line[: MAX_LABEL_LENGTH - 1]}" for index, line in enumerate(lines)]


def wrap_name(name: str, line_length: int, max_lines: int) -> str:
    """Return a name wrapped into lines of a length, cut if there would be too many."""
    return "\n".join(textwrap.wrap(name, line_length, max_lines=max_lines, placeholder=" …"))


def map_short_labels(labels: list[str]) -> dict[str, str]:
    """Return {label: shortened label}."""
    distinct_labels = list(dict.fromkeys(labels))
    return dict(zip(distinct_labels, shorten_labels(distinct_labels), strict=True))


def shorten_member_list(members: str) -> str:
    """Return a list of labels in one text, cut to 32 characters."""
    line = join_lines(members)
    if len(line) > MAX_LABEL_LENGTH:
        return line[: MAX_LABEL_LENGTH - 1].rstrip(", ") + "…"
    return line


def measure_label_width(labels: list[str]) -> float:
    """Return the approximate width of the longest line of the labels in inches."""
    lines = [line for label in labels for line in label.split("\n")]
    return 0.085 * max(map(display_width, lines), default=0)


_MARKERS = "osD^v"


def mark_points(ax: "Axes", x: np.ndarray, y: np.ndarray, names: list[str]) -> "list[Line2D]":
    """Mark up to five points by different open markers, with legend entries."""
    point_handles = []
    for index, name in enumerate(names):
        point_handles += ax.plot(
            x[index],
            y[index],
            _MARKERS[index],
            color=COLOURS[index],
            markerfacecolor="none",
            markeredgewidth=1.8,
            linestyle="none",
            markersize=8,
            label=name,
            zorder=4,
        )
    return point_handles


def add_legend(ax: "Axes", corner: Any, anchor: tuple[float, float], **style: Any) -> "Legend":
    """Add a frameless legend outside the axes, with names not parsed."""
    legend = ax.legend(
        loc=corner, bbox_to_anchor=anchor, **({"frameon": False, "fontsize": 8} | style)
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    return legend


def label_rows(
    ax: "Axes", y: Sequence[float] | np.ndarray, labels: list[str], **style: Any
) -> None:
    """Label rows at the left of the axes, without ticks or frame."""
    ax.set_yticks(y, labels, parse_math=False, **style)
    ax.tick_params(axis="y", length=0)
    hide_spines(ax, "left")


def draw_intervals(ax: "Axes", y: np.ndarray, mean: Any, low: Any, high: Any, label: str) -> None:
    """Draw a dot (mean) and its interval in each row."""
    ax.hlines(y, low, high, color=COLOURS[0], linewidth=3.2, zorder=2, label=label)
    ax.plot(mean, y, "o", color=COLOURS[0], markersize=5.5, markeredgecolor="white", zorder=3)


_ROW_HEIGHT, _HEADING_HEIGHT = 0.21, 0.27  # inches


def place_grouped_rows(groups: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return vertical positions of rows and group headings, in inches.

    Rows of the group "" have no group name.
    """
    has_heading = np.array(
        [bool(group) and groups[:index][-1:] != [group] for index, group in enumerate(groups)]
    )
    y = (
        0.05
        + _HEADING_HEIGHT * np.cumsum(has_heading)
        + _ROW_HEIGHT * (np.arange(len(groups)) + 0.5)
    )
    return y, y[has_heading] - (_ROW_HEIGHT + _HEADING_HEIGHT) / 2


def label_grouped_rows(
    ax: "Axes", y: np.ndarray, labels: list[str], heading_y: np.ndarray, headings: list[str]
) -> None:
    """Label rows, with bold headings above each group of rows."""
    label_rows(ax, [*y, *heading_y], [*labels, *headings], fontsize=9)
    for text in ax.get_yticklabels()[len(y) :]:
        text.set_fontweight("bold")


def draw_row_dividers(ax: "Axes", heading_y: np.ndarray) -> None:
    """Draw a line above each group of rows except the first."""
    for y in heading_y[1:]:
        ax.axhline(y - _HEADING_HEIGHT * 0.62, color="0.88", linewidth=0.8, zorder=0)
