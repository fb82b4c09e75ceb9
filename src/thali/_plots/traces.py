"""The paths of the chains in quantities that do not depend on the labels of features."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ._fonts import picture
from ._style import COLOURS, legend_of, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMES = {
    "log_likelihood": "log-likelihood\nof the full data",
    "n_features": "number of\nfeatures",
    "n_shared_features": "number of\nshared features",
    "alpha": "concentration\nα",
    "sigma": "standard\ndeviation σ",
    "constant": "additive\nconstant",
}

_MAX_LINES = 8  # quantities that are drawn


@picture(made_by="quantities()", has="items")
def trace(quantities: Mapping[str, np.ndarray], ax: "Sequence[Axes] | None" = None) -> "list[Axes]":
    """Draw the log-likelihood, the number of features and alpha over the draws, each chain in its colour.

    Chains that have converged overlap and look alike. Quantities that never change are left out, except the
    log-likelihood, which includes the binomial coefficients. For a fit to similarities sigma and the additive constant
    follow; chains may agree in all of these and still be in different families of features, so look at `features` as
    well.

    Parameters
    ----------
    quantities : mapping of names to arrays (chain, draw)
        What `quantities()` of a fitted model returned.
    ax : sequence of matplotlib axes, optional
        Where to draw, one a quantity; a new figure if None.

    Returns
    -------
    list of matplotlib axes

    Examples
    --------
    >>> import thali as th
    >>> model = th.EliminationByAspects("unique").fit(
    ...     th.datasets.celebrities(), draws=500, tune=500, random_seed=1, progressbar=False
    ... )
    >>> len(trace(model.quantities()))
    1
    """
    counted = {"n_features", "n_shared_features"} & set(quantities)
    own = [] if counted else [name for name in quantities if name not in _NAMES]
    moving = [name for name, draws in quantities.items() if name == "log_likelihood" or np.ptp(draws.astype(float)) > 0]
    names = [name for name in (*_NAMES, *own) if name in moving][:_MAX_LINES]
    axes = ax
    if axes is None:
        axes = new_axes(8.0, 0.5 + 1.6 * len(names), rows=len(names))
    for ax, name in zip(axes, names, strict=True):
        for number, draws in enumerate(quantities[name]):
            colour = COLOURS[number % len(COLOURS)]
            ax.plot(draws, color=colour, linewidth=0.6, alpha=0.8, label=f"chain {number}")
        ax.set(ylabel=_NAMES.get(name, name), xlim=(0, quantities[name].shape[1]))
        ax.ticklabel_format(useOffset=False)
        ax.spines[["top", "right"]].set_visible(False)
    axes[-1].set_xlabel("draw")
    chains = len(next(iter(quantities.values())))
    if chains <= len(COLOURS):  # more of them share colours
        legend = legend_of(axes[0], "lower left", (0, 1), ncols=chains)
        for line in legend.get_lines():
            line.set(linewidth=2, alpha=1)
    return list(axes)
