"""Allocation of features: slots are taken and freed, in the lists of their class and of their owner."""

from typing import Any

from thali.compile.jit import scalar

from .state import (
    ACTIVE,
    CLASS,
    CLASSES,
    FIRST,
    FREE,
    HOLES,
    LAST_OWNED,
    LAST_OWNER,
    MUTE,
    NEGATIVE,
    NEXT_OWNED,
    NEXT_OWNER,
    ORDERED,
    OWNERS,
    PERSON,
    POLARITY,
    SIGN,
    TOP,
)


@scalar
def has_room(state: Any, n: Any, new: Any) -> Any:
    """Whether there is room for person n to own all classes and this many new ones."""
    classes = state.whole[CLASSES]
    free = state.features.slots.shape[0] - state.whole[TOP] + state.whole[HOLES]
    return classes + new <= state.classes.shape[0] and classes + new <= free


@scalar
def take(state: Any, n: Any, k: Any, sign: Any) -> Any:
    """A slot in which person n owns class k."""
    whole, slots = state.whole, state.features.slots
    f = whole[FREE]
    if f >= 0:
        whole[FREE] = slots[f, NEXT_OWNER]
        whole[HOLES] -= 1
    else:
        f = whole[TOP]
        whole[TOP] += 1
    slots[f, CLASS], slots[f, PERSON], slots[f, SIGN], slots[f, MUTE] = k, n, sign, 0
    link(state, f)
    return f


@scalar
def link(state: Any, f: Any) -> None:
    """Put slot f at the head of both of its lists."""
    slots = state.features.slots
    k, n = slots[f, CLASS], slots[f, PERSON]
    first = state.classes[k, FIRST]
    slots[f, NEXT_OWNER], slots[f, LAST_OWNER] = first, -1
    if first >= 0:
        slots[first, LAST_OWNER] = f
    state.classes[k, FIRST] = f
    first = state.features.people[n, 0]
    slots[f, NEXT_OWNED], slots[f, LAST_OWNED] = first, -1
    if first >= 0:
        slots[first, LAST_OWNED] = f
    state.features.people[n, 0] = f
    state.features.people[n, 1] += 1
    state.classes[k, OWNERS] += 1
    state.classes[k, NEGATIVE] += slots[f, SIGN]


@scalar
def give_back(state: Any, f: Any) -> None:
    """Remove the feature in slot f from its owner; the class stays, even without owners."""
    slots, whole = state.features.slots, state.whole
    k, n = slots[f, CLASS], slots[f, PERSON]
    before, after = slots[f, LAST_OWNER], slots[f, NEXT_OWNER]
    if before >= 0:
        slots[before, NEXT_OWNER] = after
    else:
        state.classes[k, FIRST] = after
    if after >= 0:
        slots[after, LAST_OWNER] = before
    before, after = slots[f, LAST_OWNED], slots[f, NEXT_OWNED]
    if before >= 0:
        slots[before, NEXT_OWNED] = after
    else:
        state.features.people[n, 0] = after
    if after >= 0:
        slots[after, LAST_OWNED] = before
    state.features.people[n, 1] -= 1
    state.classes[k, OWNERS] -= 1
    state.classes[k, NEGATIVE] -= slots[f, SIGN]
    slots[f, PERSON] = -1
    slots[f, NEXT_OWNER] = whole[FREE]
    whole[FREE] = f
    whole[HOLES] += 1


@scalar
def new_class(state: Any, polarity: Any, active: Any, ordered: Any) -> Any:
    """Number of a new class without owners; the caller sets its bits."""
    k = state.whole[CLASSES]
    state.whole[CLASSES] += 1
    row = state.classes
    row[k, POLARITY], row[k, ACTIVE], row[k, ORDERED] = polarity, active, ordered
    row[k, OWNERS], row[k, NEGATIVE], row[k, FIRST] = 0, 0, -1
    return k


@scalar
def drop_class(state: Any, k: Any) -> None:
    """Remove a class without owners; the last class takes its number."""
    last = state.whole[CLASSES] - 1
    state.whole[CLASSES] = last
    if k == last:
        return
    for w in range(state.bits.shape[1]):
        state.bits[k, w] = state.bits[last, w]
    for i in range(state.classes.shape[1]):
        state.classes[k, i] = state.classes[last, i]
    f = state.classes[k, FIRST]
    while f >= 0:
        state.features.slots[f, CLASS] = k
        f = state.features.slots[f, NEXT_OWNER]


@scalar
def gather(state: Any, work: Any, n: Any) -> Any:
    """The slots of person n into work.owned; returns how many."""
    count = 0
    f = state.features.people[n, 0]
    while f >= 0:
        work.owned[count] = f
        count += 1
        f = state.features.slots[f, NEXT_OWNED]
    return count
