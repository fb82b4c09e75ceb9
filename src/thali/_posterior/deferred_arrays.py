"""Arrays of draws that are computed when their numbers are first read."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing


class DeferredArray(BackendArray):
    """Floats of a known shape that `compute` returns when they are first read, and then kept."""

    def __init__(self, shape: tuple[int, ...], compute: Callable[[], np.ndarray]) -> None:
        self.shape = shape
        self.dtype = np.dtype(float)
        self._compute = compute

    @cached_property
    def values(self) -> np.ndarray:
        """The computed numbers."""
        return self._compute()

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        """Return the entries that xarray asks for."""
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.BASIC, self._read
        )

    def _read(self, key: tuple[Any, ...]) -> np.ndarray:
        """Return the entries at integers and slices."""
        return self.values[key]


class _DeferredTable:
    """Arrays that `compute` returns together when one of them is first read."""

    def __init__(self, compute: Callable[[], Mapping[str, np.ndarray]]) -> None:
        self._compute = compute

    @cached_property
    def arrays(self) -> Mapping[str, np.ndarray]:
        """The computed arrays by name."""
        return self._compute()

    def get_array(self, name: str) -> np.ndarray:
        """Return the array of this name."""
        return self.arrays[name]


def defer(shape: tuple[int, ...], compute: Callable[[], np.ndarray]) -> Any:
    """Return an array for a dataset, which `compute` computes when it is read.

    Results are pickled with what `compute` needs, so it is a method or a partial function.
    """
    return indexing.LazilyIndexedArray(DeferredArray(shape, compute))


def defer_table(
    names: Iterable[str],
    shape: tuple[int, ...],
    compute: Callable[[], Mapping[str, np.ndarray]],
) -> dict[str, Any]:
    """Return arrays of one shape for a dataset, by name, which `compute` computes together."""
    table = _DeferredTable(compute)
    return {name: defer(shape, partial(table.get_array, name)) for name in names}
