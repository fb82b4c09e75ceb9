"""The paths of the chains in the quantities on which they disagree most."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from thali._posterior.summary import bulk_and_r_hat
from thali.errors import ArgumentError

from ._fonts import picture
from ._style import COLOURS, hide_spines, legend_of, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FIRST = "log_likelihood"
_NAMES = {
    _FIRST: "log-likelihood of the full data",
    "n_features": "number of features",
    "n_shared_features": "number of shared features",
    "alpha": "concentration α",
    "sigma": "standard deviation σ",
    "constant": "additive constant",
}
_MAX_LINES = 8  # quantities that are drawn


@picture(made_by="quantities()", has="items")
def trace(quantities: Mapping[str, np.ndarray], ax: "Sequence[Axes] | None" = None) -> "list[Axes]":
    """Draw the quantities on which the chains disagree most over the draws, each chain in its
    colour.

    The log-likelihood comes first, then up to seven others, those with the largest R-hat. Chains
    that have converged overlap and look alike. Quantities that never change are left out, except
    the log-likelihood. Chains of similarities may agree in all of these and still be in different
    families of features, so look at `features` as well.

    Parameters
    ----------
    quantities : mapping of names to arrays (chain, draw)
        Such as variables of ``posterior_["posterior"]``; ``model.plot("trace")`` draws those that
        the convergence check judges.
    ax : sequence of matplotlib axes, optional
        Where to draw, one a quantity; a new figure if None.

    Returns
    -------
    list of matplotlib axes

    Raises
    ------
    ArgumentError
        If all quantities are constant.

    Examples
    --------
    >>> import thali as th
    >>> model = th.EliminationByAspects("unique").fit(
    ...     th.datasets.celebrities(), draws=500, tune=500, random_seed=1, progressbar=False
    ... )
    >>> drawn = model.posterior_["posterior"]["log_likelihood"].values
    >>> trace({"log_likelihood": drawn})[0].get_title("left")[:31]
    'log-likelihood of the full data'
    """
    moving = [name for name, draws in quantities.items() if np.ptp(draws.astype(float)) > 0]
    r_hats = bulk_and_r_hat(np.stack([quantities[name] for name in moving]))[1] if moving else []
    r_hat = dict(zip(moving, np.nan_to_num(r_hats).tolist(), strict=True))
    others = sorted((name for name in moving if name != _FIRST), key=lambda name: -r_hat[name])
    names = [name for name in (_FIRST, *others) if name in quantities][:_MAX_LINES]
    if not names:
        raise ArgumentError(
            "plots.trace requires a quantity that changes between draws; none of these does."
        )
    axes = new_axes(8.0, 0.5 + 1.6 * len(names), rows=len(names)) if ax is None else list(ax)
    titles = short([_NAMES.get(name, name) for name in names])
    for panel, name, title in zip(axes, names, titles, strict=True):
        for number, draws in enumerate(quantities[name]):
            colour = COLOURS[number % len(COLOURS)]
            panel.plot(draws, color=colour, linewidth=0.6, alpha=0.8, label=f"chain {number}")
        told = f"{title} (R-hat {r_hat[name]:.2f})" if r_hat.get(name) else title
        panel.set_title(told, loc="left", fontsize=9, parse_math=False)
        panel.set_xlim(0, quantities[name].shape[1])
        panel.ticklabel_format(useOffset=False)
        hide_spines(panel)
    axes[-1].set_xlabel("draw")
    chains = len(next(iter(quantities.values())))
    if chains <= len(COLOURS):  # more of them share colours
        legend = legend_of(axes[0], "lower right", (1, 1), ncols=chains)
        for line in legend.get_lines():
            line.set(linewidth=2, alpha=1)
    return list(axes)
