"""Plot of observed against predicted proportions or similarities."""

from typing import TYPE_CHECKING

import numpy as np

from thali._number_format import format_number, format_percent

from ._fonts import picture
from ._style import (
    add_legend,
    ensure_axes,
    format_interval_level,
    hide_spines,
    map_short_labels,
    mark_points,
    measure_label_width,
    shorten_member_list,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_MAX_NAMED = 5


@picture("observed", "predicted", made_by="findings()['choice_probabilities']")
def predictions(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw observed proportions or similarities against predictions.

    A point is a pair: the horizontal position is the posterior mean of the probability that its
    first option is chosen, with its interval; the vertical position is the observed proportion. For
    `Choices` it is a member of an offered set, for best-worst choices an option, as the best and as
    the worst; for similarities the mean and the observation, which scatters about the line by the
    standard deviation of a similarity. Points far from the diagonal are badly predicted; the five
    with the largest abs(observed - predicted), for proportions divided by sqrt(predicted (1 -
    predicted) / comparisons), are named. Of more than 2,000 points, those with the most choices are
    shown, or evenly spaced ones.

    Parameters
    ----------
    table : pandas.DataFrame
        The table of the finding "choice_probabilities" of a fitted model; a fit by maximum
        likelihood has no intervals. Without a column `n` the rows are similarities.
    ax : matplotlib axes, optional
        Axes to draw in; None creates a new figure.

    Returns
    -------
    matplotlib axes

    References
    ----------
    Navarro & Griffiths (2007), section 4, "approximate expectation", for the variance accounted
    for.

    Examples
    --------
    >>> import thali as th
    >>> model = th.EliminationByAspects("unique").fit(
    ...     th.datasets.celebrities(), draws=500, tune=500, random_seed=1, progressbar=False
    ... )
    >>> model.plot("predictions").get_ylabel()
    'observed proportion'
    """
    is_share = "n" in table
    observed, predicted = (table[name].to_numpy(float) for name in ("observed", "predicted"))
    low = high = predicted
    point_note = "maximum likelihood"
    if "low" in table:
        low = table["low"].to_numpy(float)
        high = table["high"].to_numpy(float)
        point_note = f"mean and {format_interval_level(table)} interval"
    if is_share:
        error = np.sqrt(np.maximum(predicted * (1 - predicted), 1e-12) / table["n"].to_numpy(float))
        limits = np.array([-0.02, 1.02])
        format_value = "{:.2f}".format
        axis_nouns = ("proportion", "probability")
    else:
        error = np.ones(len(table))
        format_value = format_number
        axis_nouns = ("similarity", "similarity")
        limits = np.array([min(observed.min(), low.min()), max(observed.max(), high.max())])
        limits += np.array([-0.03, 0.03]) * max(float(np.ptp(limits)), 1e-9)
    worst_rows = np.argsort(-np.abs(observed - predicted) / error, kind="stable")[:_MAX_NAMED]
    point_names, row_noun = _name_points(table)
    labels = [
        f"{point_names[k]}\nobserved {format_value(float(observed[k]))},"
        f" predicted {format_value(float(predicted[k]))}"
        for k in worst_rows.tolist()
    ]
    ax = ensure_axes(ax, 5.0 + measure_label_width(labels), 4.7)
    ax.plot(limits, limits, color="0.6", linewidth=0.8, zorder=1)
    # a mean may be outside an equal-tailed interval, hence the maximum
    ax.errorbar(
        predicted,
        observed,
        xerr=np.maximum([predicted - low, high - predicted], 0.0),
        ecolor="0.45",
        fmt="none",
        elinewidth=0.8,
        alpha=min(1.0, 0.15 + 30 / len(observed)),
        zorder=2,
    )
    ax.scatter(predicted, observed, s=9, color="0.3", linewidth=0, zorder=3)
    mark_points(ax, predicted[worst_rows], observed[worst_rows], labels)
    ax.set(xlim=limits, ylim=limits, aspect="equal", anchor="W", ylabel=f"observed {axis_nouns[0]}")
    n_total = table.attrs.get("of", len(table))
    if len(table) < n_total:
        point_note += f", {len(table):,} of {n_total:,} {row_noun}"
    ax.set_xlabel(f"predicted {axis_nouns[1]} ({point_note})")
    if "explained" in table.attrs:
        ax.set_title(_format_title(table.attrs["explained"]), fontsize=10, loc="left")
    hide_spines(ax)
    add_legend(ax, "upper left", (1.02, 1), title="Worst-predicted pairs", labelspacing=0.9)
    return ax


def _format_title(share: float) -> str:
    """Return the plot's title: share of variance accounted for."""
    if np.isnan(share):
        return "all similarities are equal"
    return f"variance accounted for: {format_percent(share, 1)}"


def _name_points(table: "pandas.DataFrame") -> tuple[list[str], str]:
    """Return the names of all rows, and the noun for what they are."""
    if "named" in table:
        short_labels = map_short_labels(table["option"].tolist())
        return [
            f"{short_labels[label]} named the {role}"
            for label, role in zip(table["option"], table["named"], strict=True)
        ], "options"
    if "offered" in table:
        short_labels = map_short_labels(table["alternative"].tolist())
        point_names = [short_labels[label] for label in table["alternative"]]
        if len(set(table["offered"])) > 1:
            set_labels = map(shorten_member_list, table["offered"])
            point_names = [
                f"{name}\nout of {members}"
                for name, members in zip(point_names, set_labels, strict=True)
            ]
        return point_names, "members of sets"
    short_labels = map_short_labels([*table["a"], *table["b"]])
    a, b = ([short_labels[label] for label in table[column]] for column in ("a", "b"))
    conjunction = "and"
    if "n" in table:
        conjunction = "over"
    if "outcome" not in table:
        return [_format_pair(x, y, conjunction) for x, y in zip(a, b, strict=True)], "pairs"
    format_by_outcome = {
        "a": _format_pair,
        "b": lambda x, y: _format_pair(y, x),
        "tie": lambda x, y: f"{x} and {y} tied",
    }
    return [
        format_by_outcome[outcome](x, y)
        for outcome, x, y in zip(table["outcome"], a, b, strict=True)
    ], "outcomes"


def _format_pair(a: str, b: str, conjunction: str = "over") -> str:
    """Return "a over b", on two lines if long."""
    separator = " "
    if len(a) + len(b) > 20:
        separator = "\n"
    return f"{a}{separator}{conjunction} {b}"
