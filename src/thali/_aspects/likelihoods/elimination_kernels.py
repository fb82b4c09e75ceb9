"""The arithmetic of elimination by aspects on sets of any size.

A set that elimination can reach is a bit mask over the members of the offered set. The full mask
has probability 1; a reached mask passes its probability on to the masks that its discriminating
aspects leave, in proportion to their weights, and those are always smaller numbers. One pass from
the full mask downwards therefore gives the probability of every member at once.
"""

from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import scalar, vectorised
from thali._inference.indexing import part_bounds
from thali._inference.numerics.logarithm import fast_log

from ..state import COLUMNS

# members up to which all 2^8 masks are stored in an array; for larger sets a hash table is faster
DENSE = 8
LARGEST = 63  # members of a set: bits of a mask
# aspects that some members of a set have and others lack, the unique ones included
MAX_PATTERNS = 4096
MAX_NODES = 1 << 16  # masks that elimination may reach from a larger set
TOO_MANY = (
    "Elimination from these sets passes through too many subsets of the options (at most 65,536"
    " can be stored, with up to 4,096 aspects); remove options from the largest sets."
)
SLOTS = 1 << 17  # of the hash table that finds them
MIN_PROBABILITY = 1e-300  # stands for a probability of 0, so that its logarithm is a number
# which sets a change concerns: see `concerns`
ALL, OF_OPTION, SHARED, CUT, WITHIN, BETWEEN = range(6)


class OfferedSets(NamedTuple):
    """The distinct sets that were offered. Never changed."""

    # (sets + 1,) int64: the members of set v are at places start[v] to start[v + 1] - 1
    start: np.ndarray
    member: np.ndarray  # (places,) int64 options, ascending
    count: np.ndarray  # type: ignore[override]  # (places,) choices
    # (n + 1,) int64: option i is in the sets within[first[i]] to within[first[i + 1] - 1]
    first: np.ndarray
    within: np.ndarray  # (places,) int64
    lapse: float


class SetCache(NamedTuple):
    """The cache of a chain for each set, and scratch space."""

    value: np.ndarray  # (sets,) log-likelihood
    kept: np.ndarray  # (n,) the unique weights while a change of them is evaluated
    share: np.ndarray  # (largest size,) probability of each member
    mask: np.ndarray  # (MAX_PATTERNS + 1,) int64 members that an aspect leaves over
    weight: np.ndarray  # (MAX_PATTERNS + 1,) its weight
    reach: np.ndarray  # (masks,) probability by mask, 0 between uses
    decisions: np.ndarray  # (nodes,) of sets with more than DENSE members: probability by node
    node: np.ndarray  # (3, nodes) int64: mask, next node of the same size, slot
    head: np.ndarray  # (largest size + 1,) int64 first node of each size, -1 if none
    slot: np.ndarray  # (slots,) int64 node by hash, -1 where empty
    count: np.ndarray  # type: ignore[override]  # (places,) choices: those of the sets, or of the people of a kind


def lay_out(n: int, start: Any, members: Any, counts: Any, lapse: float) -> OfferedSets:
    """Sets as the samplers read them."""
    which = np.repeat(np.arange(start.size - 1), np.diff(start))
    order = np.argsort(members, kind="stable")
    first = part_bounds(np.bincount(members, minlength=n))
    return OfferedSets(
        start=np.array(start, np.int64),
        member=np.array(members, np.int64),
        count=np.array(counts, float),
        first=first.astype(np.int64),
        within=which[order].astype(np.int64),
        lapse=float(lapse),
    )


def empty_cache(sets: OfferedSets, largest: int = 0) -> SetCache:
    """Scratch space for the largest set, and at least for one of `largest` members."""
    cache = cache_for(
        sets.start.size - 1, max(largest, int(np.diff(sets.start).max())), sets.first.size - 1
    )
    return cache._replace(count=np.array(sets.count))


