"""Kernels of elimination by aspects on choice sets: probabilities and log-likelihoods.

A set that elimination can reach is a bit mask over the members of the offered set. The full mask
has probability 1. A reached mask distributes its probability over the masks that its discriminating
aspects leave, in proportion to their weights, and these masks are smaller numbers. Therefore one
pass from the full mask downwards computes the probabilities of all members.
"""

from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import scalar, vectorised
from thali._inference.index_arithmetic import part_bounds, part_indices
from thali._inference.numerics.array_parts import part_ends, part_range, part_size
from thali._inference.numerics.fast_logarithm import fast_log

from ..chain_state import COLUMNS, owns

# all 2^8 masks of sets of up to this size are stored; for larger sets a hash table is faster
MAX_DENSE_SIZE = 8
MAX_SET_SIZE = 63  # members of a set: bits of a mask
# aspects of a set that some but not all members have, including unique aspects
MAX_PATTERNS = 4096
MAX_NODES = 1 << 16  # masks that elimination may reach from a set with more than MAX_DENSE_SIZE
TOO_MANY = (
    "Elimination from these sets passes through too many subsets of the options (at most 65,536"
    " can be stored, with up to 4,096 aspects); remove options from the largest sets."
)
SLOTS = 1 << 17  # of the hash table of masks
MIN_PROBABILITY = 1e-300  # replaces a probability of 0, so that its logarithm is finite
# sets that a change may affect: see `is_affected`
ALL, WITH_OPTION, COMPENSATED, SPLIT, WITHIN, TRANSFERRED = range(6)


class OfferedSets(NamedTuple):
    """The distinct sets of options offered, with counts of choices; read-only."""

    # (sets + 1,) int64: set v has the places start[v] to start[v + 1] - 1
    start: np.ndarray
    member: np.ndarray  # (places,) int64 options, ascending
    count: np.ndarray  # type: ignore[override]  # (places,) choices
    # (n + 1,) int64: option i is in the sets within[first[i]] to within[first[i + 1] - 1]
    first: np.ndarray
    within: np.ndarray  # (places,) int64
    lapse: float


class SetCache(NamedTuple):
    """Log-likelihood of every set, and scratch arrays of the elimination recursion."""

    value: np.ndarray  # (sets,) log-likelihood
    kept: np.ndarray  # (n,) stored unique weights while a change of them is evaluated
    share: np.ndarray  # (largest size,) probability of each member
    mask: np.ndarray  # (MAX_PATTERNS + 1,) int64 members with an aspect
    weight: np.ndarray  # (MAX_PATTERNS + 1,) weight of the aspect
    reach: np.ndarray  # (masks,) probability by mask, 0 between uses
    decisions: np.ndarray  # (nodes,) probability by node, for sets above MAX_DENSE_SIZE
    node: np.ndarray  # (3, nodes) int64: mask, next node of the same size, slot
    head: np.ndarray  # (largest size + 1,) int64 first node of each size, -1 if none
    slot: np.ndarray  # (slots,) int64 node by hash, -1 where empty
    count: np.ndarray  # type: ignore[override]  # (places,) choices, in total or of a class


def arrange_sets(
    n: int, start: np.ndarray, members: np.ndarray, counts: np.ndarray, lapse: float
) -> OfferedSets:
    """Return sets and choice counts as the arrays that kernels read."""
    set_of_place = part_indices(start)
    place_order = np.argsort(members, kind="stable")
    first_place = part_bounds(np.bincount(members, minlength=n))
    return OfferedSets(
        start=np.array(start, np.int64),
        member=np.array(members, np.int64),
        count=np.array(counts, float),
        first=first_place.astype(np.int64),
        within=set_of_place[place_order].astype(np.int64),
        lapse=float(lapse),
    )


def make_set_cache(sets: OfferedSets, largest: int = 0) -> SetCache:
    """Make a chain's cache for these sets, with scratch for `largest` members."""
    cache = make_scratch(
        sets.start.size - 1, max(largest, int(np.diff(sets.start).max())), sets.first.size - 1
    )
    return cache._replace(count=np.array(sets.count))


