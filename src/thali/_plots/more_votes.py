"""Plot of the probability that more votes separate the leading options."""

from typing import TYPE_CHECKING

from thali.errors import ArgumentError

from ._fonts import picture
from ._style import COLOURS, add_legend, ensure_axes, hide_spines

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_LABELS = {
    "as_so_far": "in the current mix",
    "among_these": "on pairs of the leaders only",
}


@picture(made_by="more_votes()")
def more_votes(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the probability of separated leaders by the number of additional votes.

    Parameters
    ----------
    table : pandas.DataFrame
        The table that `more_votes()` of a leaderboard returns.
    ax : matplotlib axes, optional
        Axes to draw in; None creates a new figure.

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
    >>> more_votes(pd.DataFrame({"as_so_far": [0.0, 0.6, 0.9]}, index=[0, 50, 100])).get_ylabel()
    'probability that the leaders are separated'
    """
    if _LABELS.keys().isdisjoint(table.columns):
        raise ArgumentError(
            "plots.more_votes requires 'as_so_far' or 'among_these', as in the table that"
            " more_votes() returns."
        )
    ax = ensure_axes(ax, 5.6, 3.6)
    table = table.loc[table.index > 0]  # the axis is logarithmic
    unit = "votes"
    if "among_these" not in table:  # items of a benchmark, with scores of all options
        unit = "items"
    for index, (column, label) in enumerate(_LABELS.items()):
        if column in table:
            ax.plot(
                table.index,
                table[column],
                color=COLOURS[index],
                marker="o",
                markersize=3.5,
                label=f"{unit} {label}",
            )
    ax.axhline(0.5, color="0.7", linewidth=0.8, linestyle="--", zorder=0)
    ax.set(xscale="log", ylim=(-0.02, 1.02), xlabel=f"further {unit}")
    ax.set_ylabel("probability that the leaders are separated")
    ax.xaxis.set_major_formatter(lambda votes, _: f"{votes:,.0f}")
    hide_spines(ax)
    add_legend(ax, "lower left", (0.0, 1.0))
    return ax
