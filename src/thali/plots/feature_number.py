"""How many features there are, and the concentration of their prior."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.plots._style import COLOURS, new_axes
from thali.posterior.interval import INTERVAL, TAILS
from thali.posterior.summary import label_free

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def n_features(model: Any, axes: "Sequence[Axes] | None" = None) -> "list[Axes]":
    """Draw the posterior of the number of features, and beside it that of alpha if it was learned.

    Parameters
    ----------
    model : fitted model
        Anything with `posterior_`.
    axes : sequence of matplotlib axes, optional
        Where to draw: one, or two if alpha was learned; a new figure if None.

    Returns
    -------
    list of matplotlib axes

    References
    ----------
    Görür, Jäkel & Rasmussen (2006), Fig. 1.

    Example
    -------
    >>> import thali as th
    >>> model = th.EliminationByAspects(alpha=1.0).fit(
    ...     th.datasets.paris_rome(expected=True), draws=500, tune=500, random_seed=1, progressbar=False
    ... )
    >>> [ax.get_xlabel() for ax in n_features(model)]
    ['number of features']
    """
    quantities = label_free(model.posterior_)
    number, alpha = quantities["n_features"].ravel(), quantities.get("alpha")
    if axes is None:
        axes = new_axes(4.2 if alpha is None else 8.4, 3.2, columns=1 if alpha is None else 2)
    values, counts = np.unique(number, return_counts=True)
    axes[0].bar(values, counts / len(number), width=0.9, color=COLOURS[0])
    axes[0].set(xlim=(values[0] - 1, values[-1] + 1), xlabel="number of features", ylabel="posterior probability")
    axes[0].locator_params(axis="x", integer=True)
    axes[0].set_title(_in_words(number), fontsize=10)
    if alpha is not None:
        axes[1].hist(alpha.ravel(), bins=40, density=True, color=COLOURS[1])
        axes[1].set(xlim=(0, None), xlabel="concentration α", ylabel="posterior density")
        axes[1].set_title(_in_words(alpha), fontsize=10)
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    return list(axes)


def _in_words(draws: np.ndarray) -> str:
    low, high = np.quantile(draws, TAILS)
    return f"mean {draws.mean():.3g}, {INTERVAL:.0%} interval {low:.3g} to {high:.3g}"
