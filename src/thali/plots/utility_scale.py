"""The utility scale of a maximum-likelihood fit, with error bars."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ._style import COLOURS, label_width, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def utility_scale(model: Any, ax: "Axes | None" = None, sort: bool = True) -> "Axes":
    """Draw the utility of each option with its 95 % interval.

    Parameters
    ----------
    model : EliminationByAspects
        Fitted by maximum likelihood.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.
    sort : bool
        Whether options are sorted by utility, the highest first; else they are in the order of the data.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    NotFittedError
        Unless fitted by maximum likelihood.

    Example
    -------
    >>> import thali as th
    >>> model = th.EliminationByAspects("unique", method="maximum-likelihood").fit(th.datasets.celebrities())
    >>> utility_scale(model).get_yticklabels()[0].get_text()
    'LBJ'
    """
    from thali.model.elimination_ml.model import estimates_of

    found = estimates_of(model, "utility_scale")
    utility = model.utility_scale_.to_numpy()
    error = np.sqrt(np.maximum(np.diag(model.utility_covariance_.to_numpy()), 0.0))
    order = np.argsort(-utility, kind="stable") if sort else np.arange(len(utility))
    labels = short(list(found.known.labels))
    n = len(labels)
    if ax is None:
        (ax,) = new_axes(4.2 + label_width(labels), 1.0 + max(1.0, min(0.24 * n, 24.0)))
    rows = np.arange(n)
    bars = {"fmt": "o", "markersize": 5, "color": COLOURS[0], "ecolor": "0.4", "elinewidth": 1.2, "capsize": 2.5}
    ax.errorbar(utility[order], rows, xerr=1.96 * error[order], **bars)
    room = ax.get_window_extent().height / ax.figure.dpi * 72 / n
    step = int(np.ceil(6.0 / room))
    size = float(np.clip(room / 1.2, 5, 9))
    ax.set_yticks(rows[::step], [labels[k] for k in order[::step]], parse_math=False, fontsize=size)
    ax.set(ylim=(n - 0.4, -0.6), xlabel="utility (95 % interval)")
    ax.set_xlim(left=min(0.0, float(np.nanmin(utility - 1.96 * np.nan_to_num(error)))))
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color="0.9", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax
