"""Arrays of draws are computed when they are read, once, and travel like others."""

import pickle
from functools import partial

import numpy as np
import pytest
import xarray as xr

from thali._posterior.deferred_arrays import defer, defer_table

pytestmark = pytest.mark.unit
VALUES = np.arange(24.0).reshape(2, 3, 4)


class Counter:
    """Counts how often numbers are computed."""

    def __init__(self):
        self.count = 0

    def compute(self):
        self.count += 1
        return VALUES

    def compute_table(self):
        self.count += 1
        return {"first": VALUES, "second": -VALUES}


def build_dataset(array):
    """Return a dataset of one variable."""
    return xr.Dataset({"density": (("chain", "draw", "task"), array)})


def test_nothing_is_computed_before_numbers_are_read():
    counter = Counter()
    dataset = build_dataset(defer(VALUES.shape, counter.compute))
    tree = xr.DataTree.from_dict({"/": xr.Dataset(), "/log_likelihood": dataset.assign_attrs(a=1)})
    part = tree["log_likelihood"].to_dataset().isel(draw=slice(1, None))
    assert part["density"].shape == (2, 2, 4) and counter.count == 0
    np.testing.assert_array_equal(part["density"], VALUES[:, 1:])
    assert counter.count == 1


def test_numbers_are_computed_once():
    counter = Counter()
    dataset = build_dataset(defer(VALUES.shape, counter.compute))
    for chain in range(2):
        np.testing.assert_array_equal(dataset["density"].isel(chain=chain), VALUES[chain])
    assert counter.count == 1


def test_arrays_of_a_table_are_computed_together():
    counter = Counter()
    arrays = defer_table(["first", "second"], VALUES.shape, counter.compute_table)
    for name, sign in {"second": -1.0, "first": 1.0}.items():
        np.testing.assert_array_equal(build_dataset(arrays[name])["density"], sign * VALUES)
    assert counter.count == 1


def test_a_copy_and_a_pickle_have_the_numbers():
    dataset = build_dataset(defer(VALUES.shape, partial(np.copy, VALUES)))
    for copied in (dataset.copy(deep=True), pickle.loads(pickle.dumps(dataset))):
        np.testing.assert_array_equal(copied["density"], VALUES)
