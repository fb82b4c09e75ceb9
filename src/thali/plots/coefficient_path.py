"""The coefficients of the sparse logit against the rate of their prior: more of them vanish as it rises."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import ArgumentError

from ._fonts import picture
from ._lines import draw_lines
from ._style import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@picture
def coefficient_path(
    model: Any,
    X: Any,
    y: Any,
    eta: "Sequence[float] | None" = None,
    sample_weight: Any = None,
    *,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the most probable coefficients against eta, one line a coefficient.

    The coefficients that stay away from zero up to the largest eta have colours and names, all others are grey. Numbers
    on top count those that are not zero. The dotted line is the eta of the model, if it has a fixed one.

    Parameters
    ----------
    model : SparseMultinomialLogit
        Whose scale, reference class and further arguments are used; it need not be fitted, and is not changed.
    X : array, data frame or sparse matrix (n, d)
    y : sequence (n,)
        Data to fit to.
    eta : sequence of float above 0, optional
        Two or more; None: 30 values, up to the smallest for which all coefficients are 0.
    sample_weight : sequence of float (n,), optional
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ArgumentError
        If there are fewer than two values of eta.
    DataError
        If X, y, the weights or eta cannot be used.

    References
    ----------
    Friedman, Hastie & Tibshirani (2010), Regularization paths for generalized linear models via coordinate descent.

    Examples
    --------
    >>> import numpy as np
    >>> import thali as th
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> ax = coefficient_path(th.SparseMultinomialLogit(), X, X[:, 0] + X[:, 1] > 0.1)
    >>> sorted(text.get_text() for text in ax.get_legend().get_texts())
    ['True, x0', 'True, x1', 'True, x2']
    """
    if eta is not None and len(np.unique(np.asarray(eta))) < 2:
        raise ArgumentError(f"`eta` must be two different numbers above 0 or more; got {eta!r}.")
    table = model.coefficient_path(X, y, eta, sample_weight)[::-1]
    etas = table["eta"].to_numpy()
    columns = [name for name in table.columns if name.startswith("coef[")]
    lines = table[columns].to_numpy()
    names = [name.removeprefix("coef[").removesuffix("]") for name in columns]
    order = np.lexsort((-np.abs(lines).max(axis=0), -(lines != 0.0).sum(axis=0)))

    ax = new_axes(8.0, 4.5)[0] if ax is None else ax
    draw_lines(ax, etas, lines, names, order)
    ax.axhline(0.0, color="0.4", linewidth=0.8, zorder=0)
    if model.eta is not None and etas[0] <= model.eta <= etas[-1]:
        ax.axvline(model.eta, color="0.4", linewidth=0.8, linestyle=(0, (1, 2)), zorder=0)
    ax.set(xlabel="eta, square of the rate of the prior", ylabel="coefficient, standardised covariates")
    marks = ax.get_xticks()
    counts = table["non_zero"].to_numpy()[np.searchsorted(etas, marks).clip(0, len(etas) - 1)]
    top = ax.secondary_xaxis("top")
    top.set_xticks(marks, [f"{count:,}" for count in counts])
    top.minorticks_off()
    top.set_xlabel("coefficients that are not zero")
    return ax
