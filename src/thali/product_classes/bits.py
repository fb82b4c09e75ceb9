"""Rows of bits: which levels belong to a class, and whether an attribute is inactive there."""

import numpy as np

from thali._jit import scalar


@scalar
def has_bit(bits, row, b):
    """Whether bit b of a row is set."""
    return (bits[row, b >> 6] >> (b & 63)) & 1 != 0


@scalar
def set_bit(bits, row, b):
    """Set bit b of a row."""
    bits[row, b >> 6] |= np.int64(1) << (b & 63)


@scalar
def clear_bit(bits, row, b):
    """Clear bit b of a row."""
    bits[row, b >> 6] &= ~(np.int64(1) << (b & 63))


@scalar
def is_active(problem, bits, row, i):
    """Whether attribute i is active in a class."""
    return not has_bit(bits, row, problem.first_bit[i + 1] - 1)


@scalar
def deactivate(problem, bits, row, i):
    """Let all levels of attribute i in, and products that lack it."""
    for b in range(problem.first_bit[i], problem.first_bit[i + 1]):
        set_bit(bits, row, b)


@scalar
def clear_levels(problem, bits, row, i):
    """Let no level of attribute i in."""
    for b in range(problem.first_bit[i], problem.first_bit[i + 1]):
        clear_bit(bits, row, b)


@scalar
def set_size(problem, bits, row, i):
    """Number of levels of attribute i that are in."""
    count = 0
    for b in range(problem.first_bit[i], problem.first_bit[i + 1] - 1):
        if has_bit(bits, row, b):
            count += 1
    return count


@scalar
def is_inside(rows, r, bits, k):
    """Whether the product of row r belongs to class k."""
    for w in range(bits.shape[1]):
        if rows[r, w] & ~bits[k, w] != 0:
            return False
    return True
