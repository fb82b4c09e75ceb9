"""Many lines against a positive number on a logarithmic axis: some with colours and names, the others grey."""

from typing import TYPE_CHECKING

import numpy as np

from ._style import COLOURS, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMED = len(COLOURS)  # lines with a separate colour and a name
_STYLES = ("-", "--", ":", "-.")


def draw_lines(ax: "Axes", at: np.ndarray, values: np.ndarray, names: list[str], order: np.ndarray) -> None:
    """Draw `values` (place, line) at `at`, which rises; the first lines of `order` have colours and names."""
    shown = short([names[line] for line in order[:_NAMED]])
    for place, (line, name) in enumerate(zip(order[:_NAMED], shown, strict=True)):
        style = _STYLES[place % len(_STYLES)]
        ax.plot(at, values[:, line], color=COLOURS[place], linestyle=style, linewidth=1.8, label=name, zorder=2)
    for place, line in enumerate(order[_NAMED:]):
        label = "" if place else f"{len(order) - _NAMED:,} more"
        ax.plot(at, values[:, line], color="0.75", linewidth=0.8, zorder=1, label=label)
    ax.set(xscale="log", xlim=(at[0], at[-1]))
    _ticks(ax, at)
    ax.spines[["top", "right"]].set_visible(False)
    legend = ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=9, handlelength=2.8)
    for text in legend.get_texts():
        text.set_parse_math(False)


def _ticks(ax: "Axes", at: np.ndarray) -> None:
    """Round numbers at which the axis is marked, however short it is."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    powers = range(int(np.floor(np.log10(at[0]))), int(np.ceil(np.log10(at[-1]))) + 1)
    marks = np.array([10.0**power * digit for power in powers for digit in (1, 2, 5)])
    inside = marks[(marks >= at[0] * 0.999) & (marks <= at[-1] * 1.001)]
    if len(inside) > 9:
        inside = np.array([mark for mark in inside if np.isclose(np.log10(mark) % 1, 0) or np.isclose(mark, 1)])
    ax.xaxis.set_major_locator(FixedLocator((inside if len(inside) > 1 else at[[0, -1]]).tolist()))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
