"""People of whom each has weights of their own: what each prefers, draw by draw."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.kinds import OF_GROUPS
from thali._inference.numerics.truncated import SMALLEST
from thali._inference.seeds import streams
from thali._labels import as_label, shorten, suggest
from thali._people.individuals import blocks_of_people, individuals_table
from thali._people.populations import Individuals
from thali._people.reach import draws_held
from thali._people.segments import Preferences, spaced_draws
from thali._posterior.interval import INTERVAL, TAILS
from thali._posterior.view import Posterior
from thali.errors import Argument, ArgumentError, Setting

from ..draws.columns import columns_of, flat
from ..draws.probabilities import lapsing
from .features import features_table
from .groups import group_weight_draws, tree_of_group
from .kind import of_data, of_kind
from .options import shares_of

if TYPE_CHECKING:
    import pandas
    import xarray

UNEVEN = 0.1  # p-value, which leans towards .5, from which on one kappa does not tell how people differ
_SPREAD_DRAWS = 400
MIN_PRESENT = 0.05  # probability of a feature whose weights are given


def of_everybody(tree: "xarray.DataTree", what: str) -> "xarray.DataTree":
    """The tree itself; an ArgumentError names what was asked for if people have no weights of their own."""
    if not Posterior(tree).has_individuals:
        raise no_individuals(what)
    return tree


def no_individuals(what: str) -> ArgumentError:
    """The error for an answer of individuals, by its name, where respondents have no individual weights."""
    return ArgumentError(
        Argument(what), " requires individual weights; refit with ", Setting("people", Individuals()), "."
    )


def person_table(tree: "xarray.DataTree") -> "pandas.DataFrame":
    """Of choices everybody's share of each option, of other data the weight of each feature, with intervals."""
    seen = Posterior(tree)
    draws = seen.draws.sizes["chain"] * seen.draws.sizes["draw"]
    if of_kind(OF_GROUPS[seen.data_kind]).of_choices:
        labels = [str(label) for label in seen.draws["option"].values]
        return individuals_table(lambda some: shares_of_people(tree, some), draws, seen.groups, labels, "option")
    one = tree_of_group(tree, seen.groups[0])
    found = features_table(one, MIN_PRESENT)["members"].tolist()
    sizes = np.array([len(each) for each in found], int)
    matter = (sizes > 1) & ~of_data(one).is_silent(one, sizes)  # the others are drawn from the prior
    members = [each for each, matters in zip(found, matter, strict=True) if matters]
    weights, present = group_weight_draws(tree, members)
    drawn = np.full((draws, len(seen.groups), len(members)), np.nan)
    for k, (each, there) in enumerate(zip(weights, present, strict=True)):
        drawn[there, :, k] = each[:, there].T
    names = [", ".join(each) for each in members]
    return individuals_table(lambda some: drawn[:, some], draws, seen.groups, names, "feature")


def shares_of_people(tree: "xarray.DataTree", people: slice, draws: np.ndarray | None = None) -> np.ndarray:
    r"""Each option's share in the utilities of some of the people, (draws, people, options).

    .. math:: U_{ni} \Big/ \sum_j U_{nj}, \qquad U_{ni} = u_{ni} + \sum_k w_{nk} f_{ik}
    """
    columns = columns_of(tree)
    draws = np.arange(columns.n_draws) if draws is None else draws
    features, _ = columns.take(draws).dense(0, len(draws))
    shared, own = weights_of_people(tree, people, draws)
    return shares_of(shared[:, :, : features.shape[1]] @ features + own)


def preferences_of_people(tree: "xarray.DataTree") -> Preferences:
    r"""How often everybody prefers each option to another one, all others alike, at evenly spaced draws.

    .. math:: v_{ni} = \frac{1}{N - 1} \sum_{j \neq i} \frac{A_{nij}}{A_{nij} + A_{nji}}, \qquad
        A_{nij} = u_{ni} + \sum_k w_{nk} f_{ik} (1 - f_{jk})
    """
    seen, columns = Posterior(tree), columns_of(tree)
    labels = [str(label) for label in seen.draws["option"].values]
    draws = spaced_draws(columns.n_draws, len(seen.groups), len(labels))
    features, _ = columns.take(draws).dense(0, len(draws))
    weights, own = weights_of_people(tree, slice(None), draws)
    found = np.empty((len(draws), *own.shape[1:]))
    for draw, (has, shared, unique) in enumerate(zip(features, weights, own, strict=True)):
        beats = (shared[:, None, : len(has)] * has.T) @ (~has).astype(float) + unique[:, :, None]
        found[draw] = (lapsing(beats, beats.swapaxes(1, 2), 0.0).sum(axis=2) - 0.5) / (len(labels) - 1)
    return Preferences(tuple((label,) for label in labels), found, seen.groups)


