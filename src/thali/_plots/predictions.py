"""Predicted choice probabilities against the observed proportions."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._aspects.answers.kind import of_choices
from thali._aspects.answers.registry import answers_of
from thali._aspects.maximum_likelihood.answers import estimates_of, is_by_maximum_likelihood
from thali._aspects.maximum_likelihood.tables import estimated_predictions

from ._draws import is_table, posterior_of
from ._fonts import picture
from ._style import COLOURS, label_width, level_of, new_axes, short, short_set

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_WORST = 5
_MARKERS = "osD^v"


@picture
def choice_probabilities(model: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw the observed proportion of each compared pair, or member of a set, against its predicted probability.

    A point is a pair: across, the posterior mean of the probability that its first option is chosen, with its
    interval; up, how often it was chosen. For `Choices` it is a member of an offered set, for best-worst choices an
    option, as the best and as the worst. Points far from the
    diagonal are badly predicted; the five with the largest abs(observed - predicted) / sqrt(predicted (1 - predicted) /
    comparisons) are named. If there are more than 2,000 points, those with the most choices are shown.

    Parameters
    ----------
    model : fitted model, or pandas.DataFrame
        Anything with `posterior_`, or fitted by maximum likelihood, which has no intervals; or the table of its finding
        ``choice_probabilities``.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import thali as th
    >>> model = th.EliminationByAspects("unique").fit(
    ...     th.datasets.celebrities(), draws=500, tune=500, random_seed=1, progressbar=False
    ... )
    >>> choice_probabilities(model).get_ylabel()
    'observed proportion'
    """
    table = model if is_table(model) else _table_of(model)
    observed, predicted, n = (table[name].to_numpy(float) for name in ("observed", "predicted", "n"))
    has_interval = "low" in table
    low, high = (table[name].to_numpy(float) if has_interval else predicted for name in ("low", "high"))
    error = np.sqrt(np.maximum(predicted * (1 - predicted), 1e-12) / n)
    worst = np.argsort(-np.abs(observed - predicted) / error, kind="stable")[:_WORST]
    names, what = _names(table)
    named = [f"{names[k]}\nobserved {observed[k]:.2f}, predicted {predicted[k]:.2f}" for k in worst.tolist()]
    if ax is None:
        (ax,) = new_axes(4.8 + label_width([line for name in named for line in name.split("\n")]), 4.6)
    ax.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, zorder=1)
    bars = {"fmt": "none", "elinewidth": 0.8, "alpha": min(1.0, 0.15 + 30 / len(observed)), "zorder": 2}
    # a mean may lie outside an equal-tailed interval, hence the maximum
    ax.errorbar(predicted, observed, xerr=np.maximum([predicted - low, high - predicted], 0.0), ecolor="0.45", **bars)
    ax.scatter(predicted, observed, s=9, color="0.3", linewidth=0, zorder=3)
    for number, k in enumerate(worst):
        ax.plot(
            predicted[k],
            observed[k],
            _MARKERS[number],
            markersize=8,
            markerfacecolor="none",
            markeredgewidth=1.8,
            color=COLOURS[number],
            label=named[number],
            zorder=4,
        )
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal", anchor="W", ylabel="observed proportion")
    of = table.attrs.get("of", len(table))
    of_all = "" if len(table) == of else f", {len(table):,} of {of:,} {what}"
    shown = f"mean and {level_of(table)} interval" if has_interval else "maximum likelihood"
    ax.set_xlabel(f"predicted probability ({shown}{of_all})")
    ax.spines[["top", "right"]].set_visible(False)
    legend = ax.legend(
        title="Worst-predicted pairs",
        loc="upper left",
        bbox_to_anchor=(1.02, 1),
        frameon=False,
        fontsize=8,
        labelspacing=0.9,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    return ax


def _table_of(model: Any) -> "pandas.DataFrame":
    """What is drawn of a model."""
    if is_by_maximum_likelihood(model):
        return estimated_predictions(estimates_of(model, "choice_probabilities"))
    return answers_of(of_choices(posterior_of(model), "plots.choice_probabilities")).predictions()


def _names(table: "pandas.DataFrame") -> tuple[list[str], str]:
    """The names of what was chosen in each row, and what the rows are."""
    if "named" in table:
        shown = _shortened(table["option"].tolist())
        return [
            f"{shown[label]} named the {which}" for label, which in zip(table["option"], table["named"], strict=True)
        ], "options"
    if "offered" in table:
        shown, is_one_set = _shortened(table["alternative"].tolist()), len(set(table["offered"])) == 1
        rows = zip(table["alternative"], table["offered"], strict=True)
        of_sets = [shown[label] if is_one_set else f"{shown[label]}\nout of {short_set(of)}" for label, of in rows]
        return of_sets, "members of sets"
    shown = _shortened([*table["a"], *table["b"]])
    a, b = ([shown[label] for label in table[side]] for side in ("a", "b"))
    if "outcome" not in table:
        return [_named(*pair) for pair in zip(a, b, strict=True)], "pairs"
    words = {"a": _named, "b": lambda x, y: _named(y, x), "tie": lambda x, y: f"{x} and {y} tied"}
    return [words[how](x, y) for how, x, y in zip(table["outcome"], a, b, strict=True)], "outcomes"


def _shortened(labels: list[str]) -> dict[str, str]:
    options = list(dict.fromkeys(labels))
    return dict(zip(options, short(options), strict=True))


def _named(a: str, b: str) -> str:
    return f"{a}\nover {b}" if len(a) + len(b) > 20 else f"{a} over {b}"
