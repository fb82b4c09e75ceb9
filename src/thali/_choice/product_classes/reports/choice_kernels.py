"""Kernels that simulate one choice: membership, values, winners, and new respondents."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._compile.jit import scalar
from thali._inference.numerics.array_parts import part_ends, part_range, part_size
from thali._inference.numerics.discrete_draws import draw_index
from thali._inference.numerics.gamma_distribution import draw_log_gamma

from ..likelihood import log_add_exp

if TYPE_CHECKING:
    from ..ragged_draws import Particles

_SAFE = 1e-280  # relative values below this are rescaled before they are compared


@scalar
def contains_product(
    active: Any, member: Any, c: Any, offset: Any, codes: Any, product: Any
) -> Any:
    """Return whether class c of a draw contains a product.

    A class contains no product that lacks one of its active attributes.
    """
    for i in range(active.shape[1]):
        if active[c, i]:
            level = codes[product, i]
            if level < 0 or not member[c, offset[i] + level]:
                return False
    return True


@scalar
def draw_occasion_values(
    rng: Any, log_theta: Any, shape: Any, chosen: Any, n: Any, log_value: Any
) -> None:
    """Draw log values of n owned classes for one choice occasion.

    A value is its lasting part plus a fresh transient part.
    """
    for q in range(n):
        log_value[q] = log_add_exp(log_theta[chosen[q]], draw_log_gamma(rng, shape))


@scalar
def scale_values(log_value: Any, n: Any, value: Any) -> None:
    """Write the first n values, divided by the largest, from their logarithms."""
    top = -math.inf
    for q in range(n):
        top = max(top, log_value[q])
    for q in range(n):
        value[q] = math.exp(log_value[q] - top)


@scalar
def collect_separating_classes(inside: Any, n: Any, rows: Any, chosen: Any) -> Any:
    """List which of n owned classes separate some products; return how many."""
    count = 0
    for o in range(n):
        for row in range(1, rows):
            if inside[o, row] != inside[o, 0]:
                chosen[count] = o
                count += 1
                break
    return count


@scalar
def scaled_utility_difference(
    inside: Any, sign: Any, chosen: Any, n: Any, log_value: Any, value: Any, a: Any, b: Any
) -> Any:
    """Return u(a) - u(b) times a positive factor, safe from underflow.

    Only classes that separate the two rows are summed.
    """
    total = 0.0
    largest = 0.0
    separate = False
    for q in range(n):
        o = chosen[q]
        if inside[o, a] != inside[o, b]:
            separate = True
            largest = max(largest, value[q])
            total += value[q] if inside[o, a] == (sign[o] == 0) else -value[q]
    if not separate or largest > _SAFE:
        return total
    top = -math.inf
    for q in range(n):
        if inside[chosen[q], a] != inside[chosen[q], b]:
            top = max(top, log_value[q])
    if top == -math.inf:
        return 0.0
    total = 0.0
    for q in range(n):
        o = chosen[q]
        if inside[o, a] != inside[o, b]:
            part = math.exp(log_value[q] - top)
            total += part if inside[o, a] == (sign[o] == 0) else -part
    return total


@scalar
def is_tie(inside: Any, chosen: Any, n: Any, a: Any, b: Any) -> Any:
    """Return whether none of n classes separates products a and b."""
    for q in range(n):
        if inside[chosen[q], a] != inside[chosen[q], b]:
            return False
    return True


@scalar
def add_winner_weights(
    inside: Any,
    sign: Any,
    chosen: Any,
    n: Any,
    log_value: Any,
    value: Any,
    start: Any,
    stop: Any,
    weight: Any,
    total: Any,
) -> None:
    """Add `weight` to the best products of a range, split evenly over ties."""
    scale_values(log_value, n, value)
    best = start
    for row in range(start + 1, stop):
        if scaled_utility_difference(inside, sign, chosen, n, log_value, value, row, best) > 0.0:
            best = row
    ties = 0
    for row in range(start, stop):
        if is_tie(inside, chosen, n, row, best):
            ties += 1
    for row in range(start, stop):
        if is_tie(inside, chosen, n, row, best):
            total[row] += weight / ties


# The classes that one respondent owns in one draw -------------------------------------------------


@scalar
def count_respondents(draws: Any) -> Any:
    """Return the number of respondents in each draw."""
    return (draws.first_owned.shape[0] - 1) // draws.a.size


@scalar
def read_owned_classes(draws: Any, d: Any, person: Any) -> Any:
    """Return first index, number, signs and ln theta of a respondent's classes.

    The position is that of the first class in `owned_class`.
    """
    people = count_respondents(draws)
    begin, end = part_ends(draws.first_owned, d * people + person)
    return begin, end - begin, draws.owned_sign[begin:end], draws.owned_log_theta[begin:end]


@scalar
def fill_membership(
    draws: Any, d: Any, begin: Any, n: Any, codes: Any, rows: Any, inside: Any
) -> None:
    """Write whether each of n owned classes of draw d contains each product.

    The classes start at position `begin` of `owned_class`; rows are the first rows of `codes`.
    """
    for o in range(n):
        c = draws.first_class[d] + draws.owned_class[begin + o]
        fill_class_row(draws.active, draws.member, c, draws.offset, codes, rows, inside, o)


@scalar
def fill_class_row(
    active: Any, member: Any, c: Any, offset: Any, codes: Any, rows: Any, inside: Any, o: Any
) -> None:
    """Write whether class c contains each product, as row o of `inside`."""
    for row in range(rows):
        inside[o, row] = contains_product(active, member, c, offset, codes, row)


@scalar
def count_occasions(
    rng: Any,
    inside: Any,
    sign: Any,
    log_theta: Any,
    shape: Any,
    n: Any,
    chosen: Any,
    log_value: Any,
    value: Any,
    first_row: Any,
    occasions: Any,
    weight: Any,
    total: Any,
) -> None:
    """Add the weights of simulated winners in all tasks, over several occasions, to `total`.

    Values of an occasion are the same in all tasks.
    """
    n_separating = collect_separating_classes(inside, n, inside.shape[1], chosen)
    for _ in range(occasions):
        draw_occasion_values(rng, log_theta, shape, chosen, n_separating, log_value)
        for t in range(first_row.size - 1):
            ends = part_ends(first_row, t)
            add_winner_weights(
                inside, sign, chosen, n_separating, log_value, value, *ends, weight, total
            )


@scalar
def transient_shape(draws: Any, d: Any) -> Any:
    """Return the Gamma shape of epsilon, the task-specific part of a value."""
    return (1.0 - draws.sigma[d]) * draws.a[d]


def bound_owned_classes(draws: "Particles") -> int:
    """Return the largest number of classes that a respondent may own in a draw."""
    return int(np.diff(draws.first_owned).max(initial=0)) + 1


# Random rows of the design ------------------------------------------------------------------------


@scalar
def draw_design_row(rng: np.random.Generator, codes: Any, rows: Any, i: Any, min_level: Any) -> Any:
    """Draw a random product row with at least level `min_level` of attribute i."""
    while True:
        product = rows[draw_index(rng, rows.shape[0])]
        if codes[product, i] >= min_level:
            return product


# New respondents: classes from the prior, and bounds on their number ------------------------------


@scalar
def draw_class_members(
    rng: Any, offset: Any, monotone: Any, order: Any, active: Any, member: Any, c: Any
) -> Any:
    """Draw class c from the prior as level sets; return its polarity."""
    attributes = monotone.size
    for i in range(attributes):
        order[i] = i
        active[c, i] = False
        for cell in part_range(offset, i):
            member[c, cell] = True
    n_active = 1 + draw_index(rng, attributes)
    for position in range(n_active):  # the first attributes of a random order
        swap_position = position + draw_index(rng, attributes - position)
        order[position], order[swap_position] = order[swap_position], order[position]
        active[c, order[position]] = True
    polarity = -1
    for i in range(attributes):
        if not active[c, i]:
            continue
        levels = part_size(offset, i)
        size = 1 + draw_index(rng, levels - 1)
        if monotone[i] == 0:
            for cell in part_range(offset, i):
                member[c, cell] = rng.random() * (offset[i + 1] - cell) < size
                size -= member[c, cell]
        else:
            if polarity < 0:
                polarity = draw_index(rng, 2)
            # Liked classes contain the better levels: the later ones if more is better.
            later = (monotone[i] > 0) == (polarity == 0)
            for level in range(levels):
                member[c, offset[i] + level] = (levels - 1 - level if later else level) < size
    return polarity


def bound_total_classes(draws: "Particles", n_newcomers: int) -> int:
    """Return the largest number of classes after `n_newcomers` respondents join.

    Sum of all existing classes, and a bound on new ones.
    """
    prior_count = draws.beta + draws.n_respondents
    # above the sum of 1 / (present + i), i < newcomers
    harmonic_sum = 1.0 / prior_count + math.log1p(n_newcomers / prior_count)
    mean_new = float(draws.alpha.max(initial=0.0)) * draws.beta * harmonic_sum
    max_classes = int(np.diff(draws.first_class).max(initial=0))
    return max_classes + int(mean_new + 20.0 * math.sqrt(mean_new)) + 64
