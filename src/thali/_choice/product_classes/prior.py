"""The prior over classes of products, and people who join one after the other."""

import math
from typing import Any

from thali._compile.jit import part, scalar
from thali._inference.numerics.decisions import draw_index, draw_poisson
from thali._inference.numerics.gamma import draw_log_gamma

from .likelihood import clear_levels, compare, deactivate, set_bit
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
    SPLIT,
    A,
    has_room,
    new_class,
    take,
)


@scalar
def draw_set(rng: Any, problem: Any, bits: Any, row: Any, i: Any, polarity: Any) -> None:
    """A proper non-empty set of levels of attribute i from its prior; upper or lower ones if they
    are ordered."""
    clear_levels(problem, bits, row, i)
    first, levels = problem.first_bit[i], problem.n_levels[i]
    size = 1 + draw_index(rng, levels - 1)
    if problem.direction[i] != 0:
        begin = first + levels - size if polarity == 0 else first
        for b in range(begin, begin + size):
            set_bit(bits, row, b)
        return
    for b in range(first, first + levels):
        if rng.random() * (first + levels - b) < size:
            set_bit(bits, row, b)
            size -= 1


@scalar
def draw_class(rng: Any, problem: Any, bits: Any, row: Any) -> Any:
    """A class from its prior into a row of bits; returns polarity, active attributes, those of them
    with an order."""
    attributes = problem.n_levels.shape[0]
    active = 1 + draw_index(rng, attributes)
    wanted, ordered, polarity = active, 0, -1
    for i in range(attributes):
        if rng.random() * (attributes - i) < wanted:
            wanted -= 1
            if problem.direction[i] != 0:
                if ordered == 0:
                    polarity = draw_index(rng, 2)
                ordered += 1
            draw_set(rng, problem, bits, row, i, polarity)
        else:
            deactivate(problem, bits, row, i)
    return polarity, active, ordered


@scalar
def log_signs(owners: Any, negative: Any, polarity: Any) -> Any:
    """ln P of the signs of a class's owners: forced by its polarity, else an urn with a uniform
    share."""
    if polarity >= 0:
        return 0.0 if negative == polarity * owners else -math.inf
    return (
        math.lgamma(1.0 + negative)
        + math.lgamma(1.0 + owners - negative)
        - math.lgamma(2.0 + owners)
    )


@scalar
def draw_sign(rng: Any, polarity: Any, owners: Any, negative: Any) -> Any:
    """Sign of one owner more, given those of the others: 0 liked, 1 disliked."""
    if polarity >= 0:
        return polarity
    return 1 if rng.random() * (2.0 + owners) < 1.0 + negative else 0


@scalar
def rate_of_singletons(problem: Any, state: Any) -> Any:
    """Mean number of classes that one of the people present owns alone."""
    beta = problem.prior[BETA]
    return state.real[CONCENTRATION] * beta / (beta + state.whole[PRESENT] - 1.0)


@part
def draw_values(rng: Any, tasks: Any, features: Any, real: Any, n: Any, f: Any) -> None:
    """θ of a feature, and ε where its class separates products, from their prior."""
    a, sigma = real[A], real[SIGMA]
    features.log_theta[f] = draw_log_gamma(rng, sigma * a)
    features.theta[f] = math.exp(features.log_theta[f])
    for tau in range(tasks.first_task[n + 1] - tasks.first_task[n]):
        if features.separates[f, tau] != 0:
            features.log_eps[f, tau] = draw_log_gamma(rng, (1.0 - sigma) * a)
            features.value[f, tau] = features.theta[f] + math.exp(features.log_eps[f, tau])


@part
def own_new_class(rng: Any, problem: Any, state: Any, n: Any) -> Any:
    """Person n gets a new class, with its feature drawn from the prior; returns the slot."""
    k = state.whole[CLASSES]
    polarity, active, ordered = draw_class(rng, problem, state.bits, k)
    new_class(state, polarity, active, ordered)
    f = take(state, n, k, draw_sign(rng, polarity, 0, 0))
    state.features.slots[f, SPLIT] = compare(
        problem.tasks, state.bits, k, n, state.features.difference, state.features.separates, f
    )
    draw_values(rng, problem.tasks, state.features, state.real, n, f)
    return f


@scalar
def extend(rng: Any, problem: Any, state: Any) -> Any:
    """Add the next person, drawn from the prior given the others; False: too little room; call
    again with more."""
    n = state.whole[PRESENT]
    beta = problem.prior[BETA]
    state.whole[PRESENT] = n + 1
    if state.whole[PENDING] < 0:
        state.whole[PENDING] = draw_poisson(rng, rate_of_singletons(problem, state))
    if not has_room(state, n, state.whole[PENDING]):
        state.whole[PRESENT] = n
        return False
    for k in range(state.whole[CLASSES]):
        owners = state.classes[k, OWNERS]
        if rng.random() * (beta + n) < owners:
            f = take(
                state,
                n,
                k,
                draw_sign(rng, state.classes[k, POLARITY], owners, state.classes[k, NEGATIVE]),
            )
            state.features.slots[f, SPLIT] = compare(
                problem.tasks,
                state.bits,
                k,
                n,
                state.features.difference,
                state.features.separates,
                f,
            )
            draw_values(rng, problem.tasks, state.features, state.real, n, f)
    for _ in range(state.whole[PENDING]):
        own_new_class(rng, problem, state, n)
    state.whole[PENDING] = -1
    return True
