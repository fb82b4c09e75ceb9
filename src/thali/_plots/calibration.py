"""The frequency of each class against its predicted probability."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import ArgumentError

from ._fonts import picture
from ._style import COLOURS, hide_spines, label_width, level_of, new_axes, short

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_SIDE = 2.25  # inches of the axes of a class
_MAX_IN_ROW = 4  # axes in a row
_TICKS = ([0.0, 0.5, 1.0], ["0", "", "1"])


@picture(
    "class", "rows", "predicted", "observed", "low", "high", "missed", made_by="calibration(X, y)"
)
def calibration(
    table: "pandas.DataFrame", ax: "Sequence[Axes] | None" = None, max_classes: int = 12
) -> "list[Axes]":
    """Draw the frequency of each class against its predicted probability, in intervals of that
    probability.

    A point is a bin: larger where it has more rows, a diamond where it lies outside of its bar. The
    bar holds 89 % of replicates, labels drawn at every draw of the posterior, or from the predicted
    probabilities where there are no draws. Where predictions are calibrated, points lie near the
    dashed line.

    Parameters
    ----------
    table : pandas.DataFrame
        What `calibration(X, y)` of a fitted classifier returned.
    ax : sequence of matplotlib axes, optional
        Where to draw, one for each class (of two classes only the second); a new figure if None.
    max_classes : int, 1 or more
        The largest number of classes to show, those that are predicted most often first.

    Returns
    -------
    list of matplotlib axes

    Raises
    ------
    ArgumentError
        If `max_classes` is less than 1, or `ax` are not one for each class.

    References
    ----------
    Bröcker & Smith (2007), Increasing the reliability of reliability diagrams.

    Examples
    --------
    >>> import numpy as np
    >>> import thali as th
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> y = np.where(X[:, 0] + rng.logistic(size=400) > 0, "yes", "no")
    >>> model = th.SparseMultinomialLogit(method="map", eta=1.0).fit(X[:200], y[:200])
    >>> [ax.get_title() for ax in calibration(model.calibration(X[200:], y[200:]))]
    ['yes']
    """
    if max_classes < 1:
        raise ArgumentError(f"`max_classes` must be >= 1; got {max_classes}.")
    expected: Any = (table["rows"] * table["predicted"]).groupby(table["class"], sort=False).sum()
    classes = expected.sort_values(ascending=False, kind="stable").index[:max_classes]
    shown = [label for label in expected.index if label in set(classes)]
    names = short(list(map(str, shown)))
    columns = min(len(shown), _MAX_IN_ROW)
    rows, is_new = -(-len(shown) // columns), ax is None
    axes = ax
    if axes is None:
        side = max(_SIDE, label_width(names) + 0.1)
        axes = new_axes(0.6 + side * columns, 0.8 + (_SIDE + 0.2) * rows, rows, columns)
        for unused in axes[len(shown) :]:
            unused.set_visible(False)
        axes = axes[: len(shown)]
    elif len(axes) != len(shown):
        raise ArgumentError(
            f"`ax` must have one axis per class shown ({len(shown)}); got {len(axes)}."
        )
    most = float(np.sqrt(table["rows"].max()))
    for number, (panel, label, name) in enumerate(zip(axes, shown, names, strict=True)):
        _draw(panel, table.loc[table["class"] == label], most)
        panel.set_title(name, fontsize=9, parse_math=False)
        if number % columns == 0:
            panel.set_ylabel("observed frequency", fontsize=9)
        if number + columns >= len(shown):
            panel.set_xlabel("predicted probability", fontsize=9)
    handles = [handle for panel in axes for handle in panel.get_legend_handles_labels()[0]]
    named = {str(handle.get_label()): handle for handle in handles}
    look = {"frameon": False, "fontsize": 8, "handletextpad": 0.4}
    if is_new:
        look |= {"loc": "outside upper left", "ncols": 1 if columns == 1 else 3}
        axes[0].figure.legend(named.values(), named, **look)
    else:
        axes[0].legend(named.values(), named, loc="upper left", **look)
    return list(axes)


def _draw(ax: "Axes", table: "pandas.DataFrame", most: float) -> None:
    """The bins of one class; `most` is the square root of the rows of the largest one."""
    ax.plot([0, 1], [0, 1], linestyle="--", color="0.5", linewidth=0.9, zorder=0)
    bar = {
        "color": "0.82",
        "linewidth": 4.0,
        "label": f"{level_of(table)} predictive interval",
        "zorder": 1,
    }
    ax.vlines(table["predicted"], table["low"], table["high"], **bar)
    size = 14.0 + 50.0 * np.sqrt(table["rows"].to_numpy()) / most
    missed = table["missed"].to_numpy()
    for chosen, label, marker, colour in (
        (~missed, "inside", "o", COLOURS[0]),
        (missed, "outside", "D", COLOURS[1]),
    ):
        if chosen.any():
            look = {
                "marker": marker,
                "color": colour,
                "edgecolor": "white",
                "linewidth": 0.5,
                "zorder": 3,
            }
            places = table["predicted"][chosen], table["observed"][chosen]
            ax.scatter(*places, s=size[chosen], label=f"observed, {label}", **look)
    ax.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04), aspect="equal")
    ax.set_xticks(*_TICKS)
    ax.set_yticks(*_TICKS)
    hide_spines(ax)
