"""Predicted choice probabilities against the observed proportions."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.plots._style import COLOURS, label_width, new_axes, short
from thali.posterior.columns import columns_of
from thali.posterior.interval import INTERVAL, TAILS
from thali.posterior.kind import of_pairs
from thali.posterior.probabilities import probability_draws
from thali.posterior.store import MOST_PAIRS

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

_WORST = 5
_MARKERS = "osD^v"


def choice_probabilities(model: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw the observed proportion of each compared pair against its predicted probability.

    A point is a pair: across, the posterior mean of the probability that its first option is chosen, with its
    interval; up, how often it was chosen. Points far from the diagonal are badly predicted; the five with the
    largest abs(observed - predicted) / sqrt(predicted (1 - predicted) / comparisons) are named. Of more than
    2,000 pairs those with the most comparisons are shown.

    Parameters
    ----------
    model : fitted model
        Anything with `posterior_`.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes

    Example
    -------
    >>> import thali as th
    >>> model = th.EliminationByAspects("unique").fit(
    ...     th.datasets.celebrities(), draws=500, tune=500, random_seed=1, progressbar=False
    ... )
    >>> choice_probabilities(model).get_ylabel()
    'observed proportion'
    """
    tree = of_pairs(model.posterior_, "plots.choice_probabilities")
    observed_data, constant = tree["observed_data"].to_dataset(), tree["constant_data"].to_dataset()
    wins = observed_data["wins"].values
    comparisons = wins + observed_data["losses"].values
    pairs = np.sort(np.argsort(-comparisons, kind="stable")[:MOST_PAIRS])
    first, second = constant["first"].values[pairs], constant["second"].values[pairs]
    predicted, low, high = _predictions(tree, first, second, float(constant["lapse"]))
    observed, comparisons = wins[pairs] / comparisons[pairs], comparisons[pairs]
    error = np.sqrt(np.maximum(predicted * (1 - predicted), 1e-12) / comparisons)
    worst = np.argsort(-np.abs(observed - predicted) / error, kind="stable")[:_WORST]

    labels = short(constant["option"].values.tolist())
    named = [
        _name(labels[first[pair]], labels[second[pair]], float(observed[pair]), float(predicted[pair]))
        for pair in worst
    ]
    if ax is None:
        (ax,) = new_axes(4.8 + label_width([line for name in named for line in name.split("\n")]), 4.6)
    ax.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, zorder=1)
    bars = {"fmt": "none", "elinewidth": 0.8, "alpha": min(1.0, 0.15 + 30 / len(pairs)), "zorder": 2}
    # a mean may lie outside an equal-tailed interval, hence the maximum
    ax.errorbar(predicted, observed, xerr=np.maximum([predicted - low, high - predicted], 0.0), ecolor="0.45", **bars)
    ax.scatter(predicted, observed, s=9, color="0.3", linewidth=0, zorder=3)
    for number, pair in enumerate(worst):
        ax.plot(
            predicted[pair],
            observed[pair],
            _MARKERS[number],
            markersize=8,
            markerfacecolor="none",
            markeredgewidth=1.8,
            color=COLOURS[number],
            label=named[number],
            zorder=4,
        )
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal", anchor="W", ylabel="observed proportion")
    of_all = "" if len(pairs) == len(wins) else f", {len(pairs):,} of {len(wins):,} pairs"
    ax.set_xlabel(f"predicted probability (mean and {INTERVAL:.0%} interval{of_all})")
    ax.spines[["top", "right"]].set_visible(False)
    legend = ax.legend(
        title="worst predicted",
        loc="upper left",
        bbox_to_anchor=(1.02, 1),
        frameon=False,
        fontsize=8,
        labelspacing=0.9,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    return ax


def _name(a: str, b: str, observed: float, predicted: float) -> str:
    between = "\nover " if len(a) + len(b) > 20 else " over "
    return f"{a}{between}{b}\nobserved {observed:.2f}, predicted {predicted:.2f}"


def _predictions(
    tree: "xarray.DataTree", first: np.ndarray, second: np.ndarray, lapse: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Posterior mean and interval of the probability that the first of each pair is chosen."""
    probability = probability_draws(columns_of(tree), first, second, lapse)
    low, high = np.quantile(probability, TAILS, axis=0)
    return probability.mean(axis=0), low, high
