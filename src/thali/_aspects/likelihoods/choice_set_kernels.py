"""Kernel operations of elimination on choice sets: log-likelihood changes and cache updates.

Every operation makes its change in the state, evaluates the affected sets and reverts the change.
Only the log-likelihood of each set is stored, so rounding errors do not accumulate.
"""

from typing import Any

import numpy as np

from thali._compile.jit import part, register_answers, scalar
from thali._data.choices import Choices
from thali._labels import shorten
from thali.errors import Argument, DataError, Message, Setting

from .. import kernel_operations
from ..chain_state import COLUMNS, FeatureState, scratch_index, toggle_owner
from .elimination_kernels import (
    ALL,
    COMPENSATED,
    MAX_SET_SIZE,
    SPLIT,
    TRANSFERRED,
    WITH_OPTION,
    WITHIN,
    OfferedSets,
    SetCache,
    arrange_sets,
    evaluate_affected_sets,
    make_set_cache,
    sum_set_values,
)

# changes, named like the operations
NO_CHANGE, UNIQUE, MEMBER, WEIGHT, COMPENSATED_WEIGHT, COMPENSATED_MEMBER, BLOCK, TRANSFER = range(
    8
)


def build_set_data(data: Choices, lapse: float) -> Any:
    """Return choices as kernels read them, and a function that makes a chain's cache."""
    return arrange_sets(
        data.n_options, data.start, data.members, data.counts, lapse
    ), make_set_cache


IMPOSSIBLE_CHOICE = Message(  # for a choice that given aspects make impossible
    "impossible with ",
    Setting("lapse", 0),
    "; set ",
    Argument("lapse"),
    " above 0, or ",
    Setting("unique", True),
    ".",
)


def check_set_sizes(data: Choices) -> None:
    """Raise DataError for sets with too many options for the recursion."""
    v_largest = int(data.sizes.argmax())
    if data.sizes[v_largest] > MAX_SET_SIZE:
        members = data.members[data.start[v_largest] : data.start[v_largest + 1]]
        raise DataError(
            f"A set may have at most {MAX_SET_SIZE} options; the largest set"
            f" ({shorten([data.labels[i] for i in members])}) has {data.sizes[v_largest]}. Remove"
            " options from this set, or compare pairs."
        )


def check_possible_choices(data: Choices, ownership: np.ndarray) -> None:
    """Raise DataError for choices that have probability 0 under the given aspects."""
    for v in range(data.n_sets):
        members = data.members[data.start[v] : data.start[v + 1]]
        for x in members[data.counts[data.start[v] : data.start[v + 1]] > 0.0]:
            for y in members:
                if (
                    y != x
                    and not (ownership[x] & ~ownership[y]).any()
                    and (ownership[y] & ~ownership[x]).any()
                ):
                    raise DataError(
                        f"{data.labels[x]!r} was chosen over {data.labels[y]!r}, which has all of"
                        " its aspects and more, so the choice is ",
                        IMPOSSIBLE_CHOICE,
                    )


register_answers(
    OfferedSets,
    {
        kernel_operations.sees_full: False,  # a column that all options own distinguishes none
        kernel_operations.is_scale_free: True,  # probabilities depend on ratios of weights only
    },
)


@kernel_operations.select_cache.register(OfferedSets)
def _select_cache(sets: OfferedSets, caches: SetCache, t: int) -> Any:
    """Return views of the cache of the replica at temperature t."""
    return SetCache(
        caches.value[t],
        caches.kept[t],
        caches.share[t],
        caches.mask[t],
        caches.weight[t],
        caches.reach[t],
        caches.decisions[t],
        caches.node[t],
        caches.head[t],
        caches.slot[t],
        caches.count[t],
    )


