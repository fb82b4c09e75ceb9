"""Plot of observed statistics over intervals of posterior replicates."""

from typing import TYPE_CHECKING

from thali._data.questions import MEMBER
from thali._model.predictive_check import ROWS, SIMILARITY, get_check_words, list_checked_options
from thali.errors import ArgumentError

from ._fonts import picture
from ._style import (
    MISSED_STYLES,
    add_legend,
    ensure_axes,
    format_interval_level,
    label_rows,
    measure_label_width,
    shorten_labels,
    shorten_member_list,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@picture("observed", "predicted", "low", "high", "missed", made_by="check()", attrs=(ROWS,))
def check(table: "pandas.DataFrame", ax: "Axes | None" = None, max_pairs: int = 40) -> "Axes":
    """Draw observations over intervals of their replicates, worst predicted first.

    Each row is a pair. The bar is the interval of the replicates, the line is the posterior mean
    (of the probability that the first option is chosen, or that the pair is called the most
    similar, or of the similarity), the point is the observation.

    Parameters
    ----------
    table : pandas.DataFrame
        The table that `check()` of a fitted model returns.
    ax : matplotlib axes, optional
        Axes to draw in; None creates a new figure.
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
    full_table = table
    table = table.head(max_pairs)
    check_words = get_check_words(full_table)
    options = list_checked_options(full_table)
    short_labels = dict(zip(options, shorten_labels(options), strict=True))
    if full_table.attrs[ROWS] == MEMBER:
        table = table.assign(offered=table["offered"].map(shorten_member_list))
    row_names = [check_words.describe_row(row, short_labels) for row in table.itertuples()]
    if "group" in table:  # of people
        row_names = [
            f"{name} ({group})" for name, group in zip(row_names, table["group"], strict=True)
        ]
    rows = table.index.to_numpy()
    ax = ensure_axes(ax, 4.2 + measure_label_width(row_names), 1.5 + 0.2 * len(rows))

    # If all replicates are equal, only the edge of the bar is visible.
    bars = ax.barh(
        rows,
        table["high"] - table["low"],
        left=table["low"],
        height=0.6,
        color="0.82",
        edgecolor="0.82",
        label=f"{format_interval_level(full_table)} predictive interval",
        zorder=1,
    )
    mean_marks = ax.plot(
        table["predicted"], rows, "|", color="black", markersize=11, label="predicted", zorder=2
    )
    legend_handles = [bars, *mean_marks]
    for is_outside_interval, label, marker, colour in MISSED_STYLES:
        has_style = table["missed"].to_numpy() == is_outside_interval
        if has_style.any():
            legend_handles += ax.plot(
                table["observed"].to_numpy()[has_style],
                rows[has_style],
                marker,
                color=colour,
                markersize=5,
                label=f"observed, {label}",
                zorder=3,
            )
    if full_table.attrs[ROWS] != SIMILARITY:
        ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    label_rows(ax, rows, row_names, fontsize=9)
    x_label = check_words.quantity
    if len(table) < len(full_table):
        x_label += (
            f"\n{len(table):,} of {len(full_table):,} {check_words.picture_text}, worst first"
        )
    ax.set_xlabel(x_label)
    add_legend(ax, "lower left", (0, 1), handles=legend_handles, ncols=2)
    return ax
