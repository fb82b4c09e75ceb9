"""The scale of ratings: 400 points more are odds of 10 to 1, and either the mean or one option
stands at a number."""

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import shorten, suggest
from thali.errors import Argument, ArgumentError, DataError

if TYPE_CHECKING:
    import pandas

SCALE, CENTRE = 400.0, 1000.0
PER_UNIT = SCALE / math.log(10.0)  # points of a log worth


class WorthScale(NamedTuple):
    """Where ratings stand."""

    anchor: str | None = None  # the option of that rating; None: the mean has it
    rating: float = CENTRE

    @classmethod
    def of(cls, anchor_model: Any) -> "WorthScale":
        """The scale that is asked for: none, an option, which gets 1000, or {option: rating}."""
        if anchor_model is None:
            return cls()
        given = {anchor_model: CENTRE} if isinstance(anchor_model, str) else anchor_model
        if not isinstance(given, Mapping) or len(given) != 1:
            raise ArgumentError(
                Argument("anchor_model"),
                " must be one option, or one option with its rating, such as {'m1': 1000}; got"
                f" {anchor_model!r}.",
            )
        ((option, rating),) = given.items()
        if isinstance(rating, bool) or not isinstance(rating, Real) or not math.isfinite(rating):
            raise ArgumentError(
                Argument("anchor_model"), f" must have a number as rating; got {rating!r}."
            )
        return cls(str(option), float(rating))

    def place(self, labels: Sequence[str]) -> int | None:
        """Where the anchor stands among options; None if the mean is the anchor."""
        if self.anchor is None:
            return None
        if self.anchor not in labels:
            raise DataError(
                Argument("anchor_model"),
                f" is {self.anchor!r}, which is not one of the options"
                f" {shorten(labels)}.{suggest(self.anchor, labels)}",
            )
        return list(labels).index(self.anchor)

    def of_part(self, labels: Sequence[str], whole: "pandas.DataFrame") -> "WorthScale":
        """The scale of a part of the comparisons: where the anchor is not there, the mean is that
        of all together."""
        if self.anchor is None or self.anchor in labels:
            return self
        return WorthScale(None, float(whole.loc[list(labels), "rating"].mean()))

    def anchored(self, log_worths: np.ndarray, labels: Sequence[str], axis: int = -1) -> np.ndarray:
        """Log worths, of options along an axis, less that of the anchor."""
        place = self.place(labels)
        return log_worths if place is None else log_worths - np.take(log_worths, [place], axis)

    def ratings(self, anchored: Any) -> Any:
        """The ratings of log worths that are 0 at the anchor, or on average."""
        return self.rating + PER_UNIT * anchored

    @property
    def sentence(self) -> str:
        """What has which rating."""
        if self.anchor is None:
            among = (
                "" if self.rating == CENTRE else ", as for the same options in the full leaderboard"
            )
            return f"the mean rating is {self.rating:.0f}{among}"
        return (
            f"{self.anchor} is fixed at {self.rating:g}, and intervals are for differences from it"
        )
