"""The log-likelihood at every temperature, from which a log evidence was found."""

import math
from typing import TYPE_CHECKING, Any

from thali.errors import ArgumentError
from thali.posterior.evidence import LogEvidence

from ._fonts import picture
from ._style import COLOURS, new_axes, short
from .evidence import evidence_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@picture
def temperatures(what: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw the mean log-likelihood against the inverse temperature, from the prior (0) to the posterior (1).

    The integral of the mean over the inverse temperature, whose axis is logarithmic, is the log evidence. Marks are the
    temperatures of the run, bars one standard deviation.

    Parameters
    ----------
    what : LogEvidence or pandas.DataFrame
        What `log_evidence` of a model returns, or `thali.compare` with ``by="evidence"``.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ArgumentError
        If it is neither, or no evidence was found along temperatures.

    Examples
    --------
    >>> import numpy as np, thali as th
    >>> data = th.PairedComparisons(np.array([[0, 3], [1, 0]]))
    >>> models = {"BTL": th.EliminationByAspects("unique")}
    >>> table = th.compare(models, data, by="evidence", draws=50, random_seed=1, progressbar=False)
    >>> temperatures(table).get_xlabel()
    'inverse temperature'
    """
    found = {"": what} if isinstance(what, LogEvidence) else evidence_of(what)
    found = {name: each for name, each in found.items() if len(each.path)}
    if not found:
        raise ArgumentError("This evidence was not found along temperatures, so there is nothing to draw.")
    ax = new_axes(6.0, 3.8)[0] if ax is None else ax
    least = min(float(each.path["inverse_temperature"].iloc[-2]) for each in found.values())
    names = short([str(name) for name in found])
    for number, (name, each) in enumerate(zip(names, found.values(), strict=True)):
        path = each.path
        ax.errorbar(
            path["inverse_temperature"],
            path["log_likelihood"],
            yerr=path["log_likelihood_sd"],
            color=COLOURS[number % len(COLOURS)],
            linestyle="-" if number < len(COLOURS) else "--",
            marker="o",
            markersize=3,
            linewidth=1.2,
            elinewidth=0.8,
            label=name,
        )
    ax.set_xscale("symlog", linthresh=least, linscale=0.5)
    powers = range(math.ceil(math.log10(least)), 1)
    ax.set_xticks(
        [0.0, *(10.0**power for power in powers)], ["0", *(f"$10^{{{power}}}$" for power in powers[:-1]), "1"]
    )
    ax.minorticks_off()
    ax.set(xlabel="inverse temperature", ylabel="mean log-likelihood", xlim=(-0.1 * least, 1.15))
    ax.spines[["top", "right"]].set_visible(False)
    if any(names):
        ax.legend(frameon=False, fontsize=8)
    return ax
