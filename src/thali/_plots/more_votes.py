"""How probable it is that more votes separate the leaders."""

from typing import TYPE_CHECKING

from ._fonts import picture
from ._style import COLOURS, axes_of, hide_spines, legend_of

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_WAYS = {
    "as_so_far": "votes on pairs in the current mix",
    "among_these": "votes on pairs of the leaders only",
}


@picture("among_these", made_by="more_votes()")
def more_votes(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the probability that the leaders are separated, by the number of further votes.

    Parameters
    ----------
    table : pandas.DataFrame
        What `more_votes()` of a leaderboard returned.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import pandas as pd
    >>> more_votes(pd.DataFrame({"among_these": [0.0, 0.6, 0.9]}, index=[0, 50, 100])).get_ylabel()
    'probability that the leaders are separated'
    """
    ax = axes_of(ax, 5.6, 3.6)
    table = table.loc[table.index > 0]  # on a logarithmic axis
    for number, (way, label) in enumerate(_WAYS.items()):
        if way in table:
            ax.plot(
                table.index,
                table[way],
                color=COLOURS[number],
                marker="o",
                markersize=3.5,
                label=label,
            )
    ax.axhline(0.5, color="0.7", linewidth=0.8, linestyle="--", zorder=0)
    ax.set(xscale="log", ylim=(-0.02, 1.02), xlabel="further votes")
    ax.set_ylabel("probability that the leaders are separated")
    ax.xaxis.set_major_formatter(lambda votes, _: f"{votes:,.0f}")
    hide_spines(ax)
    legend_of(ax, "lower left", (0.0, 1.0))
    return ax
