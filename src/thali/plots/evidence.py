"""Log evidence of models, with its errors."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import ArgumentError

from ._fonts import picture
from ._style import COLOURS, label_width, new_axes, short

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@picture
def evidence(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the log evidence of each model with its 89 % interval, the best on top, and its posterior probability.

    Evidence that is not usable has a hollow mark. The row BASE is not drawn.

    Parameters
    ----------
    table : pandas.DataFrame
        What `thali.compare` returns with ``by="evidence"``.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ArgumentError
        If the table is no comparison by evidence.

    Examples
    --------
    >>> import numpy as np, thali as th
    >>> data = th.PairedComparisons(np.array([[0, 3], [1, 0]]))
    >>> models = {"lapse .01": th.EliminationByAspects("unique"), "lapse 0": th.EliminationByAspects("unique", lapse=0)}
    >>> table = th.compare(models, data, by="evidence", draws=50, random_seed=1, progressbar=False)
    >>> len(evidence(table).texts)
    2
    """
    found = evidence_of(table)
    order = sorted(found, key=lambda name: found[name].value)
    ends = np.array([found[name].interval() for name in order])
    names = short([str(name) for name in order])
    if ax is None:
        ax = new_axes(4.2 + label_width(names), 0.9 + 0.32 * len(names))[0]
    for place, name in enumerate(order):
        each = found[name]
        face = COLOURS[0] if each.usable else "white"
        ax.plot(ends[place], [place, place], color=COLOURS[0], linewidth=1.6, zorder=1)
        ax.plot(each.value, place, "o", color=COLOURS[0], markerfacecolor=face, markersize=6, zorder=2)
        text = _probability(float(table.loc[name, "probability"]))  # type: ignore[arg-type]
        ax.annotate(text, (1.02, place), xycoords=("axes fraction", "data"), va="center", fontsize=9)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(-0.6, len(names) - 0.4)
    ax.set_xlabel("log evidence")
    ax.set_title("probability", fontsize=9, loc="right")
    ax.grid(axis="x", color="0.9", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.margins(x=0.08)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def evidence_of(table: Any) -> dict[str, Any]:
    """The evidence of each model of a table."""
    found = getattr(table, "attrs", {}).get("evidence")
    if found is None:
        raise ArgumentError(
            "`table` is no comparison by evidence; give what thali.compare(..., by='evidence') returned, unchanged."
        )
    return found


def _probability(value: float) -> str:
    if value > 0.999:
        return "> .999"
    return "< .001" if value < 0.001 else f"{value:.3f}".lstrip("0")
