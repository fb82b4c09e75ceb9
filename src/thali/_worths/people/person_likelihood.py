r"""Kernels of one person's log-likelihood given log worths, with slope and curvature.

With :math:`v_i = e^{u_i}`, lapse :math:`\varepsilon` and m members of a set S:

.. math::
    P(i) = (1 - \varepsilon) \frac{v_i}{\sum_{k \in S} v_k} + \frac \varepsilon m, \qquad
    P(b, w) = (1 - \varepsilon) \frac{v_b / v_w}{\sum_{i \neq j} v_i / v_j}
    + \frac \varepsilon {m (m - 1)}

Of two options with ties p is the probability of the first, and :math:`r = \nu \sqrt{p (1 - p)}` are
the odds of a tie (Davidson 1970): the first is chosen with probability p / (1 + r), neither with r
/ (1 + r).
"""

import math
from typing import Any

import numpy as np

from thali._compile.jit import part, scalar
from thali._inference.numerics.array_parts import part_ends, part_range

MIN_LOG_WEIGHT = -600.0  # log of a worth relative to the largest one


@scalar
def compute_weights(u: Any) -> Any:
    """Return worths divided by the largest, and their inverses, shape (2, m)."""
    v, top = np.empty((2, u.size)), u.max()
    for i in range(u.size):
        v[0, i] = math.exp(max(u[i] - top, MIN_LOG_WEIGHT))
        v[1, i] = 1.0 / v[0, i]
    return v


@part
def compute_slope(table: Any, lapse: Any, nu: Any, p: Any, u: Any, slope: Any) -> Any:
    """Return the log-likelihood of person p's answers at u, (m,); write its slope."""
    v = compute_weights(u)
    slope[:] = 0.0
    total = 0.0
    for answer in part_range(table.first_answer, p):
        if table.count[answer] == 0.0:
            continue
        if table.is_difference:
            log_p = add_best_worst_slope(table, answer, lapse, v, slope)
        elif table.has_ties:
            log_p = add_pair_slope(table, answer, lapse, nu, v, slope)
        else:
            log_p = add_choice_slope(table, answer, lapse, v, slope)
        total += table.count[answer] * log_p
    return total


@scalar
def add_choice_slope(table: Any, answer: Any, lapse: Any, v: Any, slope: Any) -> Any:
    """Return the log probability of a choice from a set; add its slope."""
    first, stop = part_ends(table.start, answer)
    total, best = 0.0, table.member[first]
    for k in range(first, stop):
        total += v[0, table.member[k]]
    attentive = (1.0 - lapse) * v[0, best] / total
    probability = attentive + lapse / (stop - first)
    pull = table.count[answer] * attentive / probability
    slope[best] += pull
    for k in range(first, stop):
        slope[table.member[k]] -= pull * v[0, table.member[k]] / total
    return math.log(probability)


@scalar
def add_best_worst_slope(table: Any, answer: Any, lapse: Any, v: Any, slope: Any) -> Any:
    """Return the log probability of a best and a worst; add its slope."""
    first, stop = part_ends(table.start, answer)
    m, best, worst = stop - first, table.member[first], table.member[first + 1]
    total, inverses = 0.0, 0.0
    for k in range(first, stop):
        total += v[0, table.member[k]]
        inverses += v[1, table.member[k]]
    pairs = total * inverses - m
    attentive = (1.0 - lapse) * v[0, best] * v[1, worst] / pairs
    probability = attentive + lapse / (m * (m - 1.0))
    pull = table.count[answer] * attentive / probability
    slope[best] += pull
    slope[worst] -= pull
    for k in range(first, stop):
        i = table.member[k]
        slope[i] -= pull * (v[0, i] * inverses - v[1, i] * total) / pairs
    return math.log(probability)


@scalar
def pair_probability(table: Any, answer: Any, lapse: Any, v: Any, side: Any) -> Any:
    """Return the probability that one of two options wins, without a tie."""
    i = table.member[table.start[answer] + side]
    j = table.member[table.start[answer] + 1 - side]
    return (1.0 - lapse) * v[0, i] / (v[0, i] + v[0, j]) + 0.5 * lapse


@scalar
def add_pair_slope(table: Any, answer: Any, lapse: Any, nu: Any, v: Any, slope: Any) -> Any:
    """Return the log probability of a comparison's outcome; add its slope."""
    p = pair_probability(table, answer, lapse, v, 0)
    p_rest = pair_probability(table, answer, lapse, v, 1)
    # derivative of p by the difference of log worths
    change = (p - 0.5 * lapse) * (p_rest - 0.5 * lapse) / (1.0 - lapse)
    tie_odds, tilt = nu * math.sqrt(p * p_rest), 0.5 * change * (1.0 / p - 1.0 / p_rest)
    pull, log_p = change / p, math.log(p)
    if table.tied[answer]:
        pull, log_p = tilt, math.log(tie_odds)
    pull = table.count[answer] * (pull - tilt * tie_odds / (1.0 + tie_odds))
    slope[table.member[table.start[answer]]] += pull
    slope[table.member[table.start[answer] + 1]] -= pull
    return log_p - math.log1p(tie_odds)
