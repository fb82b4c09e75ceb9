"""Prior of product classes and their owners, drawn respondent after respondent."""

import math
from typing import Any

from thali._compile.jit import part, scalar
from thali._inference.numerics.discrete_draws import draw_index, draw_poisson
from thali._inference.numerics.gamma_distribution import draw_log_gamma

from .likelihood import clear_levels, compare_owned, count_tasks, deactivate, set_bit
from .state import (
    BETA,
    CLASSES,
    CONCENTRATION,
    NEGATIVE,
    OWNERS,
    PENDING,
    POLARITY,
    PRESENT,
    SIGMA,
    A,
    allocate_feature,
    append_class,
    has_room,
)


@scalar
def draw_level_set(rng: Any, problem: Any, bits: Any, row: Any, i: Any, polarity: Any) -> None:
    """Draw which levels of attribute i a class includes, not none and not all.

    Sets of an ordered attribute contain its upper or its lower levels.
    """
    clear_levels(problem, bits, row, i)
    first_bit, levels = problem.first_bit[i], problem.n_levels[i]
    size = 1 + draw_index(rng, levels - 1)
    if problem.direction[i] != 0:
        begin = first_bit + levels - size if polarity == 0 else first_bit
        for b in range(begin, begin + size):
            set_bit(bits, row, b)
        return
    for b in range(first_bit, first_bit + levels):
        if rng.random() * (first_bit + levels - b) < size:
            set_bit(bits, row, b)
            size -= 1


@scalar
def draw_class_bits(rng: Any, problem: Any, bits: Any, row: Any) -> Any:
    """Draw a class from the prior into a row; return polarity and attribute counts."""
    attributes = problem.n_levels.size
    active = 1 + draw_index(rng, attributes)
    n_remaining, ordered, polarity = active, 0, -1
    for i in range(attributes):
        if rng.random() * (attributes - i) < n_remaining:
            n_remaining -= 1
            if problem.direction[i] != 0:
                if ordered == 0:
                    polarity = draw_index(rng, 2)
                ordered += 1
            draw_level_set(rng, problem, bits, row, i, polarity)
        else:
            deactivate(problem, bits, row, i)
    return polarity, active, ordered


@scalar
def log_prior_signs(owners: Any, negative: Any, polarity: Any) -> Any:
    """Return the log probability of the signs (likes, dislikes) of a class's owners.

    Signs are forced by the polarity; otherwise an urn with a uniform share draws them.
    """
    if polarity >= 0:
        return 0.0 if negative == polarity * owners else -math.inf
    return (
        math.lgamma(1.0 + negative)
        + math.lgamma(1.0 + owners - negative)
        - math.lgamma(2.0 + owners)
    )


@scalar
def draw_sign(rng: Any, polarity: Any, owners: Any, negative: Any) -> Any:
    """Draw a new owner's sign: 0 likes the class, 1 dislikes it."""
    if polarity >= 0:
        return polarity
    return 1 if rng.random() * (2.0 + owners) < 1.0 + negative else 0


@scalar
def singleton_rate(problem: Any, state: Any) -> Any:
    """Return the prior mean number of classes that a given respondent owns alone."""
    beta = problem.prior[BETA]
    return state.real[CONCENTRATION] * beta / (beta + state.whole[PRESENT] - 1.0)


@part
def draw_feature_values(rng: Any, tasks: Any, features: Any, real: Any, n: Any, f: Any) -> None:
    """Draw theta of respondent n's feature f, and epsilon where its class separates products."""
    a, sigma = real[A], real[SIGMA]
    features.log_theta[f] = draw_log_gamma(rng, sigma * a)
    features.theta[f] = math.exp(features.log_theta[f])
    for tau in range(count_tasks(tasks, n)):
        if features.separates[f, tau] != 0:
            features.log_eps[f, tau] = draw_log_gamma(rng, (1.0 - sigma) * a)
            features.value[f, tau] = features.theta[f] + math.exp(features.log_eps[f, tau])


@scalar
def add_owner(rng: Any, problem: Any, state: Any, n: Any, k: Any, sign: Any) -> Any:
    """Make respondent n an owner of class k with prior values; return the slot."""
    f = allocate_feature(state, n, k, sign)
    compare_owned(problem, state, f)
    draw_feature_values(rng, problem.tasks, state.features, state.real, n, f)
    return f


@part
def add_new_class(rng: Any, problem: Any, state: Any, n: Any) -> Any:
    """Draw a new class that respondent n owns; return its feature slot."""
    k = state.whole[CLASSES]
    polarity, active, ordered = draw_class_bits(rng, problem, state.bits, k)
    append_class(state, polarity, active, ordered)
    return add_owner(rng, problem, state, n, k, draw_sign(rng, polarity, 0, 0))


@scalar
def add_respondent(rng: Any, problem: Any, state: Any) -> Any:
    """Draw the classes of the next respondent; return False without room.

    Call it again with more room.
    """
    n = state.whole[PRESENT]
    beta = problem.prior[BETA]
    state.whole[PRESENT] = n + 1
    if state.whole[PENDING] < 0:
        state.whole[PENDING] = draw_poisson(rng, singleton_rate(problem, state))
    if not has_room(state, state.whole[PENDING]):
        state.whole[PRESENT] = n
        return False
    for k in range(state.whole[CLASSES]):
        owners = state.classes[k, OWNERS]
        if rng.random() * (beta + n) < owners:
            polarity, negative = state.classes[k, POLARITY], state.classes[k, NEGATIVE]
            add_owner(rng, problem, state, n, k, draw_sign(rng, polarity, owners, negative))
    for _ in range(state.whole[PENDING]):
        add_new_class(rng, problem, state, n)
    state.whole[PENDING] = -1
    return True
