"""A run in a file: arrays, written to a temporary name and renamed, so that a killed run can resume."""

import hashlib
import io
import json
import time
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from thali.errors import Argument, ArgumentError, DataError, IncompleteWarning, InPython, Setting
from thali.inference.files import atomic_write, is_intact, seal
from thali.inference.warn import warn

from ..particles import Particles
from ..problem import Problem
from ..state import CLASSES, TOP, Features, State

SCHEMA = 1  # increased when files of older versions can no longer be resumed
SHARE = 0.05  # of the running time that writing may take
LEAST = 1.0  # seconds between two files of a run whose steps are short
_NAMES = (*(name for name in State._fields if name != "features"), *Features._fields)
_PLACES = {"bits": CLASSES, "classes": CLASSES} | {name: TOP for name in Features._fields if name != "people"}


class Checkpoint:
    """The file that stores the state of a run, if any."""

    found: dict[str, np.ndarray] | None
    head: dict[str, np.ndarray]
    next: float

    def __init__(self, path: Any, resume: Any, problem: Problem, settings: Mapping[str, Any]) -> None:
        self.found = None if resume is None else _read(Path(resume), problem, settings)
        path = resume if path is None else path
        self.path = None if path is None else Path(path)
        if self.path is not None and self.path.is_dir():
            raise DataError(f"The checkpoint '{self.path}' is a folder; give the name of a file.")
        if self.path is not None and not self.path.parent.is_dir():
            raise DataError(f"There is no folder '{self.path.parent}' for the checkpoint; make it first.")
        self.head = {"thali_run": np.array(json.dumps(_head(problem, settings)))}
        self.next = 0.0

    def is_due(self) -> bool:
        """Whether enough time has passed since the last file."""
        return self.path is not None and time.monotonic() >= self.next

    def write(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Replace the checkpoint by the arrays; an error is reported once and ends the writing, not the run."""
        if self.path is None:
            return
        began = time.monotonic()
        buffer, stored = io.BytesIO(), {**self.head, **arrays}
        np.savez(buffer, **stored)  # type: ignore[arg-type]
        buffer.write(seal(buffer.getvalue()))
        try:
            atomic_write(self.path, buffer.getvalue())
        except DataError as error:
            warn(IncompleteWarning(error, " The run goes on without a checkpoint."))
            self.path = None
        now = time.monotonic()
        self.next = now + max(LEAST, (now - began) / SHARE)


def _head(problem: Problem, settings: Mapping[str, Any]) -> dict[str, Any]:
    digest = hashlib.sha256()
    for array in (*problem.tasks, problem.n_levels, problem.direction):
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return {"schema": SCHEMA, "data": digest.hexdigest(), "settings": dict(settings)}


def _read(path: Path, problem: Problem, settings: Mapping[str, Any]) -> dict[str, np.ndarray]:
    if not path.is_file():
        raise DataError(
            f"There is no checkpoint '{path}' to go on from; leave ",
            Argument("resume"),
            InPython(" at None", " out"),
            " to begin from the start.",
        )
    try:
        if not is_intact(path):
            raise ValueError("the hash does not fit")
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        head = json.loads(str(arrays.pop("thali_run")))
    except (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile) as fault:
        raise DataError(f"'{path}' is not a checkpoint of a fit of product classes, or is damaged.") from fault
    if head.get("schema") != SCHEMA:
        raise DataError(f"'{path}' was written by another version of thali; delete it to begin from the start.")
    now = json.loads(json.dumps(_head(problem, settings)))
    for name, value in now["settings"].items():
        was = head["settings"].get(name)
        if was != value:
            raise ArgumentError(
                f"The checkpoint '{path}' was written with ",
                Setting(name, was),
                ", and this fit has ",
                Setting(name, value),
                "; a run continues with the same settings only.",
            )
    if head["data"] != now["data"]:
        raise DataError(
            f"The checkpoint '{path}' was written for other data, or other monotone attributes; a run goes on with the "
            "same only."
        )
    return arrays


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


_WORD = (1 << 64) - 1


def packed_streams(rngs: Sequence[np.random.Generator]) -> np.ndarray:
    """The states of generators, shape (generators, 6)."""
    rows = []
    for rng in rngs:
        now = rng.bit_generator.state
        state, inc = now["state"]["state"], now["state"]["inc"]
        rows.append([state >> 64, state & _WORD, inc >> 64, inc & _WORD, now["has_uint32"], now["uinteger"]])
    return np.array(rows, np.uint64)


def unpacked_streams(rows: np.ndarray) -> list[np.random.Generator]:
    """The generators that `packed_streams` wrote."""
    found = []
    for row in rows:
        high, low, inc_high, inc_low, has_half, half = map(int, row)
        bits = np.random.PCG64()
        bits.state = {
            "bit_generator": "PCG64",
            "state": {"state": high << 64 | low, "inc": inc_high << 64 | inc_low},
            "has_uint32": has_half,
            "uinteger": half,
        }
        found.append(np.random.Generator(bits))
    return found


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
