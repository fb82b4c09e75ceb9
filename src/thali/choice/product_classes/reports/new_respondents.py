"""A person who is not in the data: a new row of the Indian buffet, with new classes from the prior."""

import math
from typing import Any

from thali.compile.jit import scalar
from thali.inference.numerics.decisions import index, poisson
from thali.inference.numerics.gamma import log_gamma_draw

from .choosing import holds


@scalar
def draw_class(rng: Any, offset: Any, monotone: Any, order: Any, active: Any, member: Any, c: Any) -> Any:
    """Class c of `active` and `member` from the prior over classes; returns its polarity."""
    attributes = monotone.shape[0]
    for i in range(attributes):
        order[i] = i
        active[c, i] = False
        for cell in range(offset[i], offset[i + 1]):
            member[c, cell] = True
    number = 1 + index(rng, attributes)
    for place in range(number):  # the first `number` of a random order
        other = place + index(rng, attributes - place)
        order[place], order[other] = order[other], order[place]
        active[c, order[place]] = True
    polarity = -1
    for i in range(attributes):
        if not active[c, i]:
            continue
        levels = offset[i + 1] - offset[i]
        size = 1 + index(rng, levels - 1)
        if monotone[i] == 0:
            for cell in range(offset[i], offset[i + 1]):
                member[c, cell] = rng.random() * (offset[i + 1] - cell) < size
                size -= member[c, cell]
        else:
            if polarity < 0:
                polarity = index(rng, 2)
            # Liked classes hold the better levels: the later ones if more is better.
            later = (monotone[i] > 0) == (polarity == 0)
            for level in range(levels):
                member[c, offset[i] + level] = (levels - 1 - level if later else level) < size
    return polarity


@scalar
def draw_new_row(
    rng: Any,
    draws: Any,
    d: Any,
    people: Any,
    codes: Any,
    inside: Any,
    sign: Any,
    log_theta: Any,
    order: Any,
    active: Any,
    member: Any,
) -> Any:
    """Classes that a new person owns in draw d, and which of the products they hold; returns their number.

    Row o of `inside` says which products the o-th class holds.
    """
    rows = codes.shape[0]
    shape = draws.sigma[d] * draws.a[d]
    room = inside.shape[0]
    n = 0
    for c in range(draws.first_class[d], draws.first_class[d + 1]):
        owners = draws.n_owners[c]
        if n == room or rng.random() * (draws.beta + people) >= owners:
            continue
        sign[n] = draws.polarity[c]
        if draws.polarity[c] < 0:
            sign[n] = rng.random() * (2.0 + owners) < 1.0 + draws.n_negative[c]
        log_theta[n] = log_gamma_draw(rng, shape)
        for row in range(rows):
            inside[n, row] = holds(draws.active, draws.member, c, draws.offset, codes, row)
        n += 1
    own = poisson(rng, draws.alpha[d] * draws.beta / (draws.beta + people))
    for _ in range(min(own, room - n)):
        polarity = draw_class(rng, draws.offset, draws.monotone, order, active, member, 0)
        sign[n] = polarity if polarity >= 0 else index(rng, 2)
        log_theta[n] = log_gamma_draw(rng, shape)
        for row in range(rows):
            inside[n, row] = holds(active, member, 0, draws.offset, codes, row)
        n += 1
    return n


def room_for_new(draws: Any, people: int) -> int:
    """An upper bound on the classes of a new person: all existing classes, and a bound on new ones."""
    mean = float(draws.alpha.max(initial=0.0)) * draws.beta / (draws.beta + people)
    most = int((draws.first_class[1:] - draws.first_class[:-1]).max(initial=0))
    return most + int(mean + 20.0 * math.sqrt(mean)) + 64
