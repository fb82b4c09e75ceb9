"""How similar options are by what they share, in the order of a dendrogram."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import ArgumentError

from ._draws import is_table
from ._fonts import picture
from ._style import SHADES, label_width, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

_MAX_LABELS = 120


@picture
def option_similarity(model: Any, axes: "Sequence[Axes] | None" = None) -> "list[Axes]":
    """Draw how much of what options have they share, options that share much next to each other.

    A cell is the posterior mean of the shared part of two options, darker for more. Rows and columns are in the order
    of the dendrogram at the left, which joins those first that share most (average linkage of 1 - similarity).

    Parameters
    ----------
    model : fitted model, or pandas.DataFrame
        Anything with `option_similarity`, or what this returned.
    axes : sequence of two matplotlib axes, optional
        For the dendrogram and the matrix; a new figure if None.

    Returns
    -------
    list of matplotlib axes

    Raises
    ------
    ArgumentError
        If the model has fewer than three options.

    Examples
    --------
    >>> import thali as th
    >>> model = th.EliminationByAspects([[1, 0], [1, 0], [0, 1], [0, 1]]).fit(
    ...     th.datasets.paris_rome(expected=True), draws=500, tune=500, random_seed=1, progressbar=False
    ... )
    >>> dendrogram, matrix = option_similarity(model)
    >>> sorted(tick.get_text() for tick in matrix.get_yticklabels())
    ['P', 'P+', 'R', 'R+']
    """
    from scipy.cluster.hierarchy import dendrogram, linkage
    from scipy.spatial.distance import squareform

    table = model if is_table(model) else model.option_similarity()
    n = len(table)
    if n < 3:
        raise ArgumentError(f"plots.option_similarity needs three options or more; there are {n}.")
    apart = squareform(np.clip(1.0 - table.to_numpy(), 0.0, None), checks=False)
    joined = linkage(apart, "average", optimal_ordering=n <= 500)
    drawn = dendrogram(joined, no_plot=True)
    order = drawn["leaves"]
    shown = short(table.index.tolist())
    if axes is None:
        axes = _new(n, label_width(shown))
    left, right = axes
    for heights, rows in zip(drawn["dcoord"], drawn["icoord"], strict=True):
        left.plot(heights, np.array(rows) / 10.0, color="0.35", linewidth=0.9)
    left.set(xlim=(1.0, 0.0), ylim=(n, 0), xlabel="1 - similarity")
    left.set_xticks([1.0, 0.5, 0.0], ["1", "0.5", "0"])
    left.set_yticks([])
    left.spines[["top", "right", "left"]].set_visible(False)
    cells = table.to_numpy()[np.ix_(order, order)].copy()
    np.fill_diagonal(cells, np.nan)
    mesh = right.pcolormesh(np.arange(n + 1), np.arange(n + 1), cells, cmap=SHADES, vmin=0.0, vmax=1.0)
    right.set(xlim=(0, n), ylim=(n, 0))
    step = -(-n // _MAX_LABELS)
    names, size = [shown[k] for k in order][::step], 9 if n <= 60 else 5
    at = np.arange(0, n, step) + 0.5
    right.set_yticks(at, names, parse_math=False, fontsize=size)
    right.set_xticks(at, names, parse_math=False, fontsize=size, rotation=90)
    right.yaxis.tick_right()
    right.tick_params(length=0)
    right.spines[:].set_visible(False)
    right.figure.colorbar(mesh, ax=right, label="shared part", shrink=min(1.0, 5 / max(2.5, 0.24 * n)), pad=0.02)
    return [left, right]


def _new(n: int, labels: float) -> "list[Axes]":
    """A narrow and a wide axes side by side."""
    from matplotlib import pyplot

    side = min(max(2.4, 0.24 * n), 14.0)
    left, right = 1.6, side + labels + 1.2
    _, axes = pyplot.subplots(
        1,
        2,
        figsize=(left + right, side + labels),
        layout="constrained",
        gridspec_kw={"width_ratios": [left, right]},
        sharey=False,
    )
    return list(axes)