@part
def evaluate_change(
    sets: Any, c: Any, b: Any, change: Any, i: Any, k: Any, partner: Any, d: Any, keep: Any
) -> Any:
    """Apply a change of aspect k and option i, return the log-likelihood change, revert it.

    Values are stored if `keep`. There is one routine for all operations, because every caller is
    compiled with its own copy of it.
    """
    n_columns, s, w = b.whole[COLUMNS], b.s[i], b.w[k]
    affected = ALL
    if change == UNIQUE:
        b.s[i] = s + d
        affected = WITH_OPTION
    elif change == MEMBER:
        toggle_owner(b, k, i)
        affected = WITH_OPTION
    elif change == COMPENSATED_MEMBER:
        toggle_owner(b, k, i)
        b.s[i] = s - d
        affected = COMPENSATED
    elif change == WEIGHT or change == COMPENSATED_WEIGHT:
        b.w[k] = w + d
        if k == n_columns:  # a birth
            b.w[k] = d
            b.whole[COLUMNS] = k + 1
        affected = SPLIT
        if change == COMPENSATED_WEIGHT:
            subtract_from_unique(c, b, k, d)
            affected = WITHIN
    elif change == BLOCK:
        b.s[i] = s - d
        flip_memberships(b, i, k, partner)
        affected = WITH_OPTION
    elif change == TRANSFER:
        w = b.w[partner]
        b.w[partner] = w - d
        swap_rows(b, k, scratch_index(b))
        affected = TRANSFERRED
    total = evaluate_affected_sets(sets, c, b, affected, i, k, partner, keep)
    if change == UNIQUE:
        b.s[i] = s
    elif change == MEMBER or change == COMPENSATED_MEMBER:
        toggle_owner(b, k, i)
        b.s[i] = s
    elif change == WEIGHT or change == COMPENSATED_WEIGHT:
        b.w[k] = w
        b.whole[COLUMNS] = n_columns
        if change == COMPENSATED_WEIGHT:
            for j in range(c.kept.size):
                b.s[j] = c.kept[j]
    elif change == BLOCK:
        b.s[i] = s
        flip_memberships(b, i, k, partner)
    elif change == TRANSFER:
        b.w[partner] = w
        swap_rows(b, k, scratch_index(b))
    return total


@scalar
def subtract_from_unique(c: Any, b: Any, k: Any, d: Any) -> None:
    """Subtract d from the unique weight of each owner of aspect k."""
    for j in range(c.kept.size):
        c.kept[j] = b.s[j]
        b.s[j] -= d * b.Z[k, j]


@scalar
def flip_memberships(b: Any, i: Any, size: Any, code: Any) -> None:
    """Flip whether option i owns each aspect of b.order whose bit in `code` is 1."""
    for bit in range(size):
        if (code >> bit) & 1:
            b.Z[b.order[bit], i] = 1.0 - b.Z[b.order[bit], i]


@scalar
def swap_rows(b: Any, k: Any, second_row: Any) -> None:
    """Swap the owners of rows (aspects) k and `second_row` of the state."""
    for j in range(b.Z.shape[1]):
        b.Z[k, j], b.Z[second_row, j] = b.Z[second_row, j], b.Z[k, j]


@kernel_operations.delta_unique.register(OfferedSets)
def _delta_unique(sets: OfferedSets, c: SetCache, b: FeatureState, i: int, d: float) -> Any:
    """Return the log-likelihood change if option i's unique weight grows by d."""
    return evaluate_change(sets, c, b, UNIQUE, i, 0, 0, d, False)


@kernel_operations.apply_unique.register(OfferedSets)
def _apply_unique(sets: OfferedSets, c: SetCache, b: FeatureState, i: int, d: float) -> None:
    """Update the cached sets: option i's unique weight grows by d."""
    evaluate_change(sets, c, b, UNIQUE, i, 0, 0, d, True)


@kernel_operations.delta_member.register(OfferedSets)
def _delta_member(sets: OfferedSets, c: SetCache, b: FeatureState, k: int, i: int, d: float) -> Any:
    """Return the log-likelihood change if option i joins or leaves aspect k."""
    return evaluate_change(sets, c, b, MEMBER, i, k, 0, d, False)


@kernel_operations.apply_member.register(OfferedSets)
def _apply_member(
    sets: OfferedSets, c: SetCache, b: FeatureState, k: int, i: int, d: float
) -> None:
    """Update the cached sets: option i joins or leaves aspect k."""
    evaluate_change(sets, c, b, MEMBER, i, k, 0, d, True)


@kernel_operations.delta_weight.register(OfferedSets)
def _delta_weight(sets: OfferedSets, c: SetCache, b: FeatureState, k: int, m: int, d: float) -> Any:
    """Return the log-likelihood change if the weight of aspect k grows by d."""
    return evaluate_change(sets, c, b, WEIGHT, 0, k, 0, d, False)


