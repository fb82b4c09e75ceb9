"""States and draws of product classes as arrays to store, and checks of stored states."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from thali._inference.index_arithmetic import part_bounds, part_slice, repeat_indices
from thali.errors import DataError, InPython

from ..ragged_draws import Particles, concatenate_draws
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
    OwnedFeatures,
)


@dataclass
class EngineResult:
    """Result of a sampler: draws, log evidence and messages."""

    particles: Particles
    log_evidence: float = math.nan
    log_evidence_se: float = math.nan
    evidence_sd: float = math.nan  # of the logarithms of the groups' estimates
    trace: dict[str, np.ndarray] = field(default_factory=dict)  # (group, step) or (step,)
    messages: list[str] = field(default_factory=list)
    interrupted: bool = False
    draws: int = 0  # of each chain, kept or not


# The fields of `Particles` that have a row for each draw, class, or class that a person owns.
DRAW_FIELDS = ("group", "a", "sigma", "alpha", "log_likelihood")
CLASS_FIELDS = ("active", "member", "polarity", "n_owners", "n_negative")
OWNED_FIELDS = ("owned_class", "owned_sign", "owned_log_theta")
_ROW_FIELDS = (*DRAW_FIELDS, *CLASS_FIELDS, *OWNED_FIELDS)


class DrawRecorder:
    """Converter of sampler states, levels as bits, to recorded draws."""

    problem: "ClassProblem"
    offset: np.ndarray
    inactive_bits: np.ndarray

    def __init__(self, problem: "ClassProblem") -> None:
        """Locate the bits of all levels once for the data of a fit."""
        self.problem = problem
        n_levels = problem.n_levels
        first_bits = problem.first_bit[:-1]
        self.offset = part_bounds(n_levels)
        attribute_of_level = repeat_indices(n_levels)
        natural_order = np.arange(self.offset[-1]) - self.offset[attribute_of_level]
        sampler_order = np.where(
            problem.direction[attribute_of_level] < 0,
            n_levels[attribute_of_level] - 1 - natural_order,
            natural_order,
        )
        # bit of every level, in natural order
        self.level_bits: np.ndarray = first_bits[attribute_of_level] + sampler_order
        self.inactive_bits = problem.first_bit[1:] - 1

    def record(
        self, state: ClassState, group: int, log_likelihood: float, lapse: float
    ) -> Particles:
        """Return the sampler's state as one recorded draw."""
        n_people = self.problem.n_people
        n_classes = int(state.whole[CLASSES])
        slots = state.features.slots[: state.whole[TOP]]
        used_slots = np.flatnonzero(slots[:, PERSON] >= 0)
        used_slots = used_slots[np.argsort(slots[used_slots, PERSON], kind="stable")]
        n_owned = np.bincount(slots[used_slots, PERSON], minlength=n_people)
        class_rows = state.classes[:n_classes]
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
            first_class=np.array([0, n_classes]),
            active=~_read_bits(state.bits[:n_classes], self.inactive_bits),
            member=_read_bits(state.bits[:n_classes], self.level_bits),
            polarity=class_rows[:, POLARITY].astype(np.int8),
            n_owners=class_rows[:, OWNERS].copy(),
            n_negative=class_rows[:, NEGATIVE].copy(),
            first_owned=part_bounds(n_owned),
            owned_class=slots[used_slots, CLASS],
            owned_sign=slots[used_slots, SIGN].astype(np.int8),
            owned_log_theta=state.features.log_theta[used_slots],
        )


def _read_bits(rows: np.ndarray, bits: np.ndarray) -> np.ndarray:
    """Return the given bits of each row as bool array (rows, bits)."""
    return np.ascontiguousarray((rows[:, bits >> 6] >> (bits & 63)) & 1 != 0)


def concatenate_chains(chains: list[list[Particles]]) -> Particles:
    """Concatenate the draws of all chains, equally many each, numbered from 0."""
    chain_draws = [concatenate_draws(draws) for draws in chains]
    return concatenate_draws(
        [
            part._replace(group=np.full(part.n_draws, chain_number))
            for chain_number, part in enumerate(chain_draws)
        ]
    )


