"""Kernels of one respondent's utility differences and the likelihood of tasks.

A difference sums only features that separate the two products. Two products tie if no feature
separates them: this is decided by counting, never by comparing numbers. Where all separating values
are too small for floats (`TINY`), the sign comes from logarithms.
"""

import math
from typing import Any

import numpy as np

from thali._compile.jit import compiled, part, scalar
from thali._inference.numerics.array_parts import part_ends, part_range, part_size

from .state import CLASS, MUTE, NEXT_OWNED, PERSON, PRESENT, SIGN, SPLIT

# Rows of bits: the levels of a class, and its inactive attributes ---------------------------------


@scalar
def has_bit(bits: Any, row: Any, b: Any) -> Any:
    """Return whether bit b of a row (class or product) is set."""
    return (bits[row, b >> 6] >> (b & 63)) & 1 != 0


@scalar
def set_bit(bits: Any, row: Any, b: Any) -> None:
    """Set bit b of a row (class or product)."""
    bits[row, b >> 6] |= np.int64(1) << (b & 63)


@scalar
def clear_bit(bits: Any, row: Any, b: Any) -> None:
    """Clear bit b of a row (class or product)."""
    bits[row, b >> 6] &= ~(np.int64(1) << (b & 63))


@scalar
def is_active(problem: Any, bits: Any, row: Any, i: Any) -> Any:
    """Return whether attribute i restricts the class in this row."""
    return not has_bit(bits, row, problem.first_bit[i + 1] - 1)


@scalar
def deactivate(problem: Any, bits: Any, row: Any, i: Any) -> None:
    """Make attribute i unrestrictive in a class: include all levels and its absence."""
    for b in part_range(problem.first_bit, i):
        set_bit(bits, row, b)


@scalar
def clear_levels(problem: Any, bits: Any, row: Any, i: Any) -> None:
    """Exclude all levels of attribute i from a class."""
    for b in part_range(problem.first_bit, i):
        clear_bit(bits, row, b)


@scalar
def count_included_levels(problem: Any, bits: Any, row: Any, i: Any) -> Any:
    """Return the number of levels of attribute i that a class includes."""
    count = 0
    for b in range(problem.first_bit[i], problem.first_bit[i + 1] - 1):
        if has_bit(bits, row, b):
            count += 1
    return count


@scalar
def is_in_class(rows: Any, r: Any, bits: Any, k: Any) -> Any:
    """Return whether the product in row r belongs to class k."""
    for w in range(bits.shape[1]):
        if rows[r, w] & ~bits[k, w] != 0:
            return False
    return True


TINY = 1e-280


@part
def compare_chosen(
    tasks: Any, bits: Any, k: Any, n: Any, difference: Any, separates: Any, row: Any
) -> Any:
    """Compare chosen and other products of person n in their membership of class k.

    Writes chosen minus other to `difference` for all comparisons of respondent n, and to
    `separates` whether any differs in each task. Returns the number of tasks with any difference.
    """
    start = tasks.first_task[n]
    count, c = 0, 0
    one_word, outside = bits.shape[1] == 1, ~bits[k, 0]
    for t in range(start, tasks.first_task[n + 1]):
        r = tasks.first_row[t]
        is_separated = 0
        if one_word:
            chosen_inside = 1 if tasks.rows[r, 0] & outside == 0 else 0
            for r_other in range(r + 1, tasks.first_row[t + 1]):
                d = chosen_inside - (1 if tasks.rows[r_other, 0] & outside == 0 else 0)
                difference[row, c] = d
                is_separated |= d & 1
                c += 1
        else:
            chosen_inside = 1 if is_in_class(tasks.rows, r, bits, k) else 0
            for r_other in range(r + 1, tasks.first_row[t + 1]):
                d = chosen_inside - (1 if is_in_class(tasks.rows, r_other, bits, k) else 0)
                difference[row, c] = d
                is_separated |= d & 1
                c += 1
        separates[row, t - start] = is_separated
        count += is_separated
    return count


