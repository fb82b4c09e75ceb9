"""What was observed against what the model predicts."""

from typing import TYPE_CHECKING

import numpy as np

from thali._digits import number, percent

from ._fonts import picture
from ._style import (
    axes_of,
    hide_spines,
    label_width,
    legend_of,
    level_of,
    mark_points,
    short_set,
    shortened,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_WORST = 5


@picture("observed", "predicted", made_by="findings()['choice_probabilities']")
def predictions(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw the observed proportion of each pair, or member of a set, or its similarity, against the
    predicted one.

    A point is a pair: across, the posterior mean of the probability that its first option is
    chosen, with its interval; up, how often it was chosen. For `Choices` it is a member of an
    offered set, for best-worst choices an option, as the best and as the worst; for similarities
    the mean and the observation, which scatters about the line by the standard deviation of a
    similarity. Points far from the diagonal are badly predicted; the five with the largest
    abs(observed - predicted), of proportions divided by sqrt(predicted (1 - predicted) /
    comparisons), are named. If there are more than 2,000 points, those with the most choices are
    shown, or evenly spaced ones.

    Parameters
    ----------
    table : pandas.DataFrame
        The table of the finding "choice_probabilities" of a fitted model; that of a fit by maximum
        likelihood has no intervals. Without a column `n` it is of similarities.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

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
    has_interval, is_share = "low" in table, "n" in table
    observed, predicted = (table[name].to_numpy(float) for name in ("observed", "predicted"))
    low, high = (
        table[name].to_numpy(float) if has_interval else predicted for name in ("low", "high")
    )
    if is_share:
        error = np.sqrt(np.maximum(predicted * (1 - predicted), 1e-12) / table["n"].to_numpy(float))
        ends, written, quantities = (
            np.array([-0.02, 1.02]),
            "{:.2f}".format,
            ("proportion", "probability"),
        )
    else:
        error, written, quantities = np.ones(len(table)), number, ("similarity", "similarity")
        ends = np.array([min(observed.min(), low.min()), max(observed.max(), high.max())])
        ends += np.array([-0.03, 0.03]) * max(float(np.ptp(ends)), 1e-9)
    worst = np.argsort(-np.abs(observed - predicted) / error, kind="stable")[:_WORST]
    names, what = _names(table)
    named = [
        f"{names[k]}\nobserved {written(float(observed[k]))}, predicted"
        f" {written(float(predicted[k]))}"
        for k in worst.tolist()
    ]
    ax = axes_of(ax, 4.8 + label_width([line for name in named for line in name.split("\n")]), 4.7)
    ax.plot(ends, ends, color="0.6", linewidth=0.8, zorder=1)
    bars = {
        "fmt": "none",
        "elinewidth": 0.8,
        "alpha": min(1.0, 0.15 + 30 / len(observed)),
        "zorder": 2,
    }
    # a mean may lie outside an equal-tailed interval, hence the maximum
    ax.errorbar(
        predicted,
        observed,
        xerr=np.maximum([predicted - low, high - predicted], 0.0),
        ecolor="0.45",
        **bars,
    )
    ax.scatter(predicted, observed, s=9, color="0.3", linewidth=0, zorder=3)
    mark_points(ax, predicted[worst], observed[worst], named)
    ax.set(xlim=ends, ylim=ends, aspect="equal", anchor="W", ylabel=f"observed {quantities[0]}")
    of = table.attrs.get("of", len(table))
    of_all = "" if len(table) == of else f", {len(table):,} of {of:,} {what}"
    shown = f"mean and {level_of(table)} interval" if has_interval else "maximum likelihood"
    ax.set_xlabel(f"predicted {quantities[1]} ({shown}{of_all})")
    if "explained" in table.attrs:
        ax.set_title(_title(table.attrs["explained"]), fontsize=10, loc="left")
    hide_spines(ax)
    legend_of(ax, "upper left", (1.02, 1), title="Worst-predicted pairs", labelspacing=0.9)
    return ax


def _title(share: float) -> str:
    """How much of the variance of similarities is accounted for."""
    return (
        "all similarities are equal"
        if np.isnan(share)
        else f"variance accounted for: {percent(share, 1)}"
    )


def _names(table: "pandas.DataFrame") -> tuple[list[str], str]:
    """The names of what was chosen in each row, and what the rows are."""
    if "named" in table:
        shown = shortened(table["option"].tolist())
        return [
            f"{shown[label]} named the {which}"
            for label, which in zip(table["option"], table["named"], strict=True)
        ], "options"
    if "offered" in table:
        shown, is_one_set = (
            shortened(table["alternative"].tolist()),
            len(set(table["offered"])) == 1,
        )
        rows = zip(table["alternative"], table["offered"], strict=True)
        of_sets = [
            shown[label] if is_one_set else f"{shown[label]}\nout of {short_set(of)}"
            for label, of in rows
        ]
        return of_sets, "members of sets"
    shown = shortened([*table["a"], *table["b"]])
    a, b = ([shown[label] for label in table[side]] for side in ("a", "b"))
    between = "over" if "n" in table else "and"
    if "outcome" not in table:
        return [_named(*pair, between) for pair in zip(a, b, strict=True)], "pairs"
    words = {"a": _named, "b": lambda x, y: _named(y, x), "tie": lambda x, y: f"{x} and {y} tied"}
    return [words[how](x, y) for how, x, y in zip(table["outcome"], a, b, strict=True)], "outcomes"


def _named(a: str, b: str, between: str = "over") -> str:
    """Two options, on two lines if they are long."""
    return f"{a}\n{between} {b}" if len(a) + len(b) > 20 else f"{a} {between} {b}"
