"""Elimination by aspects on choices from sets of any size, as the samplers read it.

Every operation makes its change in the state, evaluates the affected sets, and reverts the change.
Only the log-likelihood of each set is stored, so rounding errors do not accumulate.
"""

from typing import Any

from thali._compile.jit import part, scalar
from thali._data.choices import Choices
from thali._inference.numerics.logarithm import fast_log
from thali._labels import shorten
from thali.errors import Argument, DataError, Message, Setting

from .. import operations
from ..state import COLUMNS, scratch_index
from .elimination_kernels import (
    ALL,
    BETWEEN,
    CUT,
    LARGEST,
    MIN_PROBABILITY,
    OF_OPTION,
    SHARED,
    WITHIN,
    OfferedSets,
    SetCache,
    empty_cache,
    lay_out,
    over_sets,
    set_shares,
    total_of,
)

# kinds of change, named as the operations are
NOTHING, OWN, MEMBER, WEIGHT, COMPENSATED_WEIGHT, COMPENSATED_MEMBER, BLOCK, TRANSFER = range(8)


def compiled_sets(data: Choices, lapse: float) -> Any:
    """The likelihood of choices, and a function that makes a chain's cache."""
    return lay_out(data.n_options, data.start, data.members, data.counts, lapse), empty_cache


IMPOSSIBLE = Message(  # of a choice that given aspects do not allow
    "impossible with ",
    Setting("lapse", 0),
    "; set ",
    Argument("lapse"),
    " above 0, or ",
    Setting("unique", True),
    ".",
)


def check_sets(data: Choices, owns: Any, lapse: float) -> None:
    """Raise DataError for a set that is too large, or a choice that given aspects alone, `owns`,
    make impossible."""
    largest = int(data.sizes.argmax())
    if data.sizes[largest] > LARGEST:
        members = data.members[data.start[largest] : data.start[largest + 1]]
        raise DataError(
            f"A set may have at most {LARGEST} options; the largest set"
            f" ({shorten([data.labels[i] for i in members])}) has {data.sizes[largest]}. Remove"
            " options from this set, or compare pairs."
        )
    if owns is None or lapse > 0.0:
        return
    for v in range(data.n_sets):
        members = data.members[data.start[v] : data.start[v + 1]]
        for x in members[data.counts[data.start[v] : data.start[v + 1]] > 0.0]:
            for y in members:
                if y != x and not (owns[x] & ~owns[y]).any() and (owns[y] & ~owns[x]).any():
                    raise DataError(
                        f"{data.labels[x]!r} was chosen over {data.labels[y]!r}, which has all of"
                        " its aspects and more, so the choice is ",
                        IMPOSSIBLE,
                    )


@operations.sees_full.register(OfferedSets)
def _sees_full(sets: Any) -> Any:
    return False


@operations.is_scale_free.register(OfferedSets)
def _is_scale_free(sets: Any) -> Any:
    return True


@operations.cache_at.register(OfferedSets)
def _cache_at(sets: Any, caches: Any, t: Any) -> Any:
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
    sets: Any, c: Any, b: Any, kind: Any, i: Any, k: Any, other: Any, d: Any, keep: Any
) -> Any:
    """Make a change in the state, compare the affected sets with the cache, and revert the change.

    One routine for all operations, because every caller is compiled with its own copy of it.
    """
    columns, s, w = b.whole[COLUMNS], b.s[i], b.w[k]
    which = ALL
    if kind == OWN:
        b.s[i] = s + d
        which = OF_OPTION
    elif kind == MEMBER or kind == COMPENSATED_MEMBER:
        b.Z[k, i] = 1.0 - b.Z[k, i]
        b.s[i] = s - d if kind == COMPENSATED_MEMBER else s
        which = SHARED if kind == COMPENSATED_MEMBER else OF_OPTION
    elif kind == WEIGHT or kind == COMPENSATED_WEIGHT:
        b.w[k] = d if k == columns else w + d
        b.whole[COLUMNS] = max(columns, k + 1)  # a column that is being born counts
        which = CUT if kind == WEIGHT else WITHIN
        if kind == COMPENSATED_WEIGHT:
            compensate(c, b, k, d)
    elif kind == BLOCK:
        b.s[i] = s - d
        flip_code(b, i, k, other)
        which = OF_OPTION
    elif kind == TRANSFER:
        w = b.w[other]
        b.w[other] = w - d
        swap_rows(b, k, scratch_index(b))
        which = BETWEEN
    total = over_sets(sets, c, b, which, i, k, other, keep)
    if kind == OWN:
        b.s[i] = s
    elif kind == MEMBER or kind == COMPENSATED_MEMBER:
        b.Z[k, i] = 1.0 - b.Z[k, i]
        b.s[i] = s
    elif kind == WEIGHT or kind == COMPENSATED_WEIGHT:
        b.w[k] = w
        b.whole[COLUMNS] = columns
        if kind == COMPENSATED_WEIGHT:
            for j in range(c.kept.shape[0]):
                b.s[j] = c.kept[j]
    elif kind == BLOCK:
        b.s[i] = s
        flip_code(b, i, k, other)
    elif kind == TRANSFER:
        b.w[other] = w
        swap_rows(b, k, scratch_index(b))
    return total


