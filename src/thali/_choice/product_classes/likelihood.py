"""Utility differences of one person, and the likelihood of the choices under them: of tasks, blocks
and everybody.

A difference has terms only of features that separate the two products. There is a tie if there are
none: counting decides that, never a comparison of numbers. Where all separating values are too
small for floats (`TINY`), the sign comes from logarithms.
"""

import math
from typing import Any

import numpy as np

from thali._compile.jit import compiled, part, scalar

from .state import MUTE, NEXT_OWNED, PRESENT, SIGN

# Rows of bits: which levels belong to a class, and whether an attribute is inactive there ---------


@scalar
def has_bit(bits: Any, row: Any, b: Any) -> Any:
    """Whether bit b of a row is set."""
    return (bits[row, b >> 6] >> (b & 63)) & 1 != 0


@scalar
def set_bit(bits: Any, row: Any, b: Any) -> None:
    """Set bit b of a row."""
    bits[row, b >> 6] |= np.int64(1) << (b & 63)


@scalar
def clear_bit(bits: Any, row: Any, b: Any) -> None:
    """Clear bit b of a row."""
    bits[row, b >> 6] &= ~(np.int64(1) << (b & 63))


@scalar
def is_active(problem: Any, bits: Any, row: Any, i: Any) -> Any:
    """Whether attribute i is active in a class."""
    return not has_bit(bits, row, problem.first_bit[i + 1] - 1)


@scalar
def deactivate(problem: Any, bits: Any, row: Any, i: Any) -> None:
    """Include all levels of attribute i, and products that lack it."""
    for b in range(problem.first_bit[i], problem.first_bit[i + 1]):
        set_bit(bits, row, b)


@scalar
def clear_levels(problem: Any, bits: Any, row: Any, i: Any) -> None:
    """Exclude all levels of attribute i."""
    for b in range(problem.first_bit[i], problem.first_bit[i + 1]):
        clear_bit(bits, row, b)


@scalar
def set_size(problem: Any, bits: Any, row: Any, i: Any) -> Any:
    """Number of included levels of attribute i."""
    count = 0
    for b in range(problem.first_bit[i], problem.first_bit[i + 1] - 1):
        if has_bit(bits, row, b):
            count += 1
    return count


@scalar
def is_inside(rows: Any, r: Any, bits: Any, k: Any) -> Any:
    """Whether the product of row r belongs to class k."""
    for w in range(bits.shape[1]):
        if rows[r, w] & ~bits[k, w] != 0:
            return False
    return True


TINY = 1e-280


@part
def compare(
    tasks: Any, bits: Any, k: Any, n: Any, difference: Any, separates: Any, row: Any
) -> Any:
    """Chosen minus other membership in class k in all comparisons of person n; returns the number
    of tasks with any."""
    first = tasks.first_task[n]
    count, c = 0, 0
    one_word, outside = bits.shape[1] == 1, ~bits[k, 0]
    for t in range(first, tasks.first_task[n + 1]):
        r = tasks.first_row[t]
        some = 0
        if one_word:
            mine = 1 if tasks.rows[r, 0] & outside == 0 else 0
            for other in range(r + 1, tasks.first_row[t + 1]):
                d = mine - (1 if tasks.rows[other, 0] & outside == 0 else 0)
                difference[row, c] = d
                some |= d & 1
                c += 1
        else:
            mine = 1 if is_inside(tasks.rows, r, bits, k) else 0
            for other in range(r + 1, tasks.first_row[t + 1]):
                d = mine - (1 if is_inside(tasks.rows, other, bits, k) else 0)
                difference[row, c] = d
                some |= d & 1
                c += 1
        separates[row, t - first] = some
        count += some
    return count


@scalar
def n_comparisons(tasks: Any, n: Any) -> Any:
    """Number of products that person n did not choose."""
    first, end = tasks.first_task[n], tasks.first_task[n + 1]
    return tasks.first_row[end] - tasks.first_row[first] - (end - first)


@scalar
def add_feature(tasks: Any, features: Any, sums: Any, row: Any, n: Any, f: Any) -> None:
    """Add the value of feature f to the differences of its owner n."""
    sign = 1.0 - 2.0 * features.slots[f, SIGN]
    first, c = tasks.first_task[n], 0
    for t in range(first, tasks.first_task[n + 1]):
        end = c + tasks.first_row[t + 1] - tasks.first_row[t] - 1
        if features.separates[f, t - first] != 0:
            value = sign * features.value[f, t - first]
            for i in range(c, end):
                d = features.difference[f, i]
                sums.total[row, i] += value * d
                sums.apart[row, i] += d & 1
        c = end


@scalar
def clear_row(tasks: Any, sums: Any, row: Any, n: Any) -> None:
    """No differences of person n in a row."""
    for c in range(n_comparisons(tasks, n)):
        sums.total[row, c] = 0.0
        sums.apart[row, c] = 0


@scalar
def copy_row(tasks: Any, sums: Any, row: Any, into: Any, n: Any) -> None:
    """Copy the differences of person n from one row to another."""
    for c in range(n_comparisons(tasks, n)):
        sums.total[into, c] = sums.total[row, c]
        sums.apart[into, c] = sums.apart[row, c]


@scalar
def add_rows(tasks: Any, sums: Any, row: Any, other: Any, into: Any, n: Any) -> None:
    """Write the sum of two rows of differences of person n into a third."""
    for c in range(n_comparisons(tasks, n)):
        sums.total[into, c] = sums.total[row, c] + sums.total[other, c]
        sums.apart[into, c] = sums.apart[row, c] + sums.apart[other, c]


