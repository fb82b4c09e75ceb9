"""Who is of the same kind as whom."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ._draws import is_table
from ._fonts import picture
from ._style import SHADES, label_width, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_LABELS = 80


@picture
def same_kind(model: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw the probability that two people are of the same kind, those who probably are next to each other.

    A cell is darker for a higher probability. People are in the order of the dendrogram of 1 - probability (average
    linkage), so that kinds are dark squares on the diagonal.

    Parameters
    ----------
    model : fitted model, or pandas.DataFrame
        With `kinds`; or what its `same_kind()` returned.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ArgumentError
        If the model has no `kinds`.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> rows = [("ann", "tea"), ("bob", "milk"), ("cid", "tea")]
    >>> trials = pd.DataFrame([(who, "tea", "milk", chosen) for who, chosen in rows * 8],
    ...                       columns=["person", "first", "second", "chosen"])
    >>> data = th.PairedComparisons.from_trials(trials, "first", "second", "chosen", subject="person")
    >>> model = th.EliminationByAspects(kinds=2)
    >>> model = model.fit(data, draws=200, tune=200, random_seed=1, progressbar=False)
    >>> sorted(label.get_text() for label in same_kind(model).get_yticklabels())
    ['ann', 'bob', 'cid']
    """
    table = model if is_table(model) else model.same_kind()
    order = _order(table.to_numpy())
    n, shown = len(table), short(table.index.tolist())
    step = -(-n // _MAX_LABELS)
    names, at = [shown[k] for k in order][::step], np.arange(0, n, step) + 0.5
    if ax is None:
        side = min(max(2.4, 0.22 * n), 12.0)
        (ax,) = new_axes(side + label_width(names) + 1.2, side + label_width(names))
    mesh = ax.pcolormesh(
        np.arange(n + 1), np.arange(n + 1), table.to_numpy()[np.ix_(order, order)], cmap=SHADES, vmin=0.0, vmax=1.0
    )
    ax.set(xlim=(0, n), ylim=(n, 0))
    size = 9 if n <= 60 else 5
    ax.set_yticks(at, names, parse_math=False, fontsize=size)
    ax.set_xticks(at, names, parse_math=False, fontsize=size, rotation=90)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.figure.colorbar(mesh, ax=ax, label="probability of the same kind")
    return ax


def _order(together: np.ndarray) -> np.ndarray:
    """The order of the leaves of the dendrogram."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(together) < 3:
        return np.arange(len(together))
    apart = squareform(np.clip(1.0 - together, 0.0, None), checks=False)
    return leaves_list(linkage(apart, "average", optimal_ordering=len(together) <= 500))