def make_scratch(n_sets: int, largest: int, n: int) -> SetCache:
    """Make scratch arrays of the recursion for sets of up to `largest` of n options."""
    n_nodes = 1
    n_slots = 1
    if largest > MAX_DENSE_SIZE:
        n_nodes = MAX_NODES
        n_slots = SLOTS
    return SetCache(
        count=np.zeros(0),
        value=np.zeros(n_sets),
        kept=np.zeros(n),
        share=np.zeros(largest),
        mask=np.zeros(MAX_PATTERNS + 1, np.int64),
        weight=np.zeros(MAX_PATTERNS + 1),
        reach=np.zeros(1 << min(largest, MAX_DENSE_SIZE)),
        decisions=np.zeros(n_nodes),
        node=np.zeros((3, n_nodes), np.int64),
        head=np.full(largest + 1, -1, np.int64),
        slot=np.full(n_slots, -1, np.int64),
    )


@vectorised
def sum_discriminating_weights(c: Any, n_patterns: Any, members: Any) -> Any:
    """Return the weight of aspects that some but not all `members` have."""
    total = 0.0
    for q in range(n_patterns):
        remaining = c.mask[q] & members
        total += c.weight[q] if (remaining != 0) & (remaining != members) else 0.0
    return total


@scalar
def compute_shares(c: Any, size: Any, n_patterns: Any) -> None:
    """Write the choice probability of each member of a set into c.share.

    The first `patterns` entries of c.mask and c.weight are the aspects.
    """
    for x in range(size):
        c.share[x] = 0.0
    if size <= MAX_DENSE_SIZE:
        compute_shares_dense(c, size, n_patterns)
    else:
        compute_shares_sparse(c, size, n_patterns)


@scalar
def compute_shares_dense(c: Any, size: Any, n_patterns: Any) -> None:
    """Write choice probabilities of a small set, by an array over all its subsets."""
    full = (1 << size) - 1
    c.reach[full] = 1.0
    for members in range(full, 0, -1):
        reached = c.reach[members]
        if reached == 0.0 or members & (members - 1) == 0:
            continue
        total = sum_discriminating_weights(c, n_patterns, members)
        if total > 0.0:
            for q in range(n_patterns):
                # aspects that do not discriminate add 0 to an entry that is not read again
                remaining = c.mask[q] & members
                c.reach[remaining] += (
                    reached / total * c.weight[q]
                    if (remaining != 0) & (remaining != members)
                    else 0.0
                )
        else:
            add_equal_shares(c, size, members, reached)
        c.reach[members] = 0.0
    for x in range(size):
        c.share[x] += c.reach[1 << x]
        c.reach[1 << x] = 0.0


@scalar
def add_equal_shares(c: Any, size: Any, mask: Any, reached: Any) -> None:
    """Divide the probability of a subset that no aspect distinguishes among its members."""
    n_members = 0
    for x in range(size):
        n_members += (mask >> x) & 1
    for x in range(size):
        c.share[x] += reached / n_members * ((mask >> x) & 1)


@scalar
def compute_shares_sparse(c: Any, size: Any, n_patterns: Any) -> None:
    """Write choice probabilities of a large set, by a hash table of reached subsets.

    Reached masks are listed by size.
    """
    for m in range(size + 1):
        c.head[m] = -1
    n_nodes = add_reach_probability(c, size, (1 << size) - 1, 1.0, 0)
    for n_members in range(size, 0, -1):
        t = c.head[n_members]
        while t >= 0:
            mask, reached = c.node[0, t], c.decisions[t]
            total = sum_discriminating_weights(c, n_patterns, mask)
            if total > 0.0:
                for q in range(n_patterns):
                    remaining = c.mask[q] & mask
                    if remaining != 0 and remaining != mask and c.weight[q] != 0.0:
                        n_nodes = add_reach_probability(
                            c, size, remaining, reached / total * c.weight[q], n_nodes
                        )
            else:
                add_equal_shares(c, size, mask, reached)
            t = c.node[1, t]
    for t in range(n_nodes):
        c.slot[c.node[2, t]] = -1


