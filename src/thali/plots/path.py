"""The weights of Plackett-Luce regression against the shape of their prior: more of them vanish as it falls."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import ArgumentError, DataError

from ._fonts import picture
from ._lines import draw_lines
from ._style import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRID = (0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 0.95, 1.0, 1.02, 1.05, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0, 2.5, 3.0)


@picture
def path(
    model: Any, X: Any, y: Any, a: "Sequence[float] | None" = None, *, method: str = "map", ax: "Axes | None" = None
) -> "Axes":
    """Draw every relative weight against the shape a of the prior, one line a weight.

    The weights that become largest have colours and names, all others are grey. For a > 1 all most probable weights are
    above zero, at a = 1 most are exactly zero. For a < 1 the published rule is followed from there, and vanished
    weights stay zero; if it ends without any weight, the lines end at a = 1.

    Parameters
    ----------
    model : PlackettLuceRegression
        Whose transform, scale and further arguments are used; it need not be fitted, and is not changed.
    X : array or data frame (n, d)
    y : sequence (n,)
        Data to fit to, once for each a.
    a : sequence of float above 0, optional
        Two or more; from 0.1 to 3 if None.
    method : {"map", "variational", "gibbs"}
        Most probable weights, or posterior means.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ArgumentError
        If there are fewer than two values of a, or one of them is not above 0.
    DataError
        If X or y cannot be used.

    References
    ----------
    Archambeau & Caron (2012), Fig. 2.

    Examples
    --------
    >>> import thali as th
    >>> X, y = [[-1.4], [-0.6], [-0.1], [0.3], [0.9], [1.7]], ["no", "no", "yes", "no", "yes", "yes"]
    >>> ax = path(th.PlackettLuceRegression(), X, y, [0.5, 1, 1.1, 2])
    >>> sorted(text.get_text() for text in ax.get_legend().get_texts()[:2])
    ['no: exp(-x0)', 'yes: exp(x0)']
    """
    shapes = np.unique(np.asarray(GRID if a is None else a, float))
    if len(shapes) < 2 or not (np.isfinite(shapes).all() and shapes[0] > 0):
        raise ArgumentError(f"`a` must be two different numbers above 0 or more; got {a!r}.")
    if method == "map":
        weights, names = _most_probable(model, X, y, shapes, cut=a is None)
    else:
        weights, names = _means(model, X, y, shapes, method)
    shapes = shapes[-len(weights) :]

    ax = new_axes(8.0, 4.5)[0] if ax is None else ax
    draw_lines(ax, shapes, weights, names, np.argsort(-weights.max(axis=0), kind="stable"))
    ax.axvline(1.0, color="0.4", linewidth=0.8, linestyle=(0, (1, 2)), zorder=0)
    ax.set(xlabel="shape a of the prior", ylabel="relative weight")
    ax.set_ylim(bottom=0)
    return ax


def _most_probable(model: Any, X: Any, y: Any, shapes: np.ndarray, cut: bool) -> tuple[np.ndarray, list[str]]:
    """Weights (a, line) at the maximum for each a, and a name for each line; `cut`: without those that do not exist."""
    from thali.classify.input import codes_of, matrix_of, names_of
    from thali.classify.plackett_luce.design import Design
    from thali.classify.plackett_luce.map_estimate import map_path

    names = names_of(X)
    matrix = matrix_of(X, names)
    classes, codes = codes_of(y, type(model).__name__, len(matrix))
    columns = [f"x{j}" for j in range(matrix.shape[1])] if names is None else [str(name) for name in names]
    design = Design.fit(matrix, columns, model.get_params()["transform"], model.standardize)
    W = design.apply(matrix)
    try:
        fits = map_path(W, codes, len(classes), shapes.tolist(), threads=model.cores)
    except DataError:
        if not cut:
            raise
        fits = map_path(W, codes, len(classes), shapes[shapes >= 1.0].tolist(), threads=model.cores)
    weights = np.stack([fit.weights.ravel() for fit in fits])
    return weights, [f"{label}: {column}" for label in classes for column in design.columns]


def _means(model: Any, X: Any, y: Any, shapes: np.ndarray, method: str) -> tuple[np.ndarray, list[str]]:
    """Weights (a, line) of a fit for each a, and a name for each line."""
    fits = [
        type(model)(**(model.get_params() | {"method": method, "a": float(shape), "progressbar": False})).fit(X, y)
        for shape in shapes
    ]
    weights = np.stack([np.asarray(fit.weights_).ravel() for fit in fits])
    return weights, [f"{label}: {column}" for label in fits[0].classes_ for column in fits[0].columns_]
