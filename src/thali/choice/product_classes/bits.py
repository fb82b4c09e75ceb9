"""Rows of bits: which levels belong to a class, and whether an attribute is inactive there."""

from typing import Any

import numpy as np

from thali.compile.jit import scalar


@scalar
def has_bit(bits: Any, row: Any, b: Any) -> Any:
    """Whether bit b of a row is set."""
    return (bits[row, b >> 6] >> (b & 63)) & 1 != 0


@scalar
def set_bit(bits: Any, row: Any, b: Any) -> None:
    """Set bit b of a row."""
    bits[row, b >> 6] |= np.int64(1) << (b & 63)


@scalar
def clear_bit(bits: Any, row: Any, b: Any) -> None:
    """Clear bit b of a row."""
    bits[row, b >> 6] &= ~(np.int64(1) << (b & 63))


@scalar
def is_active(problem: Any, bits: Any, row: Any, i: Any) -> Any:
    """Whether attribute i is active in a class."""
    return not has_bit(bits, row, problem.first_bit[i + 1] - 1)


@scalar
def deactivate(problem: Any, bits: Any, row: Any, i: Any) -> None:
    """Include all levels of attribute i, and products that lack it."""
    for b in range(problem.first_bit[i], problem.first_bit[i + 1]):
        set_bit(bits, row, b)


@scalar
def clear_levels(problem: Any, bits: Any, row: Any, i: Any) -> None:
    """Exclude all levels of attribute i."""
    for b in range(problem.first_bit[i], problem.first_bit[i + 1]):
        clear_bit(bits, row, b)


@scalar
def set_size(problem: Any, bits: Any, row: Any, i: Any) -> Any:
    """Number of included levels of attribute i."""
    count = 0
    for b in range(problem.first_bit[i], problem.first_bit[i + 1] - 1):
        if has_bit(bits, row, b):
            count += 1
    return count


@scalar
def is_inside(rows: Any, r: Any, bits: Any, k: Any) -> Any:
    """Whether the product of row r belongs to class k."""
    for w in range(bits.shape[1]):
        if rows[r, w] & ~bits[k, w] != 0:
            return False
    return True
