"""Plot of observed class frequencies against predicted probabilities."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import ArgumentError

from ._fonts import picture
from ._style import (
    MISSED_STYLES,
    create_axes,
    format_interval_level,
    hide_spines,
    measure_label_width,
    shorten_labels,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_AXES_SIDE = 2.25  # inches per class
_MAX_IN_ROW = 4  # axes per row
_TICKS = [0.0, 0.5, 1.0]
_TICK_LABELS = ["0", "", "1"]


@picture(
    "class", "rows", "predicted", "observed", "low", "high", "missed", made_by="calibration(X, y)"
)
def calibration(
    table: "pandas.DataFrame", ax: "Sequence[Axes] | None" = None, max_classes: int = 12
) -> "list[Axes]":
    """Draw the frequency of each class against its predicted probability.

    A point is a bin of predicted probability: larger if it has more rows, a diamond if it is
    outside its bar. The bar is the 89 % interval of replicates: labels drawn at every draw of the
    posterior, or from the predicted probabilities if there are no draws. If predictions are
    calibrated, points are near the dashed line.

    Parameters
    ----------
    table : pandas.DataFrame
        The table that `calibration(X, y)` of a fitted classifier returns.
    ax : sequence of matplotlib axes, optional
        Axes to draw in, one per class (for two classes only the second); None creates a new figure.
    max_classes : int, 1 or more
        The largest number of classes to show, the most frequently predicted first.

    Returns
    -------
    list of matplotlib axes

    Raises
    ------
    ArgumentError
        If `max_classes` is less than 1, or the number of axes differs from the number of classes.

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
    expected_counts: Any = (
        (table["rows"] * table["predicted"]).groupby(table["class"], sort=False).sum()
    )
    shown_classes = expected_counts.sort_values(ascending=False, kind="stable").index[:max_classes]
    labels = [label for label in expected_counts.index if label in set(shown_classes)]
    short_labels = shorten_labels(list(map(str, labels)))
    n_panel_columns = min(len(labels), _MAX_IN_ROW)
    n_panel_rows = -(-len(labels) // n_panel_columns)
    is_new_figure = ax is None
    axes = ax
    if axes is None:
        axes_side = max(_AXES_SIDE, measure_label_width(short_labels) + 0.1)
        axes = create_axes(
            0.6 + axes_side * n_panel_columns,
            0.8 + (_AXES_SIDE + 0.2) * n_panel_rows,
            n_panel_rows,
            n_panel_columns,
        )
        for unused_axes in axes[len(labels) :]:
            unused_axes.set_visible(False)
        axes = axes[: len(labels)]
    elif len(axes) != len(labels):
        raise ArgumentError(
            f"`ax` must have one axis per class shown ({len(labels)}); got {len(axes)}."
        )
    max_root_rows = float(np.sqrt(table["rows"].max()))
    for index, (panel, label, short_label) in enumerate(
        zip(axes, labels, short_labels, strict=True)
    ):
        _draw_class(panel, table.loc[table["class"] == label], max_root_rows)
        panel.set_title(short_label, fontsize=9, parse_math=False)
        if index % n_panel_columns == 0:
            panel.set_ylabel("observed frequency", fontsize=9)
        if index + n_panel_columns >= len(labels):
            panel.set_xlabel("predicted probability", fontsize=9)
    legend_handles = [handle for panel in axes for handle in panel.get_legend_handles_labels()[0]]
    handle_by_label = {str(handle.get_label()): handle for handle in legend_handles}
    legend_owner = axes[0]
    legend_corner = "upper left"
    n_legend_columns = 1
    if is_new_figure:
        legend_owner = axes[0].figure
        legend_corner = "outside upper left"
    if is_new_figure and n_panel_columns > 1:
        n_legend_columns = 3
    legend_owner.legend(
        handle_by_label.values(),
        handle_by_label,
        loc=legend_corner,
        ncols=n_legend_columns,
        frameon=False,
        fontsize=8,
        handletextpad=0.4,
    )
    return list(axes)


def _draw_class(ax: "Axes", table: "pandas.DataFrame", max_root_rows: float) -> None:
    """Draw the bins of one class: frequency against predicted probability."""
    # `max_root_rows` is the square root of the rows of the largest bin.
    ax.plot([0, 1], [0, 1], linestyle="--", color="0.5", linewidth=0.9, zorder=0)
    ax.vlines(
        table["predicted"],
        table["low"],
        table["high"],
        color="0.82",
        linewidth=4.0,
        label=f"{format_interval_level(table)} predictive interval",
        zorder=1,
    )
    marker_areas = 14.0 + 50.0 * np.sqrt(table["rows"].to_numpy()) / max_root_rows
    for is_outside_interval, label, marker, colour in MISSED_STYLES:
        has_style = table["missed"].to_numpy() == is_outside_interval
        if has_style.any():
            ax.scatter(
                table["predicted"][has_style],
                table["observed"][has_style],
                s=marker_areas[has_style],
                label=f"observed, {label}",
                marker=marker,
                color=colour,
                edgecolor="white",
                linewidth=0.5,
                zorder=3,
            )
    ax.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04), aspect="equal")
    ax.set_xticks(_TICKS, _TICK_LABELS)
    ax.set_yticks(_TICKS, _TICK_LABELS)
    hide_spines(ax)