def cache_for(count: int, largest: int, n: int) -> SetCache:
    """Scratch space for so many sets of up to `largest` members, of n options."""
    dense = largest <= DENSE
    return SetCache(
        count=np.zeros(0),
        value=np.zeros(count),
        kept=np.zeros(n),
        share=np.zeros(largest),
        mask=np.zeros(MAX_PATTERNS + 1, np.int64),
        weight=np.zeros(MAX_PATTERNS + 1),
        reach=np.zeros(1 << min(largest, DENSE)),
        decisions=np.zeros(1 if dense else MAX_NODES),
        node=np.zeros((3, 1 if dense else MAX_NODES), np.int64),
        head=np.full(largest + 1, -1, np.int64),
        slot=np.full(1 if dense else SLOTS, -1, np.int64),
    )


@vectorised
def discriminating(c: Any, patterns: Any, here: Any) -> Any:
    """The weight of the aspects that some of these members have and others lack."""
    total = 0.0
    for q in range(patterns):
        rest = c.mask[q] & here
        total += c.weight[q] if (rest != 0) & (rest != here) else 0.0
    return total


@scalar
def eliminate(c: Any, size: Any, patterns: Any) -> None:
    """The probability of each member into c.share, given the first `patterns` of c.mask and
    c.weight."""
    for x in range(size):
        c.share[x] = 0.0
    if size <= DENSE:
        eliminate_dense(c, size, patterns)
    else:
        eliminate_sparse(c, size, patterns)


@scalar
def eliminate_dense(c: Any, size: Any, patterns: Any) -> None:
    full = (1 << size) - 1
    c.reach[full] = 1.0
    for here in range(full, 0, -1):
        reached = c.reach[here]
        if reached == 0.0 or here & (here - 1) == 0:
            continue
        total = discriminating(c, patterns, here)
        if total > 0.0:
            for q in range(patterns):
                # what does not discriminate adds 0 to an entry that is not read again
                rest = c.mask[q] & here
                c.reach[rest] += (
                    reached / total * c.weight[q] if (rest != 0) & (rest != here) else 0.0
                )
        else:
            share_out(c, size, here, reached)
        c.reach[here] = 0.0
    for x in range(size):
        c.share[x] += c.reach[1 << x]
        c.reach[1 << x] = 0.0


@scalar
def share_out(c: Any, size: Any, here: Any, reached: Any) -> None:
    """Equal shares: no aspect distinguishes these members."""
    members = 0
    for x in range(size):
        members += (here >> x) & 1
    for x in range(size):
        c.share[x] += reached / members * ((here >> x) & 1)


@scalar
def eliminate_sparse(c: Any, size: Any, patterns: Any) -> None:
    """The same for sets with too many masks: reached masks are listed by size and found by a
    hash."""
    for m in range(size + 1):
        c.head[m] = -1
    nodes = pass_on(c, size, (1 << size) - 1, 1.0, 0)
    for members in range(size, 0, -1):
        t = c.head[members]
        while t >= 0:
            here, reached = c.node[0, t], c.decisions[t]
            total = discriminating(c, patterns, here)
            if total > 0.0:
                for q in range(patterns):
                    rest = c.mask[q] & here
                    if rest != 0 and rest != here and c.weight[q] != 0.0:
                        nodes = pass_on(c, size, rest, reached / total * c.weight[q], nodes)
            else:
                share_out(c, size, here, reached)
            t = c.node[1, t]
    for t in range(nodes):
        c.slot[c.node[2, t]] = -1


