"""Pictures like Figs. 2 and 4 of Archambeau & Caron (2012)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.inference.warn import without_warnings
from thali.plots._style import COLOURS, new_axes

from .plackett_luce_2012_data import DataSet
from .plackett_luce_2012_rates import Method

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = "os^D"


def paths(curves: Mapping[str, Mapping[float, np.ndarray]]) -> "Sequence[Axes]":
    """Fig. 2: a panel for each estimate, a line for each weight, coloured by class; a falls from left to right."""
    axes = new_axes(3.4 * len(curves), 3.4, 1, len(curves))
    for ax, (name, weights) in zip(axes, curves.items(), strict=True):
        grid = list(weights)
        lines = np.array([weights[a] for a in grid])
        for k in range(lines.shape[1]):
            for j in range(lines.shape[2]):
                label = f"class {k + 1}" if j == 0 else None
                style = {"color": COLOURS[k % len(COLOURS)], "marker": _MARKERS[k % len(_MARKERS)], "markersize": 3}
                ax.plot(grid, lines[:, k, j], linewidth=1.0, label=label, **style)
        ax.set_xscale("log")
        ax.invert_xaxis()
        ax.set_xlabel("a")
        ax.set_title(name, fontsize=10)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("relative weight")
    axes[-1].legend(frameon=False, fontsize=8, loc="center right")
    return axes


def regions(data: DataSet, methods: Sequence[Method], sampler: dict[Any, Any]) -> "Sequence[Axes]":
    """Fig. 4: a panel for each method, the region of each class and the points of the data; fits the methods."""
    from thali import plots

    axes = new_axes(3.8 * len(methods) + 0.8, 3.6, 1, len(methods))
    for ax, method in zip(axes, methods, strict=True):
        with without_warnings():
            model = method.make(sampler, data.labels).fit(data.covariates, data.labels)
        plots.decision(model, data.covariates, data.labels, ax=ax)
        ax.set_title(method.name, fontsize=10)
        ax.spines[["top", "right"]].set_visible(False)
    for ax in axes[:-1]:
        if (legend := ax.get_legend()) is not None:
            legend.remove()
    return axes
