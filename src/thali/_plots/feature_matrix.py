"""The most probable features as a matrix, options by features, shaded by the weight to expect."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import positions

from ._fonts import picture
from ._style import GRID, axes_of, head_columns, label_width, shades_of_owners, short

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_LEFT = 1.6  # columns before the first feature: what options have alone, and a gap
_MAX_LABELS = 120  # more rows than this have no room for a label each
_LEAST = 0.1  # probability of a feature that is drawn


@picture(
    "members", "probability", "converged", made_by="features()", attrs=("labels", "sees_alone")
)
def features(table: "pandas.DataFrame", ax: "Axes | None" = None, max_features: int = 15) -> "Axes":
    """Draw which options share the most probable features; the darker a cell, the larger the weight
    to expect.

    Rows are options. Columns are distinct sets of owners, the most probable first, with the
    probability of each above it; the shade of a cell is the probability of the feature times its
    mean weight, so that what is improbable is pale. What options have alone is one column at the
    left. Features of all options, and those of a probability below 0.1, are left out. A probability
    has an asterisk if the chains do not agree on it (R-hat above 1.05).

    Parameters
    ----------
    table : pandas.DataFrame
        What `features()` of a fitted model returned.
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
    row_of = positions(labels)
    weight = table["weight"] if "weight" in table else 1.0
    expected: Any = table["probability"] * weight
    sizes = table["members"].map(len)
    alone = _alone(table, expected.where(sizes == 1, 0.0), row_of)
    shared = table[(sizes > 1) & (sizes < n) & (table["probability"] >= _LEAST)].head(max_features)
    k = len(shared)
    weights = np.full((n, k), np.nan)
    for column, (members, weight) in enumerate(
        zip(shared["members"], expected[shared.index], strict=True)
    ):
        weights[[row_of[member] for member in members], column] = weight
    has_alone = bool(alone.any())
    heaviest = max(float(np.nanmax(weights, initial=1e-12)), float(alone.max()))

    shown = short(labels)
    cell = min(0.24, 24 / n)
    ax = axes_of(
        ax, label_width(shown) + max(2.0, 0.36 * (k + _LEFT)) + 1.6, max(2.4, cell * n + 0.9)
    )
    rows = np.arange(n + 1)
    outline = 0.8 if n <= _MAX_LABELS else 0.0
    style = {
        "cmap": shades_of_owners(),
        "vmin": 0,
        "vmax": heaviest,
        "edgecolors": GRID,
        "linewidth": outline,
    }
    left = _LEFT if has_alone else 0.0
    mesh = ax.pcolormesh(left + np.arange(k + 1), rows, weights, **style) if k else None
    if has_alone:
        mesh = ax.pcolormesh([0.0, 1.0], rows, alone[:, None], **style)
        ax.axvline((1 + _LEFT) / 2, color="0.6", linewidth=0.8)
    ax.set(xlim=(0, left + max(k, 1)), ylim=(n, 0))
    step = -(-n // _MAX_LABELS)
    ax.set_yticks(
        np.arange(0, n, step) + 0.5, shown[::step], parse_math=False, fontsize=9 if n <= 100 else 5
    )
    centres = ([0.5] if has_alone else []) + [left + column + 0.5 for column in range(k)]
    doubtful = ~np.asarray(shared["converged"], bool)
    marks = np.where(doubtful, "*", "")
    above = [
        f"{probability:.2f}{mark}"
        for probability, mark in zip(shared["probability"], marks, strict=True)
    ]
    ax.set_xticks(centres, [*(["alone"] if has_alone else []), *above], fontsize=8)
    heading = f"probability of the {table.attrs['word']}" + "\n(*: chains disagree)" * bool(
        doubtful.any()
    )
    ax.set_xlabel(heading if k else f"no probable {table.attrs['word']} is shared")
    head_columns(ax, mesh if "weight" in table else None, "probability × mean weight")
    return ax


def _alone(
    table: "pandas.DataFrame", expected: "pandas.Series", row_of: dict[str, int]
) -> np.ndarray:
    """The weight to expect of what each option has alone; 0 where the data do not depend on it."""
    found = np.zeros(len(row_of))
    if not table.attrs["sees_alone"]:
        return found
    if table.attrs["unique_weights"] is not None:
        found += table.attrs["unique_weights"]
    for (member, *_), weight in zip(table["members"], expected, strict=True):
        found[row_of[member]] += weight
    return found
