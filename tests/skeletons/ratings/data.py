"""Ratings of objects on a scale."""

from typing import Any

import numpy as np

from thali._data.base_classes import Frozen, build_from_fields
from thali._labels import format_label, format_plural
from thali.errors import DataError


class Ratings(Frozen):
    """Ratings of objects, a number each: equal fields make equal data, and nothing can be
    changed."""

    _FIELDS = ("labels", "object", "values")
    kind = "ratings on a scale"
    labels: tuple[str, ...]
    object: np.ndarray  # (ratings,) positions in labels
    values: np.ndarray  # (ratings,)

    def __init__(self, objects: Any, values: Any) -> None:
        texts = [format_label(each) for each in objects]
        labels = tuple(dict.fromkeys(texts))
        numbers = np.asarray(values, float)
        if not texts or numbers.shape != (len(texts),) or not np.isfinite(numbers).all():
            raise DataError(f"values must be one finite number for each of {len(texts)} objects.")
        self._freeze(labels, np.array([labels.index(text) for text in texts]), numbers)

    @classmethod
    def from_frame(cls, frame: Any, option: str, rating: str) -> "Ratings":
        """The ratings in two columns; errors name the row."""
        import pandas as pd

        values = pd.to_numeric(frame[rating], errors="coerce").to_numpy(float)
        if np.isnan(values).any():
            row = frame.index[int(np.isnan(values).argmax())]
            raise DataError(
                f"The rating in row {row}, column {rating!r}, is missing; fill it in or remove the"
                " row."
            )
        return cls(frame[option], values)

    def take(self, which: np.ndarray) -> "Ratings":
        """Some of the ratings, of the same objects."""
        return build_from_fields(type(self), self.labels, self.object[which], self.values[which])

    def __str__(self) -> str:
        return f"{format_plural(len(self.labels), 'object')}, {format_plural(len(self.values), 'rating')}"

    def _details(self) -> Any:
        return (("objects", self.labels),)
