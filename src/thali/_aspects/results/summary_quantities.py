"""Draws of quantities that do not depend on the labels of features, for the summary."""

from typing import Any

import numpy as np

from thali._inference.numerics.ranks import average_ranks
from thali._inference.numerics.weight_shares import compute_shares
from thali._model.covariate_effects import coefficient_name
from thali._model.stored_choices import pair_index
from thali._posterior.convergence_check import Advice
from thali._posterior.posterior_tree import Posterior
from thali.errors import Setting

from ..draws.feature_columns import read_columns
from ..draws.pair_probabilities import compute_probability_draws
from .feature_table import (
    features_table,
    find_presence,
    name_presence_row,
    name_weight_row,
    sum_pattern_weights,
)
from .option_tables import compute_utilities

# With more options than this the choice probabilities are not rows of the summary.
MAX_OPTIONS = 60
# With more options than this their worths and ranks are not, either.
MAX_RANKED = 1_000
# The presence of less probable features is not a row of the summary.
MIN_PRESENT = 0.2

Quantities = dict[str, np.ndarray]  # (chain, draw) each
STUCK_CHAINS = (
    "the chains stay in different sets of features, so more draws will rarely help; refit with "
)


def pair_quantities(posterior: Posterior) -> Quantities:
    """Return draws of the rows of paired comparisons: probabilities, worths, ties.

    They are `tie`, `covariate[name]`, `choice_probability[a, b]` up to 60 options, and `worth[a]`,
    `rank[a]` up to 1,000.
    """
    labels = posterior.labels
    shape = posterior.shape
    first_options, second_options = posterior.pairs
    draws_by_name = {}
    if posterior.has_ties:
        draws_by_name["tie"] = posterior.tie.reshape(shape)
    coefficients = posterior.coefficients.T.reshape(-1, *shape)
    draws_by_name |= {
        coefficient_name(name): draws
        for name, draws in zip(posterior.covariates, coefficients, strict=True)
    }
    if len(labels) > MAX_RANKED:
        return draws_by_name
    if len(labels) > MAX_OPTIONS:
        return draws_by_name | worth_quantities(posterior)
    if (stored_probability := posterior.choice_probability) is not None:
        compared_probability = stored_probability[
            ..., pair_index(first_options, second_options, len(labels))
        ]
    else:
        probability = compute_probability_draws(
            read_columns(posterior), first_options, second_options, posterior.lapse
        )
        compared_probability = probability.reshape(*shape, -1)
    numbered_pairs = enumerate(zip(first_options, second_options, strict=True))
    return draws_by_name | {
        f"choice_probability[{labels[i]}, {labels[j]}]": compared_probability[..., pair]
        for pair, (i, j) in numbered_pairs
    }


def worth_quantities(posterior: Posterior) -> Quantities:
    """Return draws of each option's worth (share of total utility) and rank.

    Rank 1 is the highest utility.
    """
    labels = posterior.labels
    utility = compute_utilities(read_columns(posterior)).reshape(*posterior.shape, -1)
    worth = compute_shares(utility)
    ranks = average_ranks(-utility)
    worth_rows = {f"worth[{label}]": worth[..., i] for i, label in enumerate(labels)}
    return worth_rows | {f"rank[{label}]": ranks[..., i] for i, label in enumerate(labels)}


def presence_quantities(posterior: Posterior) -> Quantities:
    """Return draws (0 or 1) of the presence of features with probability above 0.2.

    Features on which the data are uninformative are omitted: they are drawn from the prior.
    """
    if not posterior.n_features.any():
        return {}
    probable_members: Any = features_table(posterior, MIN_PRESENT)["members"]
    n_owners = probable_members.map(len).to_numpy(int)
    is_silent = posterior.is_silent(n_owners) | ((n_owners == 1) & (not posterior.sees_single))
    members = probable_members[~is_silent].tolist()
    is_present = find_presence(posterior, members)
    return {
        name_presence_row(owners): presence
        for owners, presence in zip(members, is_present, strict=True)
    }


def weight_quantities(posterior: Posterior) -> Quantities:
    """Return draws of the weight of each feature that every draw has, by row name.

    If the features are given, every draw has all of them; the unique weights are then included.
    """
    if not posterior.sees_weights or not posterior.n_features.any():
        return {}
    feature_columns = read_columns(posterior)
    labels = posterior.labels
    shape = posterior.shape
    weights = sum_pattern_weights(feature_columns)
    is_constant = weights.n_present == feature_columns.n_draws
    draws_by_name = {
        name_weight_row([labels[option] for option in weights.patterns[k]]): weights.select(
            k
        ).reshape(shape)
        for k in np.flatnonzero(is_constant)
    }
    if is_constant.all() and posterior.has_unique:
        unique_weights = feature_columns.unique_weights.T.reshape(-1, *shape)
        draws_by_name |= {
            f"unique_weight[{label}]": draws
            for label, draws in zip(labels, unique_weights, strict=True)
        }
    return draws_by_name


def count_temperatures(posterior: Posterior) -> int:
    """Return the number of temperatures that each chain was run at."""
    return int(posterior.stats.sizes.get("level", 1))


def advise_choices(posterior: Posterior) -> Advice:
    """Return remedies for disagreeing chains of a model of choices or triplets.

    Known aspects leave nothing to temper.
    """
    if np.ptp(posterior.n_features) == 0:
        return Advice()
    return advise_tempering(count_temperatures(posterior), (Setting("tempering", 8),))


def advise_tempering(n_temperatures: int, tempering: tuple[Any, ...]) -> Advice:
    """Return the advice to use tempering, or more temperatures and draws."""
    from ..samplers.tempering import MAX_TEMPERATURES

    if n_temperatures == 1:
        return Advice(besides=(", or with ", *tempering), stuck=(STUCK_CHAINS, *tempering))
    more_temperatures = Setting("tempering", min(2 * n_temperatures, MAX_TEMPERATURES))
    stuck_advice = (
        "the chains move too rarely between alternative sets of features; refit with ",
        more_temperatures,
        f" (now {n_temperatures} temperatures), ",
    )
    return Advice(stuck=stuck_advice, longer_if_stuck=True)
