"""The state of a chain of several groups with common owners and separate weights.

Every group has a state with the same owners, stacked along the first axis of every array; `replica`
returns one. The weight of column k in group g is Gamma(kappa, kappa / v[k]) a priori, and the
unique weight of option i is Gamma(kappa, kappa / unique[i]). If groups are similar, v and unique
are Gamma(shape, rate), kappa is Gamma(2, 0.1), and all three are drawn. If groups are free, v =
unique = shape / rate and kappa = shape, so that all weights are independent Gamma(shape, rate).

If the weights of people depend on covariates x, the mean of the weight of column k is v[k] exp(x'
slope[k]), with slopes Normal(0, SLOPE_SD^2); unique weights have slopes, too.

A chain has one such state for every temperature, stacked along another first axis.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import generic, scalar

from .chain_state import (
    COLUMNS,
    FeatureState,
    capacity,
    change_owner,
    count_groups,
    remove_column,
    replica,
    resize_state,
    stack_states,
)
from .kernel_operations import select_cache

KAPPA, STEP, TRIED, ACCEPTED = range(4)  # positions in CommonWeights.real
KAPPA_SHAPE, KAPPA_RATE = 2.0, 0.1  # of the Gamma prior of a learned kappa
# prior standard deviation of a slope of log weights per standard deviation of a covariate
SLOPE_SD = 0.5


class GroupModel(NamedTuple):
    """Prior of features, likelihoods of all groups, and how weights are linked; read-only."""

    prior: object
    likelihood: object  # of all groups, stacked
    shape: float  # of the Gamma prior of weights, or of the common weights of similar groups
    rate: float
    unique: int  # NO_UNIQUE, or FIXED_UNIQUE: every option has a unique weight
    learn_alpha: bool
    similar: bool
    kappa: float  # its fixed value; NaN if it is learned
    # whether every group is a person: there may be many, with few answers each
    persons: bool = False
    # (groups, covariates) values of the covariates of people
    known: np.ndarray = np.zeros((0, 0))


class CommonWeights(NamedTuple):
    """Weights common to all groups, kappa, and each group's covariate factors."""

    v: np.ndarray  # (rows,) common weight of each column
    unique: np.ndarray  # (n,) common unique weight of each option
    # (4,) KAPPA; STEP of the moves of v with all of its weights, and TRIED, ACCEPTED since STEP
    # was adapted
    real: np.ndarray
    covariate_factor: np.ndarray  # (groups, rows) factor of v for each group
    unique_covariate_factor: np.ndarray  # (groups, n) factor of the unique weights
    slope: np.ndarray  # (rows, covariates) of the logarithms of `covariate_factor`
    unique_slope: np.ndarray  # (n, covariates)


@scalar
def select_common_weights(levels: Any, t: Any) -> Any:
    """Return views of the common weights at temperature t."""
    return CommonWeights(
        levels.v[t],
        levels.unique[t],
        levels.real[t],
        levels.covariate_factor[t],
        levels.unique_covariate_factor[t],
        levels.slope[t],
        levels.unique_slope[t],
    )


@scalar
def expected_weight(base: Any, k: Any, g: Any) -> Any:
    """Return the prior mean of the weight of feature k in group g."""
    return base.v[k] * base.covariate_factor[g, k]


@scalar
def expected_unique_weight(base: Any, i: Any, g: Any) -> Any:
    """Return the prior mean of the unique weight of option i in group g."""
    return base.unique[i] * base.unique_covariate_factor[g, i]


@scalar
def fill_weight_factors(known: Any, slope: Any, covariate_factor: Any, k: Any) -> None:
    """Fill the covariate factors of weight k for all groups, from its slopes."""
    for g in range(known.shape[0]):
        total = 0.0
        for j in range(known.shape[1]):
            total += known[g, j] * slope[k, j]
        covariate_factor[g, k] = math.exp(total)


@scalar
def draw_new_slopes(rng: Any, model: Any, base: Any, k: Any) -> None:
    """Draw the covariate slopes of a proposed feature from their prior."""
    if model.known.shape[1] > 0:
        for j in range(model.known.shape[1]):
            base.slope[k, j] = SLOPE_SD * rng.standard_normal()
        fill_weight_factors(model.known, base.slope, base.covariate_factor, k)


def make_common_weights(
    n_options: int, n_columns: int, model: GroupModel, n_groups: int
) -> CommonWeights:
    """Return common weights of all features and options, each at its prior mean."""
    mean_weight = model.shape / model.rate
    kappa = model.kappa
    if not model.similar:
        kappa = model.shape
    elif np.isnan(kappa):
        kappa = KAPPA_SHAPE / KAPPA_RATE
    n_slopes = model.known.shape[1]
    return CommonWeights(
        np.full(n_columns, mean_weight),
        np.full(n_options, mean_weight),
        np.array([kappa, 0.5, 0.0, 0.0]),
        np.ones((n_groups, n_columns)),
        np.ones((n_groups, n_options)),
        np.zeros((n_columns, n_slopes)),
        np.zeros((n_options, n_slopes)),
    )


