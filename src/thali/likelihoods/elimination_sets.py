"""Elimination by aspects on choices out of sets of any size, as the samplers read it.

Every verb makes its change in the bag, evaluates the sets that the change concerns, and takes the change back. Nothing
but the log-likelihood of each set is kept, so that nothing drifts.
"""

from thali._jit import part, scalar
from thali.data.check import shorten
from thali.data.choices import Choices
from thali.errors import DataError
from thali.likelihoods.sets import (
    ALL,
    BETWEEN,
    CUT,
    LARGEST,
    OF_OPTION,
    SHARED,
    WITHIN,
    SetCache,
    Sets,
    empty_cache,
    lay_out,
    over_sets,
    total_of,
)
from thali.mcmc import verbs
from thali.mcmc.bag import COLUMNS, scratch

NOTHING, OWN, MEMBER, WEIGHT, CARVE, POOL, BLOCK, TRANSFER = range(8)  # kinds of change, as the verbs are called


def compiled_sets(data: Choices, lapse: float):
    """The likelihood of choices, and a function that makes a chain's cache."""
    return lay_out(data.n_options, data.start, data.members, data.counts, lapse), empty_cache


def check_sets(data: Choices, owns, lapse: float) -> None:
    """Raise DataError for a set that is too large, or for a choice that given aspects make impossible.

    `owns` is the matrix of given aspects where options have no unique ones, and None otherwise.
    """
    largest = int(data.sizes.argmax())
    if data.sizes[largest] > LARGEST:
        members = data.members[data.start[largest] : data.start[largest + 1]]
        raise DataError(
            f"A set may have {LARGEST} options at most; the largest, {shorten([data.labels[i] for i in members])}, has "
            f"{data.sizes[largest]}. Leave options out of it, or compare pairs."
        )
    if owns is None or lapse > 0.0:
        return
    for v in range(data.n_sets):
        members = data.members[data.start[v] : data.start[v + 1]]
        for x in members[data.counts[data.start[v] : data.start[v + 1]] > 0.0]:
            for y in members:
                if y != x and not (owns[x] & ~owns[y]).any() and (owns[y] & ~owns[x]).any():
                    raise DataError(
                        f"{data.labels[x]!r} was chosen where {data.labels[y]!r} was offered, which has every aspect "
                        "of it and more, so that the choice is impossible with lapse=0; set lapse above 0 or "
                        "unique=True."
                    )


@verbs.sees_full.register(Sets)
def _sees_full(sets):
    return False


@verbs.is_scale_free.register(Sets)
def _is_scale_free(sets):
    return True


@verbs.cache_at.register(Sets)
def _cache_at(sets, caches, t):
    return SetCache(
        caches.value[t],
        caches.kept[t],
        caches.share[t],
        caches.mask[t],
        caches.weight[t],
        caches.reach[t],
        caches.chance[t],
        caches.node[t],
        caches.head[t],
        caches.slot[t],
    )


@part
def evaluate_change(sets, c, b, kind, i, k, other, d, keep):
    """Make a change in the bag, compare the sets that it concerns with the cache, and take the change back.

    One routine for all verbs, because whatever calls it is compiled together with a copy of it.
    """
    columns, s, w = b.whole[COLUMNS], b.s[i], b.w[k]
    which = ALL
    if kind == OWN:
        b.s[i] = s + d
        which = OF_OPTION
    elif kind == MEMBER or kind == POOL:
        b.Z[k, i] = 1.0 - b.Z[k, i]
        b.s[i] = s - d if kind == POOL else s
        which = SHARED if kind == POOL else OF_OPTION
    elif kind == WEIGHT or kind == CARVE:
        b.w[k] = d if k == columns else w + d
        b.whole[COLUMNS] = max(columns, k + 1)  # a column still to be born counts
        which = CUT if kind == WEIGHT else WITHIN
        if kind == CARVE:
            pay(c, b, k, d)
    elif kind == BLOCK:
        b.s[i] = s - d
        flip_code(b, i, k, other)
        which = OF_OPTION
    elif kind == TRANSFER:
        w = b.w[other]
        b.w[other] = w - d
        swap_rows(b, k, scratch(b))
        which = BETWEEN
    total = over_sets(sets, c, b, which, i, k, other, keep)
    if kind == OWN:
        b.s[i] = s
    elif kind == MEMBER or kind == POOL:
        b.Z[k, i] = 1.0 - b.Z[k, i]
        b.s[i] = s
    elif kind == WEIGHT or kind == CARVE:
        b.w[k] = w
        b.whole[COLUMNS] = columns
        if kind == CARVE:
            for j in range(c.kept.shape[0]):
                b.s[j] = c.kept[j]
    elif kind == BLOCK:
        b.s[i] = s
        flip_code(b, i, k, other)
    elif kind == TRANSFER:
        b.w[other] = w
        swap_rows(b, k, scratch(b))
    return total


