"""The state of a chain of several groups, who share owners and have weights of their own.

Every group has a state with the same owners, stacked along the first axis of every array; `replica`
returns one. The weight of column k in group g is Gamma(kappa, kappa / v[k]) a priori, and the
unique weight of option i likewise about own[i]. Where groups are similar, v and own are
Gamma(shape, rate) and kappa is Gamma(2, .1), and both are drawn; where they are free, v = own =
shape / rate and kappa = shape, so that all weights are independent and Gamma(shape, rate).

Of people whose weights depend on what is known of them, x, the weight of column k is about v[k]
exp(x' slope[k]), with slopes Normal(0, SLOPE_SD^2), and unique weights likewise.

A chain has one such state for every temperature, stacked along a further first axis.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import generic, scalar

from .operations import cache_at
from .state import (
    COLUMNS,
    FeatureState,
    capacity,
    change_owner,
    remove_column,
    replica,
    resized,
    stack,
)

KAPPA, STEP, TRIED, ACCEPTED = range(4)  # positions in Base.real
KAPPA_SHAPE, KAPPA_RATE = 2.0, 0.1  # of the Gamma prior of a learned kappa
# prior standard deviation of a slope of log weights, a standard deviation of a column of people
SLOPE_SD = 0.5


class GroupModel(NamedTuple):
    """A prior over columns, the likelihoods of all groups, and how they are joined. Never
    changed."""

    prior: object
    likelihood: object  # of all groups, stacked
    shape: float  # of the Gamma prior of weights, or of what weights of similar groups vary about
    rate: float
    unique: int  # NO_UNIQUE, or FIXED_UNIQUE: every option has a unique weight
    learn_alpha: bool
    similar: bool
    kappa: float  # where it is fixed; NaN where it is learned
    # whether every group is a person, of whom there may be many with few answers each
    persons: bool = False
    # (groups, columns) what is known of people, on which their weights depend
    known: np.ndarray = np.zeros((0, 0))


class Base(NamedTuple):
    """What the weights of all groups vary about, and how much."""

    v: np.ndarray  # (rows,) of each column
    own: np.ndarray  # (n,) of each option's unique weight
    real: (
        np.ndarray
        # (4,) KAPPA; of the moves of v with all of its weights: STEP, and since it was adapted
        # TRIED, ACCEPTED
    )
    lift: np.ndarray  # (groups, rows) by which v is multiplied for each group
    own_lift: np.ndarray  # (groups, n)
    slope: np.ndarray  # (rows, columns of people) of the logarithms of `lift`
    own_slope: np.ndarray  # (n, columns of people)


@scalar
def base_at(bases: Any, t: Any) -> Any:
    """What the weights vary about at level t."""
    return Base(
        bases.v[t],
        bases.own[t],
        bases.real[t],
        bases.lift[t],
        bases.own_lift[t],
        bases.slope[t],
        bases.own_slope[t],
    )


@scalar
def middle_of(base: Any, k: Any, g: Any) -> Any:
    """What the weight of column k varies about in group g."""
    return base.v[k] * base.lift[g, k]


@scalar
def own_middle_of(base: Any, i: Any, g: Any) -> Any:
    """What the unique weight of option i varies about in group g."""
    return base.own[i] * base.own_lift[g, i]


@scalar
def fill_lifts_of(known: Any, slope: Any, lift: Any, k: Any) -> None:
    """The factors of weight k for everybody, from its slopes."""
    for g in range(known.shape[0]):
        total = 0.0
        for j in range(known.shape[1]):
            total += known[g, j] * slope[k, j]
        lift[g, k] = math.exp(total)


@scalar
def draw_slopes_of_new(rng: Any, model: Any, base: Any, k: Any) -> None:
    """The slopes of a column that is proposed, from their prior."""
    if model.known.shape[1] > 0:
        for j in range(model.known.shape[1]):
            base.slope[k, j] = SLOPE_SD * rng.standard_normal()
        fill_lifts_of(model.known, base.slope, base.lift, k)


def empty_base(n: int, rows: int, model: GroupModel, groups: int) -> Base:
    """The middle of the prior for every column and option."""
    middle = model.shape / model.rate
    kappa = (
        model.shape
        if not model.similar
        else KAPPA_SHAPE / KAPPA_RATE
        if np.isnan(model.kappa)
        else model.kappa
    )
    slopes = model.known.shape[1]
    return Base(
        np.full(rows, middle),
        np.full(n, middle),
        np.array([kappa, 0.5, 0.0, 0.0]),
        np.ones((groups, rows)),
        np.ones((groups, n)),
        np.zeros((rows, slopes)),
        np.zeros((n, slopes)),
    )


def with_rows(base: Base, rows: int) -> Base:
    """The same with room for more columns."""
    more = rows - base.v.size
    return base._replace(
        v=np.append(base.v, np.full(more, base.v[-1])),
        lift=np.hstack([base.lift, np.ones((len(base.lift), more))]),
        slope=np.vstack([base.slope, np.zeros((more, base.slope.shape[1]))]),
    )


def grown_groups(states: FeatureState, bases: Base) -> tuple[FeatureState, Base]:
    """Copies with twice the room for columns."""
    levels = []
    for t in range(states.w.shape[0]):
        level = replica(states, t)
        levels.append(
            stack(
                [
                    resized(b, 2 * capacity(b))
                    for b in (replica(level, g) for g in range(level.w.shape[0]))
                ]
            )
        )
    rows = levels[0].w.shape[1]
    return stack(levels), stack([with_rows(base_at(bases, t), rows) for t in range(len(levels))])


@scalar
def copy_proposed(states: Any, m: Any) -> None:
    """The pattern that was proposed in row K of the first group, of m owners, to the other
    groups."""
    first = replica(states, 0)
    k = first.whole[COLUMNS]
    for g in range(states.w.shape[0]):
        b = replica(states, g)
        b.m[k] = m
        for i in range(b.Z.shape[1]):
            b.Z[k, i] = first.Z[k, i]


@scalar
def append_proposed(states: Any, rate: Any) -> None:
    """The pattern in row K, with its weights, becomes a column whose log rate is `rate`."""
    for g in range(states.w.shape[0]):
        b = replica(states, g)
        k = b.whole[COLUMNS]
        b.log_rate[k] = rate
        b.whole[COLUMNS] = k + 1


@scalar
def remove_from_all(states: Any, base: Any, k: Any) -> None:
    """Column k leaves; the last one takes its place."""
    last = replica(states, 0).whole[COLUMNS] - 1
    base.v[k] = base.v[last]
    for j in range(base.slope.shape[1]):
        base.slope[k, j] = base.slope[last, j]
    for g in range(states.w.shape[0]):
        base.lift[g, k] = base.lift[g, last]
        remove_column(replica(states, g), k)


@scalar
def set_owner(states: Any, k: Any, i: Any, m: Any, rate: Any) -> None:
    """Option i joins column k or leaves it, which then has m owners and that log rate."""
    for g in range(states.w.shape[0]):
        change_owner(replica(states, g), k, i, m, rate)


@generic
def group_at(likelihood: Any, g: Any) -> None:
    """The likelihood of group g, from the stacked one."""


@scalar
def level_caches(model: Any, caches: Any, t: Any) -> Any:
    """The caches of all groups at replica t."""
    return cache_at(group_at(model.likelihood, 0), caches, t)


@scalar
def select_group(model: Any, caches: Any, states: Any, g: Any) -> Any:
    """The likelihood of group g, its cache and its state, from those of a replica."""
    likelihood = group_at(model.likelihood, g)
    return likelihood, cache_at(likelihood, caches, g), replica(states, g)


# Who is of which kind, and what everybody answered ------------------------------------------------
#
# Each kind of people is a group as above, whose data are the answers of those who are of it. The
# shares of the kinds are Dirichlet(1, ..., 1), and are integrated out: P(z) is proportional to the
# product of n_g! over kinds, n_g people of kind g.


class People(NamedTuple):
    """What everybody answered, a row for each answer that a person gave. Never changed."""

    start: np.ndarray  # (people + 1,) int64: person p has rows start[p] to start[p + 1] - 1
    answer: np.ndarray  # (rows,) int64 position in `place`
    times: np.ndarray  # (rows,) how often
    place: np.ndarray  # (answers,) int64: where the likelihood finds each answer


class KindModel(NamedTuple):
    """Kinds as groups, and the people. Never changed."""

    groups: GroupModel
    people: People


class ClassMembership(NamedTuple):
    """Who is of which kind. A chain has one for every temperature, stacked along a further first
    axis."""

    of: np.ndarray  # (people,) int64
    size: np.ndarray  # (kinds,) int64 how many people are of each
    proposed: np.ndarray  # (people,) int64 scratch: the kind that a person would be of
    logs: np.ndarray  # (kinds, answers) scratch: log probability of each answer


@scalar
def kinds_at(kinds: Any, t: Any) -> Any:
    """Who is of which kind at level t: views."""
    return ClassMembership(kinds.of[t], kinds.size[t], kinds.proposed[t], kinds.logs[t])


def drawn_kinds(rng: np.random.Generator, people: People, number: int) -> ClassMembership:
    """Everybody is of a kind at random."""
    of = rng.integers(0, number, people.start.size - 1)
    size = np.bincount(of, minlength=number)
    return ClassMembership(of, size, np.zeros_like(of), np.zeros((number, people.place.size)))
