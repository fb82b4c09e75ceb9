"""Moves that change which products a class contains and keep its owners."""

import math
from typing import Any

from thali._compile.jit import part, scalar
from thali._inference.numerics.discrete_draws import accept, draw_index

from ..likelihood import (
    clear_bit,
    compare_chosen,
    count_comparisons,
    count_included_levels,
    count_tasks,
    deactivate,
    has_bit,
    is_active,
    set_bit,
    sign_of_value,
    sum_features,
)
from ..prior import draw_level_set, log_prior_signs
from ..state import (
    ACTIVE,
    CLASS_MOVE,
    EDITS,
    EXCHANGES,
    FIRST,
    MUTE,
    NEGATIVE,
    NEXT_OWNER,
    ORDERED,
    OWNERS,
    PERSON,
    POLARITY,
    SPLIT,
)
from .choice_bounds import (
    bound_compared_feature,
    bound_feature,
    compute_shapes,
    draw_eps,
    log_bound_probability,
)
from .ownership import copy_comparisons


@scalar
def step_level_set(rng: Any, problem: Any, bits: Any, row: Any, i: Any, polarity: Any) -> Any:
    """Change one level (or threshold) of attribute i; return the log prior ratio.

    Free attributes flip a level, ordered ones move the threshold. NaN if the set would not be
    proper.
    """
    levels, first_bit = problem.n_levels[i], problem.first_bit[i]
    size = count_included_levels(problem, bits, row, i)
    if problem.direction[i] != 0:
        larger = rng.random() < 0.5
        if size == (levels - 1 if larger else 1):
            return math.nan
        rank = size if larger else size - 1  # counted from the end where the set begins
        b = first_bit + levels - 1 - rank if polarity == 0 else first_bit + rank
        if larger:
            set_bit(bits, row, b)
        else:
            clear_bit(bits, row, b)
        return 0.0
    b = first_bit + draw_index(rng, levels)
    if has_bit(bits, row, b):
        if size == 1:
            return math.nan
        clear_bit(bits, row, b)
        return problem.log_sets[i, size] - problem.log_sets[i, size - 1]
    if size == levels - 1:
        return math.nan
    set_bit(bits, row, b)
    return problem.log_sets[i, size] - problem.log_sets[i, size + 1]


@scalar
def find_attribute(problem: Any, bits: Any, row: Any, active: Any, rank: Any) -> Any:
    """Return the active (or inactive) attribute of this rank in a class."""
    for i in range(problem.n_levels.size):
        if is_active(problem, bits, row, i) == active:
            if rank == 0:
                return i
            rank -= 1
    return -1


@scalar
def exchange_attributes(
    rng: Any, problem: Any, bits: Any, row: Any, polarity: Any, active: Any, ordered: Any
) -> Any:
    """Replace a random active attribute of a class; return log ratio, polarity and counts."""
    # The ratio is 1. The same number of attributes is active; the new set and, if no other ordered
    # attribute is active, the new polarity are drawn from their prior, and so would the reverse
    # move draw the old ones.
    inactive = problem.n_levels.size - active
    if inactive == 0:
        return math.nan, polarity, active, ordered
    old = find_attribute(problem, bits, row, True, draw_index(rng, active))
    new = find_attribute(problem, bits, row, False, draw_index(rng, inactive))
    if problem.direction[old] != 0:
        ordered -= 1
    if ordered == 0:
        polarity = -1
    if problem.direction[new] != 0:
        ordered += 1
        if polarity < 0:
            polarity = draw_index(rng, 2)
    deactivate(problem, bits, row, old)
    draw_level_set(rng, problem, bits, row, new, polarity)
    return 0.0, polarity, active, ordered


@scalar
def propose_class(rng: Any, problem: Any, state: Any, work: Any, k: Any, is_exchange: Any) -> Any:
    """Write a changed copy of class k; return log prior-and-proposal ratio and counts.

    The log ratio of priors and proposals is NaN if the class is unchanged; the counts are polarity,
    active and ordered attributes.
    """
    for w in range(work.bits.shape[1]):
        work.bits[0, w] = state.bits[k, w]
    row = state.classes
    polarity, active, ordered = row[k, POLARITY], row[k, ACTIVE], row[k, ORDERED]
    if is_exchange:
        return exchange_attributes(rng, problem, work.bits, 0, polarity, active, ordered)
    i = draw_index(rng, problem.n_levels.size)
    was_active = is_active(problem, work.bits, 0, i)
    is_ordered = problem.direction[i] != 0
    if was_active and rng.random() < 0.5:
        return step_level_set(rng, problem, work.bits, 0, i, polarity), polarity, active, ordered
    new_active, new_ordered = (
        active - (1 if was_active else 0),
        ordered - (1 if was_active and is_ordered else 0),
    )
    new_polarity = polarity if new_ordered > 0 else -1
    if rng.random() < 0.5:
        if not was_active or new_active == 0:
            return math.nan, polarity, active, ordered
        deactivate(problem, work.bits, 0, i)
    else:
        new_active += 1
        if is_ordered:
            new_ordered += 1
            if new_polarity < 0:
                new_polarity = draw_index(rng, 2)
        draw_level_set(rng, problem, work.bits, 0, i, new_polarity)
    # A step of the set was as likely as this if the attribute is active, and impossible otherwise.
    ratio = (
        problem.log_choose[active]
        - problem.log_choose[new_active]
        - (new_active - active) * math.log(2.0)
    )
    return ratio, new_polarity, new_active, new_ordered


