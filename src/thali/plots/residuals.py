"""Residuals of a maximum-likelihood fit against its predictions."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ._draws import is_table
from ._fonts import picture
from ._style import COLOURS, label_width, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WORST = 5
_MARKERS = "osD^v"
_AXIS = {True: "predicted probability of the first option", False: "predicted probability"}


@picture
def residuals(model: Any, ax: "Axes | None" = None, kind: str = "deviance") -> "Axes":
    """Draw the residual of each compared pair, with ties of each outcome, out of sets of each member, against its
    predicted probability.

    Under the model about 95 % of the residuals lie between the dashed lines, at -1.96 and 1.96; the five largest are
    named.

    Parameters
    ----------
    model : EliminationByAspects, or pandas.DataFrame
        Fitted by maximum likelihood; or what its `residuals(kind)` returned.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.
    kind : {"deviance", "pearson"}
        Which residuals these are.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    NotFittedError
        Unless fitted by maximum likelihood.

    Examples
    --------
    >>> import thali as th
    >>> model = th.EliminationByAspects("unique", method="maximum-likelihood").fit(th.datasets.celebrities())
    >>> residuals(model).get_ylabel()
    'deviance residual'
    """
    from thali.aspects.maximum_likelihood.answers import estimates_of
    from thali.aspects.maximum_likelihood.tables import OF_OPTIONS, named_row

    table = model
    if not is_table(model):
        estimates_of(model, "residuals")
        table = model.residuals(kind)
    options = list(dict.fromkeys(label for name in OF_OPTIONS if name in table for label in table[name]))
    labels = dict(zip(options, short(options), strict=True))
    x, y = table["predicted"].to_numpy(), table["residual"].to_numpy()
    worst = np.argsort(-np.abs(y), kind="stable")[: min(_WORST, len(y))]
    names = [named_row(row, labels) for row in table.iloc[worst].to_dict("records")]
    if ax is None:
        (ax,) = new_axes(5.0 + label_width(names), 3.8)
    ax.axhline(0.0, color="0.6", linewidth=0.8, zorder=1)
    for line in (-1.96, 1.96):
        ax.axhline(line, color="0.6", linewidth=0.8, linestyle="--", zorder=1)
    ax.scatter(x, y, s=12, color="0.3", linewidth=0, zorder=2)
    for number, pair in enumerate(worst):
        style = {"markersize": 8, "markerfacecolor": "none", "markeredgewidth": 1.8, "color": COLOURS[number]}
        ax.plot(x[pair], y[pair], _MARKERS[number], label=names[number], zorder=3, **style)
    ax.set(xlim=(-0.02, 1.02), xlabel=_AXIS["a" in table and "outcome" not in table], ylabel=f"{kind} residual")
    reach = 1.1 * max(float(np.abs(y).max()), 2.1)
    ax.set_ylim(-reach, reach)
    ax.spines[["top", "right"]].set_visible(False)
    legend = ax.legend(title="largest", loc="upper left", bbox_to_anchor=(1.02, 1), frameon=False, fontsize=8)
    for text in legend.get_texts():
        text.set_parse_math(False)
    return ax