@kernel_operations.apply_weight.register(OfferedSets)
def _apply_weight(
    sets: OfferedSets, c: SetCache, b: FeatureState, k: int, m: int, d: float
) -> None:
    """Update the cached sets in `c`: the weight of aspect k grows by d (m is unused)."""
    evaluate_change(sets, c, b, WEIGHT, 0, k, 0, d, True)


@kernel_operations.delta_compensated_weight.register(OfferedSets)
def _delta_compensated_weight(
    sets: OfferedSets, c: SetCache, b: FeatureState, k: int, m: int, d: float
) -> Any:
    """Return the log-likelihood change if w[k] grows by d and owners' unique weights fall."""
    return evaluate_change(sets, c, b, COMPENSATED_WEIGHT, 0, k, 0, d, False)


@kernel_operations.apply_compensated_weight.register(OfferedSets)
def _apply_compensated_weight(
    sets: OfferedSets, c: SetCache, b: FeatureState, k: int, m: int, d: float
) -> None:
    """Update the cache: w[k] grows by d and owners' unique weights fall."""
    evaluate_change(sets, c, b, COMPENSATED_WEIGHT, 0, k, 0, d, True)


@kernel_operations.delta_compensated_member.register(OfferedSets)
def _delta_compensated_member(
    sets: OfferedSets, c: SetCache, b: FeatureState, i: int, k: int, d: float
) -> Any:
    """Return the log-likelihood change if option i joins column k and s[i] falls by d."""
    return evaluate_change(sets, c, b, COMPENSATED_MEMBER, i, k, 0, d, False)


@kernel_operations.apply_compensated_member.register(OfferedSets)
def _apply_compensated_member(
    sets: OfferedSets, c: SetCache, b: FeatureState, i: int, k: int, d: float
) -> None:
    """Update the cache: option i joins column k and s[i] falls by d."""
    evaluate_change(sets, c, b, COMPENSATED_MEMBER, i, k, 0, d, True)


@kernel_operations.delta_block.register(OfferedSets)
def _delta_block(
    sets: OfferedSets, c: SetCache, b: FeatureState, i: int, size: int, code: int, mass: float
) -> Any:
    """Return the log-likelihood change if i's memberships in `code` flip and s[i] falls by mass."""
    return evaluate_change(sets, c, b, BLOCK, i, size, code, mass, False)


@kernel_operations.apply_block.register(OfferedSets)
def _apply_block(
    sets: OfferedSets, c: SetCache, b: FeatureState, i: int, size: int, code: int, mass: float
) -> None:
    """Update the cached sets: i's memberships in `code` flip, s[i] falls by mass."""
    evaluate_change(sets, c, b, BLOCK, i, size, code, mass, True)


@kernel_operations.delta_transfer.register(OfferedSets)
def _delta_transfer(
    sets: OfferedSets, c: SetCache, b: FeatureState, k: int, partner: int, d: float
) -> Any:
    """Return the log-likelihood change if k gets the scratch row's owners and w[partner] -= d."""
    return evaluate_change(sets, c, b, TRANSFER, 0, k, partner, d, False)


@kernel_operations.apply_transfer.register(OfferedSets)
def _apply_transfer(
    sets: OfferedSets, c: SetCache, b: FeatureState, k: int, partner: int, d: float
) -> None:
    """Update the cache: k gets the scratch row's owners and w[partner] falls by d."""
    evaluate_change(sets, c, b, TRANSFER, 0, k, partner, d, True)


@kernel_operations.rebuild_cache.register(OfferedSets)
def _rebuild_cache(sets: OfferedSets, c: SetCache, b: FeatureState) -> None:
    """Fill the cached log-likelihood of all sets from aspects and weights."""
    evaluate_change(sets, c, b, NO_CHANGE, 0, 0, 0, 0.0, True)


@kernel_operations.log_likelihood.register(OfferedSets)
def _log_likelihood(sets: OfferedSets, c: SetCache, b: FeatureState) -> Any:
    """Return the log-likelihood of all sets in full precision."""
    return sum_set_values(c)
