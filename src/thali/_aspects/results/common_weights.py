"""Population of respondents with individual weights around common weights."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.kinds import PAIRS
from thali._inference.index_arithmetic import part_slice
from thali._inference.numerics.weight_shares import compute_shares
from thali._model.stored_choices import all_pair_coordinates, pair_index
from thali._posterior.posterior_tree import Posterior, flatten_chains, split_draws

from ..draws.feature_columns import FeatureColumns, read_columns
from ..draws.pair_probabilities import compute_advantages, compute_choice_probability
from ..draws.posterior_tree import select_kept_draws
from .feature_table import find_distinct_owners
from .group_posterior_tree import normalise_to_shares, pad_weights, select_group_columns
from .option_tables import compute_utilities
from .weight_slopes import WeightSlopes, read_slopes, slope_quantities

if TYPE_CHECKING:
    from ..samplers.draw_record import RecordedDraws

# new people per draw, at most and at least, and probabilities that are in memory
MAX_NEW_PEOPLE, MIN_NEW_PEOPLE, MAX_PROBABILITIES = 64, 8, 2**17
MIN_PRESENCE = 0.2  # probability of a feature whose weight is a row of the summary
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
    """Draws of the common weights and kappa, how similar respondents are to them."""

    common: FeatureColumns
    kappa: np.ndarray  # (draws,)
    slopes: WeightSlopes | None = None  # where weights depend on covariates of people

    def select_draws(self, draws: np.ndarray) -> "PopulationDraws":
        """Return the population at some draws, which may repeat."""
        slopes = None
        if self.slopes is not None:
            slopes = self.slopes.select_draws(self.common, draws)
        return PopulationDraws(self.common.take(draws), self.kappa[draws], slopes)

    def shift_to_covariates(self, x: np.ndarray) -> "PopulationDraws":
        """Return the population of respondents who have covariates x."""
        assert self.slopes is not None
        return PopulationDraws(self.slopes.shift_weights(self.common, x), self.kappa)


def add_population(
    posterior: Posterior, chains: Sequence["RecordedDraws"], n_people: int, lapse: float
) -> Posterior:
    """Return the posterior with common weights, worths and population choice probabilities."""
    recorded_draws = select_kept_draws(chains)
    common_columns = select_group_columns(recorded_draws, n_people)
    if posterior.unique is None:  # the chains' unique weights are not part of the model
        common_columns = replace(
            common_columns, unique_weights=np.zeros_like(common_columns.unique_weights)
        )
    shape = *recorded_draws.shape, -1
    share_columns = normalise_to_shares(common_columns)
    worth = compute_shares(compute_utilities(share_columns)).reshape(shape)
    variables: dict[str, Any] = {
        "common_worth": (("chain", "draw", "option"), worth),
        "common_weights": (
            ("chain", "draw", "feature"),
            pad_weights([share_columns], recorded_draws.shape)[:, :, 0],
        ),
        "common_unique_weights": (
            ("chain", "draw", "option"),
            share_columns.unique_weights.reshape(shape),
        ),
    }
    coordinates: dict[Any, Any] = {}
    if posterior.data_kind == PAIRS and posterior.features is not None:
        kappa = np.concatenate(recorded_draws.stack_parameter("kappa"))
        mean_probability = average_over_population(
            PopulationDraws(common_columns, kappa, read_slopes(posterior)), lapse
        )
        variables["population_probability"] = (
            ("chain", "draw", "pair"),
            mean_probability.reshape(shape),
        )
        if "pair" not in posterior.draws.coords:
            coordinates = all_pair_coordinates(np.array(posterior.labels))
    described_variables = {
        name: (*variable, {"description": _DESCRIPTIONS[name]})
        for name, variable in variables.items()
    }
    return posterior.replace_groups(
        split_draws(posterior.merge_draws().assign(described_variables).assign_coords(coordinates))
    )


def average_over_population(population: PopulationDraws, lapse: float) -> np.ndarray:
    r"""Return pair choice probabilities averaged over new respondents, (n_draws, n_pairs).

    Their weights are :math:`w = v r`, r Gamma(kappa, kappa). The people of a draw are a Latin
    hypercube: every weight takes each of N equally probable values once, in an order that
    depends on the draw alone, so a longer fit has the same numbers.
    """
    common_columns = population.common
    i, j = np.triu_indices(common_columns.n_options, 1)
    n_people = int(np.clip(MAX_PROBABILITIES // len(i), MIN_NEW_PEOPLE, MAX_NEW_PEOPLE))
    pair_probability = np.empty((common_columns.n_draws, len(i)))
    for draw in range(common_columns.n_draws):
        features, weights = common_columns.to_dense(draw, draw + 1)
        individual_weights = sample_new_weights(population, draw, weights[0], n_people)
        n_shared = weights.shape[1]
        ownership = np.broadcast_to(features, (n_people, *features.shape[1:]))
        advantage_pair = compute_advantages(
            ownership, individual_weights[:, :n_shared], individual_weights[:, n_shared:], i, j
        )
        pair_probability[draw] = compute_choice_probability(*advantage_pair, lapse).mean(axis=0)
    return pair_probability


def sample_new_weights(
    population: PopulationDraws, draw: int, weights: np.ndarray, n_people: int
) -> np.ndarray:
    """Sample weights of new respondents at one draw, shape (n_people, n_weights).

    With slopes, they have the covariates of the fitted respondents, each equally often.
    """
    from scipy.special import gammaincinv

    common_columns, kappa, slopes = population
    column_slice = part_slice(common_columns.column_offsets, draw)
    common_weights = np.concatenate([weights, common_columns.unique_weights[draw]])
    rng = np.random.default_rng(
        np.array([kappa[draw], common_columns.unique_weights[draw].sum()]).view(np.uint64)
    )
    shuffled_order = np.argsort(rng.random((n_people, common_weights.size)), axis=0)
    quantiles = (np.arange(n_people) + 0.5) / n_people
    individual_weights = (
        common_weights * (gammaincinv(kappa[draw], quantiles) / kappa[draw])[shuffled_order]
    )
    if slopes is None:
        return individual_weights
    x = np.resize(rng.permutation(len(slopes.known)), n_people)
    return individual_weights * slopes.factors(column_slice, draw, slopes.known[x])


def population_quantities(posterior: Posterior, max_options: int) -> dict[str, np.ndarray]:
    """Return draws of the population's choice probabilities or worths, by summary row.

    They are `choice_probability[a, b]` of new people for compared pairs, up to `max_options`;
    otherwise `worth[a]`; for data without choices, `weight[a, b, ...]`.
    """
    labels, worth, probability = (
        posterior.labels,
        posterior.common_worth,
        posterior.population_probability,
    )
    effect_draws = slope_quantities(posterior, max_options)
    if worth is None:
        return common_weight_quantities(posterior) | effect_draws
    if probability is None or len(labels) > max_options:
        return {f"worth[{label}]": worth[..., i] for i, label in enumerate(labels)} | effect_draws
    pair_indices, pair_labels = (
        np.unique(pair_index(*posterior.pairs, len(labels))),
        posterior.pair_names,
    )
    return {
        f"choice_probability[{pair_labels[pair]}]": probability[..., pair] for pair in pair_indices
    } | effect_draws


def common_weight_quantities(posterior: Posterior) -> dict[str, np.ndarray]:
    """Return draws of the common weight of each probable feature, 0 where absent.

    Features of a single option are omitted.
    """
    feature_columns, labels = read_columns(posterior), np.array(posterior.labels)
    weights = flatten_chains(posterior.common_weights)[feature_columns.draw, feature_columns.slot]
    patterns, pattern_index = find_distinct_owners(feature_columns)
    n_owners = np.array([len(owners) for owners in patterns])
    is_silent = posterior.is_silent(n_owners)
    draws_by_name = {}
    for k in np.flatnonzero(~is_silent & (n_owners > 1)):
        owners, has_pattern = patterns[k], pattern_index == k
        if (
            len(np.unique(feature_columns.draw[has_pattern]))
            >= MIN_PRESENCE * feature_columns.n_draws
        ):
            total_weight = np.bincount(
                feature_columns.draw[has_pattern], weights[has_pattern], feature_columns.n_draws
            )
            draws_by_name[f"weight[{', '.join(labels[owners])}]"] = total_weight.reshape(
                posterior.shape
            )
    return draws_by_name
