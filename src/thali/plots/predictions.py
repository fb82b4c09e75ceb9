"""Predicted choice probabilities against the observed proportions."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali.data.kinds import BEST_WORST, PAIRS
from thali.model.elimination_ml.best_worst_problem import BestWorstProblem
from thali.model.elimination_ml.estimates import Estimates
from thali.model.elimination_ml.model import MaximumLikelihoodElimination
from thali.model.latent_features.answers.best_worst import NAMED, by_option
from thali.model.latent_features.answers.cells_to_check import compared_draws
from thali.model.latent_features.answers.columns import columns_of
from thali.model.latent_features.answers.kind import kind_of, of_choices
from thali.model.latent_features.answers.tree import MAX_PAIRS
from thali.model.latent_features.likelihoods.best_worst import possible_answers
from thali.posterior.interval import INTERVAL, TAILS

from ._draws import posterior_of
from ._fonts import picture
from ._style import COLOURS, label_width, new_axes, short, short_set

if TYPE_CHECKING:
    import xarray
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
    model : fitted model
        Anything with `posterior_`, or fitted by maximum likelihood, which has no intervals.
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
    points = _points(model)
    observed, predicted, low, high = points.observed, points.predicted, points.low, points.high
    error = np.sqrt(np.maximum(predicted * (1 - predicted), 1e-12) / points.n)
    worst = np.argsort(-np.abs(observed - predicted) / error, kind="stable")[:_WORST]
    named = [f"{points.name(k)}\nobserved {observed[k]:.2f}, predicted {predicted[k]:.2f}" for k in map(int, worst)]
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
    of_all = "" if len(observed) == points.of else f", {len(observed):,} of {points.of:,} {points.what}"
    ax.set_xlabel(f"predicted probability ({points.shown}{of_all})")
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


class _Points(NamedTuple):
    observed: np.ndarray  # proportions
    n: np.ndarray  # of so many choices
    predicted: np.ndarray
    low: np.ndarray
    high: np.ndarray
    name: Callable[[int], str]
    of: int  # how many there are, drawn or not
    what: str
    shown: str = f"mean and {INTERVAL:.0%} interval"


def _points(model: Any) -> _Points:
    """What is drawn of a model."""
    if isinstance(model, MaximumLikelihoodElimination):
        return _estimated(model)
    tree = of_choices(posterior_of(model), "plots.choice_probabilities")
    return {PAIRS: _pairs, BEST_WORST: _named_options}.get(kind_of(tree), _places)(tree)


def _estimated(model: MaximumLikelihoodElimination) -> _Points:
    """The same as `_pairs`, of a model without draws."""
    found = model.estimates_
    if isinstance(found.pose, BestWorstProblem):
        return _estimated_by_option(found.pose, found)
    table = model.residuals()
    table = table.nlargest(MAX_PAIRS, "n") if len(table) > MAX_PAIRS else table
    observed, predicted, n = (table[name].to_numpy(float) for name in ("observed", "predicted", "n"))
    names, what = _names_of_estimated(table)
    of = len(model.residuals())
    return _Points(observed, n, predicted, predicted, predicted, names.__getitem__, of, what, "maximum likelihood")


def _estimated_by_option(pose: BestWorstProblem, found: Estimates) -> _Points:
    """The same as `_named_options`, of a model without draws."""
    answers, n = possible_answers(pose.start), len(found.known.labels)
    sums = by_option(answers, pose.members, n).T
    offered = np.tile(np.bincount(pose.members, np.repeat(pose.totals, np.diff(pose.start)), n), 2)
    rows = np.flatnonzero(offered > 0)
    expected = (sums @ (np.repeat(pose.totals, answers.sizes) * found.fitted()))[rows] / offered[rows]
    labels, named = np.tile(np.array(found.known.labels, object), 2)[rows], np.repeat(NAMED, n)[rows]
    names = _names_of_options(labels.tolist(), named.tolist())
    observed = (sums @ pose.counts)[rows] / offered[rows]
    return _Points(
        observed,
        offered[rows],
        expected,
        expected,
        expected,
        names.__getitem__,
        len(rows),
        "options",
        "maximum likelihood",
    )


def _names_of_estimated(table: Any) -> tuple[list[str], str]:
    """The names of what was chosen in each row of a table of residuals, and what the rows are."""
    if "offered" in table:
        rows = zip(short(table["alternative"].tolist()), map(short_set, table["offered"]), strict=True)
        return [f"{alternative}\nof {offered}" for alternative, offered in rows], "members of sets"
    a, b = (short(table[side].tolist()) for side in ("a", "b"))
    if "outcome" not in table:
        return [_named(*pair) for pair in zip(a, b, strict=True)], "pairs"
    words = {"a": _named, "b": lambda x, y: _named(y, x), "tie": lambda x, y: f"{x} and {y} tied"}
    return [words[how](x, y) for how, x, y in zip(table["outcome"], a, b, strict=True)], "outcomes"


def _named(a: str, b: str) -> str:
    return f"{a}\nover {b}" if len(a) + len(b) > 20 else f"{a} over {b}"


def _pairs(tree: "xarray.DataTree") -> _Points:
    """Of each compared pair its first option."""
    observed, constant = tree["observed_data"].to_dataset(), tree["constant_data"].to_dataset()
    wins = observed["wins"].values
    n = wins + constant["losses"].values
    drawn = np.sort(np.argsort(-n, kind="stable")[:MAX_PAIRS])
    first, second = constant["first"].values[drawn], constant["second"].values[drawn]
    predicted = _mean_and_interval(compared_draws(tree, drawn))
    labels = short(constant["option"].values.tolist())

    def name(k: int) -> str:
        return _named(labels[first[k]], labels[second[k]])

    return _Points(wins[drawn] / n[drawn], n[drawn], *predicted, name, len(wins), "pairs")


def _places(tree: "xarray.DataTree") -> _Points:
    """Of each set its members."""
    from thali.model.latent_features.likelihoods.set_draws import set_probability_draws

    observed, constant = tree["observed_data"].to_dataset(), tree["constant_data"].to_dataset()
    counts, sizes, members = observed["chosen"].values, constant["set_size"].values, constant["member"].values
    which = np.repeat(np.arange(len(sizes)), sizes)
    n = np.bincount(which, weights=counts)
    order = np.argsort(-n, kind="stable")
    sets = np.sort(order[: max(1, int((np.cumsum(sizes[order]) <= MAX_PAIRS).sum()))])
    drawn = np.flatnonzero(np.isin(which, sets))
    start = np.concatenate([[0], np.cumsum(sizes[sets])])
    lapse = float(constant["lapse"])
    predicted = _mean_and_interval(set_probability_draws(columns_of(tree), start, members[drawn], lapse))
    labels, offered = short(constant["option"].values.tolist()), [short_set(each) for each in observed["set"].values]

    def name(k: int) -> str:
        alternative = labels[members[drawn[k]]]
        return alternative if len(sizes) == 1 else f"{alternative}\nout of {offered[which[drawn[k]]]}"

    total = n[which[drawn]]
    return _Points(counts[drawn] / total, total, *predicted, name, len(members), "members of sets")


def _named_options(tree: "xarray.DataTree") -> _Points:
    """Of best-worst choices each option as the best and as the worst."""
    from thali.model.latent_features.answers.check_best_worst import named_options

    found = named_options(tree, None)
    names = _names_of_options(found.labels, found.named)
    predicted = _mean_and_interval(found.probability.T)
    observed = found.observed / found.n
    return _Points(observed, found.n, *predicted, names.__getitem__, len(names), "options")


def _names_of_options(labels: list[str], named: list[str]) -> list[str]:
    """What is counted of each option."""
    options = list(dict.fromkeys(labels))
    shown = dict(zip(options, short(options), strict=True))
    return [f"{shown[label]} named the {which}" for label, which in zip(labels, named, strict=True)]


def _mean_and_interval(probability: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    low, high = np.quantile(probability, TAILS, axis=0)
    return probability.mean(axis=0), low, high