@scalar
def pass_on(c: Any, size: Any, mask: Any, probability: Any, nodes: Any) -> Any:
    """Add to the probability of a mask, which becomes a node if it is not one yet; returns the
    number of nodes."""
    at = (mask ^ (mask >> 17) ^ (mask >> 34) ^ (mask >> 51)) & (SLOTS - 1)
    while c.slot[at] >= 0 and c.node[0, c.slot[at]] != mask:
        at = (at + 1) & (SLOTS - 1)
    t = c.slot[at]
    if t >= 0:
        c.decisions[t] += probability
        return nodes
    if nodes == MAX_NODES:
        raise OverflowError(TOO_MANY)
    members = 0
    for x in range(size):
        members += (mask >> x) & 1
    c.slot[at] = nodes
    c.node[0, nodes] = mask
    c.node[1, nodes] = c.head[members]
    c.node[2, nodes] = at
    c.head[members] = nodes
    c.decisions[nodes] = probability
    return nodes + 1


@scalar
def set_shares(sets: Any, c: Any, b: Any, v: Any) -> None:
    """The probability of each member of set v into c.share, lapses not included."""
    first = sets.start[v]
    size = sets.start[v + 1] - first
    full = (1 << size) - 1
    for x in range(size):
        c.mask[x] = 1 << x
        c.weight[x] = b.s[sets.member[first + x]]
    patterns = size
    for k in range(b.whole[COLUMNS]):
        mask = 0
        for x in range(size):
            mask |= int(b.Z[k, sets.member[first + x]]) << x
        c.mask[patterns] = mask
        c.weight[patterns] = b.w[k]
        patterns += int((mask != 0) & (mask != full))  # otherwise the next takes its place
        if patterns > MAX_PATTERNS:
            raise OverflowError(TOO_MANY)
    eliminate(c, size, patterns)


@scalar
def set_log_likelihood(sets: Any, c: Any, b: Any, v: Any) -> Any:
    set_shares(sets, c, b, v)
    first = sets.start[v]
    size = sets.start[v + 1] - first
    total = 0.0
    for x in range(size):
        if c.count[first + x] > 0.0:
            p = (1.0 - sets.lapse) * c.share[x] + sets.lapse / size
            total += c.count[first + x] * fast_log(max(p, MIN_PROBABILITY))
    return total


@scalar
def concerns(sets: Any, b: Any, v: Any, which: Any, i: Any, k: Any, other: Any) -> Any:
    """Whether a change can touch set v.

    SHARED: option i joins or leaves pattern k and its unique weight compensates; CUT: the weight of
    pattern k changes; WITHIN: what the owners of pattern k share; BETWEEN: what the owners of
    `other` share with the other owners of k.
    """
    owners = 0
    others = 0
    size = sets.start[v + 1] - sets.start[v]
    for t in range(sets.start[v], sets.start[v + 1]):
        j = sets.member[t]
        if which == BETWEEN:
            if b.Z[other, j] != 0.0:
                others += 1
            elif b.Z[k, j] != 0.0:
                owners += 1
        elif b.Z[k, j] != 0.0 and not (which == SHARED and j == i):
            owners += 1
    if which == SHARED:
        return owners > 0
    if which == CUT:
        return 0 < owners < size
    if which == WITHIN:
        return owners > 1
    return owners > 0 and others > 0


@scalar
def over_sets(sets: Any, c: Any, b: Any, which: Any, i: Any, k: Any, other: Any, keep: Any) -> Any:
    """Difference of the log-likelihood of the affected sets from the cache, after the state was
    changed.

    If asked to `keep`, the cache then holds the new values.
    """
    total = 0.0
    by_option = which == OF_OPTION or which == SHARED
    begin = sets.first[i] if by_option else 0
    end = sets.first[i + 1] if by_option else sets.start.shape[0] - 1
    for t in range(begin, end):
        v = sets.within[t] if by_option else t
        if which == ALL or which == OF_OPTION or concerns(sets, b, v, which, i, k, other):
            value = set_log_likelihood(sets, c, b, v)
            total += value - c.value[v]
            if keep:
                c.value[v] = value
    return total


@scalar
def total_of(c: Any) -> Any:
    total = 0.0
    for v in range(c.value.shape[0]):
        total += c.value[v]
    return total
