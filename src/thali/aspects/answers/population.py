"""People of whom each has weights of their own about common ones: what the posterior says of the population."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data.kinds import OF_GROUPS, PAIR_GROUPS
from thali.inference.threads import rectangle
from thali.posterior.store import tree_of
from thali.posterior.view import Posterior

from ..draws.columns import Columns, columns_of
from ..draws.probabilities import advantages, lapsing
from ..draws.tree import pair_index, pair_names
from .features import distinct_owners
from .groups import _as_shares, _padded_weights, columns_of_group
from .kind import of_kind
from .options import shares_of, utility_draws
from .slopes import Slopes, quantities_of_slopes, slopes_in

if TYPE_CHECKING:
    import xarray

    from ..samplers.record import ChainDraws

NEW_PEOPLE, LEAST, AT_ONCE = 64, 8, 2**17  # people of a draw; at least; probabilities at once
MIN_PRESENT = 0.2  # probability of a feature whose weight is a row of the summary
_DESCRIPTIONS = {
    "common_weights": "weight of a feature that those of everybody vary about, as a share; padded with 0",
    "common_unique_weights": "weight of the aspect that an option has alone that those of everybody vary about",
    "common_worth": "share of an option in the weight of all that options have, by the common weights",
    "population_probability": "probability that the first of a pair is chosen, mean over new people; lapse included",
}


def with_population(
    tree: "xarray.DataTree", chains: Sequence["ChainDraws"], people: int, lapse: float
) -> "xarray.DataTree":
    """The tree with the common weights and worths, and of pairs the choice probabilities of new people."""
    numbers, draws = rectangle([len(chain.alpha) for chain in chains])
    kept = [chains[number] for number in numbers]
    common = columns_of_group(kept, draws, people)
    if Posterior(tree).unique is None:  # what the chains hold for them counts nowhere
        common = replace(common, unique_weights=np.zeros_like(common.unique_weights))
    posterior = tree["posterior"].to_dataset()
    shape = len(kept), draws, -1
    shares = _as_shares(common)
    worth = shares_of(utility_draws(shares)).reshape(shape)
    found: dict[str, Any] = {
        "common_worth": (("chain", "draw", "option"), worth),
        "common_weights": (("chain", "draw", "feature"), _padded_weights([shares], (len(kept), draws))[:, :, 0]),
        "common_unique_weights": (("chain", "draw", "option"), shares.unique_weights.reshape(shape)),
    }
    coordinates: dict[Any, Any] = {}
    if Posterior(tree).data_kind == PAIR_GROUPS and Posterior(tree).features is not None:
        kappa = np.concatenate([chain.extra["kappa"][:draws] for chain in kept])
        mean = mean_of_new(common, kappa, lapse, slopes_in(tree))
        found["population_probability"] = ("chain", "draw", "pair"), mean.reshape(shape)
        coordinates = {} if "pair" in posterior.coords else pair_names(posterior["option"].values)
    posterior = posterior.assign(found).assign_coords(coordinates)
    for name in found:
        posterior[name].attrs["description"] = _DESCRIPTIONS[name]
    groups = {str(name): node.to_dataset() for name, node in tree.children.items()}
    return tree_of(groups | {"posterior": posterior}, tree.attrs)


def mean_of_new(common: Columns, kappa: np.ndarray, lapse: float, slopes: Slopes | None = None) -> np.ndarray:
    r"""The probability that the first of each pair is chosen, mean over new people, draw by draw (draws, pairs).

    Their weights are :math:`w = v r`, r Gamma(kappa, kappa). The people of a draw are a Latin hypercube: every weight
    takes each of as many equally probable values once, in an order that the draw itself decides, so that a longer fit
    has the same numbers.
    """
    n = common.n_options
    first, second = np.triu_indices(n, 1)
    people = int(np.clip(AT_ONCE // len(first), LEAST, NEW_PEOPLE))
    found = np.empty((common.n_draws, len(first)))
    for draw in range(common.n_draws):
        features, weights = common.dense(draw, draw + 1)
        own = new_weights(common, kappa[draw], draw, weights[0], people, slopes)
        shared = weights.shape[1]
        owned = np.broadcast_to(features, (people, *features.shape[1:]))
        sides = advantages(owned, own[:, :shared], own[:, shared:], first, second)
        found[draw] = lapsing(*sides, lapse).mean(axis=0)
    return found


def new_weights(
    common: Columns, kappa: float, draw: int, weights: np.ndarray, people: int, slopes: Slopes | None = None
) -> np.ndarray:
    """The weights of features, then unique ones, of so many new people of a draw (people, weights).

    With slopes as much is known of them as of those who answered, of whom everybody is taken as often as another.
    """
    from scipy.special import gammaincinv

    about = np.concatenate([weights, common.unique_weights[draw]])
    rng = np.random.default_rng(np.array([kappa, common.unique_weights[draw].sum()]).view(np.uint64))
    ratio = gammaincinv(kappa, (np.arange(people) + 0.5) / people) / kappa
    own = about * ratio[np.argsort(rng.random((people, about.size)), axis=0)]
    if slopes is None:
        return own
    x = np.resize(rng.permutation(len(slopes.known)), people)
    columns = slice(common.first_column[draw], common.first_column[draw + 1])
    return own * slopes.factors(columns, draw, slopes.known[x])


def quantities_of_population(tree: "xarray.DataTree", most: int) -> dict[str, np.ndarray]:
    """`choice_probability[a, b]` of new people where pairs were compared, up to so many options, or `worth[a]`; where
    nobody chooses, `weight[a, b, ...]`."""
    seen = Posterior(tree)
    labels, worth, p = seen.draws["option"].values, seen.common_worth, seen.population_probability
    effects = quantities_of_slopes(tree, most)
    if worth is None:
        return common_weights_of_features(tree) | effects
    if p is None or len(labels) > most:
        return {f"worth[{label}]": worth.values[..., i] for i, label in enumerate(labels)} | effects
    compared = np.unique(pair_index(seen.fixed["first"].values, seen.fixed["second"].values, len(labels)))
    return {f"choice_probability[{p['pair'].values[pair]}]": p.values[..., pair] for pair in compared} | effects


def common_weights_of_features(tree: "xarray.DataTree") -> dict[str, np.ndarray]:
    """`weight[a, b, ...]` of probable features of several options: that which everybody's vary about, 0 if absent."""
    columns, drawn = columns_of(tree), Posterior(tree).common_weights
    assert drawn is not None
    labels, shape = Posterior(tree).draws["option"].values, drawn.shape[:2]
    weights = drawn.values.reshape(columns.n_draws, -1)[columns.draw, columns.slot]
    patterns, pattern = distinct_owners(columns)
    sizes = np.array([len(owners) for owners in patterns])
    silent = of_kind(OF_GROUPS[Posterior(tree).data_kind]).is_silent(tree, sizes)
    found = {}
    for number in np.flatnonzero(~silent & (sizes > 1)):
        owners, own = patterns[number], pattern == number
        if len(np.unique(columns.draw[own])) >= MIN_PRESENT * columns.n_draws:
            summed = np.bincount(columns.draw[own], weights[own], columns.n_draws)
            found[f"weight[{', '.join(labels[owners])}]"] = summed.reshape(shape)
    return found
