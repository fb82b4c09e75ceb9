"""How a person who owns classes chooses, known or new: which classes hold which products, values,
who wins."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._compile.jit import scalar
from thali._inference.numerics.decisions import draw_index
from thali._inference.numerics.gamma import draw_log_gamma

from ..likelihood import log_add_exp

if TYPE_CHECKING:
    from ..particles import Particles

_SAFE = 1e-280  # relative values below this are rescaled before they are compared


@scalar
def holds(active: Any, member: Any, c: Any, offset: Any, codes: Any, product: Any) -> Any:
    """Whether class c holds a product; one that lacks an attribute is in no class in which that is
    active."""
    for i in range(active.shape[1]):
        if active[c, i]:
            level = codes[product, i]
            if level < 0 or not member[c, offset[i] + level]:
                return False
    return True


@scalar
def draw_values(rng: Any, log_theta: Any, shape: Any, chosen: Any, n: Any, log_value: Any) -> None:
    """The values on one occasion of the n owned classes listed in `chosen`: lasting part plus a
    fresh one."""
    for q in range(n):
        log_value[q] = log_add_exp(log_theta[chosen[q]], draw_log_gamma(rng, shape))


@scalar
def scale_values(log_value: Any, n: Any, value: Any) -> None:
    """Values relative to the largest of them."""
    top = -math.inf
    for q in range(n):
        top = max(top, log_value[q])
    for q in range(n):
        value[q] = math.exp(log_value[q] - top)


@scalar
def separating(inside: Any, n: Any, rows: Any, chosen: Any) -> Any:
    """Collect in `chosen` those of n owned classes that separate some of the rows."""
    found = 0
    for o in range(n):
        for row in range(1, rows):
            if inside[o, row] != inside[o, 0]:
                chosen[found] = o
                found += 1
                break
    return found


@scalar
def difference(
    inside: Any, sign: Any, chosen: Any, n: Any, log_value: Any, value: Any, a: Any, b: Any
) -> Any:
    """u(a) - u(b) up to a positive factor, from the classes that separate the two rows; nothing
    underflows."""
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
def alike(inside: Any, chosen: Any, n: Any, a: Any, b: Any) -> Any:
    """Whether no class separates two rows, so that they tie."""
    for q in range(n):
        if inside[chosen[q], a] != inside[chosen[q], b]:
            return False
    return True


@scalar
def add_winners(
    inside: Any,
    sign: Any,
    chosen: Any,
    n: Any,
    log_value: Any,
    value: Any,
    first: Any,
    last: Any,
    weight: Any,
    total: Any,
) -> None:
    """Share `weight` evenly among those of the rows first, ..., last - 1 that are best."""
    scale_values(log_value, n, value)
    best = first
    for row in range(first + 1, last):
        if difference(inside, sign, chosen, n, log_value, value, row, best) > 0.0:
            best = row
    ties = 0
    for row in range(first, last):
        if alike(inside, chosen, n, row, best):
            ties += 1
    for row in range(first, last):
        if alike(inside, chosen, n, row, best):
            total[row] += weight / ties


# The classes that one person owns in one draw, as reports and predictions read them ---------------


@scalar
def owned_by(draws: Any, d: Any, person: Any) -> Any:
    """Of the classes that a person owns in draw d: place of the first in `owned_class`, number,
    signs, ln θ."""
    people = (draws.first_owned.shape[0] - 1) // draws.a.shape[0]
    begin, end = draws.first_owned[d * people + person], draws.first_owned[d * people + person + 1]
    return begin, end - begin, draws.owned_sign[begin:end], draws.owned_log_theta[begin:end]


@scalar
def fill_inside(draws: Any, d: Any, begin: Any, n: Any, codes: Any, rows: Any, inside: Any) -> None:
    """Which of the first rows of `codes` belong to each of n owned classes, those from place
    `begin` on in draw d."""
    for o in range(n):
        c = draws.first_class[d] + draws.owned_class[begin + o]
        for row in range(rows):
            inside[o, row] = holds(draws.active, draws.member, c, draws.offset, codes, row)


@scalar
def shape_of_passing(draws: Any, d: Any) -> Any:
    """Shape of the part of a value that lasts for one occasion."""
    return (1.0 - draws.sigma[d]) * draws.a[d]


def room_for_known(draws: "Particles") -> int:
    """An upper bound on the classes that anybody owns in any draw."""
    return int(np.diff(draws.first_owned).max(initial=0)) + 1


# Random rows of the design ------------------------------------------------------------------------


@scalar
def row_with(rng: np.random.Generator, codes: Any, rows: Any, i: Any, least: Any) -> Any:
    """A random row of the design in which attribute i has a level of `least` or more."""
    while True:
        product = rows[draw_index(rng, rows.shape[0])]
        if codes[product, i] >= least:
            return product


# New people: classes from the prior, and how many there may be ------------------------------------


@scalar
def draw_class(
    rng: Any, offset: Any, monotone: Any, order: Any, active: Any, member: Any, c: Any
) -> Any:
    """Class c of `active` and `member` from the prior over classes; returns its polarity."""
    attributes = monotone.shape[0]
    for i in range(attributes):
        order[i] = i
        active[c, i] = False
        for cell in range(offset[i], offset[i + 1]):
            member[c, cell] = True
    number = 1 + draw_index(rng, attributes)
    for place in range(number):  # the first `number` of a random order
        other = place + draw_index(rng, attributes - place)
        order[place], order[other] = order[other], order[place]
        active[c, order[place]] = True
    polarity = -1
    for i in range(attributes):
        if not active[c, i]:
            continue
        levels = offset[i + 1] - offset[i]
        size = 1 + draw_index(rng, levels - 1)
        if monotone[i] == 0:
            for cell in range(offset[i], offset[i + 1]):
                member[c, cell] = rng.random() * (offset[i + 1] - cell) < size
                size -= member[c, cell]
        else:
            if polarity < 0:
                polarity = draw_index(rng, 2)
            # Liked classes hold the better levels: the later ones if more is better.
            later = (monotone[i] > 0) == (polarity == 0)
            for level in range(levels):
                member[c, offset[i] + level] = (levels - 1 - level if later else level) < size
    return polarity


def room_for_newcomers(draws: "Particles", newcomers: int) -> int:
    """An upper bound on the classes after this many people joined: all existing classes, and a
    bound on new ones."""
    present = draws.beta + draws.n_respondents
    # above the sum of 1 / (present + i), i < newcomers
    harmonic = 1.0 / present + math.log1p(newcomers / present)
    mean = float(draws.alpha.max(initial=0.0)) * draws.beta * harmonic
    most = int(np.diff(draws.first_class).max(initial=0))
    return most + int(mean + 20.0 * math.sqrt(mean)) + 64
