"""Trace plots of the quantities with the largest R-hat."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from thali._posterior.summary_table import compute_ess_and_r_hat
from thali.errors import ArgumentError

from ._fonts import picture
from ._style import COLOURS, add_legend, create_axes, hide_spines, shorten_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LOG_LIKELIHOOD = "log_likelihood"
_NAMES = {
    _LOG_LIKELIHOOD: "log-likelihood",
    "n_features": "number of features",
    "n_shared_features": "number of shared features",
    "alpha": "concentration α",
    "sigma": "standard deviation σ",
    "constant": "additive constant",
}
_MAX_QUANTITIES = 8  # largest number of quantities


@picture(made_by="quantities()", has="items")
def trace(quantities: Mapping[str, np.ndarray], ax: "Sequence[Axes] | None" = None) -> "list[Axes]":
    """Draw traces of the quantities with the largest R-hat, coloured by chain.

    The log-likelihood comes first, then up to seven others with the largest R-hat. Chains that have
    converged overlap and look similar. Constant quantities are omitted, except the log-likelihood.
    Chains of similarities may agree in all of these and still contain different families of
    features, so check `features` as well.

    Parameters
    ----------
    quantities : mapping of names to arrays (chain, draw)
        Such as variables of ``posterior_["posterior"]``; ``model.plot("trace")`` draws the
        quantities of the convergence check.
    ax : sequence of matplotlib axes, optional
        Axes to draw in, one per quantity; None creates a new figure.

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
    >>> trace({"log_likelihood": drawn})[0].get_title("left")[:14]
    'log-likelihood'
    """
    varying_names = [name for name, draws in quantities.items() if np.ptp(draws.astype(float)) > 0]
    r_hat_by_name = {}
    if varying_names:
        _, r_hats = compute_ess_and_r_hat(np.stack([quantities[name] for name in varying_names]))
        r_hat_by_name = dict(zip(varying_names, np.nan_to_num(r_hats).tolist(), strict=True))
    sorted_names = sorted(
        (name for name in varying_names if name != _LOG_LIKELIHOOD),
        key=lambda name: -r_hat_by_name[name],
    )
    names = [name for name in (_LOG_LIKELIHOOD, *sorted_names) if name in quantities][
        :_MAX_QUANTITIES
    ]
    if not names:
        raise ArgumentError(
            "plots.trace requires a quantity that changes between draws; none of these does."
        )
    if ax is None:
        axes = create_axes(8.0, 0.5 + 1.6 * len(names), rows=len(names))
    else:
        axes = list(ax)
    titles = shorten_labels([_NAMES.get(name, name) for name in names])
    for panel, name, title in zip(axes, names, titles, strict=True):
        for chain_index, draws in enumerate(quantities[name]):
            colour = COLOURS[chain_index % len(COLOURS)]
            panel.plot(draws, color=colour, linewidth=0.6, alpha=0.8, label=f"chain {chain_index}")
        heading = title
        if r_hat_by_name.get(name):
            heading += f" (R-hat {r_hat_by_name[name]:.2f})"
        panel.set_title(heading, loc="left", fontsize=9, parse_math=False)
        panel.set_xlim(0, quantities[name].shape[1])
        panel.ticklabel_format(useOffset=False)
        hide_spines(panel)
    axes[-1].set_xlabel("draw")
    n_chains = len(next(iter(quantities.values())))
    if n_chains <= len(COLOURS):  # more chains would share colours
        legend = add_legend(axes[0], "lower right", (1, 1), ncols=n_chains)
        for line in legend.get_lines():
            line.set(linewidth=2, alpha=1)
    return axes
