"""The plot of owners of features that were matched across draws."""

from typing import TYPE_CHECKING

import numpy as np

from thali._argument_checks import check_integer

from ._fonts import picture
from ._style import SHADES, ensure_axes, label_columns, measure_label_width, shorten_labels

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_MAX_HEIGHT = 22.0  # inches
_MAX_LABELS = 200  # with more rows not every row has a label


@picture(made_by="membership()", attrs=("probability", "word"))
def membership(
    table: "pandas.DataFrame", ax: "Axes | None" = None, max_features: int = 30
) -> "Axes":
    """Draw the probability that each option owns each matched feature.

    A row is an option, a column a feature; the darker a cell, the larger the share of the draws
    with the feature in which the option owns it. The probability of the feature and its mean weight
    are written above it, with an asterisk if the chains do not agree on the probability (R-hat
    above 1.05). Options that share features are neighbours: rows are the leaves of a hierarchical
    clustering (average linkage) of the mean weight that two options share, and columns follow the
    rows.

    Parameters
    ----------
    table : pandas.DataFrame
        The table that `membership()` of a fitted model returns.
    ax : matplotlib axes, optional
        Axes to draw in; None creates a new figure.
    max_features : int, 1 or more
        The largest number of features to show, the most probable ones.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ArgumentError
        If `max_features` is less than 1.

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
    check_integer("max_features", max_features, 1)
    ownership = table.to_numpy()[:, :max_features]
    labels = table.index.tolist()
    n, k = ownership.shape
    feature_attrs = {name: np.array(table.attrs[name])[:k] for name in ("probability", "converged")}
    probabilities = feature_attrs["probability"]
    word = table.attrs["word"]
    heading = f"probability of the {word}"
    mean_weights = np.ones(k)
    if has_weights := "weight" in table.attrs:
        heading += ", mean weight"
        mean_weights = np.array(table.attrs["weight"])[:k]
    row_order = _order_rows(ownership, probabilities * mean_weights)
    # mean row of the owners
    mean_row = np.arange(n) @ ownership[row_order] / np.maximum(ownership.sum(0), 1e-12)
    column_order = np.argsort(mean_row, kind="stable")
    row_labels = shorten_labels([labels[row] for row in row_order])
    row_height = min(0.24, _MAX_HEIGHT / n)
    ax = ensure_axes(
        ax,
        measure_label_width(row_labels) + max(2.0, 0.36 * k) + 1.4,
        max(2.4, row_height * n + 1.0),
    )
    mesh = None
    if k:
        mesh = ax.pcolormesh(ownership[row_order][:, column_order], cmap=SHADES, vmin=0.0, vmax=1.0)
    for column_edge in range(1, k):
        ax.axvline(column_edge, color="0.92", linewidth=0.6)
    ax.set(xlim=(0, max(k, 1)), ylim=(n, 0))
    label_step = -(-n // _MAX_LABELS)
    font_size = float(np.clip(62 * row_height, 5.0, 9.0))
    ax.set_yticks(
        np.arange(0, n, label_step) + 0.5,
        row_labels[::label_step],
        parse_math=False,
        fontsize=font_size,
    )
    column_names = []
    for feature_index in column_order:
        column_name = f"{probabilities[feature_index]:.2f}"
        if not feature_attrs["converged"][feature_index]:
            column_name += "*"
        if has_weights:
            column_name += f"\n{mean_weights[feature_index]:.2g}"
        column_names.append(column_name)
    ax.set_xticks(np.arange(k) + 0.5, column_names, fontsize=7)
    if not feature_attrs["converged"].all():
        heading += "\n(*: chains disagree)"
    if not k:
        heading = f"no probable {word}"
    ax.set_xlabel(heading)
    label_columns(ax, mesh, "membership")
    return ax


def _order_rows(ownership: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Order the rows as leaves of a clustering by expected shared weight."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(ownership) < 3 or not ownership.any():
        return np.arange(len(ownership))
    shared_weights = (ownership * weight) @ ownership.T
    distances = shared_weights.max() - shared_weights
    np.fill_diagonal(distances, 0.0)
    return leaves_list(
        linkage(squareform(distances, checks=False), "average", optimal_ordering=True)
    )