@scalar
def compare_owned(problem: Any, state: Any, f: Any) -> None:
    """Compare the products shown to the owner of feature f in the feature's class."""
    features = state.features
    k, n = features.slots[f, CLASS], features.slots[f, PERSON]
    features.slots[f, SPLIT] = compare_chosen(
        problem.tasks, state.bits, k, n, features.difference, features.separates, f
    )


@scalar
def count_tasks(tasks: Any, n: Any) -> Any:
    """Return the number of tasks of respondent n."""
    return part_size(tasks.first_task, n)


@scalar
def count_alternatives(tasks: Any, t: Any) -> Any:
    """Return the number of products shown in task t."""
    return part_size(tasks.first_row, t)


@scalar
def sign_of_value(features: Any, f: Any) -> Any:
    """Return 1 if the owner of feature f likes its class, -1 if not."""
    return 1 - 2 * features.slots[f, SIGN]


@scalar
def count_comparisons(tasks: Any, n: Any) -> Any:
    """Return the number of products that respondent n saw but did not choose."""
    start, end = part_ends(tasks.first_task, n)
    return tasks.first_row[end] - tasks.first_row[start] - (end - start)


@scalar
def add_feature(tasks: Any, features: Any, sums: Any, row: Any, n: Any, f: Any) -> None:
    """Add feature f's value to the utility differences of its owner n."""
    sign = sign_of_value(features, f)
    start, c = tasks.first_task[n], 0
    for t in range(start, tasks.first_task[n + 1]):
        end = c + count_alternatives(tasks, t) - 1
        if features.separates[f, t - start] != 0:
            value = sign * features.value[f, t - start]
            for i in range(c, end):
                d = features.difference[f, i]
                sums.total[row, i] += value * d
                sums.apart[row, i] += d & 1
        c = end


@scalar
def clear_differences(tasks: Any, sums: Any, row: Any, n: Any) -> None:
    """Set the utility differences of respondent n in a row to 0."""
    for c in range(count_comparisons(tasks, n)):
        sums.total[row, c] = 0.0
        sums.apart[row, c] = 0


@scalar
def copy_differences(tasks: Any, sums: Any, row: Any, target_row: Any, n: Any) -> None:
    """Copy the utility differences of respondent n to another row."""
    for c in range(count_comparisons(tasks, n)):
        sums.total[target_row, c] = sums.total[row, c]
        sums.apart[target_row, c] = sums.apart[row, c]


@scalar
def add_differences(
    tasks: Any, sums: Any, row: Any, second_row: Any, target_row: Any, n: Any
) -> None:
    """Write the sum of two rows of respondent n's utility differences to a third."""
    for c in range(count_comparisons(tasks, n)):
        sums.total[target_row, c] = sums.total[row, c] + sums.total[second_row, c]
        sums.apart[target_row, c] = sums.apart[row, c] + sums.apart[second_row, c]


@part
def sum_features(tasks: Any, features: Any, sums: Any, row: Any, n: Any) -> None:
    """Write respondent n's utility differences, summed over features not muted."""
    clear_differences(tasks, sums, row, n)
    f = features.respondents[n, 0]
    while f >= 0:
        if features.slots[f, MUTE] == 0:
            add_feature(tasks, features, sums, row, n, f)
        f = features.slots[f, NEXT_OWNED]


@part
def compute_exact_difference(features: Any, n: Any, tau: Any, c: Any) -> Any:
    """Return sign and log of one utility difference, computed from log values."""
    top = -math.inf
    f = features.respondents[n, 0]
    while f >= 0:
        if features.slots[f, MUTE] == 0 and features.difference[f, c] != 0:
            top = max(top, log_add_exp(features.log_theta[f], features.log_eps[f, tau]))
        f = features.slots[f, NEXT_OWNED]
    total = 0.0
    f = features.respondents[n, 0]
    while f >= 0:
        if features.slots[f, MUTE] == 0 and features.difference[f, c] != 0:
            value = math.exp(log_add_exp(features.log_theta[f], features.log_eps[f, tau]) - top)
            total += value * features.difference[f, c] * sign_of_value(features, f)
        f = features.slots[f, NEXT_OWNED]
    if total == 0.0:
        return 0, -math.inf
    return (1 if total > 0.0 else -1), top + math.log(abs(total))


