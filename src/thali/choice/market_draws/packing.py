"""Arrays as text that a script turns into typed arrays."""

import base64
from typing import Any

import numpy as np


def packed(array: np.ndarray) -> dict[str, Any]:
    """Type and little-endian bytes, in base64, of an array of one of the types u1, u2, i2 and f4."""
    kind = array.dtype.str[1:]
    data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
    return {"type": kind, "data": base64.b64encode(data).decode("ascii")}


def smallest(numbers: np.ndarray) -> np.ndarray:
    """Whole numbers from 0 on in one byte each, or in two where one does not hold them."""
    return numbers.astype(np.uint8 if numbers.max(initial=0) < 256 else np.uint16)
