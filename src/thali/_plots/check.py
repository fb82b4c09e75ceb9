"""What was observed against replicates of the fitted model."""

from typing import TYPE_CHECKING

from thali._data.questions import MEMBER
from thali._model.predictive_check import ROWS, SIMILARITY, get_check_words, list_checked_options
from thali._posterior.interval import level_name
from thali.errors import ArgumentError

from ._fonts import picture
from ._style import COLOURS, axes_of, label_width, legend_of, name_rows, short, short_set

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@picture("observed", "predicted", "low", "high", "missed", made_by="check()", attrs=(ROWS,))
def check(table: "pandas.DataFrame", ax: "Axes | None" = None, max_pairs: int = 40) -> "Axes":
    """Draw each observed proportion or similarity over the interval of its replicates, the worst
    predicted pair first.

    A row is a pair. The bar holds the interval of the replicates, the stroke is the posterior mean
    (of the probability that the first option is chosen, or that the pair is called the most
    similar, or of the similarity), the point is what was observed.

    Parameters
    ----------
    table : pandas.DataFrame
        What `check()` of a fitted model returned.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.
    max_pairs : int, 1 or more
        The largest number of pairs to show.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ArgumentError
        `max_pairs` is less than 1.

    References
    ----------
    Gelman, Meng & Stern (1996), Posterior predictive assessment of model fitness via realized
    discrepancies.

    Examples
    --------
    >>> import thali as th
    >>> model = th.EliminationByAspects("unique").fit(
    ...     th.datasets.celebrities(), draws=500, tune=500, random_seed=1, progressbar=False
    ... )
    >>> check(model.check(), max_pairs=1).get_yticklabels()[0].get_text()
    'JU over CY'
    """
    if max_pairs < 1:
        raise ArgumentError(f"`max_pairs` must be >= 1; got {max_pairs}")
    everything, table = table, table.head(max_pairs)
    of, options = get_check_words(everything), list_checked_options(everything)
    shown = dict(zip(options, short(options), strict=True))
    if everything.attrs[ROWS] == MEMBER:
        table = table.assign(offered=table["offered"].map(short_set))
    names = [of.describe_row(row, shown) for row in table.itertuples()]
    if "group" in table:  # of people
        names = [f"{name} ({group})" for name, group in zip(names, table["group"], strict=True)]
    rows = table.index.to_numpy()
    ax = axes_of(ax, 4.2 + label_width(names), 1.5 + 0.2 * len(rows))

    interval = f"{level_name(everything.attrs['interval'])} predictive interval"
    bar = {"left": table["low"], "height": 0.6, "color": "0.82", "label": interval, "zorder": 1}
    # If all replicates are equal, only the edge of the bar is visible.
    handles = [ax.barh(rows, table["high"] - table["low"], edgecolor="0.82", **bar)]
    handles += ax.plot(
        table["predicted"], rows, "|", color="black", markersize=11, label="predicted", zorder=2
    )
    missed = table["missed"].to_numpy()
    for chosen, label, marker, colour in (
        (~missed, "inside", "o", COLOURS[0]),
        (missed, "outside", "D", COLOURS[1]),
    ):
        if chosen.any():
            mark = {"color": colour, "markersize": 5, "label": f"observed, {label}", "zorder": 3}
            handles += ax.plot(table["observed"].to_numpy()[chosen], rows[chosen], marker, **mark)
    if everything.attrs[ROWS] != SIMILARITY:
        ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    name_rows(ax, rows, names, fontsize=9)
    of_all = (
        ""
        if len(table) == len(everything)
        else f"\n{len(table):,} of {len(everything):,} {of.picture_text}, worst first"
    )
    ax.set_xlabel(f"{of.quantity}{of_all}")
    legend_of(ax, "lower left", (0, 1), handles=handles, ncols=2)
    return ax