@scalar
def pay(c, b, k, d):
    """The owners of pattern k pay d each."""
    for j in range(c.kept.shape[0]):
        c.kept[j] = b.s[j]
        b.s[j] -= d * b.Z[k, j]


@scalar
def flip_code(b, i, size, code):
    for bit in range(size):
        if (code >> bit) & 1:
            b.Z[b.order[bit], i] = 1.0 - b.Z[b.order[bit], i]


@scalar
def swap_rows(b, k, other):
    for j in range(b.Z.shape[1]):
        b.Z[k, j], b.Z[other, j] = b.Z[other, j], b.Z[k, j]


@verbs.delta_own.register(Sets)
def _delta_own(sets, c, b, i, d, columns):
    return evaluate_change(sets, c, b, OWN, i, 0, 0, d, False)


@verbs.apply_own.register(Sets)
def _apply_own(sets, c, b, i, d, columns):
    evaluate_change(sets, c, b, OWN, i, 0, 0, d, True)


@verbs.delta_member.register(Sets)
def _delta_member(sets, c, b, k, i, d):
    return evaluate_change(sets, c, b, MEMBER, i, k, 0, d, False)


@verbs.apply_member.register(Sets)
def _apply_member(sets, c, b, k, i, d):
    evaluate_change(sets, c, b, MEMBER, i, k, 0, d, True)


@verbs.delta_weight.register(Sets)
def _delta_weight(sets, c, b, k, m, d):
    return evaluate_change(sets, c, b, WEIGHT, 0, k, 0, d, False)


@verbs.apply_weight.register(Sets)
def _apply_weight(sets, c, b, k, m, d):
    evaluate_change(sets, c, b, WEIGHT, 0, k, 0, d, True)


@verbs.delta_carve.register(Sets)
def _delta_carve(sets, c, b, k, m, d):
    return evaluate_change(sets, c, b, CARVE, 0, k, 0, d, False)


@verbs.apply_carve.register(Sets)
def _apply_carve(sets, c, b, k, m, d):
    evaluate_change(sets, c, b, CARVE, 0, k, 0, d, True)


@verbs.delta_pool.register(Sets)
def _delta_pool(sets, c, b, i, k, d):
    return evaluate_change(sets, c, b, POOL, i, k, 0, d, False)


@verbs.apply_pool.register(Sets)
def _apply_pool(sets, c, b, i, k, d):
    evaluate_change(sets, c, b, POOL, i, k, 0, d, True)


@verbs.delta_block.register(Sets)
def _delta_block(sets, c, b, i, size, code, paid):
    return evaluate_change(sets, c, b, BLOCK, i, size, code, paid, False)


@verbs.apply_block.register(Sets)
def _apply_block(sets, c, b, i, size, code, paid):
    evaluate_change(sets, c, b, BLOCK, i, size, code, paid, True)


@verbs.delta_transfer.register(Sets)
def _delta_transfer(sets, c, b, k, other, d):
    return evaluate_change(sets, c, b, TRANSFER, 0, k, other, d, False)


@verbs.apply_transfer.register(Sets)
def _apply_transfer(sets, c, b, k, other, d):
    evaluate_change(sets, c, b, TRANSFER, 0, k, other, d, True)


@verbs.apply_scale.register(Sets)
def _apply_scale(sets, c, b, factor):
    pass


@verbs.rebuild.register(Sets)
def _rebuild(sets, c, b):
    evaluate_change(sets, c, b, NOTHING, 0, 0, 0, 0.0, True)


@verbs.log_likelihood.register(Sets)
def _log_likelihood(sets, c, b):
    return total_of(c)
