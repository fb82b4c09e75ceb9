"""The most probable features as a matrix, options by features, shaded by weight."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._aspects.answers.features import add_convergence, features_table, owners_drawn
from thali._labels import positions
from thali._posterior.view import Posterior

from ._draws import is_table, posterior_of
from ._fonts import picture
from ._style import GRID, label_width, new_axes, shades_of_owners, short

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

# Columns to the left of the first feature: the unique aspects and a gap.
_LEFT = 1.6
# More rows than this have no room for a label each.
_MAX_LABELS = 120


@picture
def features(model: Any, ax: "Axes | None" = None, max_features: int = 15) -> "Axes":
    """Draw which options own the most probable features, shaded by weight.

    Rows are options. Columns are distinct sets of owners, the most probable first, with the probability
    of each above it; a coloured cell means that the option owns the feature, and a darker cell means a
    larger posterior mean of the weight, given that the feature is present. Unique aspects are separate on
    the left: the papers' diagonal block, folded into one column.

    A probability has an asterisk if the chains do not agree on it (R-hat above 1.05). For a fit to similarities or
    triplets, features of a single object are left out, because the data do not depend on them.

    Parameters
    ----------
    model : fitted model, or pandas.DataFrame
        Anything with `posterior_`, or what its `features()` returned.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.
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
    ...     th.datasets.paris_rome(expected=True), draws=500, tune=500, random_seed=1, progressbar=False
    ... )
    >>> ax = features(model)
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['P+', 'P', 'R', 'R+']
    """
    table = (model if is_table(model) else _table_of(posterior_of(model))).head(max_features)
    labels, unique_weights = table.attrs["labels"], table.attrs["unique_weights"]
    not_converged = ~table["converged"].to_numpy(bool)
    unique = unique_weights is not None
    n, k = len(labels), len(table)

    weights = np.full((n, k), np.nan)
    row_of = positions(labels)
    has_weights = "weight" in table
    shade = table["weight"] if has_weights else np.ones(k)
    for column, (members, weight) in enumerate(zip(table["members"], shade, strict=True)):
        weights[[row_of[member] for member in members], column] = weight
    own = np.reshape(unique_weights, (n, 1)) if unique else np.empty((n, 0))
    heaviest = np.nanmax(np.concatenate([weights, own], axis=1), initial=1e-12)

    shown = short(labels)
    if ax is None:
        cell = min(0.24, 24 / n)
        (ax,) = new_axes(label_width(shown) + max(2.0, 0.36 * (k + _LEFT)) + 1.6, max(2.4, cell * n + 0.9))
    rows = np.arange(n + 1)
    shades = shades_of_owners()
    outline = 0.8 if n <= _MAX_LABELS else 0.0
    style = {"cmap": shades, "vmin": 0, "vmax": heaviest, "edgecolors": GRID, "linewidth": outline}
    left = _LEFT if unique else 0.0
    mesh = ax.pcolormesh(left + np.arange(k + 1), rows, weights, **style) if k else None
    if unique:
        mesh = ax.pcolormesh([0.0, 1.0], rows, own, **style)
        ax.axvline((1 + _LEFT) / 2, color="0.6", linewidth=0.8)
    ax.set(xlim=(0, left + max(k, 1)), ylim=(n, 0))
    step = -(-n // _MAX_LABELS)
    ax.set_yticks(np.arange(0, n, step) + 0.5, shown[::step], parse_math=False, fontsize=9 if n <= 100 else 5)
    centres = ([0.5] if unique else []) + [left + column + 0.5 for column in range(k)]
    names = ["own"] if unique else []
    for probability, is_not_converged in zip(table["probability"], not_converged, strict=True):
        names.append(f"{probability:.2f}" + "*" * bool(is_not_converged))
    ax.set_xticks(centres, names, fontsize=8)
    ax.set_xlabel(_heading(k, bool(not_converged.any()), unique, table.attrs["word"]))
    ax.xaxis.set_label_position("top")
    ax.tick_params(length=0, top=False, bottom=False, labeltop=True, labelbottom=False)
    ax.spines[:].set_visible(False)
    if mesh is not None and has_weights:
        inches = ax.get_window_extent().height / ax.figure.dpi
        ax.figure.colorbar(mesh, ax=ax, label="mean weight, if present", shrink=min(1.0, 5 / inches))
    return ax


def _table_of(posterior: Posterior) -> "pandas.DataFrame":
    """The features of a posterior; for similarities and triplets the shared ones."""
    table = add_convergence(features_table(posterior), posterior)
    table.attrs |= owners_drawn(posterior)
    return table.loc[table["members"].map(len) > 1] if posterior.facts.of_several else table


def _heading(number: int, any_not_converged: bool, unique: bool, word: str) -> str:
    if not number:
        return f"no {'other ' if unique else ''}probable {word}"
    return f"probability of the {word}" + "\n(*: chains disagree)" * any_not_converged
