"""Plot of which options own the most probable features, as a matrix."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import index_labels

from ._fonts import picture
from ._style import (
    GRID,
    build_owner_colormap,
    ensure_axes,
    label_columns,
    measure_label_width,
    shorten_labels,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_UNIQUE_WIDTH = 1.6  # columns before the first feature: unique features and a gap
_MAX_LABELS = 120  # with more rows not every row has a label
_MIN_PROBABILITY = 0.1  # smallest probability of a feature that is drawn


@picture(
    "members", "probability", "converged", made_by="features()", attrs=("labels", "sees_alone")
)
def features(table: "pandas.DataFrame", ax: "Axes | None" = None, max_features: int = 15) -> "Axes":
    """Draw which options share the most probable features.

    Darker cells have a larger expected weight. Rows are options. Columns are distinct sets of
    owners, the most probable first, with the probability of each above it; the shade of a cell is
    the probability of the feature times its mean weight, so that improbable features are pale.
    Unique features of options are one column at the left. Features of all options, and features
    with a probability below 0.1, are omitted. A probability has an asterisk if the chains do not
    agree on it (R-hat above 1.05).

    Parameters
    ----------
    table : pandas.DataFrame
        The table that `features()` of a fitted model returns.
    ax : matplotlib axes, optional
        Axes to draw in; None creates a new figure.
    max_features : int
        The largest number of features to show.

    Returns
    -------
    matplotlib axes

    References
    ----------
    Görür, Jäkel & Rasmussen (2006), Figs. 1-3.

    Examples
    --------
    >>> import thali as th
    >>> model = th.EliminationByAspects([[1, 0], [1, 0], [0, 1], [0, 1]]).fit(
    ...     th.datasets.paris_rome(expected=True),
    ...     draws=500,
    ...     tune=500,
    ...     random_seed=1,
    ...     progressbar=False,
    ... )
    >>> ax = features(model.features())
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['P+', 'P', 'R', 'R+']
    """
    labels = table.attrs["labels"]
    n = len(labels)
    row_of = index_labels(labels)
    expected_weights: Any = table["probability"]
    if "weight" in table:
        expected_weights = expected_weights * table["weight"]
    sizes = table["members"].map(len)
    unique = _compute_unique_weights(table, expected_weights.where(sizes == 1, 0.0), row_of)
    shared = table[(sizes > 1) & (sizes < n) & (table["probability"] >= _MIN_PROBABILITY)].head(
        max_features
    )
    k = len(shared)
    weights = _build_weight_matrix(shared["members"], expected_weights[shared.index], row_of)
    has_unique = bool(unique.any())
    heaviest = max(float(np.nanmax(weights, initial=1e-12)), float(unique.max()))

    row_labels = shorten_labels(labels)
    cell = min(0.24, 24 / n)
    ax = ensure_axes(
        ax,
        measure_label_width(row_labels) + max(2.0, 0.36 * (k + _UNIQUE_WIDTH)) + 1.6,
        max(2.4, cell * n + 0.9),
    )
    rows = np.arange(n + 1)
    style = {"cmap": build_owner_colormap(), "vmin": 0, "vmax": heaviest, "edgecolors": GRID}
    style["linewidth"] = 0.8
    if n > _MAX_LABELS:
        style["linewidth"] = 0.0
    start, centres, names, mesh = 0.0, [], [], None
    if has_unique:
        start, centres, names = _UNIQUE_WIDTH, [0.5], ["alone"]
    if k:
        mesh = ax.pcolormesh(start + np.arange(k + 1), rows, weights, **style)
    if has_unique:
        mesh = ax.pcolormesh([0.0, 1.0], rows, unique[:, None], **style)
        ax.axvline((1 + _UNIQUE_WIDTH) / 2, color="0.6", linewidth=0.8)
    ax.set(xlim=(0, start + max(k, 1)), ylim=(n, 0))
    step, letter_size = -(-n // _MAX_LABELS), 9
    if n > 100:
        letter_size = 5
    ax.set_yticks(
        np.arange(0, n, step) + 0.5, row_labels[::step], parse_math=False, fontsize=letter_size
    )
    centres += [start + column + 0.5 for column in range(k)]
    heading = f"probability of the {table.attrs['word']}"
    if not k:
        heading = f"no probable {table.attrs['word']} is shared"
    for probability, has_converged in zip(shared["probability"], shared["converged"], strict=True):
        names.append(f"{probability:.2f}")
        if not has_converged:
            names[-1] += "*"
    if not all(shared["converged"]):
        heading += "\n(*: chains disagree)"
    ax.set_xticks(centres, names, fontsize=8)
    ax.set_xlabel(heading)
    if "weight" not in table:
        mesh = None
    label_columns(ax, mesh, "probability × mean weight")
    return ax


def _build_weight_matrix(
    members_of_features: Any, weights: Any, row_of: dict[str, int]
) -> np.ndarray:
    """Return feature weights by owner, (n_options, n_features), NaN for others."""
    matrix = np.full((len(row_of), len(weights)), np.nan)
    for column, (members, weight) in enumerate(zip(members_of_features, weights, strict=True)):
        matrix[[row_of[member] for member in members], column] = weight
    return matrix


def _compute_unique_weights(
    table: "pandas.DataFrame", expected: "pandas.Series", row_of: dict[str, int]
) -> np.ndarray:
    """Return expected weights of features of one option; 0 if not identified."""
    weights = np.zeros(len(row_of))
    if not table.attrs["sees_alone"]:
        return weights
    if table.attrs["unique_weights"] is not None:
        weights += table.attrs["unique_weights"]
    for (member, *_), weight in zip(table["members"], expected, strict=True):
        weights[row_of[member]] += weight
    return weights
