"""How a person who owns classes chooses: which classes hold which products, values of one occasion, who wins."""

import math
from typing import Any

from thali.compile.jit import scalar
from thali.inference.numerics.gamma import log_gamma_draw

_SAFE = 1e-280  # relative values below this are rescaled before they are compared


@scalar
def holds(active: Any, member: Any, c: Any, offset: Any, codes: Any, product: Any) -> Any:
    """Whether class c holds a product; one that lacks an attribute is in no class in which that is active."""
    for i in range(active.shape[1]):
        if active[c, i]:
            level = codes[product, i]
            if level < 0 or not member[c, offset[i] + level]:
                return False
    return True


@scalar
def log_add(a: Any, b: Any) -> Any:
    """log(exp(a) + exp(b))."""
    if a < b:
        a, b = b, a
    if b == -math.inf:
        return a
    return a + math.log1p(math.exp(b - a))


@scalar
def draw_values(rng: Any, log_theta: Any, shape: Any, chosen: Any, n: Any, log_value: Any) -> None:
    """The values on one occasion of the n owned classes listed in `chosen`: lasting part plus a fresh one."""
    for q in range(n):
        log_value[q] = log_add(log_theta[chosen[q]], log_gamma_draw(rng, shape))


@scalar
def scale_values(log_value: Any, n: Any, value: Any) -> None:
    """Values relative to the largest of them."""
    top = -math.inf
    for q in range(n):
        top = max(top, log_value[q])
    for q in range(n):
        value[q] = math.exp(log_value[q] - top)


@scalar
def separating(inside: Any, n: Any, first: Any, last: Any, chosen: Any) -> Any:
    """Collect in `chosen` those of n owned classes that separate some of the rows first, ..., last - 1."""
    found = 0
    for o in range(n):
        for row in range(first + 1, last):
            if inside[o, row] != inside[o, first]:
                chosen[found] = o
                found += 1
                break
    return found


@scalar
def difference(inside: Any, sign: Any, chosen: Any, n: Any, log_value: Any, value: Any, a: Any, b: Any) -> Any:
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
