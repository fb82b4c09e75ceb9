"""The most informative next questions (pairs or sets of options), by expected information."""

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._argument_checks import check_integer, check_open_interval, is_list
from thali._inference.index_arithmetic import sum_parts
from thali._inference.numerics.davidson_ties import compute_win_tie_loss
from thali._inference.numerics.weight_shares import stack_outcomes
from thali._labels import format_label
from thali._model.next_question import (
    EVERYTHING,
    WORDS,
    LearningTarget,
    allowed_options,
    build_worth_target,
    check_goal,
    label_index,
    list_pairs,
    list_subsets,
    space_draws,
    tabulate_pairs,
    tabulate_sets,
)
from thali._posterior.posterior_tree import Posterior
from thali.errors import ArgumentError

from ..draws.feature_columns import FeatureColumns, read_columns
from ..draws.pair_probabilities import compute_probability_draws
from .option_tables import compute_utilities

if TYPE_CHECKING:
    import pandas

    from thali._inference.random_seeds import RandomSeed


def next_pairs_table(
    posterior: Posterior, n: int, among: Iterable[str] | None, goal: Any, seed: "RandomSeed"
) -> "pandas.DataFrame":
    """Return a table of the pairs whose answers are expected to inform most."""
    rng = np.random.default_rng(seed)
    labels = posterior.labels
    pairs = list_pairs(among, labels, rng)
    feature_columns, draw_indices = select_spaced_draws(posterior, 3 * len(pairs))
    first_options, second_options = pairs.T
    first_probabilities = compute_probability_draws(
        feature_columns, first_options, second_options, posterior.lapse
    )
    if (tie_parameter := posterior.tie) is None:
        outcomes = stack_outcomes(first_probabilities)
    else:
        outcomes = compute_win_tie_loss(
            first_probabilities, 1.0 - first_probabilities, tie_parameter[draw_indices][:, None]
        )
    return tabulate_pairs(
        labels,
        pairs,
        outcomes,
        build_learning_target(goal, feature_columns, labels, rng),
        check_integer("n", n, 1),
        rng,
    )


def next_sets_table(
    posterior: Posterior,
    size: int,
    n: int,
    among: Iterable[str] | None,
    goal: Any,
    seed: "RandomSeed",
) -> "pandas.DataFrame":
    """Return a table of the sets whose answers are expected to inform most."""
    from ..likelihoods.set_probabilities import compute_set_probabilities

    rng = np.random.default_rng(seed)
    labels = posterior.labels
    option_indices = allowed_options(among, labels, size := check_integer("size", size, 2))
    sets = list_subsets(option_indices, size, rng)
    feature_columns, _ = select_spaced_draws(posterior, sets.size)
    choice_probabilities = compute_set_probabilities(
        feature_columns, np.arange(len(sets) + 1) * size, sets.ravel(), posterior.lapse
    )
    return tabulate_sets(
        labels,
        sets,
        choice_probabilities,
        build_learning_target(goal, feature_columns, labels, rng),
        check_integer("n", n, 1),
        rng,
    )


def select_spaced_draws(posterior: Posterior, n_outcomes: int) -> tuple[FeatureColumns, np.ndarray]:
    """Select evenly spaced draws, fewer the more outcomes are possible.

    Return their columns and their indices.
    """
    feature_columns = read_columns(posterior)
    draw_indices = space_draws(feature_columns.n_draws, n_outcomes)
    return feature_columns.take(draw_indices), draw_indices


def build_learning_target(
    goal: Any,
    feature_columns: FeatureColumns,
    labels: list[str],
    rng: np.random.Generator,
    words: Collection[str] = WORDS,
) -> LearningTarget:
    """Build the quantity that answers should inform about, from the user's `goal`."""
    if isinstance(goal, Mapping):
        return _build_aspect_target(goal, feature_columns, labels)
    check_goal(goal, words, ", or {'aspect': [labels]}")
    utility = np.empty(0)
    if goal != EVERYTHING:
        utility = compute_utilities(feature_columns)
    return build_worth_target(goal, utility, rng)


def _build_aspect_target(
    goal: Mapping[str, Any], feature_columns: FeatureColumns, labels: list[str]
) -> LearningTarget:
    """Build the target "does a feature with these owners exist?", true or false per draw."""
    if not {"aspect"} <= set(goal) <= {"aspect", "similar"}:
        raise ArgumentError(
            f"`goal` must have the key 'aspect', and optionally 'similar'; got {dict(goal)!r}."
        )
    aspect = goal["aspect"]
    if not is_list(aspect) or not (members := list(aspect)):
        raise ArgumentError(
            f"`goal`: the aspect must be a list of at least one label; got {aspect!r}."
        )
    is_member = np.zeros(feature_columns.n_options, bool)
    is_member[[label_index(format_label(member), labels, "goal") for member in members]] = True
    n_shared = np.zeros(0)
    if len(feature_columns.sizes):
        n_shared = sum_parts(is_member[feature_columns.owners], feature_columns.owner_offsets)
    jaccard = n_shared / (feature_columns.sizes + is_member.sum() - n_shared)
    min_jaccard = 1.0
    if goal.get("similar") is not None:
        min_jaccard = check_open_interval("similar", goal["similar"], "the minimum Jaccard index")
    has_aspect = np.zeros(feature_columns.n_draws, bool)
    has_aspect[feature_columns.draw[jaccard >= min_jaccard]] = True
    return LearningTarget(np.stack([has_aspect, ~has_aspect]))
