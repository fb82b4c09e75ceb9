"""Preferences and weights of respondents with individual weights, draw by draw."""

from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from thali._data.kinds import PEOPLE
from thali._inference.numerics.weight_shares import compute_shares
from thali._people.individual_preferences import tabulate_individuals
from thali._people.people_argument import Individuals
from thali._people.respondent_segments import Preferences, select_segment_draws
from thali._posterior.posterior_interval import compute_interval
from thali._posterior.posterior_tree import Posterior, flatten_chains
from thali.errors import Argument, ArgumentError, Setting

from ..draws.feature_columns import read_columns
from ..draws.pair_probabilities import compute_choice_probability
from .feature_table import features_table
from .group_posterior_tree import sum_group_weights

if TYPE_CHECKING:
    import pandas

MIN_PRESENT = 0.05  # minimum probability of features in the table of weights


def require_individual_weights(posterior: Posterior, answer_name: str) -> Posterior:
    """Return the posterior; raise ArgumentError unless respondents have individual weights.

    The ArgumentError names the requested answer, `answer_name`.
    """
    if posterior.population != PEOPLE:
        raise individual_weights_error(answer_name)
    return posterior


def individual_weights_error(answer_name: str) -> ArgumentError:
    """Return the ArgumentError of a result that requires individual weights."""
    return ArgumentError(
        Argument(answer_name),
        " requires individual weights; refit with ",
        Setting("people", Individuals()),
        ".",
    )


def person_weights_table(posterior: Posterior, ci: float) -> "pandas.DataFrame":
    """Return a table of option shares, or feature weights, per respondent.

    Choices have shares; other data have weights. Both have intervals.
    """
    n_draws, respondents = posterior.n_draws, posterior.groups
    if posterior.facts.of_choices:
        return tabulate_individuals(
            lambda part: compute_respondent_shares(posterior, part),
            n_draws,
            respondents,
            posterior.labels,
            "option",
            ci,
        )
    first_person = posterior.of_group(respondents[0])
    feature_members = features_table(first_person, MIN_PRESENT)["members"].tolist()
    n_owners = np.array(list(map(len, feature_members)), int)
    # other features are drawn from the prior
    affects_data = (n_owners > 1) & ~first_person.is_silent(n_owners)
    shown_members = list(compress(feature_members, affects_data))
    weights_by_feature, presence_by_feature = sum_group_weights(posterior, shown_members)
    weight_draws = np.full((n_draws, len(respondents), len(shown_members)), np.nan)
    for k, (feature_weights, is_present) in enumerate(
        zip(weights_by_feature, presence_by_feature, strict=True)
    ):
        weight_draws[is_present, :, k] = feature_weights[:, is_present].T
    feature_names = list(map(", ".join, shown_members))
    return tabulate_individuals(
        lambda part: weight_draws[:, part], n_draws, respondents, feature_names, "feature", ci
    )


def compute_respondent_shares(posterior: Posterior, people: slice) -> np.ndarray:
    r"""Return options' shares of utility, shape (n_draws, n_respondents, n_options).

    .. math:: U_{ni} \Big/ \sum_j U_{nj}, \qquad U_{ni} = u_{ni} + \sum_k w_{nk} f_{ik}
    """
    feature_columns = read_columns(posterior)
    features, _ = feature_columns.to_dense(0, feature_columns.n_draws)
    weights, unique_weights = select_respondent_weights(posterior, people, slice(None))
    return compute_shares(weights[:, :, : features.shape[1]] @ features + unique_weights)


def compute_preferences(posterior: Posterior) -> Preferences:
    r"""Return the probability that each respondent prefers an option to a random other.

    Other options are equally probable opponents, and draws are evenly spaced.

    .. math:: v_{ni} = \frac{1}{N - 1} \sum_{j \neq i} \frac{A_{nij}}{A_{nij} + A_{nji}}, \qquad
        A_{nij} = u_{ni} + \sum_k w_{nk} f_{ik} (1 - f_{jk})
    """
    feature_columns, labels = read_columns(posterior), posterior.labels
    draw_indices = select_segment_draws(feature_columns.n_draws, len(posterior.groups), len(labels))
    features, _ = feature_columns.take(draw_indices).to_dense(0, len(draw_indices))
    weights, unique_weights = select_respondent_weights(posterior, slice(None), draw_indices)
    preferences = np.empty((len(draw_indices), *unique_weights.shape[1:]))
    for draw, (owned_by_feature, person_weights, person_unique) in enumerate(
        zip(features, weights, unique_weights, strict=True)
    ):
        advantage = (person_weights[:, None, : len(owned_by_feature)] * owned_by_feature.T) @ (
            ~owned_by_feature
        ).astype(float) + person_unique[:, :, None]
        preferences[draw] = (
            compute_choice_probability(advantage, advantage.swapaxes(1, 2), 0.0).sum(axis=2) - 0.5
        ) / (len(labels) - 1)
    return Preferences(tuple((label,) for label in labels), preferences, posterior.groups)


def select_respondent_weights(
    posterior: Posterior, people: slice, draws: np.ndarray | slice
) -> tuple[np.ndarray, np.ndarray]:
    """Return feature weights and unique weights of these respondents at these draws.

    Unique weights are 0 if the model has none.
    """
    weights, unique_weights = (
        flatten_chains(posterior.group_weights)[draws][:, people],
        posterior.group_unique,
    )
    if unique_weights is None:
        return weights, np.zeros((*weights.shape[:2], posterior.n_options))
    return weights, flatten_chains(unique_weights)[draws][:, people]


def population_shares_table(posterior: Posterior, ci: float) -> "pandas.DataFrame":
    """Return a table of option shares by the common weights, with intervals."""
    import pandas as pd

    from thali._exportable_table import Table

    worth = flatten_chains(posterior.common_worth)
    low, high = compute_interval(worth, ci)
    labels = pd.Index(posterior.labels, name="option")
    shares_table = Table({"mean": worth.mean(axis=0), "low": low, "high": high}, labels)
    shares_table.attrs["interval"] = ci
    return shares_table
