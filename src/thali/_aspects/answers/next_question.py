"""The questions that are best asked next, by a posterior of aspects."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._arguments import between, is_list, whole
from thali._inference.numerics.counts import compute_outcomes as with_ties
from thali._labels import as_label
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
from thali._posterior.view import Posterior
from thali.errors import ArgumentError

from ..draws.columns import FeatureColumns, columns_of
from ..draws.probabilities import probability_draws
from .options import utility_draws

if TYPE_CHECKING:
    import pandas


def next_pairs_table(
    posterior: Posterior, n: Any, among: Any, goal: Any, seed: Any
) -> "pandas.DataFrame":
    """A row a pair, in the order in which they are best asked."""
    rng = np.random.default_rng(seed)
    labels = posterior.labels
    pairs = list_pairs(among, labels, rng)
    columns, at = draws_for(posterior, 3 * len(pairs))
    first, second = pairs.T
    p = probability_draws(columns, first, second, posterior.lapse)
    if (tie := posterior.tie) is None:
        found = np.stack([p, 1.0 - p], axis=-1)
    else:
        found = with_ties(p, 1.0 - p, tie[at][:, None])
    return tabulate_pairs(
        labels, pairs, found, learning_target(goal, columns, labels, rng), whole("n", n, 1), rng
    )


def next_sets_table(
    posterior: Posterior, size: Any, n: Any, among: Any, goal: Any, seed: Any
) -> "pandas.DataFrame":
    """A row a set, in the order in which they are best asked."""
    from ..likelihoods.set_draws import set_probability_draws

    rng = np.random.default_rng(seed)
    labels = posterior.labels
    own = allowed_options(among, labels, size := whole("size", size, 2))
    sets = list_subsets(own, size, rng)
    columns, _ = draws_for(posterior, sets.size)
    p = set_probability_draws(
        columns, np.arange(len(sets) + 1) * size, sets.ravel(), posterior.lapse
    )
    return tabulate_sets(
        labels, sets, p, learning_target(goal, columns, labels, rng), whole("n", n, 1), rng
    )


def draws_for(posterior: Posterior, places: int) -> tuple[FeatureColumns, np.ndarray]:
    """The columns of evenly spaced draws, as many as fit beside so many outcomes, and which draws
    these are."""
    columns = columns_of(posterior)
    at = space_draws(columns.n_draws, places)
    return columns.take(at), at


def learning_target(
    goal: Any,
    columns: FeatureColumns,
    labels: list[str],
    rng: np.random.Generator,
    words: Any = WORDS,
) -> LearningTarget:
    """What is to be learned."""
    if isinstance(goal, Mapping):
        return _aspect_target(goal, columns, labels)
    check_goal(goal, words, ", or {'aspect': [labels]}")
    utility = np.empty(0) if goal == EVERYTHING else utility_draws(columns)
    return build_worth_target(goal, utility, rng)


def _aspect_target(
    goal: Mapping[str, Any], columns: FeatureColumns, labels: list[str]
) -> LearningTarget:
    """Whether a draw has a column of these owners, or of nearly these."""
    if not {"aspect"} <= set(goal) <= {"aspect", "similar"}:
        raise ArgumentError(
            f"`goal` must have the key 'aspect', and optionally 'similar'; got {dict(goal)!r}."
        )
    aspect = goal["aspect"]
    members = list(aspect) if is_list(aspect) else []
    if not members:
        raise ArgumentError(
            f"`goal`: the aspect must be a list of at least one label; got {aspect!r}."
        )
    wanted = np.zeros(columns.n_options, bool)
    wanted[[label_index(as_label(each), labels, "goal") for each in members]] = True
    shared = (
        np.add.reduceat(wanted[columns.owners], columns.first_owner[:-1])
        if len(columns.sizes)
        else np.zeros(0)
    )
    index = shared / (columns.sizes + wanted.sum() - shared)
    least = (
        1.0
        if goal.get("similar") is None
        else between("similar", goal["similar"], "the minimum Jaccard index")
    )
    there = np.zeros(columns.n_draws, bool)
    there[columns.draw[index >= least]] = True
    return LearningTarget(np.stack([there, ~there]))
