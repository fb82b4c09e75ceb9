"""The result of an engine, its states as arrays and back, and checks of states that are read from a
file."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from thali._inference.indexing import part_bounds
from thali.errors import DataError, InPython

from ..particles import Particles, joined
from ..state import (
    BETA,
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
    POLARITY,
    PRESENT,
    SIGMA,
    SIGN,
    TOP,
    VISITED,
    A,
    ClassProblem,
    ClassState,
    Features,
)


@dataclass
class EngineResult:
    """Draws, evidence, and messages about a run."""

    particles: Particles
    log_evidence: float = math.nan
    log_evidence_se: float = math.nan
    evidence_sd: float = math.nan  # between groups, of their own logarithms
    trace: dict[str, np.ndarray] = field(default_factory=dict)  # (group, step) or (step,)
    messages: list[str] = field(default_factory=list)
    interrupted: bool = False
    draws: int = 0  # of each chain, kept or not


# The fields of `Particles` that have a row for each draw, class, or class that a person owns.
OF_DRAWS = ("group", "a", "sigma", "alpha", "log_likelihood")
OF_CLASSES = ("active", "member", "polarity", "n_owners", "n_negative")
OF_OWNED = ("owned_class", "owned_sign", "owned_log_theta")


class Keeper:
    """Turns states into draws; the meaning of each bit is computed once."""

    problem: "ClassProblem"
    offset: np.ndarray
    inactive: np.ndarray

    def __init__(self, problem: "ClassProblem") -> None:
        self.problem = problem
        levels, first = problem.n_levels, problem.first_bit[:-1]
        self.offset = part_bounds(levels)
        attribute = np.repeat(np.arange(len(levels)), levels)
        natural = np.arange(self.offset[-1]) - self.offset[attribute]
        inside = np.where(
            problem.direction[attribute] < 0, levels[attribute] - 1 - natural, natural
        )
        # of the bit of every level, in natural order
        self.places: np.ndarray = first[attribute] + inside
        self.inactive = problem.first_bit[1:] - 1

    def draw(self, state: ClassState, group: int, log_likelihood: float, lapse: float) -> Particles:
        """One draw: the current state."""
        people, classes = self.problem.n_people, int(state.whole[CLASSES])
        slots = state.features.slots[: state.whole[TOP]]
        used = np.flatnonzero(slots[:, PERSON] >= 0)
        used = used[np.argsort(slots[used, PERSON], kind="stable")]
        owned = np.bincount(slots[used, PERSON], minlength=people)
        table = state.classes[:classes]
        return Particles(
            group=np.array([group]),
            a=state.real[[A]],
            sigma=state.real[[SIGMA]],
            alpha=state.real[[CONCENTRATION]],
            log_likelihood=np.array([log_likelihood]),
            lapse=lapse,
            beta=float(self.problem.prior[BETA]),
            offset=self.offset,
            monotone=np.asarray(self.problem.direction, np.int8),
            first_class=np.array([0, classes]),
            active=~_bits(state.bits[:classes], self.inactive),
            member=_bits(state.bits[:classes], self.places),
            polarity=table[:, POLARITY].astype(np.int8),
            n_owners=table[:, OWNERS].copy(),
            n_negative=table[:, NEGATIVE].copy(),
            first_owned=part_bounds(owned),
            owned_class=slots[used, CLASS],
            owned_sign=slots[used, SIGN].astype(np.int8),
            owned_log_theta=state.features.log_theta[used],
        )


def _bits(rows: np.ndarray, places: np.ndarray) -> np.ndarray:
    # as a file gives it back
    return np.ascontiguousarray((rows[:, places >> 6] >> (places & 63)) & 1 != 0)


def joined_chains(chains: list[list[Particles]]) -> Particles:
    """Return the draws of all chains, equally many of each, numbered from 0."""
    parts = [joined(draws) for draws in chains]
    return joined(
        [part._replace(group=np.full(part.n_draws, number)) for number, part in enumerate(parts)]
    )


def draws_between(draws: Particles, first: int, last: int) -> Particles:
    """The draws from number `first` to before `last`."""
    people = draws.n_respondents
    classes, owned = (
        draws.first_class[first : last + 1],
        draws.first_owned[first * people : last * people + 1],
    )
    fields = {"first_class": classes - classes[0], "first_owned": owned - owned[0]}
    for names, begin, end in (
        (OF_DRAWS, first, last),
        (OF_CLASSES, *classes[[0, -1]]),
        (OF_OWNED, *owned[[0, -1]]),
    ):
        fields |= {name: getattr(draws, name)[begin:end] for name in names}
    return draws._replace(**fields)


# States and draws as arrays, and back -------------------------------------------------------------


_NAMES = (*(name for name in ClassState._fields if name != "features"), *Features._fields)
_PLACES = {"bits": CLASSES, "classes": CLASSES} | {
    name: TOP for name in Features._fields if name != "people"
}


def packed_states(states: Sequence[ClassState]) -> dict[str, np.ndarray]:
    """States as arrays: the used part of each, one after the other."""
    ends = {
        place: np.cumsum([0, *(int(s.whole[place]) for s in states)]) for place in (CLASSES, TOP)
    }
    arrays = {"state_end_classes": ends[CLASSES], "state_end_slots": ends[TOP]}
    for name in _NAMES:
        parts = [_part(s, name) for s in states]
        place = _PLACES.get(name)
        if place is None:
            arrays[f"state_{name}"] = np.stack(parts)
        else:
            used = [part[: s.whole[place]] for part, s in zip(parts, states, strict=True)]
            arrays[f"state_{name}"] = np.concatenate(used)
    return arrays


def unpacked_states(arrays: Mapping[str, np.ndarray], empty: ClassState) -> list[ClassState]:
    """The states that `packed_states` wrote, each with the size of `empty` or larger if needed."""
    all_ends = {CLASSES: arrays["state_end_classes"], TOP: arrays["state_end_slots"]}
    found = []
    for i in range(len(all_ends[TOP]) - 1):
        parts = {}
        for name in _NAMES:
            stored, place = arrays[f"state_{name}"], _PLACES.get(name)
            if place is None:
                parts[name] = stored[i].copy()
                continue
            room, ends = _part(empty, name), all_ends[place]
            used = stored[ends[i] : ends[i + 1]]
            parts[name] = np.zeros((max(len(room), len(used)), *room.shape[1:]), room.dtype)
            parts[name][: len(used)] = used
        features = Features(**{name: parts.pop(name) for name in Features._fields})
        found.append(ClassState(features=features, **parts))
    return found


def _part(state: ClassState, name: str) -> np.ndarray:
    return getattr(state if name in ClassState._fields else state.features, name)


def rows_of(draws: Particles, sweeps: Sequence[int]) -> dict[str, np.ndarray]:
    """Draws of one chain, made after those sweeps: the rows of two calls, one after the other, are
    those of one."""
    rows = {name: getattr(draws, name) for name in (*OF_DRAWS, *OF_CLASSES, *OF_OWNED)}
    ends = {"first_class": np.diff(draws.first_class), "first_owned": np.diff(draws.first_owned)}
    return {"sweep": np.array(sweeps, np.int64), **rows, **ends}


def draws_from(rows: Mapping[str, np.ndarray], like: Particles) -> list[tuple[int, Particles]]:
    """What `rows_of` was given, draw by draw, after its sweep; the rest is as in other draws of the
    chain."""
    fields = {name: rows[name] for name in (*OF_DRAWS, *OF_CLASSES, *OF_OWNED)}
    ends = {name: part_bounds(rows[name]) for name in ("first_class", "first_owned")}
    draws = like._replace(**fields, **ends)
    return [
        (sweep, draws_between(draws, d, d + 1)) for d, sweep in enumerate(rows["sweep"].tolist())
    ]


# Checks that a state read from a file is one between two sweeps -----------------------------------


def refuse_torn(flaws: Iterable[str]) -> None:
    """Raise DataError if a state that was stored has a flaw; those without are empty words."""
    for flaw in flaws:
        if flaw:
            raise DataError(
                f"The stored fit cannot be resumed: {flaw}; ",
                *(InPython("delete the job folder", "add --overwrite"), " and fit again."),
            )


def flaw_of(state: ClassState, problem: ClassProblem) -> str:
    """The reason why this is not a state between two sweeps; empty if it is."""
    whole, people = state.whole, problem.n_people
    classes, top, present = int(whole[CLASSES]), int(whole[TOP]), int(whole[PRESENT])
    if whole[VISITED] or whole[PENDING] != -1:
        return (
            f"it was saved in the middle of a sweep, after {whole[VISITED]} of {present}"
            " respondents had been updated"
        )
    if state.counts.shape != (len(MOVES), 2):
        return "a version of thali with a different sampler wrote it"
    if not (
        np.isfinite(state.real).all()
        and state.real[A] > 0 < state.real[CONCENTRATION]
        and 0 <= state.real[SIGMA] <= 1
    ):
        return "`a`, `sigma` or `alpha` is out of range"
    rows, table = state.features.slots[:top].tolist(), state.classes[:classes]
    used = [f for f, row in enumerate(rows) if row[PERSON] >= 0]
    try:
        owners = [
            _follow(rows, first, NEXT_OWNER, LAST_OWNER) for first in table[:, FIRST].tolist()
        ]
        owned = [
            _follow(rows, first, NEXT_OWNED, LAST_OWNED)
            for first in state.features.people[:, 0].tolist()
        ]
        free = _follow(rows, int(whole[FREE]), NEXT_OWNER, None)
    except (IndexError, ValueError):
        return "its lists of features are broken or circular"
    is_sound = (
        0 <= present <= people
        and not any(owned[present:])
        and all(
            rows[f][CLASS] == k and not rows[f][MUTE] for k, own in enumerate(owners) for f in own
        )
        and all(rows[f][PERSON] == n for n, own in enumerate(owned) for f in own)
        and sorted(chain(*owners)) == sorted(chain(*owned)) == used
        and [len(own) for own in owners] == table[:, OWNERS].tolist()
        and [len(own) for own in owned] == state.features.people[:, 1].tolist()
        and [sum(rows[f][SIGN] for f in own) for own in owners] == table[:, NEGATIVE].tolist()
        and sorted([*used, *free]) == list(range(top))
        and len(free) == whole[HOLES]
    )
    return (
        "" if is_sound else "its lists of the respondents who use each class contradict each other"
    )


def _follow(rows: list[list[int]], first: int, following: int, previous: int | None) -> list[int]:
    """Return the slots of a list; raises IndexError or ValueError where it leads nowhere or in a
    circle."""
    found, at, before = [], first, -1
    while at >= 0:
        if len(found) > len(rows) or (previous is not None and rows[at][previous] != before):
            raise ValueError("a list is endless or broken")
        found.append(at)
        at, before = rows[at][following], at
    return found
