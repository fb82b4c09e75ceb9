"""Objects on a plane, with outlines around those that share a feature."""

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._aspects.models.additive_clustering import AdditiveClustering
from thali._aspects.results.point_estimate import Estimate
from thali._plots._fonts import picture
from thali._plots._style import COLOURS, create_axes, measure_label_width, shorten_labels
from thali.errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_OBJECTS = 30  # more do not stay legible
_WIDTH, _HEIGHT = 6.2, 5.2  # inches that the objects are spread over
_LETTER, _LINE = 0.09, 0.15  # inches of a letter across, and of a line up
# inches from a label to its innermost outline, and from one outline to the next
_FIRST, _STEP = 0.07, 0.075
_STYLES = ("-", "--", ":")
_KEY = 34  # letters of a line of the legend
_PUSHES = 400
# relative difference of directions that are as wide, so that rounding does not choose among them
_TILT = 1e-9


@picture()
def overlap(model: Any, ax: "Axes | None" = None, max_features: int = 8) -> "Axes":
    """Draw the objects on a plane, similar objects close together, with an outline around those
    that share a feature.

    The plane is that of classical scaling of 1 - fitted similarity (of the largest similarity if
    that is above 1), names moved apart where they would overlap. An outline is the hull of its
    members, larger features outside smaller ones; heavier features have wider lines. A hull may
    enclose an object that lacks the feature: the legend gives the weight, (for the expectation) the
    probability, and the members of each feature.

    Parameters
    ----------
    model : fitted model, or Estimate
        For a model, its expectation is drawn.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.
    max_features : int, 1 or more
        The largest number of features to show, in the order of the estimate.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ArgumentError
        There are more than 30 objects, or `max_features` is less than 1.

    References
    ----------
    Shepard & Arabie (1979), Additive clustering: outlines of features upon a scaling of the
    objects.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> from thali._aspects.draws.feature_columns import FeatureColumns
    >>> from thali._aspects.results.point_estimate import estimate_features
    >>> from thali.priors import IndianBuffet
    >>> pairs = {
    ...     "first": np.array([0, 0, 1]),
    ...     "second": np.array([1, 2, 2]),
    ...     "values": np.array([0.8, 0.3, 0.45]),
    ... }
    >>> draws = FeatureColumns(
    ...     np.array([1]), np.array([0.4]), np.array([2]), np.array([0, 1]), np.zeros((1, 3))
    ... )
    >>> data = SimpleNamespace(labels=("tea", "coffee", "milk"), judgements=np.ones(3), **pairs)
    >>> found = estimate_features(
    ...     "expectation",
    ...     draws,
    ...     constant=np.array([0.3]),
    ...     sigma=0.1,
    ...     alpha=1.0,
    ...     data=data,
    ...     prior=IndianBuffet(),
    ...     weight_prior=(1.0, 1.0),
    ...     with_constant=True,
    ... )
    >>> [text.get_text() for text in overlap(found).get_legend().get_texts()]
    ['0.400 (1.00)  tea, coffee']
    """
    from matplotlib.lines import Line2D
    from matplotlib.patches import Polygon

    if max_features < 1:
        raise ArgumentError(f"`max_features` must be 1 or more; got {max_features}.")
    estimate = model.estimate("expectation") if isinstance(model, AdditiveClustering) else model
    if not isinstance(estimate, Estimate):
        raise ArgumentError(
            "overlap needs an AdditiveClustering or one of its estimates; got"
            f" {type(model).__name__}."
        )
    labels = estimate.similarity.index.tolist()
    if len(labels) > MAX_OBJECTS:
        raise ArgumentError(
            f"{len(labels)} objects are too many for outlines, which stay legible up to"
            f" {MAX_OBJECTS}; thali.plots.features shows who owns which feature as a matrix."
        )
    table = estimate.features.head(max_features)
    names = shorten_labels([str(label) for label in labels])
    half = np.array([[0.5 * _LETTER * len(name), 0.5 * _LINE] for name in names])
    places = _spread(_plane(estimate.similarity.to_numpy()), half)
    row_of = {label: row for row, label in enumerate(labels)}
    members = [np.array([row_of[member] for member in feature]) for feature in table["members"]]
    keys = _keys(table, [[names[row] for row in rows] for rows in members])

    hulls = [
        _hull(places[rows], half[rows], _FIRST + _STEP * level)
        for rows, level in zip(members, _levels(members), strict=True)
    ]
    corners = np.concatenate([places - half, places + half, *hulls])
    low, high = corners.min(axis=0) - 0.08, corners.max(axis=0) + 0.08

    # of a size at which an inch of the layout is an inch on paper, and labels fit their outlines
    if ax is None:
        longest = max((line for key in keys for line in key.split("\n")), key=len, default="")
        width, height = high - low
        (ax,) = create_axes(
            width + 1.4 + 0.8 * measure_label_width([longest]),
            max(height + 0.2, 0.6 + 0.2 * len(keys)),
        )
    heaviest = max(float(table["weight"].to_numpy().max()), 1e-12) if len(table) else 1.0
    for number, hull in enumerate(hulls):
        line: dict[str, Any] = {
            "edgecolor": COLOURS[number % len(COLOURS)],
            "linestyle": _STYLES[number // len(COLOURS) % len(_STYLES)],
            "linewidth": 0.8 + 3.0 * float(table["weight"].iloc[number]) / heaviest,
        }
        ax.add_patch(Polygon(hull, fill=False, **line))
    for name, (x, y) in zip(names, places.tolist(), strict=True):
        ax.text(x, y, name, ha="center", va="center", fontsize=9, parse_math=False, zorder=3)
    ax.set(
        xlim=(low[0], high[0]),
        ylim=(low[1], high[1]),
        xticks=[],
        yticks=[],
        aspect="equal",
        anchor="W",
    )
    ax.spines[:].set_visible(False)
    if len(table):
        title = "weight (probability)  members" if "probability" in table else "weight  members"
        lines = [
            Line2D(
                [],
                [],
                color=each.get_edgecolor(),
                linestyle=each.get_linestyle(),
                linewidth=each.get_linewidth(),
            )
            for each in ax.patches
        ]
        place = {
            "loc": "upper left",
            "bbox_to_anchor": (1.02, 1),
            "alignment": "left",
            "frameon": False,
        }
        legend = ax.legend(lines, keys, title=title, fontsize=8, labelspacing=0.7, **place)
        for text in legend.get_texts():
            text.set_parse_math(False)
    return ax


def _keys(table: Any, members: list[list[str]]) -> list[str]:
    """One line or several for each feature."""
    largest = float(table["weight"].max()) if len(table) else 0.0
    places = int(np.clip(2 - np.floor(np.log10(largest)), 0, 9)) if largest > 0 else 3
    keys = []
    for number, inside in enumerate(members):
        figures = f"{table['weight'].iloc[number]:.{places}f}"
        if "probability" in table:
            figures += f" ({table['probability'].iloc[number]:.2f})"
        lines = textwrap.wrap(", ".join(inside), _KEY)
        keys.append(figures + "  " + "\n      ".join(lines))
    return keys


def _plane(similarity: np.ndarray) -> np.ndarray:
    """Scale the dissimilarities to two dimensions, signs and equal directions fixed: (n, 2)."""
    similarity = similarity.copy()
    most = max(1.0, float(np.nanmax(similarity)))
    np.fill_diagonal(similarity, most)
    squares = (most - similarity) ** 2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    order = np.linspace(0.0, _TILT * np.abs(centred).max(), len(centred))
    values, vectors = np.linalg.eigh(np.diag(order) - 0.5 * centred)
    vectors = vectors[:, [-1, -2]] * np.sqrt(
        np.where(values > 10.0 * _TILT * values[-1], values, 0.0)[[-1, -2]]
    )
    size = np.abs(vectors)
    largest = vectors[np.argmax(size > (1.0 - 1e-6) * size.max(axis=0), axis=0), [0, 1]]
    return vectors * np.where(largest < 0, -1.0, 1.0)


def _spread(plane: np.ndarray, half: np.ndarray) -> np.ndarray:
    """The positions of the labels in inches, with room for two outlines between any two; and half
    their sizes."""
    span = np.maximum(np.ptp(plane, axis=0), 1e-9)
    n = len(plane)
    # a regular rotation, for several objects at one place
    turn = 2 * np.pi * np.arange(n) / n
    places = plane * np.array([_WIDTH, _HEIGHT]) / span + 0.01 * np.column_stack(
        [np.cos(turn), np.sin(turn)]
    )
    first, second = np.triu_indices(n, 1)
    room = half[first] + half[second] + 2 * _FIRST + 2 * _STEP
    for _ in range(_PUSHES):
        apart = places[second] - places[first]
        lack = room - np.abs(apart)
        close = (lack > 0).all(axis=1)
        if not close.any():
            break
        axis = np.argmin(lack, axis=1)
        push = np.zeros(apart.shape)
        rows = np.flatnonzero(close)
        sign = np.where(apart[rows, axis[rows]] < 0, -1.0, 1.0)
        push[rows, axis[rows]] = 0.26 * sign * lack[rows, axis[rows]]
        np.add.at(places, second, push)
        np.add.at(places, first, -push)
    return places


def _levels(members: list[np.ndarray]) -> list[int]:
    """The number of outlines inside each, so that none is drawn over another; smaller features are
    innermost."""
    levels = [0] * len(members)
    done: list[int] = []
    for number in sorted(range(len(members)), key=lambda number: len(members[number])):
        touched = [
            levels[other] for other in done if np.intersect1d(members[number], members[other]).size
        ]
        levels[number] = 1 + max(touched, default=-1)
        done.append(number)
    return levels


def _hull(places: np.ndarray, half: np.ndarray, padding: float) -> np.ndarray:
    """The convex hull of labels, widened all round by the padding."""
    from scipy.spatial import ConvexHull

    turn = np.linspace(0, 2 * np.pi, 64, endpoint=False)
    circle = padding * np.column_stack([np.cos(turn), np.sin(turn)])
    corners = (
        places[:, None] + half[:, None] * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    ).reshape(-1, 2)
    points = (corners[:, None] + circle).reshape(-1, 2)
    return points[ConvexHull(points).vertices]
