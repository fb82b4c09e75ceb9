"""The most probable class over the plane of two covariates."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._classify.covariates_and_labels import list_covariate_names
from thali._plots._fonts import picture
from thali._plots._style import COLOURS, create_axes, shorten_labels
from thali.errors import ArgumentError, DataError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ASKED = 101  # points along each axis that the model predicts ...
_DRAWN = 4  # ... and drawn between each two of them
_MAX_POINTS = 2000
_MARKERS = "osD^vP*X"
_MARGIN = 0.06
_MAX_NAME_LENGTH = 16  # of a region; longer names appear only in the legend


@picture()
def decision(model: Any, X: Any, y: Any = None, *, ax: "Axes | None" = None) -> "Axes":
    """Colour the plane of two covariates by the most probable class, paler where it is less
    probable.

    Black lines are the boundaries between the regions; each region has the name of its class, if
    that is short. Points are the rows of X (at most 2,000 of them), with a colour and a marker for
    each class.

    Parameters
    ----------
    model : PlackettLuceRegression or SparseMultinomialLogit
        Fitted to two covariates.
    X : array or data frame (n, 2)
        Rows that the plane should hold, for instance the training data.
    y : sequence (n,), optional
        Their classes; without them no points are drawn.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    NotFittedError
        Before `fit`.
    ArgumentError
        If the model was fitted to more or fewer than two covariates.
    DataError
        If X or y cannot be used.

    References
    ----------
    Archambeau & Caron (2012), Fig. 4.

    Examples
    --------
    >>> import thali as th
    >>> X, y = [[-1, 2], [-2, 0], [0, 1], [1, 0], [2, -1], [1, -2]], ["a", "a", "a", "b", "b", "b"]
    >>> ax = decision(th.PlackettLuceRegression(method="map", a=1.1).fit(X, y), X, y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a', 'b']
    """
    matrix = model._read_covariates(X)
    if matrix.shape[1] != 2:
        raise ArgumentError(
            "Regions can be drawn for two covariates, and this model was fitted to"
            f" {matrix.shape[1]}; fit one to two columns."
        )
    labels = None if y is None else np.asarray(y).ravel()
    if labels is not None and len(labels) != len(matrix):
        raise DataError(
            f"X has {len(matrix)} rows and y has {len(labels)} labels; each row of X needs one"
            " label."
        )
    ax = create_axes(6.4, 4.8)[0] if ax is None else ax
    classes = [str(label) for label in model.classes_]
    shown = shorten_labels(classes)
    colours = [COLOURS[number % len(COLOURS)] for number in range(len(classes))]
    horizontal, vertical, probabilities = _predicted(model, matrix)

    _paint(ax, horizontal, vertical, probabilities, colours)
    points = np.empty((0, 2)) if labels is None else matrix
    _name_regions(ax, horizontal, vertical, probabilities, shown, points)
    if labels is not None:
        _draw_points(ax, matrix, labels, model.classes_, shown, colours)
    for axis, name in zip((ax.xaxis, ax.yaxis), list_covariate_names(model), strict=True):
        axis.set_label_text(shorten_labels([name])[0], parse_math=False)
    ax.set(xlim=horizontal[[0, -1]].tolist(), ylim=vertical[[0, -1]].tolist())
    return ax


def _predicted(model: Any, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places along both axes and the probabilities (vertical, horizontal, class) there."""
    asked, drawn = [], []
    for column in matrix.T:
        low, high = column.min(), column.max()
        margin = _MARGIN * (high - low) or 0.5
        asked.append(np.linspace(low - margin, high + margin, _ASKED))
        drawn.append(np.linspace(low - margin, high + margin, _DRAWN * (_ASKED - 1) + 1))
    across, up = np.meshgrid(*asked)
    places = np.ascontiguousarray(np.column_stack([across.ravel(), up.ravel()]))
    found = model._compute_probabilities(places)
    found = found.reshape(_ASKED, _ASKED, -1)
    # Probabilities are smooth, so they are interpolated between the computed places.
    steps = np.arange(_DRAWN * (_ASKED - 1) + 1) / _DRAWN
    between = np.stack(
        [np.interp(steps, np.arange(_ASKED), unit) for unit in np.eye(_ASKED)], axis=1
    )
    return drawn[0], drawn[1], np.einsum("ia,jb,abk->ijk", between, between, found, optimize=True)


def _paint(
    ax: "Axes", horizontal: Any, vertical: Any, probabilities: np.ndarray, colours: list[str]
) -> None:
    """The regions and their boundaries."""
    from matplotlib.colors import to_rgb

    best = probabilities.argmax(axis=2)
    top = probabilities.max(axis=2)
    least = 1 / probabilities.shape[2]
    strength = 0.12 + 0.38 * np.clip((top - least) / (1 - least), 0, 1)
    colour = np.array([to_rgb(each) for each in colours])[best]
    image = 1 - strength[..., None] * (1 - colour)
    extent = (horizontal[0], horizontal[-1], vertical[0], vertical[-1])
    ax.imshow(
        image, origin="lower", extent=extent, aspect="auto", interpolation="nearest", zorder=0
    )
    for k in np.unique(best):
        others = np.delete(probabilities, k, axis=2).max(axis=2)
        if (best != k).any():
            lead = probabilities[..., k] - others
            ax.contour(
                horizontal, vertical, lead, levels=[0.0], colors="black", linewidths=0.9, zorder=1
            )


def _name_regions(
    ax: "Axes",
    horizontal: Any,
    vertical: Any,
    probabilities: np.ndarray,
    shown: list[str],
    points: Any,
) -> None:
    """Write the name of each class where its region has most room, away from the points if
    possible."""
    from matplotlib.patheffects import withStroke

    best = probabilities.argmax(axis=2)
    free = np.ones(best.shape, bool)
    free[np.searchsorted(vertical, points[:, 1]), np.searchsorted(horizontal, points[:, 0])] = False
    for k in np.unique(best):
        if len(shown[k]) > _MAX_NAME_LENGTH:
            continue
        size = _size_of_name(ax, shown[k], best.shape)
        place = _widest(free & (best == k), size) or _widest(best == k, size)
        if place is None:
            continue
        look = {
            "ha": "center",
            "va": "center",
            "fontsize": 9,
            "fontweight": "bold",
            "parse_math": False,
        }
        text = ax.text(horizontal[place[1]], vertical[place[0]], shown[k], zorder=4, **look)
        text.set_path_effects([withStroke(linewidth=2.5, foreground="white")])


def _size_of_name(ax: "Axes", name: str, shape: tuple[int, ...]) -> tuple[int, int]:
    """An upper estimate of the rows and columns of the painted grid that a name covers."""
    extent = ax.get_window_extent()
    dots = ax.figure.dpi
    height, width = 0.2 * dots / extent.height, 0.11 * dots * max(len(name), 2) / extent.width
    return round(height * shape[0]) | 1, round(width * shape[1]) | 1


def _widest(region: np.ndarray, size: tuple[int, int]) -> tuple[int, int] | None:
    """The place furthest from the edge of a region at which a box of this size fits; None if there
    is none."""
    from scipy.ndimage import distance_transform_edt, minimum_filter

    fits = minimum_filter(region, size=size, mode="constant", cval=0)
    if not fits.any():
        return None
    room: Any = distance_transform_edt(np.pad(region, 1))
    row, column = np.unravel_index(np.argmax(np.where(fits, room[1:-1, 1:-1], 0)), region.shape)
    return int(row), int(column)


def _draw_points(
    ax: "Axes",
    matrix: np.ndarray,
    labels: np.ndarray,
    classes: np.ndarray,
    shown: Any,
    colours: Any,
) -> None:
    """The rows, those of a class the model does not know left out."""
    chosen = np.arange(len(matrix))
    if len(chosen) > _MAX_POINTS:
        chosen = np.sort(np.random.default_rng(0).choice(chosen, _MAX_POINTS, replace=False))
    for number, (label, name) in enumerate(zip(classes, shown, strict=True)):
        points = matrix[chosen[labels[chosen] == label]]
        if len(points):
            marker = _MARKERS[number % len(_MARKERS)]
            look = {
                "s": 18,
                "marker": marker,
                "color": colours[number],
                "edgecolor": "white",
                "linewidth": 0.5,
            }
            ax.scatter(points[:, 0], points[:, 1], label=name, zorder=3, **look)
    if not ax.get_legend_handles_labels()[1]:
        return
    columns = 1 if len(classes) <= 20 else 2
    legend = ax.legend(
        loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=9, ncols=columns
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
