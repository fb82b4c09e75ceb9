"""The data of a user's own likelihood: a NamedTuple, with the names of the options in its field
`labels`."""

import numbers
from collections import namedtuple
from typing import Any

import numpy as np

from thali._labels import plural, shorten
from thali.errors import DataError

# by name and fields, what compiled code sees: data without `labels`
_WITHOUT_LABELS: dict[tuple[str, ...], Any] = {}


class Observed:
    """A user's data as models take them."""

    labels: tuple[str, ...]
    fields: Any

    def __init__(self, data: Any) -> None:
        if not issubclass(type(data), tuple) or not hasattr(data, "_fields"):
            raise DataError(
                "Data of a custom likelihood must be a NamedTuple of arrays and numbers; got"
                f" {type(data).__name__}."
            )
        if "labels" not in data._fields:
            raise DataError(
                f"{type(data).__name__} requires a field `labels` with the names of the options;"
                f" the fields found are: {shorten(data._fields) or 'none'}."
            )
        self.original: Any = data
        self.labels = tuple(str(label) for label in data.labels)
        if not self.labels or len(set(self.labels)) < len(self.labels):
            raise DataError("`labels` must contain at least one option, without duplicates.")
        values = {
            name: _usable(name, getattr(data, name)) for name in data._fields if name != "labels"
        }
        key = type(data).__name__, *values
        if key not in _WITHOUT_LABELS:
            name = "_".join(key)  # by which compiled code that was kept finds it again
            _WITHOUT_LABELS[key] = globals()[name] = namedtuple(name, list(values), module=__name__)
        self.fields = _WITHOUT_LABELS[key](**values)

    are_choices = False

    def __str__(self) -> str:
        return plural(self.n_options, "option")

    @property
    def n_options(self) -> int:
        """How many options there are."""
        return len(self.labels)

    def warn_if_unusual(self) -> None:
        """Nothing is unusual about data of which thali knows nothing."""

    def _facts(self) -> tuple[()]:
        """Nothing is known of the user's own data."""
        return ()

    def replace(self, data: Any) -> None:
        """Replace the values in place by others of the same shape, as simulations do."""
        for name, old in zip(self.fields._fields, self.fields, strict=True):
            new: Any = getattr(data, name, None)
            if isinstance(old, np.ndarray):
                if np.shape(new) != old.shape:
                    raise DataError(
                        f"`simulate` must return {name} with shape {old.shape}; got shape"
                        f" {np.shape(new)}."
                    )
                old[...] = new
            elif new != old:
                raise DataError(
                    f"`simulate` must not change the number {name} = {old}; got {new!r}."
                )


def _usable(name: str, value: Any) -> Any:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    try:
        array = np.array(value, order="C")  # a copy: simulations write into it
    except ValueError:  # a ragged list
        array = np.array(None)
    if array.ndim == 0 or array.dtype.kind not in "biuf":
        raise DataError(
            f"Field {name!r} must be a number or an array of numbers; got {type(value).__name__}."
        )
    return array
