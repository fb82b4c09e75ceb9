"""Arrays as files, and what such a file may not ask for."""

import numpy as np
import pytest

from thali._inference.array_dict_encoding import flatten_tuple, unflatten_tuple


def test_zeros_take_no_room_in_a_file_and_may_not_fill_the_memory():
    value = (np.zeros((100, 100)), 3)
    arrays = flatten_tuple(value, "x")
    assert sum(array.size for array in arrays.values()) < 10
    again = unflatten_tuple(value, arrays, "x")
    assert again[0].shape == (100, 100) and not again[0].any() and again[1] == 3
    for shape in ([10**6, 10**6], [10**10]):
        with pytest.raises(ValueError, match="zeros"):
            unflatten_tuple(value, arrays | {"x/0?": np.array(shape)}, "x")
