"""How a person who owns classes chooses: which classes hold which products, values of one occasion, who wins."""

import math

from thali._jit import scalar
from thali.regression.pl_state import log_gamma_draw

_SAFE = 1e-280  # relative values below this are compared on a scale of their own


@scalar
def holds(active, member, c, offset, codes, product):
    """Whether class c holds a product; one that lacks an attribute is in no class in which that is active."""
    for i in range(active.shape[1]):
        if active[c, i]:
            level = codes[product, i]
            if level < 0 or not member[c, offset[i] + level]:
                return False
    return True


@scalar
def log_add(a, b):
    """log(exp(a) + exp(b))."""
    if a < b:
        a, b = b, a
    if b == -math.inf:
        return a
    return a + math.log1p(math.exp(b - a))


@scalar
def draw_values(rng, log_theta, shape, chosen, n, log_value):
    """The values on one occasion of n owned classes, those numbered in `chosen`: lasting part plus a fresh one."""
    for q in range(n):
        log_value[q] = log_add(log_theta[chosen[q]], log_gamma_draw(rng, shape))


@scalar
def scale_values(log_value, n, value):
    """Values relative to the largest of them."""
    top = -math.inf
    for q in range(n):
        top = max(top, log_value[q])
    for q in range(n):
        value[q] = math.exp(log_value[q] - top)


@scalar
def separating(inside, n, first, last, chosen):
    """Number those of n owned classes in `chosen` that tell some of the rows first, ..., last - 1 apart."""
    found = 0
    for o in range(n):
        for row in range(first + 1, last):
            if inside[o, row] != inside[o, first]:
                chosen[found] = o
                found += 1
                break
    return found


@scalar
def difference(inside, sign, chosen, n, log_value, value, a, b):
    """u(a) - u(b) up to a positive factor, from the classes that separate the two rows; nothing underflows."""
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
def alike(inside, chosen, n, a, b):
    """Whether no class separates two rows, so that they tie."""
    for q in range(n):
        if inside[chosen[q], a] != inside[chosen[q], b]:
            return False
    return True


@scalar
def add_winners(inside, sign, chosen, n, log_value, value, first, last, weight, total):
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
