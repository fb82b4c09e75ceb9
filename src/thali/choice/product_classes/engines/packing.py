"""States and draws as arrays, and back."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..particles import Particles
from ..state import CLASSES, TOP, Features, State
from .fit import OF_CLASSES, OF_DRAWS, OF_OWNED, draws_between

_NAMES = (*(name for name in State._fields if name != "features"), *Features._fields)
_PLACES = {"bits": CLASSES, "classes": CLASSES} | {name: TOP for name in Features._fields if name != "people"}


def packed_states(states: Sequence[State]) -> dict[str, np.ndarray]:
    """States as arrays: the used part of each, one after the other."""
    ends = {place: np.cumsum([0, *(int(s.whole[place]) for s in states)]) for place in (CLASSES, TOP)}
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


def unpacked_states(arrays: Mapping[str, np.ndarray], empty: State) -> list[State]:
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
        found.append(State(features=features, **parts))
    return found


def _part(state: State, name: str) -> np.ndarray:
    return getattr(state if name in State._fields else state.features, name)


def packed_draws(draws: Particles | None, prefix: str) -> dict[str, np.ndarray]:
    """Draws as arrays; nothing if there are none."""
    if draws is None:
        return {}
    return {f"{prefix}{name}": np.asarray(value) for name, value in draws._asdict().items()}


def unpacked_draws(arrays: Mapping[str, np.ndarray], prefix: str) -> Particles | None:
    """The draws that `packed_draws` wrote, or None."""
    if f"{prefix}group" not in arrays:
        return None
    fields: dict[str, Any] = {name: arrays[f"{prefix}{name}"] for name in Particles._fields}
    fields.update(lapse=float(fields["lapse"]), beta=float(fields["beta"]))
    return Particles(**fields)


def rows_of(draws: Particles, sweeps: Sequence[int]) -> dict[str, np.ndarray]:
    """Draws of one chain, made after those sweeps: the rows of two calls, one after the other, are those of one."""
    rows = {name: getattr(draws, name) for name in (*OF_DRAWS, *OF_CLASSES, *OF_OWNED)}
    ends = {"first_class": np.diff(draws.first_class), "first_owned": np.diff(draws.first_owned)}
    return {"sweep": np.array(sweeps, np.int64), **rows, **ends}


def draws_from(rows: Mapping[str, np.ndarray], like: Particles) -> list[tuple[int, Particles]]:
    """What `rows_of` was given, draw by draw, after its sweep; the rest is as in other draws of the chain."""
    fields = {name: rows[name] for name in (*OF_DRAWS, *OF_CLASSES, *OF_OWNED)}
    ends = {name: np.concatenate([[0], np.cumsum(rows[name])]) for name in ("first_class", "first_owned")}
    draws = like._replace(**fields, **ends)
    return [(sweep, draws_between(draws, d, d + 1)) for d, sweep in enumerate(rows["sweep"].tolist())]
