"""Data of a custom likelihood: a user's NamedTuple whose field `labels` names the options."""

import numbers
from collections import namedtuple
from typing import Any

import numpy as np

from thali._labels import format_plural, has_repeats, shorten
from thali.errors import DataError

# classes of the data without `labels`, as compiled code sees them, by name and fields
_FIELD_CLASSES: dict[tuple[str, ...], Any] = {}


class Observed:
    """Data of a custom likelihood, with the interface that models need."""

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
        if not self.labels or has_repeats(self.labels):
            raise DataError("`labels` must contain at least one option, without duplicates.")
        fields = {
            field: _convert_field(field, getattr(data, field))
            for field in data._fields
            if field != "labels"
        }
        class_key = type(data).__name__, *fields
        if class_key not in _FIELD_CLASSES:
            class_name = "_".join(class_key)  # by which compiled code that was kept finds it again
            _FIELD_CLASSES[class_key] = globals()[class_name] = namedtuple(
                class_name, list(fields), module=__name__
            )
        self.fields = _FIELD_CLASSES[class_key](**fields)

    are_choices = False

    def __str__(self) -> str:
        return format_plural(self.n_options, "option")

    @property
    def n_options(self) -> int:
        """Number of options."""
        return len(self.labels)

    def warn_if_unusual(self) -> None:
        """Do nothing: the meaning of custom data is unknown."""

    def _facts(self) -> tuple[()]:
        """Return (): the meaning of custom data is unknown."""
        return ()

    def replace(self, data: Any) -> None:
        """Copy the values of `data` into the existing arrays."""
        for field, old_value in zip(self.fields._fields, self.fields, strict=True):
            new_value: Any = getattr(data, field, None)
            if isinstance(old_value, np.ndarray):
                if np.shape(new_value) != old_value.shape:
                    raise DataError(
                        f"`simulate` must return {field} with shape {old_value.shape}; got shape"
                        f" {np.shape(new_value)}."
                    )
                old_value[...] = new_value
            elif new_value != old_value:
                raise DataError(
                    f"`simulate` must not change the number {field} = {old_value}; got"
                    f" {new_value!r}."
                )


def _convert_field(name: str, field_value: Any) -> Any:
    """Convert one field to a bool, int, float or array; raise DataError otherwise."""
    if isinstance(field_value, bool | np.bool_):
        return bool(field_value)
    if isinstance(field_value, numbers.Integral):
        return int(field_value)
    if isinstance(field_value, numbers.Real):
        return float(field_value)
    try:
        array = np.array(field_value, order="C")  # a copy: simulations write into it
    except ValueError:  # a ragged list
        array = np.array(None)
    if array.ndim == 0 or array.dtype.kind not in "biuf":
        raise DataError(
            f"Field {name!r} must be a number or an array of numbers; got"
            f" {type(field_value).__name__}."
        )
    return array
