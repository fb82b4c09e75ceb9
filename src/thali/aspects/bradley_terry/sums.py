"""The sum over pairs in the log-likelihood of worths, at many points at once."""

import math
from typing import Any

from thali.compile.jit import compiled
from thali.inference.numerics.logarithm import fast_log

TOGETHER = 4  # pairs of one logarithm


@compiled
def add_pairs(
    first: Any, second: Any, for_first: Any, for_second: Any, lapse: float, root: Any, nu: Any, product: Any, found: Any
) -> None:
    r"""Add the log-likelihood of all pairs to `found`, (points,).

    With :math:`a = (1 - \varepsilon / 2) w_i + w_j \varepsilon / 2`, b alike, and x and y the wins of either with half
    of the ties, a pair has

    .. math:: x \ln a + y \ln b - (x + y) \ln (a + b + \nu \sqrt{a b})

    of which only the last term is added where there is no lapse: the others then are sums over options. `root`
    (options, points) holds the square roots of the worths, `nu` (points,) is 0 without ties. Neighbours with as many
    comparisons share a logarithm; `product` (points,) is room for what it is taken of.
    """
    pairs, points = first.shape[0], found.shape[0]
    most, least = 1.0 - lapse / 2.0, lapse / 2.0
    together = 0
    for pair in range(pairs):
        i, j, x, y = first[pair], second[pair], for_first[pair], for_second[pair]
        if lapse > 0.0:
            for d in range(points):
                v, w = root[i, d] * root[i, d], root[j, d] * root[j, d]
                a, b = most * v + least * w, most * w + least * v
                found[d] += x * fast_log(a) + y * fast_log(b) - (x + y) * fast_log(a + b + nu[d] * math.sqrt(a * b))
            continue
        if together == 0:
            for d in range(points):
                a, b = root[i, d], root[j, d]
                product[d] = a * (a + nu[d] * b) + b * b
        else:
            for d in range(points):
                a, b = root[i, d], root[j, d]
                product[d] *= a * (a + nu[d] * b) + b * b
        together += 1
        if together == TOGETHER or pair == pairs - 1 or for_first[pair + 1] + for_second[pair + 1] != x + y:
            for d in range(points):
                found[d] -= (x + y) * fast_log(product[d])
            together = 0