def slice_draws(draws: Particles, start: int, stop: int) -> Particles:
    """Return draws number `start` to `stop` - 1."""
    n_people = draws.n_respondents
    class_bounds = draws.first_class[start : stop + 1]
    owned_bounds = draws.first_owned[start * n_people : stop * n_people + 1]
    sliced_fields = {
        "first_class": class_bounds - class_bounds[0],
        "first_owned": owned_bounds - owned_bounds[0],
    }
    for field_names, begin, end in (
        (DRAW_FIELDS, start, stop),
        (CLASS_FIELDS, *class_bounds[[0, -1]]),
        (OWNED_FIELDS, *owned_bounds[[0, -1]]),
    ):
        sliced_fields |= {name: getattr(draws, name)[begin:end] for name in field_names}
    return draws._replace(**sliced_fields)


# States and draws as arrays, and back -------------------------------------------------------------


_STATE_FIELDS = (
    *(name for name in ClassState._fields if name != "features"),
    *OwnedFeatures._fields,
)
_COUNT_OF_FIELD = {"bits": CLASSES, "classes": CLASSES} | {
    name: TOP for name in OwnedFeatures._fields if name != "respondents"
}


def pack_states(states: Sequence[ClassState]) -> dict[str, np.ndarray]:
    """Return all sampler states as concatenated arrays, by name."""
    state_ends = {
        count_index: np.cumsum([0, *(int(s.whole[count_index]) for s in states)])
        for count_index in (CLASSES, TOP)
    }
    packed_arrays = {"state_end_classes": state_ends[CLASSES], "state_end_slots": state_ends[TOP]}
    for field_name in _STATE_FIELDS:
        state_arrays = [_get_state_array(s, field_name) for s in states]
        count_index = _COUNT_OF_FIELD.get(field_name)
        if count_index is None:
            packed_arrays[f"state_{field_name}"] = np.stack(state_arrays)
        else:
            used_arrays = [
                state_array[: s.whole[count_index]]
                for state_array, s in zip(state_arrays, states, strict=True)
            ]
            packed_arrays[f"state_{field_name}"] = np.concatenate(used_arrays)
    return packed_arrays


def unpack_states(arrays: Mapping[str, np.ndarray], empty: ClassState) -> list[ClassState]:
    """Return the sampler states that `pack_states` packed."""
    all_ends = {CLASSES: arrays["state_end_classes"], TOP: arrays["state_end_slots"]}
    states = []
    for i in range(len(all_ends[TOP]) - 1):
        array_by_name = {}
        for field_name in _STATE_FIELDS:
            stored_array = arrays[f"state_{field_name}"]
            count_index = _COUNT_OF_FIELD.get(field_name)
            if count_index is None:
                array_by_name[field_name] = stored_array[i].copy()
                continue
            empty_array = _get_state_array(empty, field_name)
            state_ends = all_ends[count_index]
            used_array = stored_array[part_slice(state_ends, i)]
            array_by_name[field_name] = np.zeros(
                (max(len(empty_array), len(used_array)), *empty_array.shape[1:]), empty_array.dtype
            )
            array_by_name[field_name][: len(used_array)] = used_array
        features = OwnedFeatures(
            **{field_name: array_by_name.pop(field_name) for field_name in OwnedFeatures._fields}
        )
        states.append(ClassState(features=features, **array_by_name))
    return states


def _get_state_array(state: ClassState, name: str) -> np.ndarray:
    """Return the named array of a state or of its features."""
    if name in ClassState._fields:
        return getattr(state, name)
    return getattr(state.features, name)


def build_draw_rows(draws: Particles, sweeps: Sequence[int]) -> dict[str, np.ndarray]:
    """Return draws of one chain as stored rows, with the sweep of each.

    Rows of two calls can be concatenated.
    """
    row_arrays = {name: getattr(draws, name) for name in _ROW_FIELDS}
    row_counts = {
        "first_class": np.diff(draws.first_class),
        "first_owned": np.diff(draws.first_owned),
    }
    return {"sweep": np.array(sweeps, np.int64), **row_arrays, **row_counts}


