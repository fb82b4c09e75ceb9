"""Encoding of nested tuples of arrays, and random generators, as flat dicts of arrays."""

import base64
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]

_WORD = (1 << 64) - 1
_LARGE = 1 << 12  # entries from which an array of zeros is stored by its shape
_MAX_ZEROS = 1 << 27  # entries of such an array, which takes no space in a file


def flatten_tuple(nested: tuple[Any, ...], path: str) -> Arrays:
    """Copy the arrays of a nested tuple to a flat dict, by path such as "state/u"."""
    if not isinstance(nested, tuple):
        array = np.array(nested)
        if array.size >= _LARGE and not array.any():
            # "?" marks a shape that stands for zeros
            return {f"{path}?": np.array(array.shape)}
        return {path: array}
    arrays: Arrays = {}
    for i, entry in enumerate(nested):
        arrays |= flatten_tuple(entry, f"{path}/{i}")
    return arrays


def unflatten_tuple(template: tuple[Any, ...], arrays: Mapping[str, np.ndarray], path: str) -> Any:
    """Rebuild a nested tuple like `template` from a flat dict of arrays.

    Shapes may differ from the shapes in the template.
    """
    if isinstance(template, tuple):
        entries = [
            unflatten_tuple(entry, arrays, f"{path}/{i}") for i, entry in enumerate(template)
        ]
        if hasattr(template, "_fields"):
            return type(template)(*entries)
        return tuple(entries)
    array = _load_array(arrays, path).astype(np.asarray(template).dtype, copy=False)
    if isinstance(template, np.ndarray):
        return array
    return array.item()


def _load_array(arrays: Mapping[str, np.ndarray], path: str) -> np.ndarray:
    """Return a writable copy of the array at `path`; rebuild compressed zeros."""
    if path in arrays:
        return np.array(arrays[path], order="C")
    shape = arrays[f"{path}?"].tolist()
    if math.prod(shape) > _MAX_ZEROS:
        raise ValueError(f"an array of {shape} zeros")
    return np.zeros(shape)


def pack_generators(rngs: Sequence[np.random.Generator]) -> np.ndarray:
    """Return the states of numpy generators as an array (generators, 6)."""
    state_rows = []
    for rng in rngs:
        generator_state = rng.bit_generator.state
        state = generator_state["state"]["state"]
        inc = generator_state["state"]["inc"]
        words = [state >> 64, state & _WORD, inc >> 64, inc & _WORD]
        state_rows.append([*words, generator_state["has_uint32"], generator_state["uinteger"]])
    return np.array(state_rows, np.uint64)


def unpack_generators(rows: np.ndarray) -> list[np.random.Generator]:
    """Rebuild numpy generators from an array of states (generators, 6)."""
    generators = []
    for row in rows:
        state_high, state_low, inc_high, inc_low, has_half, half_word = map(int, row)
        bit_generator = np.random.PCG64()
        bit_generator.state = {
            "bit_generator": "PCG64",
            "state": {"state": state_high << 64 | state_low, "inc": inc_high << 64 | inc_low},
            "has_uint32": has_half,
            "uinteger": half_word,
        }
        generators.append(np.random.Generator(bit_generator))
    return generators


def add_prefix(prefix: str, arrays: Mapping[str, np.ndarray]) -> Arrays:
    """Return the dict with a prefix before each name."""
    return {f"{prefix}{name}": array for name, array in arrays.items()}


def select_prefix(prefix: str, arrays: Mapping[str, np.ndarray]) -> Arrays:
    """Return the entries whose names have the prefix, which is removed."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def encode_npz(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Encode a dict of arrays as the bytes of an npz file."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def decode_npz(npz_bytes: bytes) -> Arrays:
    """Decode the bytes of an npz file as a dict of arrays."""
    with np.load(io.BytesIO(npz_bytes), allow_pickle=False) as file:
        if sum(member.file_size for member in file.zip.infolist()) > len(npz_bytes):
            raise ValueError("arrays that are larger than their file")
        try:
            return dict(file)
        except MemoryError as error:  # a shape without entries
            raise ValueError("an array that is larger than its file") from error


def fill_rows(rows: np.ndarray, new_rows: np.ndarray) -> None:
    """Copy new rows into an array in place; raise ValueError for another shape."""
    if rows.shape != new_rows.shape:
        raise ValueError(f"an array of shape {new_rows.shape} in place of {rows.shape}")
    rows[...] = new_rows


# Arrays as text, for the typed arrays of JavaScript -----------------------------------------------


def encode_base64(array: np.ndarray) -> dict[str, Any]:
    """Encode an array as {"type": ..., "data": base64 text}, for JavaScript."""
    dtype_code = array.dtype.str[1:]
    array_bytes = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
    return {"type": dtype_code, "data": base64.b64encode(array_bytes).decode("ascii")}


def shrink_integers(integers: np.ndarray) -> np.ndarray:
    """Convert integers >= 0 to uint8 or uint16."""
    if integers.max(initial=0) < 256:
        return integers.astype(np.uint8)
    return integers.astype(np.uint16)
