"""Observed similarities against fitted ones."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import ArgumentError, DataWarning
from thali.model.latent_features.answers.columns import columns_of
from thali.model.latent_features.answers.kind import of_similarities
from thali.model.latent_features.answers.pair_coordinates import pair_index
from thali.model.latent_features.answers.similarities import similarity_draws
from thali.model.latent_features.answers.tree import MAX_PAIRS
from thali.posterior.interval import INTERVAL, TAILS

from ._fonts import picture
from ._style import COLOURS, label_width, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WORST = 5
_MARKERS = "osD^v"


@picture
def similarity(model: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw the observed similarity of each measured pair against the fitted one.

    A point is a pair: across, the posterior mean of its similarity, with its interval; up, what was observed. The
    observations scatter about the line by the standard deviation of a similarity; bars are intervals of the fitted
    value only and need not reach the line. The five pairs farthest from the line are named. If there are more
    than 2,000 pairs, 2,000 evenly spaced ones are shown. The title gives the variance that the posterior mean explains.

    Parameters
    ----------
    model : fitted model
        Anything with `posterior_` and `estimate`.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes

    References
    ----------
    Navarro & Griffiths (2007), section 4, "approximate expectation".
    """
    tree = of_similarities(model.posterior_, "plots.similarity")
    if not hasattr(model, "estimate"):
        raise ArgumentError(f"plots.similarity needs an AdditiveClustering; got {type(model).__name__}.")
    posterior = tree["posterior"].to_dataset()
    data = model.posterior_["observed_data"].to_dataset()["similarity"]
    estimate = model.estimate("expectation")
    labels = posterior["option"].values.tolist()
    row_of = {label: row for row, label in enumerate(labels)}
    shown = np.unique(np.linspace(0, data.size - 1, min(data.size, MAX_PAIRS)).astype(int))
    first, second = (np.array([row_of[label] for label in data[name].values[shown]]) for name in _ENDS)
    observed = data.values[shown]
    if "similarity" in posterior:
        draws = posterior["similarity"].isel(pair=pair_index(first, second, len(labels))).values
    else:
        constant = posterior["constant"].values.ravel() if "constant" in posterior else 0.0
        draws = similarity_draws(columns_of(model.posterior_), constant, first, second)
    draws = draws.reshape(-1, len(shown))
    fitted, (low, high) = draws.mean(axis=0), np.quantile(draws, TAILS, axis=0)

    worst = np.argsort(-np.abs(observed - fitted), kind="stable")[:_WORST]
    shortened = short(labels)
    named = [
        _name(shortened[first[pair]], shortened[second[pair]], float(observed[pair]), float(fitted[pair]))
        for pair in worst
    ]
    if ax is None:
        (ax,) = new_axes(4.8 + label_width([line for name in named for line in name.split("\n")]), 4.8)
    ends = np.array([min(observed.min(), low.min()), max(observed.max(), high.max())])
    ends += np.array([-0.03, 0.03]) * max(float(np.ptp(ends)), 1e-9)
    ax.plot(ends, ends, color="0.6", linewidth=0.8, zorder=1)
    bars = {"fmt": "none", "elinewidth": 0.8, "alpha": min(1.0, 0.15 + 30 / len(shown)), "zorder": 2}
    # a mean may lie outside an equal-tailed interval, hence the maximum
    ax.errorbar(fitted, observed, xerr=np.maximum([fitted - low, high - fitted], 0.0), ecolor="0.45", **bars)
    ax.scatter(fitted, observed, s=9, color="0.3", linewidth=0, zorder=3)
    for number, pair in enumerate(worst):
        ax.plot(
            fitted[pair],
            observed[pair],
            _MARKERS[number],
            markersize=8,
            markerfacecolor="none",
            markeredgewidth=1.8,
            color=COLOURS[number],
            label=named[number],
            zorder=4,
        )
    ax.set(xlim=ends, ylim=ends, aspect="equal", anchor="W", ylabel="observed similarity")
    of_all = "" if len(shown) == data.size else f", {len(shown):,} of {data.size:,} pairs"
    ax.set_xlabel(f"fitted similarity (mean and {INTERVAL:.0%} interval{of_all})")
    ax.set_title(_title(estimate), fontsize=10, loc="left")
    ax.spines[["top", "right"]].set_visible(False)
    legend = ax.legend(
        title="worst fitted", loc="upper left", bbox_to_anchor=(1.02, 1), frameon=False, fontsize=8, labelspacing=0.9
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    return ax


_ENDS = ("option_a", "option_b")


def _title(estimate: Any) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        share = estimate.variance_accounted_for()
    return "all similarities are equal" if np.isnan(share) else f"variance accounted for: {100 * share:.1f} %"


def _name(a: str, b: str, observed: float, fitted: float) -> str:
    between = "\nand " if len(a) + len(b) > 20 else " and "
    return f"{a}{between}{b}\nobserved {observed:.3g}, fitted {fitted:.3g}"
