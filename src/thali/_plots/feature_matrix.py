"""Plot of which options own the most probable features, as a matrix."""

from collections.abc import Iterable, Sequence
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
    row_by_option = index_labels(labels)
    expected_weights: Any = table["probability"]
    if "weight" in table:
        expected_weights = expected_weights * table["weight"]
    n_members = table["members"].map(len)
    unique_weights = _compute_unique_weights(
        table, expected_weights.where(n_members == 1, 0.0), row_by_option
    )
    shared_features: Any = table[
        (n_members > 1) & (n_members < n) & (table["probability"] >= _MIN_PROBABILITY)
    ].head(max_features)
    k = len(shared_features)
    weights = _build_weight_matrix(
        shared_features["members"], expected_weights[shared_features.index], row_by_option
    )
    has_unique_weights = bool(unique_weights.any())
    max_weight = max(float(np.nanmax(weights, initial=1e-12)), float(unique_weights.max()))

    row_labels = shorten_labels(labels)
    cell_height = min(0.24, 24 / n)
    ax = ensure_axes(
        ax,
        measure_label_width(row_labels) + max(2.0, 0.36 * (k + _UNIQUE_WIDTH)) + 1.6,
        max(2.4, cell_height * n + 0.9),
    )
    row_edges = np.arange(n + 1)
    mesh_style = {"cmap": build_owner_colormap(), "vmin": 0, "vmax": max_weight, "edgecolors": GRID}
    mesh_style["linewidth"] = 0.8
    if n > _MAX_LABELS:
        mesh_style["linewidth"] = 0.0
    first_column_x = 0.0
    column_centres = []
    column_names = []
    mesh = None
    if has_unique_weights:
        first_column_x = _UNIQUE_WIDTH
        column_centres = [0.5]
        column_names = ["alone"]
    if k:
        mesh = ax.pcolormesh(first_column_x + np.arange(k + 1), row_edges, weights, **mesh_style)
    if has_unique_weights:
        mesh = ax.pcolormesh([0.0, 1.0], row_edges, unique_weights[:, None], **mesh_style)
        ax.axvline((1 + _UNIQUE_WIDTH) / 2, color="0.6", linewidth=0.8)
    ax.set(xlim=(0, first_column_x + max(k, 1)), ylim=(n, 0))
    label_step = -(-n // _MAX_LABELS)
    letter_size = 9
    if n > 100:
        letter_size = 5
    ax.set_yticks(
        np.arange(0, n, label_step) + 0.5,
        row_labels[::label_step],
        parse_math=False,
        fontsize=letter_size,
    )
    column_centres += [first_column_x + column + 0.5 for column in range(k)]
    feature_names, heading = _name_features(shared_features, table.attrs["word"])
    ax.set_xticks(column_centres, column_names + feature_names, fontsize=8)
    ax.set_xlabel(heading)
    if "weight" not in table:
        mesh = None
    label_columns(ax, mesh, "probability × mean weight")
    return ax


def _name_features(shared_features: "pandas.DataFrame", word: str) -> tuple[list[str], str]:
    """Return the probability of each shared feature as its name, and the heading of the names."""
    feature_names = []
    heading = f"probability of the {word}"
    if shared_features.empty:
        heading = f"no probable {word} is shared"
    for probability, has_converged in zip(
        shared_features["probability"], shared_features["converged"], strict=True
    ):
        feature_names.append(f"{probability:.2f}")
        if not has_converged:
            feature_names[-1] += "*"
    if not all(shared_features["converged"]):
        heading += "\n(*: chains disagree)"
    return feature_names, heading


def _build_weight_matrix(
    members_of_features: Iterable[Iterable[str]],
    weights: Sequence[float],
    row_by_option: dict[str, int],
) -> np.ndarray:
    """Return feature weights by owner, (n_options, n_features), NaN for others."""
    weight_matrix = np.full((len(row_by_option), len(weights)), np.nan)
    for feature_index, (members, weight) in enumerate(
        zip(members_of_features, weights, strict=True)
    ):
        weight_matrix[[row_by_option[member] for member in members], feature_index] = weight
    return weight_matrix


def _compute_unique_weights(
    table: "pandas.DataFrame", expected_weights: "pandas.Series", row_by_option: dict[str, int]
) -> np.ndarray:
    """Return the options' expected unique weights; 0 if not identified."""
    unique_weights = np.zeros(len(row_by_option))
    if not table.attrs["sees_alone"]:
        return unique_weights
    if table.attrs["unique_weights"] is not None:
        unique_weights += table.attrs["unique_weights"]
    for (member, *_), weight in zip(table["members"], expected_weights, strict=True):
        unique_weights[row_by_option[member]] += weight
    return unique_weights
