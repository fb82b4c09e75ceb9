"""Plots of non-negative dimensions: their highest objects, and all values as a matrix."""

from typing import TYPE_CHECKING

import numpy as np

from ._fonts import picture
from ._style import (
    COLOURS,
    SHADES,
    create_axes,
    ensure_axes,
    hide_spines,
    label_columns,
    label_rows,
    measure_label_width,
    shorten_labels,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_MAX_PANELS = 12
_N_COLUMNS = 3
_RECURRING = 0.8  # reproducibility below which bars are pale
_MAX_LABELS = 120


@picture(made_by="dimensions()", attrs=("reproducibility",))
def dimensions(
    table: "pandas.DataFrame", ax: "Axes | None" = None, n_objects: int = 8
) -> "list[Axes]":
    """Draw the objects with the highest values on each of the heaviest dimensions.

    Parameters
    ----------
    table : pandas.DataFrame
        The table that `dimensions()` of a fitted model returns. Dimensions of a reproducibility
        below 0.8 are pale.
    ax : sequence of matplotlib axes, optional
        Axes to draw in, one for each dimension, up to 12; None creates a new figure.
    n_objects : int
        Number of objects per dimension.

    Returns
    -------
    list of matplotlib axes

    Examples
    --------
    >>> import thali as th
    >>> model = th.NonnegativeDimensions.from_embedding([[2, 0], [1, 0], [0, 2]], ["a", "b", "c"])
    >>> [panel.get_title(loc="left") for panel in dimensions(model.dimensions(), n_objects=2)]
    ['dimension 1', 'dimension 2']
    """
    n_panels = min(table.shape[1], _MAX_PANELS)
    labels = shorten_labels(table.index.tolist())
    n_objects = min(n_objects, len(labels))
    axes: list[Axes] = []
    if ax is not None:
        axes = list(np.atleast_1d(np.asarray(ax, dtype=object)))
    else:
        n_columns = min(_N_COLUMNS, n_panels)
        n_rows = -(-n_panels // n_columns)
        width = n_columns * (1.7 + measure_label_width(labels))
        axes = create_axes(width, n_rows * (0.6 + 0.2 * n_objects), n_rows, n_columns)
    reproducibility = table.attrs["reproducibility"]
    for column, panel in enumerate(axes):
        if column >= n_panels:
            panel.set_axis_off()
            continue
        values = table.iloc[:, column].to_numpy()
        order = np.argsort(-values, kind="stable")[:n_objects]
        shade = 1.0
        if reproducibility[table.columns[column]] < _RECURRING:
            shade = 0.35
        y = np.arange(len(order))
        panel.barh(y, values[order], color=COLOURS[0], alpha=shade, height=0.7)
        label_rows(panel, y, [labels[k] for k in order], fontsize=8)
        panel.invert_yaxis()
        panel.tick_params(axis="x", labelsize=7)
        panel.set_title(f"dimension {table.columns[column]}", loc="left", fontsize=9)
        hide_spines(panel)
    return axes[:n_panels]


@picture(made_by="dimensions()", attrs=("reproducibility",))
def dimension_map(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the values of all objects on all dimensions as a matrix.

    Objects are ordered by the dimension on which they are highest.

    Parameters
    ----------
    table : pandas.DataFrame
        The table that `dimensions()` of a fitted model returns.
    ax : matplotlib axes, optional
        Axes to draw in; None creates a new figure.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import thali as th
    >>> model = th.NonnegativeDimensions.from_embedding([[2, 0], [0, 2], [3, 0]], ["a", "b", "c"])
    >>> [tick.get_text() for tick in dimension_map(model.dimensions()).get_yticklabels()]
    ['c', 'a', 'b']
    """
    values = table.to_numpy()
    order = np.lexsort((-values.max(axis=1), values.argmax(axis=1)))
    n, n_columns = values.shape
    labels = shorten_labels(table.index.tolist())
    cell_height = min(0.2, 20 / n)
    width = measure_label_width(labels) + max(2.0, 0.3 * n_columns) + 1.4
    ax = ensure_axes(ax, width, max(2.4, cell_height * n + 0.9))
    mesh = ax.pcolormesh(
        np.arange(n_columns + 1), np.arange(n + 1), values[order], cmap=SHADES, vmin=0.0
    )
    ax.set(ylim=(n, 0))
    step = -(-n // _MAX_LABELS)
    font_size = 9
    if n > 60:
        font_size = 5
    row_labels = [labels[k] for k in order[::step]]
    ax.set_yticks(np.arange(0, n, step) + 0.5, row_labels, parse_math=False, fontsize=font_size)
    ax.set_xticks(np.arange(n_columns) + 0.5, list(map(str, table.columns)), fontsize=7)
    ax.set_xlabel("dimension")
    label_columns(ax, mesh, "value")
    return ax
