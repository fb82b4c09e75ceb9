"""People of whom each has weights of their own about common ones: what the posterior says of the
population."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.kinds import PAIRS
from thali._model.stored_choices import all_pair_coordinates, pair_index
from thali._posterior.view import Posterior, flat, parted

from ..draws.columns import FeatureColumns, columns_of
from ..draws.probabilities import advantages, lapsing
from ..draws.tree import kept_draws
from .features import distinct_owners
from .groups import _as_shares, _padded_weights, columns_of_group
from .options import shares_of, utility_draws
from .slopes import WeightSlopes, quantities_of_slopes, slopes_in

if TYPE_CHECKING:
    from ..samplers.draw_record import ChainDraws

NEW_PEOPLE, LEAST, AT_ONCE = 64, 8, 2**17  # people of a draw; at least; probabilities at once
MIN_PRESENT = 0.2  # probability of a feature whose weight is a row of the summary
_DESCRIPTIONS = {
    "common_weights": "population weight of a feature, around which individual weights vary, as a"
    " share; padded with 0",
    "common_unique_weights": "population weight of the unique aspect of an option, around which"
    " individual weights vary",
    "common_worth": "share of an option in the total weight of all options, by the population"
    " weights",
    "population_probability": "probability that the first of a pair is chosen, mean over new"
    " respondents, including lapses",
}


class PopulationDraws(NamedTuple):
    """The common weights of every draw, and how alike people are."""

    common: FeatureColumns
    kappa: np.ndarray  # (draws,)
    slopes: WeightSlopes | None = None  # where weights depend on what is known of people

    def taken(self, draws: np.ndarray) -> "PopulationDraws":
        """Some of the draws, each as often as it is named."""
        slopes = None if self.slopes is None else self.slopes.taken(self.common, draws)
        return PopulationDraws(self.common.take(draws), self.kappa[draws], slopes)

    def of(self, x: np.ndarray) -> "PopulationDraws":
        """Those of whom this is known."""
        assert self.slopes is not None
        return PopulationDraws(self.slopes.lifted(self.common, x), self.kappa)


def with_population(
    posterior: Posterior, chains: Sequence["ChainDraws"], people: int, lapse: float
) -> Posterior:
    """The posterior with the common weights and worths, and of pairs the choice probabilities of
    new people."""
    kept = kept_draws(chains)
    common = columns_of_group(kept, people)
    if posterior.unique is None:  # what the chains hold for them counts nowhere
        common = replace(common, unique_weights=np.zeros_like(common.unique_weights))
    shape = *kept.shape, -1
    shares = _as_shares(common)
    worth = shares_of(utility_draws(shares)).reshape(shape)
    drawn: dict[str, Any] = {
        "common_worth": (("chain", "draw", "option"), worth),
        "common_weights": (
            ("chain", "draw", "feature"),
            _padded_weights([shares], kept.shape)[:, :, 0],
        ),
        "common_unique_weights": (
            ("chain", "draw", "option"),
            shares.unique_weights.reshape(shape),
        ),
    }
    coordinates: dict[Any, Any] = {}
    if posterior.data_kind == PAIRS and posterior.features is not None:
        kappa = np.concatenate(kept.parameter("kappa"))
        mean = mean_of_new(PopulationDraws(common, kappa, slopes_in(posterior)), lapse)
        drawn["population_probability"] = ("chain", "draw", "pair"), mean.reshape(shape)
        coordinates = (
            {}
            if "pair" in posterior.draws.coords
            else all_pair_coordinates(np.array(posterior.labels))
        )
    described = {
        name: (*each, {"description": _DESCRIPTIONS[name]}) for name, each in drawn.items()
    }
    return posterior.replaced(
        parted(posterior.whole().assign(described).assign_coords(coordinates))
    )


def mean_of_new(population: PopulationDraws, lapse: float) -> np.ndarray:
    r"""The probability that the first of each pair is chosen, mean over new people, draw by draw
    (draws, pairs).

    Their weights are :math:`w = v r`, r Gamma(kappa, kappa). The people of a draw are a Latin
    hypercube: every weight takes each of as many equally probable values once, in an order that the
    draw itself decides, so that a longer fit has the same numbers.
    """
    common = population.common
    first, second = np.triu_indices(common.n_options, 1)
    people = int(np.clip(AT_ONCE // len(first), LEAST, NEW_PEOPLE))
    found = np.empty((common.n_draws, len(first)))
    for draw in range(common.n_draws):
        features, weights = common.dense(draw, draw + 1)
        own = new_weights(population, draw, weights[0], people)
        shared = weights.shape[1]
        owned = np.broadcast_to(features, (people, *features.shape[1:]))
        sides = advantages(owned, own[:, :shared], own[:, shared:], first, second)
        found[draw] = lapsing(*sides, lapse).mean(axis=0)
    return found


def new_weights(
    population: PopulationDraws, draw: int, weights: np.ndarray, people: int
) -> np.ndarray:
    """The weights of features, then unique ones, of so many new people of a draw (people, weights).

    With slopes as much is known of them as of those who answered, of whom everybody is taken as
    often as another.
    """
    from scipy.special import gammaincinv

    common, kappa, slopes = population
    columns = slice(common.first_column[draw], common.first_column[draw + 1])
    about = np.concatenate([weights, common.unique_weights[draw]])
    rng = np.random.default_rng(
        np.array([kappa[draw], common.unique_weights[draw].sum()]).view(np.uint64)
    )
    order = np.argsort(rng.random((people, about.size)), axis=0)
    places = (np.arange(people) + 0.5) / people
    own = about * (gammaincinv(kappa[draw], places) / kappa[draw])[order]
    if slopes is None:
        return own
    x = np.resize(rng.permutation(len(slopes.known)), people)
    return own * slopes.factors(columns, draw, slopes.known[x])


def quantities_of_population(posterior: Posterior, most: int) -> dict[str, np.ndarray]:
    """`choice_probability[a, b]` of new people where pairs were compared, up to so many options, or
    `worth[a]`; where nobody chooses, `weight[a, b, ...]`."""
    labels, worth, p = posterior.labels, posterior.common_worth, posterior.population_probability
    effects = quantities_of_slopes(posterior, most)
    if worth is None:
        return common_weights_of_features(posterior) | effects
    if p is None or len(labels) > most:
        return {f"worth[{label}]": worth[..., i] for i, label in enumerate(labels)} | effects
    compared, names = np.unique(pair_index(*posterior.pairs, len(labels))), posterior.pair_names
    return {f"choice_probability[{names[pair]}]": p[..., pair] for pair in compared} | effects


def common_weights_of_features(posterior: Posterior) -> dict[str, np.ndarray]:
    """`weight[a, b, ...]` of probable features of several options: that which everybody's vary
    about, 0 if absent."""
    columns, labels = columns_of(posterior), np.array(posterior.labels)
    weights = flat(posterior.common_weights)[columns.draw, columns.slot]
    patterns, pattern = distinct_owners(columns)
    sizes = np.array([len(owners) for owners in patterns])
    silent = posterior.is_silent(sizes)
    found = {}
    for number in np.flatnonzero(~silent & (sizes > 1)):
        owners, own = patterns[number], pattern == number
        if len(np.unique(columns.draw[own])) >= MIN_PRESENT * columns.n_draws:
            summed = np.bincount(columns.draw[own], weights[own], columns.n_draws)
            found[f"weight[{', '.join(labels[owners])}]"] = summed.reshape(posterior.shape)
    return found
