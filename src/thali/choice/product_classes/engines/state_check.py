"""Checks that a state read from a file is one between two sweeps."""

from collections.abc import Iterable

import numpy as np

from thali.errors import DataError, InPython

from ..state import (
    CLASS,
    CLASSES,
    CONCENTRATION,
    FIRST,
    FREE,
    HOLES,
    LAST_OWNED,
    LAST_OWNER,
    MOVES,
    MUTE,
    NEGATIVE,
    NEXT_OWNED,
    NEXT_OWNER,
    OWNERS,
    PENDING,
    PERSON,
    PRESENT,
    SIGMA,
    SIGN,
    TOP,
    VISITED,
    A,
    Problem,
    State,
)


def refuse_torn(flaws: Iterable[str]) -> None:
    """Raise DataError if a state that was stored has a flaw; those without are empty words."""
    for flaw in flaws:
        if flaw:
            raise DataError(
                f"What was stored of the fit cannot be resumed: {flaw}; ",
                *(InPython("remove the folder of its job", "give --overwrite"), ", and fit from the beginning."),
            )


def flaw_of(state: State, problem: Problem) -> str:
    """The reason why this is not a state between two sweeps; empty if it is."""
    whole, people = state.whole, problem.n_people
    classes, top, present = int(whole[CLASSES]), int(whole[TOP]), int(whole[PRESENT])
    if whole[VISITED] or whole[PENDING] != -1:
        return f"it was written in the middle of a sweep, when {whole[VISITED]} of {present} people had been visited"
    if state.counts.shape != (len(MOVES), 2):
        return "it is of a version with other moves"
    if not (
        np.isfinite(state.real).all() and state.real[A] > 0 < state.real[CONCENTRATION] and 0 <= state.real[SIGMA] <= 1
    ):
        return "a, sigma and alpha are not what they may be"
    slots, table = state.features.slots[:top], state.classes[:classes]
    used = slots[:, PERSON] >= 0
    links = slots[:, [NEXT_OWNER, LAST_OWNER, NEXT_OWNED, LAST_OWNED]]
    if (
        not 0 <= present <= people
        or (links < -1).any()
        or (links[used] >= top).any()
        or (slots[:, NEXT_OWNER] >= top).any()
        or (slots[:, PERSON] >= present).any()
        or (slots[used, CLASS] < 0).any()
        or (slots[used, CLASS] >= classes).any()
        or slots[used, MUTE].any()
    ):
        return "its table of features holds numbers of people, classes or features that do not exist"
    by_class = _list_of_each(table[:, FIRST], slots[:, NEXT_OWNER], slots[:, LAST_OWNER])
    by_person = _list_of_each(state.features.people[:, 0], slots[:, NEXT_OWNED], slots[:, LAST_OWNED])
    if not (
        np.array_equal(by_class[used], slots[used, CLASS])
        and np.array_equal(by_person[used], slots[used, PERSON])
        and np.array_equal(np.bincount(slots[used, CLASS], minlength=classes), table[:, OWNERS])
        and np.array_equal(np.bincount(slots[used, PERSON], minlength=people), state.features.people[:, 1])
        and np.array_equal(np.bincount(slots[used, CLASS], slots[used, SIGN], minlength=classes), table[:, NEGATIVE])
    ):
        return "its lists of the owners of classes contradict each other"
    free = _list_of_each(whole[[FREE]], slots[:, NEXT_OWNER], None) == 0
    if not np.array_equal(free, ~used) or free.sum() != whole[HOLES]:
        return f"its list of free places has {free.sum()} of {(~used).sum()}"
    return ""


def _list_of_each(first: np.ndarray, following: np.ndarray, previous: np.ndarray | None) -> np.ndarray:
    """The number of the list that each slot is on; -1: on none; -2: on two, or not pointing back to the one before."""
    found = np.full(len(following), -1)
    lists = np.flatnonzero((first >= 0) & (first < len(following)))
    at, before = first[lists], np.full(len(lists), -1)
    for _ in range(len(following) + 1):  # the length of the longest possible list, so that a cycle ends, too
        if not at.size:
            break
        is_sound = found[at] == -1
        if previous is not None:
            is_sound &= previous[at] == before
        found[at] = np.where(is_sound, lists, -2)
        goes_on = is_sound & (following[at] >= 0)
        lists, before, at = lists[goes_on], at[goes_on], following[at[goes_on]]
    return found
