"""The number of features, and the concentration of their prior."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._digits import number
from thali._posterior.interval import INTERVAL, interval_name, tails_of

from ._draws import posterior_of
from ._fonts import picture
from ._style import COLOURS, hide_spines, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEGEND = {"loc": "upper left", "frameon": False, "fontsize": 8}


@picture
def n_features(model: Any, axes: "Sequence[Axes] | None" = None, ci: float = INTERVAL) -> "list[Axes]":
    """Draw the posterior of the number of features, and beside it that of alpha if it was learned.

    For a fit to similarities or triplets the bars count the features on which alone the data depend, those with two
    owners or more (for triplets with the link "exp", but not all); points count the others as well.

    Parameters
    ----------
    model : fitted model
        Anything with `posterior_`.
    axes : sequence of matplotlib axes, optional
        Where to draw: one, or two if alpha was learned; a new figure if None.
    ci : float in (0, 1)
        Probability of the intervals.

    Returns
    -------
    list of matplotlib axes

    References
    ----------
    Görür, Jäkel & Rasmussen (2006), Fig. 1.

    Examples
    --------
    >>> import thali as th
    >>> model = th.EliminationByAspects(alpha=1.0).fit(
    ...     th.datasets.paris_rome(expected=True), draws=500, tune=500, random_seed=1, progressbar=False
    ... )
    >>> [ax.get_xlabel() for ax in n_features(model)]
    ['number of aspects']
    """
    posterior = posterior_of(model)
    alpha = posterior.alpha if posterior.learned_alpha else None
    every, number = posterior.n_features.ravel(), posterior.n_counted.ravel()
    of_objects = posterior.n_shared_features is not None
    bars, points_of = posterior.facts.counts
    if axes is None:
        axes = new_axes(4.2 if alpha is None else 8.4, 3.2, columns=1 if alpha is None else 2)
    values, shares = _shares(number)
    axes[0].bar(values, shares, width=0.9, color=COLOURS[0], label=bars)
    low, high = values[0], values[-1]
    if of_objects:
        values, shares_of_all = _shares(every)
        points = {"marker": "o", "markersize": 4, "linewidth": 0.8, "color": COLOURS[6]}
        axes[0].plot(values, shares_of_all, label=points_of, **points)
        high = max(high, values[-1])
        axes[0].set_ylim(0, 1.35 * max(shares.max(), shares_of_all.max()))
        axes[0].legend(*(part[::-1] for part in axes[0].get_legend_handles_labels()), **_LEGEND)
    axes[0].set(xlim=(low - 1, high + 1), xlabel=f"number of {posterior.facts.word}s", ylabel="posterior probability")
    axes[0].locator_params(axis="x", integer=True)
    axes[0].set_title(_in_words(number, ci), fontsize=10)
    if alpha is not None:
        axes[1].hist(alpha.ravel(), bins=40, density=True, color=COLOURS[1])
        axes[1].set(xlim=(0, None), xlabel="concentration α", ylabel="posterior density")
        axes[1].set_title(_in_words(alpha, ci), fontsize=10)
    for ax in axes:
        hide_spines(ax)
    return list(axes)


def _shares(number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, counts = np.unique(number, return_counts=True)
    return values, counts / len(number)


def _in_words(draws: np.ndarray, ci: float) -> str:
    low, high = np.quantile(draws, tails_of(ci))
    return f"mean {number(draws.mean())}, {interval_name(ci)} {number(low)} to {number(high)}"