@part
def sum_features(tasks: Any, features: Any, sums: Any, row: Any, n: Any) -> None:
    """Differences of person n from all features that are not mute."""
    clear_row(tasks, sums, row, n)
    f = features.people[n, 0]
    while f >= 0:
        if features.slots[f, MUTE] == 0:
            add_feature(tasks, features, sums, row, n, f)
        f = features.slots[f, NEXT_OWNED]


@part
def exact_difference(features: Any, n: Any, tau: Any, c: Any) -> Any:
    """Sign and logarithm of one difference of person n, from the logarithms of the values."""
    top = -math.inf
    f = features.people[n, 0]
    while f >= 0:
        if features.slots[f, MUTE] == 0 and features.difference[f, c] != 0:
            top = max(top, log_sum(features.log_theta[f], features.log_eps[f, tau]))
        f = features.slots[f, NEXT_OWNED]
    total = 0.0
    f = features.people[n, 0]
    while f >= 0:
        if features.slots[f, MUTE] == 0 and features.difference[f, c] != 0:
            value = math.exp(log_sum(features.log_theta[f], features.log_eps[f, tau]) - top)
            total += value * features.difference[f, c] * (1 - 2 * features.slots[f, SIGN])
        f = features.slots[f, NEXT_OWNED]
    if total == 0.0:
        return 0, -math.inf
    return (1 if total > 0.0 else -1), top + math.log(abs(total))


@scalar
def log_sum(x: Any, y: Any) -> Any:
    """ln(e^x + e^y)."""
    top, low = max(x, y), min(x, y)
    return top + math.log1p(math.exp(low - top))


@scalar
def hard_hit(features: Any, sums: Any, row: Any, n: Any, tau: Any, c: Any, end: Any) -> Any:
    """1 / winners if the chosen product wins, else 0."""
    winners = 1
    for i in range(c, end):
        if sums.apart[row, i] == 0:
            winners += 1
        else:
            d = sums.total[row, i]
            if d <= -TINY or (d < TINY and exact_difference(features, n, tau, i)[0] < 0):
                return 0.0
    return 1.0 / winners


@part
def fill_hits(tasks: Any, features: Any, sums: Any, hit: Any, row: Any, n: Any) -> None:
    """L of every task of person n, lapse left out, from the differences in `row`."""
    first, c = tasks.first_task[n], 0
    for t in range(first, tasks.first_task[n + 1]):
        end = c + tasks.first_row[t + 1] - tasks.first_row[t] - 1
        hit[t - first] = hard_hit(features, sums, row, n, t - first, c, end)
        c = end


@scalar
def times(total: Any, product: Any, factor: Any) -> Any:
    """(total, product) with ln total + ln product increased by ln factor, using few logarithms."""
    product *= factor
    if 1e-100 < product < 1e100:
        return total, product
    if product > 0.0:
        return total + math.log(product), 1.0
    return -math.inf, 1.0


@scalar
def log_open_hits(tasks: Any, lapsed: Any, hit: Any, n: Any) -> Any:
    """Σ ln L of the tasks of person n that have not lapsed."""
    first = tasks.first_task[n]
    total, product = 0.0, 1.0
    for t in range(first, tasks.first_task[n + 1]):
        if lapsed[t] == 0:
            total, product = times(total, product, hit[t - first])
    return total + math.log(product)


# The likelihood of every choice under a given state -----------------------------------------------


@scalar
def log_with_lapse(tasks: Any, target: Any, hit: Any, n: Any) -> Any:
    """Σ ln[(1 − δ) L + δ / J] of person n."""
    first = tasks.first_task[n]
    total, product = 0.0, 1.0
    for t in range(first, tasks.first_task[n + 1]):
        delta = target.delta[t]
        at_random = delta / (tasks.first_row[t + 1] - tasks.first_row[t])
        total, product = times(total, product, (1.0 - delta) * hit[t - first] + at_random)
    return total + math.log(product)


@part
def look_at_hits(problem: Any, state: Any, work: Any, row: Any, n: Any) -> None:
    """Differences of person n from all features that are not mute into `row`, and from these L of
    every task."""
    sum_features(problem.tasks, state.features, work.sums, row, n)
    fill_hits(problem.tasks, state.features, work.sums, work.hit, row, n)


@part
def log_likelihood_of(problem: Any, target: Any, state: Any, work: Any) -> Any:
    """ln of the likelihood of the choices of all people present, lapse included."""
    total = 0.0
    for n in range(state.whole[PRESENT]):
        look_at_hits(problem, state, work, 0, n)
        total += log_with_lapse(problem.tasks, target, work.hit, n)
    return total


@compiled
def log_likelihood(problem: Any, target: Any, state: Any, work: Any) -> Any:
    """ln of the likelihood of the choices of all people present, lapse included."""
    return log_likelihood_of(problem, target, state, work)


@compiled
def write_hits(problem: Any, target: Any, state: Any, work: Any, hits: Any) -> None:
    """L of every task, without lapse, into `hits` (tasks,); 1 / alternatives for people who are not
    present."""
    for n in range(problem.tasks.first_task.shape[0] - 1):
        first = problem.tasks.first_task[n]
        if n < state.whole[PRESENT]:
            look_at_hits(problem, state, work, 0, n)
        for t in range(first, problem.tasks.first_task[n + 1]):
            hits[t] = (
                work.hit[t - first]
                if n < state.whole[PRESENT]
                else 1.0 / (problem.tasks.first_row[t + 1] - problem.tasks.first_row[t])
            )