def split_draw_rows(
    rows: Mapping[str, np.ndarray], model_draws: Particles
) -> list[tuple[int, Particles]]:
    """Return (sweep, draw) of each stored row; other fields come from `model_draws`."""
    row_fields = {name: rows[name] for name in _ROW_FIELDS}
    row_bounds = {name: part_bounds(rows[name]) for name in ("first_class", "first_owned")}
    draws = model_draws._replace(**row_fields, **row_bounds)
    return [(sweep, slice_draws(draws, d, d + 1)) for d, sweep in enumerate(rows["sweep"].tolist())]


# Checks that a stored state was saved between two sweeps ------------------------------------------


def refuse_damaged_states(flaws: Iterable[str]) -> None:
    """Raise DataError if any description of a flaw is not empty."""
    for flaw in flaws:
        if flaw:
            raise DataError(
                f"The stored fit cannot be resumed: {flaw}; ",
                *(InPython("delete the job folder", "add --overwrite"), " and fit again."),
            )


def describe_state_flaw(state: ClassState, problem: ClassProblem) -> str:
    """Return why a stored state is inconsistent; "" if it is sound."""
    integers = state.whole
    n_people = problem.n_people
    n_classes = int(integers[CLASSES])
    n_slots = int(integers[TOP])
    n_present = int(integers[PRESENT])
    if integers[VISITED] or integers[PENDING] != -1:
        return (
            f"it was saved during a sweep, with {integers[VISITED]} of {n_present} respondents"
            " updated"
        )
    if state.counts.shape != (len(MOVES), 2):
        return "a version of thali with a different sampler wrote it"
    if not (
        np.isfinite(state.real).all()
        and state.real[A] > 0 < state.real[CONCENTRATION]
        and 0 <= state.real[SIGMA] <= 1
    ):
        return "`a`, `sigma` or `alpha` is out of range"
    slots = state.features.slots[:n_slots].tolist()
    class_rows = state.classes[:n_classes]
    used_slots = [f for f, slot in enumerate(slots) if slot[PERSON] >= 0]
    try:
        owner_lists = [
            _collect_list(slots, first_slot, NEXT_OWNER, LAST_OWNER)
            for first_slot in class_rows[:, FIRST].tolist()
        ]
        owned_lists = [
            _collect_list(slots, first_slot, NEXT_OWNED, LAST_OWNED)
            for first_slot in state.features.respondents[:, 0].tolist()
        ]
        free_slots = _collect_list(slots, int(integers[FREE]), NEXT_OWNER, None)
    except (IndexError, ValueError):
        return "its lists of features are broken or circular"
    is_sound = (
        0 <= n_present <= n_people
        and not any(owned_lists[n_present:])
        and all(
            slots[f][CLASS] == k and not slots[f][MUTE]
            for k, list_slots in enumerate(owner_lists)
            for f in list_slots
        )
        and all(
            slots[f][PERSON] == n for n, list_slots in enumerate(owned_lists) for f in list_slots
        )
        and sorted(chain(*owner_lists)) == sorted(chain(*owned_lists)) == used_slots
        and [len(list_slots) for list_slots in owner_lists] == class_rows[:, OWNERS].tolist()
        and [len(list_slots) for list_slots in owned_lists]
        == state.features.respondents[:, 1].tolist()
        and [sum(slots[f][SIGN] for f in list_slots) for list_slots in owner_lists]
        == class_rows[:, NEGATIVE].tolist()
        and sorted([*used_slots, *free_slots]) == list(range(n_slots))
        and len(free_slots) == integers[HOLES]
    )
    if is_sound:
        return ""
    return "its lists of the respondents who use each class contradict each other"


def _collect_list(
    rows: list[list[int]], first: int, following: int, previous: int | None
) -> list[int]:
    """Return the slots of a linked list, or raise if its links disagree."""
    # Raises IndexError or ValueError if the list is broken or circular.
    list_slots = []
    slot = first
    previous_slot = -1
    while slot >= 0:
        if len(list_slots) > len(rows) or (
            previous is not None and rows[slot][previous] != previous_slot
        ):
            raise ValueError("a list is endless or broken")
        list_slots.append(slot)
        slot, previous_slot = rows[slot][following], slot
    return list_slots
