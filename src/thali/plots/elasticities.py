"""Elasticities of shares as a matrix."""

from typing import TYPE_CHECKING

import numpy as np

from thali.errors import ArgumentError

from ._fonts import picture
from ._style import GRID, label_width, level_of, new_axes, short

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_SHADES = "PuOr"  # the same to everybody's eye: orange loses, violet wins
_CELL = 1.25, 0.55  # inches


@picture
def elasticities(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw by how many per cent each share changes (columns) if the price of a product rises by one per cent (rows).

    Parameters
    ----------
    table : data frame
        What `elasticities` of a fitted model returned.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ArgumentError
        If it is another table.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"changed": ["A", "A"], "product": ["A", "B"], "elasticity": [-1.2, 0.4]})
    >>> ax = elasticities(table.assign(elasticity_low=[-1.5, 0.3], elasticity_high=[-0.9, 0.5]))
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['A', 'B']
    """
    columns = ["elasticity", "elasticity_low", "elasticity_high"]
    if not {"changed", "product", *columns} <= set(getattr(table, "columns", ())):
        raise ArgumentError(
            "`table` has no elasticities; give the table that `elasticities` of a fitted model returned."
        )
    changed, products = (list(dict.fromkeys(table[name].astype(str))) for name in ("changed", "product"))
    middle, low, high = (table[name].to_numpy(float).reshape(len(changed), len(products)) for name in columns)
    rows, names = short(changed), short(products)
    if ax is None:
        width, height = max(_CELL[0], 0.2 + label_width(names)) * len(names), _CELL[1] * len(rows)
        (ax,) = new_axes(label_width(rows) + 0.6 + width, 0.9 + height)
    most = float(np.nanmax(np.abs(middle), initial=1e-9))
    ax.imshow(middle, cmap=_SHADES, vmin=-1.6 * most, vmax=1.6 * most, aspect="auto")
    for row, column in np.ndindex(middle.shape):
        figures = f"{low[row, column]:.2f} to {high[row, column]:.2f}"
        ax.text(column, row, f"{middle[row, column]:.2f}\n({figures})", ha="center", va="center", fontsize=8)
    ax.set_xticks(range(len(names)), names, parse_math=False)
    ax.set_yticks(range(len(rows)), rows, parse_math=False)
    ax.set_xticks(np.arange(0.5, len(names) - 1), minor=True)
    ax.set_yticks(np.arange(0.5, len(rows) - 1), minor=True)
    ax.grid(which="minor", color=GRID, linewidth=1.0)
    ax.tick_params(which="both", length=0)
    ax.set_xlabel(f"share of (change in per cent, and its {level_of(table)} interval)")
    ax.set_ylabel(f"{table.attrs.get('attribute', 'price')} of: 1 % more", parse_math=False)
    ax.spines[:].set_visible(False)
    return ax
