"""Pictures like Figs. 2 and 4 of Archambeau & Caron (2012)."""

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import ThaliWarning
from thali.plots._style import COLOURS, new_axes
from thali.reproduce.plackett_luce_2012_data import DataSet
from thali.reproduce.plackett_luce_2012_rates import Method

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = "os^D"
_POINTS = 160  # of the raster of regions, each way


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
    axes[0].legend(frameon=False, fontsize=8, loc="upper left")
    return axes


def regions(data: DataSet, methods: Sequence[Method], sampler: dict) -> "Sequence[Axes]":
    """Fig. 4: a panel for each method, the region of each class and the points of the data; fits the methods."""
    from matplotlib.colors import ListedColormap

    X = data.covariates
    low, high = X.to_numpy().min(axis=0), X.to_numpy().max(axis=0)
    margin = 0.05 * (high - low)
    first, second = (np.linspace(low[j] - margin[j], high[j] + margin[j], _POINTS) for j in range(2))
    raster = np.column_stack([each.ravel() for each in np.meshgrid(first, second)])
    classes, codes = np.unique(data.labels, return_inverse=True)
    colours = [COLOURS[k % len(COLOURS)] for k in range(len(classes))]
    axes = new_axes(3.6 * len(methods), 3.6, 1, len(methods))
    for ax, method in zip(axes, methods, strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ThaliWarning)
            model = method.make(sampler, data.labels).fit(X, data.labels)
        region = model.predict_proba(type(X)(raster, columns=X.columns)).argmax(axis=1)
        region = region.reshape(len(second), len(first)).astype(float)
        ax.pcolormesh(
            first, second, region, cmap=ListedColormap(colours), vmin=-0.5, vmax=len(classes) - 0.5, alpha=0.3,
            shading="nearest", rasterized=True,
        )  # fmt: skip
        for k, label in enumerate(classes):
            points = X.to_numpy()[codes == k]
            style: Any = {"marker": _MARKERS[k % len(_MARKERS)], "color": colours[k], "edgecolor": "white"}
            ax.scatter(points[:, 0], points[:, 1], s=18, linewidth=0.4, label=f"class {label}", **style)
        ax.set_title(method.name, fontsize=10)
        ax.set_xlabel(str(X.columns[0]))
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel(str(X.columns[1]))
    axes[0].legend(frameon=False, fontsize=8, loc="upper left")
    return axes