@scalar
def move_class(rng: Any, problem: Any, state: Any, work: Any, k: Any) -> None:
    """Propose changes of class k, accepted by the likelihood of its owners.

    ε of the class is integrated out.
    """
    j, f = 0, state.classes[k, FIRST]
    while f >= 0:
        work.fit[j] = math.nan  # not computed yet
        state.features.slots[f, MUTE] = 1
        j += 1
        f = state.features.slots[f, NEXT_OWNER]
    edits = problem.proposals[EDITS]
    for i in range(edits + problem.proposals[EXCHANGES]):
        ratio, polarity, active, ordered = propose_class(rng, problem, state, work, k, i >= edits)
        if math.isnan(ratio):
            continue
        owners, negative = state.classes[k, OWNERS], state.classes[k, NEGATIVE]
        ratio += log_prior_signs(owners, negative, polarity) - log_prior_signs(
            owners, negative, state.classes[k, POLARITY]
        )
        if ratio == -math.inf:
            continue
        state.counts[CLASS_MOVE, 0] += 1
        if accept(rng, ratio + log_likelihood_ratio(problem, state, work, k)):
            state.counts[CLASS_MOVE, 1] += 1
            for w in range(work.bits.shape[1]):
                state.bits[k, w] = work.bits[0, w]
            row = state.classes
            row[k, POLARITY], row[k, ACTIVE], row[k, ORDERED] = polarity, active, ordered
            update_owners(rng, problem, state, work, k)
    f = state.classes[k, FIRST]
    while f >= 0:
        state.features.slots[f, MUTE] = 0
        f = state.features.slots[f, NEXT_OWNER]


@scalar
def log_likelihood_ratio(problem: Any, state: Any, work: Any, k: Any) -> Any:
    """Return the log-likelihood ratio of the changed class to class k, over owners."""
    # Row 1 + j of the comparisons and row 2 + j of the differences belong to the j-th owner.
    total, j, f = 0.0, 0, state.classes[k, FIRST]
    while f >= 0:
        n = state.features.slots[f, PERSON]
        split = compare_chosen(
            problem.tasks, work.bits, 0, n, work.difference, work.separates, j + 1
        )
        if not is_unchanged(problem, state, work, n, f, j + 1, split):
            if math.isnan(work.fit[j]):
                sum_features(problem.tasks, state.features, work.sums, j + 2, n)
                work.fit[j] = owner_log_likelihood(
                    problem,
                    state,
                    work,
                    j,
                    n,
                    f,
                    state.features.difference,
                    state.features.separates,
                    f,
                )
            total -= work.fit[j]
            total += owner_log_likelihood(
                problem, state, work, j, n, f, work.difference, work.separates, j + 1
            )
            if total == -math.inf:
                return total
        j += 1
        f = state.features.slots[f, NEXT_OWNER]
    return total


@part
def owner_log_likelihood(
    problem: Any,
    state: Any,
    work: Any,
    j: Any,
    n: Any,
    f: Any,
    difference: Any,
    separates: Any,
    at: Any,
) -> Any:
    """Return owner n's log-likelihood if feature f has the class compared in row `at`.

    It omits the log-likelihood without any class.
    """
    _, h, next_h = compute_shapes(state.real)
    q = sign_of_value(state.features, f)
    gain, _, count = bound_feature(
        problem.tasks,
        state.features,
        state.lapsed,
        work.sums,
        work.bounds,
        j + 2,
        n,
        difference,
        separates,
        at,
        q,
        f,
    )
    if gain == -math.inf:
        return gain
    return gain + log_bound_probability(
        work.bounds, state.features.log_theta[f], h, next_h, count, -math.inf
    )


@scalar
def is_unchanged(problem: Any, state: Any, work: Any, n: Any, f: Any, row: Any, split: Any) -> Any:
    """Return whether the changed class separates owner n's products as feature f did."""
    if split != state.features.slots[f, SPLIT]:
        return False
    for c in range(count_comparisons(problem.tasks, n)):
        if state.features.difference[f, c] != work.difference[row, c]:
            return False
    return True


@scalar
def update_owners(rng: Any, problem: Any, state: Any, work: Any, k: Any) -> None:
    """Store comparisons and newly drawn epsilon of the accepted class k for its owners."""
    _, h, _ = compute_shapes(state.real)
    j, f = 0, state.classes[k, FIRST]
    while f >= 0:
        n = state.features.slots[f, PERSON]
        split = count_separated_tasks(problem, work, n, j + 1)
        if not is_unchanged(problem, state, work, n, f, j + 1, split):
            q = sign_of_value(state.features, f)
            bound_compared_feature(problem, state, work, j + 2, n, j + 1, q)
            copy_comparisons(state, work, f, j + 1)
            state.features.slots[f, SPLIT] = split
            draw_eps(rng, problem.tasks, state.features, work.bounds, n, f, h)
            work.fit[j] = math.nan
        j += 1
        f = state.features.slots[f, NEXT_OWNER]


@scalar
def count_separated_tasks(problem: Any, work: Any, n: Any, row: Any) -> Any:
    """Count respondent n's tasks in which the compared class separates products."""
    count = 0
    for task in range(count_tasks(problem.tasks, n)):
        count += work.separates[row, task]
    return count