def add_rows(base: CommonWeights, rows: int) -> CommonWeights:
    """Return the common weights with room for `rows` features."""
    n_new = rows - base.v.size
    return base._replace(
        v=np.append(base.v, np.full(n_new, base.v[-1])),
        covariate_factor=np.hstack(
            [base.covariate_factor, np.ones((len(base.covariate_factor), n_new))]
        ),
        slope=np.vstack([base.slope, np.zeros((n_new, base.slope.shape[1]))]),
    )


def double_group_capacity(
    states: FeatureState, common: CommonWeights
) -> tuple[FeatureState, CommonWeights]:
    """Copy states and common weights into arrays with twice the room."""
    states_by_level = []
    for t in range(count_groups(states)):
        level_states = replica(states, t)
        states_by_level.append(
            stack_states(
                [
                    resize_state(b, 2 * capacity(b))
                    for b in (replica(level_states, g) for g in range(count_groups(level_states)))
                ]
            )
        )
    n_rows = states_by_level[0].w.shape[1]
    return stack_states(states_by_level), stack_states(
        [add_rows(select_common_weights(common, t), n_rows) for t in range(len(states_by_level))]
    )


@scalar
def copy_proposed_pattern(states: Any, m: Any) -> None:
    """Copy the owners of the proposed feature (row K, m owners) to all groups."""
    first_group = replica(states, 0)
    k = first_group.whole[COLUMNS]
    for g in range(count_groups(states)):
        b = replica(states, g)
        b.m[k] = m
        for i in range(b.Z.shape[1]):
            b.Z[k, i] = first_group.Z[k, i]


@scalar
def append_proposed_column(states: Any, rate: Any) -> None:
    """Make the proposed feature in row K, with log rate `rate`, part of all groups."""
    for g in range(count_groups(states)):
        b = replica(states, g)
        k = b.whole[COLUMNS]
        b.log_rate[k] = rate
        b.whole[COLUMNS] = k + 1


@scalar
def remove_group_column(states: Any, base: Any, k: Any) -> None:
    """Remove feature k from all groups; the last feature takes its row."""
    last = replica(states, 0).whole[COLUMNS] - 1
    base.v[k] = base.v[last]
    for j in range(base.slope.shape[1]):
        base.slope[k, j] = base.slope[last, j]
    for g in range(count_groups(states)):
        base.covariate_factor[g, k] = base.covariate_factor[g, last]
        remove_column(replica(states, g), k)


@scalar
def toggle_group_owner(states: Any, k: Any, i: Any, m: Any, rate: Any) -> None:
    """Toggle whether option i owns feature k, in all groups.

    The column then has m owners and log rate `rate`.
    """
    for g in range(count_groups(states)):
        change_owner(replica(states, g), k, i, m, rate)


@generic
def select_group_likelihood(likelihood: Any, g: Any) -> Any:
    """Return the likelihood of group g from the stacked likelihood of all groups."""


@scalar
def level_caches(model: Any, caches: Any, t: Any) -> Any:
    """Return views of the caches of all groups at temperature t."""
    return select_cache(select_group_likelihood(model.likelihood, 0), caches, t)


@scalar
def select_group(model: Any, caches: Any, states: Any, g: Any) -> Any:
    """Return likelihood, cache and state of group g at one temperature."""
    likelihood = select_group_likelihood(model.likelihood, g)
    return likelihood, select_cache(likelihood, caches, g), replica(states, g)


# Latent classes and their answers -----------------------------------------------------------------
#
# Each latent class is a group as above, whose data are the answers of its members. The class shares
# are Dirichlet(1, ..., 1) and integrated out: P(z) is proportional to the product of n_g! over
# classes, with n_g members of class g.


class ClassAnswers(NamedTuple):
    """The answers of all respondents, one entry per distinct answer; read-only."""

    start: np.ndarray  # (people + 1,) int64: person p has rows start[p] to start[p + 1] - 1
    answer: np.ndarray  # (rows,) int64 position in `place`
    times: np.ndarray  # (rows,) number of times
    place: np.ndarray  # (answers,) int64: position of each answer in the likelihood


class LatentClassModel(NamedTuple):
    """Latent classes (as groups) and the respondents to assign to them; read-only."""

    groups: GroupModel
    people: ClassAnswers


class ClassMembership(NamedTuple):
    """The latent class of each respondent and related counts, at one temperature."""

    of: np.ndarray  # (people,) int64 class index
    size: np.ndarray  # (classes,) int64 number of members
    proposed: np.ndarray  # (people,) int64 scratch: proposed class index
    logs: np.ndarray  # (classes, answers) scratch: log probability of each answer


@scalar
def select_membership(levels: Any, t: Any) -> Any:
    """Return views of the class membership at temperature t."""
    return ClassMembership(levels.of[t], levels.size[t], levels.proposed[t], levels.logs[t])


def draw_initial_classes(
    rng: np.random.Generator, people: ClassAnswers, n_classes: int
) -> ClassMembership:
    """Draw a uniformly random latent class for every respondent."""
    class_indices = rng.integers(0, n_classes, people.start.size - 1)
    class_sizes = np.bincount(class_indices, minlength=n_classes)
    return ClassMembership(
        class_indices,
        class_sizes,
        np.zeros_like(class_indices),
        np.zeros((n_classes, people.place.size)),
    )