def reached_by(tree: "xarray.DataTree", none: Any = None) -> tuple[np.ndarray, list[str]]:
    """Which options reach whom, truths (draws, people, options), and the labels of these options.

    They reach those whose share of them is above the mean of all, or above that of the one that stands for none.
    """
    seen = Posterior(tree)
    sizes, labels = seen.draws.sizes, labels_of(tree)
    n, people = len(labels), len(seen.groups)
    at = None if none is None else place_of(none, labels)
    draws = draws_held(sizes["chain"] * sizes["draw"], people, n)
    found = np.empty((len(draws), people, n), bool)
    for some in blocks_of_people(people, len(draws) * n):
        shares = shares_of_people(tree, some, draws)
        found[:, some] = shares > (1.0 / n if at is None else shares[:, :, [at]])
    if at is None:
        return found, labels
    return np.delete(found, at, axis=2), [label for label in labels if label != labels[at]]


class Spread(NamedTuple):
    """That one kappa does not tell how people differ about every option."""

    p_value: float  # that by one kappa options would be as unlike
    most: str  # about which people differ most
    least: str


def has_spreads(tree: "xarray.DataTree") -> bool:
    """Whether each weight of everybody has a kappa of its own."""
    return Posterior(tree).feature_kappas is not None


def uneven_spread(tree: "xarray.DataTree", random_seed: Any) -> Spread | None:
    r"""How unlike people's spreads of the options are, beside weights that are drawn anew with the kappa of each draw.

    .. math:: T = \operatorname{sd}_i \operatorname{sd}_n \ln w_{ni}, \qquad p = P(T(w^\text{new}) \ge T(w))

    The weights w were drawn with that kappa as their prior, so that p is too near to .5 where people said little.
    None where one kappa may tell how people differ, each option has one, or what people weigh is more than the options
    alone.
    """
    seen = Posterior(tree)
    own, common, kappa = seen.group_unique, seen.common_unique_weights, seen.kappa
    if own is None or common is None or kappa is None:
        return None
    learned = seen.group_weights is not None and seen.group_weights.sizes["feature"] > 0
    if learned or has_spreads(tree) or seen.slopes is not None:
        return None
    weights, middle, kappas = flat(own.values), flat(common.values), flat(kappa.values)
    draws = np.unique(np.linspace(0, len(weights) - 1, _SPREAD_DRAWS).round().astype(np.int64))
    rng, spread, as_unlike = streams(random_seed, 1)[0], np.zeros(weights.shape[2]), 0
    for draw in draws:
        again = middle[draw] * rng.gamma(kappas[draw], size=weights.shape[1:])
        both = np.log(np.maximum([weights[draw], again / again.sum(axis=1, keepdims=True)], SMALLEST)).std(axis=1)
        spread += both[0]
        as_unlike += int(both[1].std() >= both[0].std())
    labels = labels_of(tree)
    p_value = (as_unlike + 1) / (len(draws) + 1)
    if p_value > UNEVEN:
        return None
    return Spread(p_value, labels[int(spread.argmax())], labels[int(spread.argmin())])


def labels_of(tree: "xarray.DataTree") -> list[str]:
    """The labels of the options."""
    return [str(label) for label in Posterior(tree).draws["option"].values]


def place_of(none: Any, labels: Sequence[str]) -> int:
    """The place of an option among the labels; others are refused."""
    if (label := as_label(none)) not in labels:
        known = suggest(label, labels) or f" The options are {shorten(labels, 10)}."
        raise ArgumentError(Argument("none"), f": there is no option {label!r}.{known}")
    return list(labels).index(label)


def weights_of_people(tree: "xarray.DataTree", people: slice, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of some people and draws the weights of the features, and those that each option has alone; 0 without any."""
    seen = Posterior(tree)
    weights, unique = seen.group_weights, seen.group_unique
    assert weights is not None
    shared = flat(weights.values)[draws][:, people]
    own = np.zeros((*shared.shape[:2], seen.draws.sizes["option"]))
    return shared, own if unique is None else flat(unique.values)[draws][:, people]


def population_table(tree: "xarray.DataTree") -> "pandas.DataFrame":
    """The share of each option by the common weights, with its interval."""
    import pandas as pd

    from thali._tables import Table

    seen = Posterior(tree)
    assert seen.common_worth is not None
    low, high = np.quantile(flat(seen.common_worth.values), TAILS, axis=0)
    labels = pd.Index([str(label) for label in seen.draws["option"].values], name="option")
    table = Table({"mean": flat(seen.common_worth.values).mean(axis=0), "low": low, "high": high}, labels)
    table.attrs["interval"] = INTERVAL
    return table