@scalar
def log_add_exp(x: Any, y: Any) -> Any:
    """Return ln(e^x + e^y) without overflow."""
    top, low = max(x, y), min(x, y)
    return top + math.log1p(math.exp(low - top))


@scalar
def compute_hit(features: Any, sums: Any, row: Any, n: Any, tau: Any, c: Any, end: Any) -> Any:
    """Return the likelihood of one choice, without lapses: 1 / (tied products), or 0."""
    winners = 1
    for i in range(c, end):
        if sums.apart[row, i] == 0:
            winners += 1
        else:
            d = sums.total[row, i]
            if d <= -TINY or (d < TINY and compute_exact_difference(features, n, tau, i)[0] < 0):
                return 0.0
    return 1.0 / winners


@part
def fill_hits(tasks: Any, features: Any, sums: Any, hit: Any, row: Any, n: Any) -> None:
    """Write the likelihood of each task of respondent n, without lapses."""
    start, c = tasks.first_task[n], 0
    for t in range(start, tasks.first_task[n + 1]):
        end = c + count_alternatives(tasks, t) - 1
        hit[t - start] = compute_hit(features, sums, row, n, t - start, c, end)
        c = end


@scalar
def multiply_factor(total: Any, product: Any, factor: Any) -> Any:
    """Multiply a product by a factor, with its log part kept apart against underflow.

    The logarithm is taken only when the product leaves the range of floats.
    """
    product *= factor
    if 1e-100 < product < 1e100:
        return total, product
    if product > 0.0:
        return total + math.log(product), 1.0
    return -math.inf, 1.0


@scalar
def log_likelihood_without_lapses(tasks: Any, lapsed: Any, hit: Any, n: Any) -> Any:
    """Return respondent n's log-likelihood over tasks that did not lapse."""
    start = tasks.first_task[n]
    total, product = 0.0, 1.0
    for t in range(start, tasks.first_task[n + 1]):
        if lapsed[t] == 0:
            total, product = multiply_factor(total, product, hit[t - start])
    return total + math.log(product)


# The likelihood of all choices at a state ---------------------------------------------------------


@scalar
def log_likelihood_with_lapse(tasks: Any, target: Any, hit: Any, n: Any) -> Any:
    """Return respondent n's log-likelihood, with lapse rates mixed in."""
    start = tasks.first_task[n]
    total, product = 0.0, 1.0
    for t in range(start, tasks.first_task[n + 1]):
        delta = target.delta[t]
        at_random = delta / count_alternatives(tasks, t)
        total, product = multiply_factor(total, product, (1.0 - delta) * hit[t - start] + at_random)
    return total + math.log(product)


@part
def update_differences_and_hits(problem: Any, state: Any, work: Any, row: Any, n: Any) -> None:
    """Write utility differences and task likelihoods of respondent n."""
    sum_features(problem.tasks, state.features, work.sums, row, n)
    fill_hits(problem.tasks, state.features, work.sums, work.hit, row, n)


@part
def sum_log_likelihood(problem: Any, target: Any, state: Any, work: Any) -> Any:
    """Return the log-likelihood of all choices (inside compiled code)."""
    total = 0.0
    for n in range(state.whole[PRESENT]):
        update_differences_and_hits(problem, state, work, 0, n)
        total += log_likelihood_with_lapse(problem.tasks, target, work.hit, n)
    return total


@compiled
def log_likelihood(problem: Any, target: Any, state: Any, work: Any) -> Any:
    """Return the log-likelihood of all choices (called from Python)."""
    return sum_log_likelihood(problem, target, state, work)


@compiled
def write_hits(problem: Any, state: Any, work: Any, hits: Any) -> None:
    """Write the likelihood of every task, without lapses, to `hits`, (tasks,).

    L is 1 / alternatives for respondents who are not present.
    """
    for n in range(problem.tasks.first_task.size - 1):
        start, is_present = problem.tasks.first_task[n], n < state.whole[PRESENT]
        if is_present:
            update_differences_and_hits(problem, state, work, 0, n)
        for t in range(start, problem.tasks.first_task[n + 1]):
            if is_present:
                hits[t] = work.hit[t - start]
            else:
                hits[t] = 1.0 / count_alternatives(problem.tasks, t)
