"""Arrays as files, and what such a file may not ask for."""

from typing import NamedTuple

import numpy as np
import pytest

from thali.inference.arrays import filled, flat


def test_zeros_take_no_room_in_a_file_and_may_not_fill_the_memory():
    value = (np.zeros((100, 100)), 3)
    arrays = flat(value, "x")
    assert sum(array.size for array in arrays.values()) < 10
    again = filled(value, arrays, "x")
    assert again[0].shape == (100, 100) and not again[0].any() and again[1] == 3
    for shape in ([10**6, 10**6], [10**10]):
        with pytest.raises(ValueError, match="zeros"):
            filled(value, arrays | {"x/0?": np.array(shape)}, "x")


class Cache(NamedTuple):
    value: np.ndarray
    count: np.ndarray


def test_a_field_that_a_file_did_not_have_is_the_first_row_of_the_template():
    arrays = flat((np.ones((3, 2)),), "x")
    again = filled(Cache(np.zeros((2, 2)), np.array([[4.0, 5.0], [4.0, 5.0]])), arrays, "x")
    assert (again.value == 1.0).all() and again.value.shape == (3, 2)
    assert (again.count == [[4.0, 5.0]] * 3).all()
    assert filled(Cache(np.zeros((2, 2)), np.zeros((0, 4))), arrays, "x").count.shape == (0, 4)
    with pytest.raises(KeyError):
        filled(Cache(*np.zeros((2, 2))), {}, "x")
