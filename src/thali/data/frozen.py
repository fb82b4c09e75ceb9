"""What all data objects share: nothing can be changed after construction, and equal fields make equal data."""

from typing import Any, ClassVar, Self

import numpy as np

from thali._described import Described, Description, Facts


class Frozen(Described):
    """Data made of a few fields, of which arrays are read-only."""

    _FIELDS: ClassVar[tuple[str, ...]]

    @classmethod
    def _made_of(cls, *values: Any) -> Self:
        """The data with these fields, in the order of `_FIELDS`."""
        return cls.__new__(cls)._freeze(*values)

    def _freeze(self, *values: Any) -> Self:
        for name, value in zip(self._FIELDS, values, strict=True):
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)
        return self

    def _description(self) -> Description:
        return Description(type(self).__name__, (("data", str(self)), *self._details()))

    def _details(self) -> Facts:
        """What a notebook shows of the data besides their size."""
        raise NotImplementedError

    def __setattr__(self, name: str, value: Any = None) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed; build new data.")

    def __delattr__(self, name: str) -> None:
        setattr(self, name, None)  # refused as well

    def __reduce__(self) -> Any:
        # NumPy does not pickle the read-only flag, so the copy is frozen once more
        return _restored, (type(self), tuple(getattr(self, name) for name in self._FIELDS))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        fields = [(getattr(self, name), getattr(other, name)) for name in self._FIELDS if not name.startswith("_")]
        return all(_same(a, b) for a, b in fields)

    __hash__: ClassVar[None] = None  # pyright: ignore[reportIncompatibleMethodOverride]


def _same(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    if isinstance(a, tuple | str | int | float | Frozen):
        return a == b
    import pandas as pd

    return a.equals(b) if isinstance(a, pd.DataFrame) else a == b


def _restored(cls: type[Frozen], values: tuple[Any, ...]) -> Frozen:
    return cls._made_of(*values)
