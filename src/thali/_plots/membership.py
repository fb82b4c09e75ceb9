"""Who owns the features that were matched across draws: options by features, near ones side by
side."""

from typing import TYPE_CHECKING

import numpy as np

from thali._arguments import whole

from ._fonts import picture
from ._style import SHADES, axes_of, head_columns, label_width, short

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_TALLEST = 22.0  # inches of all rows together
_MAX_LABELS = 200  # more rows than this have no room for a label each


@picture(made_by="membership()", attrs=("probability", "word"))
def membership(
    table: "pandas.DataFrame", ax: "Axes | None" = None, max_features: int = 30
) -> "Axes":
    """Draw which options own the features that were matched across draws, and how surely.

    A row is an option, a column a feature; the darker a cell, the larger the share of the draws
    with the feature in which the option owns it. The probability of the feature and its mean weight
    stand above it, with an asterisk if the chains do not agree on the probability (R-hat above
    1.05). Options that share features are neighbours: rows are the leaves of a hierarchical
    clustering (average linkage) of the weight that two options share in the mean, and columns
    follow the rows.

    Parameters
    ----------
    table : pandas.DataFrame
        What `membership()` of a fitted model returned.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.
    max_features : int, 1 or more
        The largest number of features to show, the most probable ones.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ArgumentError
        If max_features is less than 1.

    Examples
    --------
    >>> import thali as th
    >>> model = th.AdditiveClustering(sigma=0.05, alpha=0.5)
    >>> model = model.fit(
    ...     th.datasets.numbers(), draws=20, tune=20, random_seed=1, progressbar=False
    ... )
    >>> membership(model.membership(), max_features=3).get_xlabel().splitlines()[0]
    'probability of the feature, mean weight'
    """
    whole("max_features", max_features, 1)
    owned, labels = table.to_numpy()[:, :max_features], table.index.tolist()
    n, k = owned.shape
    features = {name: np.array(table.attrs[name])[:k] for name in ("probability", "converged")}
    has_weights, word = "weight" in table.attrs, table.attrs["word"]
    probability = features["probability"]
    weight = np.array(table.attrs["weight"])[:k] if has_weights else np.ones(k)
    rows = _order(owned, probability * weight)
    # the mean one of the owners
    place = np.arange(n) @ owned[rows] / np.maximum(owned.sum(0), 1e-12)
    columns = np.argsort(place, kind="stable")
    shown = short([labels[row] for row in rows])
    row_height = min(0.24, _TALLEST / n)
    ax = axes_of(ax, label_width(shown) + max(2.0, 0.36 * k) + 1.4, max(2.4, row_height * n + 1.0))
    mesh = ax.pcolormesh(owned[rows][:, columns], cmap=SHADES, vmin=0.0, vmax=1.0) if k else None
    for line in range(1, k):
        ax.axvline(line, color="0.92", linewidth=0.6)
    ax.set(xlim=(0, max(k, 1)), ylim=(n, 0))
    step = -(-n // _MAX_LABELS)
    size = float(np.clip(62 * row_height, 5.0, 9.0))
    ax.set_yticks(np.arange(0, n, step) + 0.5, shown[::step], parse_math=False, fontsize=size)
    mark = np.where(features["converged"].astype(bool), "", "*")
    names = [
        f"{probability[column]:.2f}{mark[column]}" + f"\n{weight[column]:.2g}" * has_weights
        for column in columns
    ]
    ax.set_xticks(np.arange(k) + 0.5, names, fontsize=7)
    heading = (
        f"probability of the {word}"
        + ", mean weight" * has_weights
        + "\n(*: chains disagree)" * any(mark)
    )
    ax.set_xlabel(heading if k else f"no probable {word}")
    head_columns(ax, mesh, "membership")
    return ax


def _order(owned: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The rows as the leaves of a dendrogram of the expected shared weight, near leaves side by
    side."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(owned) < 3 or not owned.any():
        return np.arange(len(owned))
    shared = (owned * weight) @ owned.T
    distance = shared.max() - shared
    np.fill_diagonal(distance, 0.0)
    return leaves_list(
        linkage(squareform(distance, checks=False), "average", optimal_ordering=True)
    )