@scalar
def compensate(c: Any, b: Any, k: Any, d: Any) -> None:
    """The unique weight of each owner of pattern k falls by d."""
    for j in range(c.kept.shape[0]):
        c.kept[j] = b.s[j]
        b.s[j] -= d * b.Z[k, j]


@scalar
def flip_code(b: Any, i: Any, size: Any, code: Any) -> None:
    for bit in range(size):
        if (code >> bit) & 1:
            b.Z[b.order[bit], i] = 1.0 - b.Z[b.order[bit], i]


@scalar
def swap_rows(b: Any, k: Any, other: Any) -> None:
    for j in range(b.Z.shape[1]):
        b.Z[k, j], b.Z[other, j] = b.Z[other, j], b.Z[k, j]


@operations.delta_unique.register(OfferedSets)
def _delta_own(sets: Any, c: Any, b: Any, i: Any, d: Any) -> Any:
    return evaluate_change(sets, c, b, OWN, i, 0, 0, d, False)


@operations.apply_unique.register(OfferedSets)
def _apply_own(sets: Any, c: Any, b: Any, i: Any, d: Any) -> None:
    evaluate_change(sets, c, b, OWN, i, 0, 0, d, True)


@operations.delta_member.register(OfferedSets)
def _delta_member(sets: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> Any:
    return evaluate_change(sets, c, b, MEMBER, i, k, 0, d, False)


@operations.apply_member.register(OfferedSets)
def _apply_member(sets: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    evaluate_change(sets, c, b, MEMBER, i, k, 0, d, True)


@operations.delta_weight.register(OfferedSets)
def _delta_weight(sets: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> Any:
    return evaluate_change(sets, c, b, WEIGHT, 0, k, 0, d, False)


@operations.apply_weight.register(OfferedSets)
def _apply_weight(sets: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> None:
    evaluate_change(sets, c, b, WEIGHT, 0, k, 0, d, True)


@operations.delta_compensated_weight.register(OfferedSets)
def _delta_compensated_weight(sets: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> Any:
    return evaluate_change(sets, c, b, COMPENSATED_WEIGHT, 0, k, 0, d, False)


@operations.apply_compensated_weight.register(OfferedSets)
def _apply_compensated_weight(sets: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> None:
    evaluate_change(sets, c, b, COMPENSATED_WEIGHT, 0, k, 0, d, True)


@operations.delta_compensated_member.register(OfferedSets)
def _delta_compensated_member(sets: Any, c: Any, b: Any, i: Any, k: Any, d: Any) -> Any:
    return evaluate_change(sets, c, b, COMPENSATED_MEMBER, i, k, 0, d, False)


@operations.apply_compensated_member.register(OfferedSets)
def _apply_compensated_member(sets: Any, c: Any, b: Any, i: Any, k: Any, d: Any) -> None:
    evaluate_change(sets, c, b, COMPENSATED_MEMBER, i, k, 0, d, True)


@operations.delta_block.register(OfferedSets)
def _delta_block(sets: Any, c: Any, b: Any, i: Any, size: Any, code: Any, mass: Any) -> Any:
    return evaluate_change(sets, c, b, BLOCK, i, size, code, mass, False)


@operations.apply_block.register(OfferedSets)
def _apply_block(sets: Any, c: Any, b: Any, i: Any, size: Any, code: Any, mass: Any) -> None:
    evaluate_change(sets, c, b, BLOCK, i, size, code, mass, True)


@operations.delta_transfer.register(OfferedSets)
def _delta_transfer(sets: Any, c: Any, b: Any, k: Any, other: Any, d: Any) -> Any:
    return evaluate_change(sets, c, b, TRANSFER, 0, k, other, d, False)


@operations.apply_transfer.register(OfferedSets)
def _apply_transfer(sets: Any, c: Any, b: Any, k: Any, other: Any, d: Any) -> None:
    evaluate_change(sets, c, b, TRANSFER, 0, k, other, d, True)


@operations.rebuild_cache.register(OfferedSets)
def _rebuild(sets: Any, c: Any, b: Any) -> None:
    evaluate_change(sets, c, b, NOTHING, 0, 0, 0, 0.0, True)


@operations.log_likelihood.register(OfferedSets)
def _log_likelihood(sets: Any, c: Any, b: Any) -> Any:
    return total_of(c)


# Choices of people whose kind changes: answer and place are a place among the members of all sets.


@operations.compute_answer_logs.register(OfferedSets)
def _look_at_answers(sets: Any, c: Any, b: Any, people: Any, logs: Any) -> None:
    for v in range(sets.start.shape[0] - 1):
        set_shares(sets, c, b, v)
        first, size = sets.start[v], sets.start[v + 1] - sets.start[v]
        for x in range(size):
            p = (1.0 - sets.lapse) * c.share[x] + sets.lapse / size
            logs[first + x] = fast_log(max(p, MIN_PROBABILITY))


@operations.add_answer.register(OfferedSets)
def _add_answer(sets: Any, c: Any, people: Any, answer: Any, times: Any, log: Any) -> None:
    c.count[answer] += times
    c.value[people.place[answer]] += times * log


@operations.clear_answers.register(OfferedSets)
def _forget_answers(sets: Any, c: Any) -> None:
    for place in range(c.count.shape[0]):
        c.count[place] = 0.0
    for v in range(c.value.shape[0]):
        c.value[v] = 0.0
