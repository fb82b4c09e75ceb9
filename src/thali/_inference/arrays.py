"""Nested NamedTuples of arrays and random streams as flat dictionaries of arrays, and back; as
bytes, and back."""

import base64
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]

_WORD = (1 << 64) - 1
_LARGE = 1 << 12  # entries from which an array of zeros is stored by its shape
_MAX_ZEROS = 1 << 27  # entries of such an array, which takes no room in a file


def flat(value: Any, name: str) -> Arrays:
    """Copies of the arrays of a nested tuple, by path."""
    if not isinstance(value, tuple):
        return _stored(np.array(value), name)
    return {
        path: array
        for place, each in enumerate(value)
        for path, array in flat(each, f"{name}/{place}").items()
    }


def filled(template: Any, arrays: Mapping[str, np.ndarray], name: str) -> Any:
    """What `flat` took apart, as a value like `template`, whose shapes may be others."""
    if isinstance(template, tuple):
        parts = [filled(each, arrays, f"{name}/{place}") for place, each in enumerate(template)]
        return type(template)(*parts) if hasattr(template, "_fields") else tuple(parts)
    found = _loaded(arrays, name).astype(np.asarray(template).dtype, copy=False)
    return found if isinstance(template, np.ndarray) else found.item()


def _stored(array: np.ndarray, name: str) -> Arrays:
    if array.size >= _LARGE and not array.any():
        return {f"{name}?": np.array(array.shape)}
    return {name: array}


def _loaded(arrays: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    """A copy of an array, which may be changed: loaded ones may be shared or read-only."""
    if name in arrays:
        return np.array(arrays[name], order="C")
    shape = arrays[f"{name}?"].tolist()
    if math.prod(shape) > _MAX_ZEROS:
        raise ValueError(f"an array of {shape} zeros")
    return np.zeros(shape)


def packed_streams(rngs: Sequence[np.random.Generator]) -> np.ndarray:
    """The states of generators, shape (generators, 6)."""
    rows = []
    for rng in rngs:
        now = rng.bit_generator.state
        state, inc = now["state"]["state"], now["state"]["inc"]
        rows.append(
            [state >> 64, state & _WORD, inc >> 64, inc & _WORD, now["has_uint32"], now["uinteger"]]
        )
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


def prefixed(prefix: str, arrays: Mapping[str, np.ndarray]) -> Arrays:
    """The same arrays under longer names."""
    return {f"{prefix}{name}": array for name, array in arrays.items()}


def without_prefix(prefix: str, arrays: Mapping[str, np.ndarray]) -> Arrays:
    """Those arrays whose names begin so, under the rest of their names."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def to_bytes(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Arrays as an npz file."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def from_bytes(content: bytes) -> Arrays:
    """The arrays of an npz file."""
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        if sum(member.file_size for member in file.zip.infolist()) > len(content):
            raise ValueError("arrays that are larger than their file")
        try:
            return dict(file)
        except MemoryError as error:  # of a shape without entries
            raise ValueError("an array that is larger than its file") from error


def fill(rows: np.ndarray, found: np.ndarray) -> None:
    """Fill rows with others of the same shape; those of another shape would be repeated."""
    if rows.shape != found.shape:
        raise ValueError(f"an array of shape {found.shape} in place of {rows.shape}")
    rows[...] = found


# Arrays as text that a script turns into typed arrays ---------------------------------------------


def packed(array: np.ndarray) -> dict[str, Any]:
    """Type and little-endian bytes, in base64, of an array of one of the types u1, u2, i2 and
    f4."""
    kind = array.dtype.str[1:]
    data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
    return {"type": kind, "data": base64.b64encode(data).decode("ascii")}


def smallest(numbers: np.ndarray) -> np.ndarray:
    """Whole numbers from 0 on in one byte each, or in two where one does not hold them."""
    return numbers.astype(np.uint8 if numbers.max(initial=0) < 256 else np.uint16)