@scalar
def add_reach_probability(c: Any, size: Any, mask: Any, probability: Any, n_nodes: Any) -> Any:
    """Add to the probability that elimination reaches a subset; return the node count.

    A mask that was not reached before becomes a node.
    """
    slot_index = (mask ^ (mask >> 17) ^ (mask >> 34) ^ (mask >> 51)) & (SLOTS - 1)
    while c.slot[slot_index] >= 0 and c.node[0, c.slot[slot_index]] != mask:
        slot_index = (slot_index + 1) & (SLOTS - 1)
    t = c.slot[slot_index]
    if t >= 0:
        c.decisions[t] += probability
        return n_nodes
    if n_nodes == MAX_NODES:
        raise OverflowError(TOO_MANY)
    n_members = 0
    for x in range(size):
        n_members += (mask >> x) & 1
    c.slot[slot_index] = n_nodes
    c.node[0, n_nodes] = mask
    c.node[1, n_nodes] = c.head[n_members]
    c.node[2, n_nodes] = slot_index
    c.head[n_members] = n_nodes
    c.decisions[n_nodes] = probability
    return n_nodes + 1


@scalar
def compute_set_shares(sets: Any, c: Any, b: Any, v: Any) -> None:
    """Write the choice probability of each member of set v, without lapses."""
    start = sets.start[v]
    size = sets.start[v + 1] - start
    full = (1 << size) - 1
    for x in range(size):
        c.mask[x] = 1 << x
        c.weight[x] = b.s[sets.member[start + x]]
    n_patterns = size
    for k in range(b.whole[COLUMNS]):
        mask = 0
        for x in range(size):
            mask |= int(b.Z[k, sets.member[start + x]]) << x
        c.mask[n_patterns] = mask
        c.weight[n_patterns] = b.w[k]
        n_patterns += int((mask != 0) & (mask != full))  # otherwise the next column overwrites it
        if n_patterns > MAX_PATTERNS:
            raise OverflowError(TOO_MANY)
    compute_shares(c, size, n_patterns)


@scalar
def set_log_likelihood(sets: Any, c: Any, b: Any, v: Any) -> Any:
    """Return the log-likelihood of the choices from set v."""
    compute_set_shares(sets, c, b, v)
    start = sets.start[v]
    size = sets.start[v + 1] - start
    total = 0.0
    for x in range(size):
        if c.count[start + x] > 0.0:
            p = (1.0 - sets.lapse) * c.share[x] + sets.lapse / size
            total += c.count[start + x] * fast_log(max(p, MIN_PROBABILITY))
    return total


@scalar
def is_affected(sets: Any, b: Any, v: Any, affected: Any, i: Any, k: Any, partner: Any) -> Any:
    """Return whether a change of owners or weights can change the probabilities of set v.

    `affected` defines the change. COMPENSATED: option i joins or leaves pattern k, with its unique
    weight; SPLIT: the weight of pattern k changes; WITHIN: the shared weight of owners of pattern k
    changes; TRANSFERRED: the shared weight of owners of `partner` and other owners of k changes.
    """
    n_owners = 0
    n_partner_owners = 0
    size = part_size(sets.start, v)
    for t in part_range(sets.start, v):
        j = sets.member[t]
        if affected == TRANSFERRED:
            if owns(b, j, partner):
                n_partner_owners += 1
            elif owns(b, j, k):
                n_owners += 1
        elif owns(b, j, k) and not (affected == COMPENSATED and j == i):
            n_owners += 1
    if affected == COMPENSATED:
        return n_owners > 0
    if affected == SPLIT:
        return 0 < n_owners < size
    if affected == WITHIN:
        return n_owners > 1
    return n_owners > 0 and n_partner_owners > 0


@scalar
def evaluate_affected_sets(
    sets: Any, c: Any, b: Any, affected: Any, i: Any, k: Any, partner: Any, keep: Any
) -> Any:
    """Return the log-likelihood change of the sets that a change of option i or aspect k affects.

    If `keep`, the new values are stored.
    """
    total = 0.0
    by_option = affected == WITH_OPTION or affected == COMPENSATED
    first_index, stop_index = 0, sets.start.size - 1
    if by_option:
        first_index, stop_index = part_ends(sets.first, i)
    for t in range(first_index, stop_index):
        v = t
        if by_option:
            v = sets.within[t]
        if (
            affected == ALL
            or affected == WITH_OPTION
            or is_affected(sets, b, v, affected, i, k, partner)
        ):
            log_value = set_log_likelihood(sets, c, b, v)
            total += log_value - c.value[v]
            if keep:
                c.value[v] = log_value
    return total


@scalar
def sum_set_values(c: Any) -> Any:
    """Return the log-likelihood of all sets, from the cached values of each."""
    total = 0.0
    for v in range(c.value.size):
        total += c.value[v]
    return total
