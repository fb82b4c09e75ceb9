"""Rating scale of leaderboards: 400 points are odds of 10 to 1, with mean or anchor fixed."""

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import shorten, suggest
from thali.errors import Argument, ArgumentError, DataError

if TYPE_CHECKING:
    import pandas

SCALE = 400.0
CENTRE = 1000.0
PER_UNIT = SCALE / math.log(10.0)  # points of a log worth


class WorthScale(NamedTuple):
    """Rating scale, fixed by the mean rating or by one option (anchor)."""

    anchor: str | None = None  # the option with this rating; None: the mean rating
    rating: float = CENTRE

    @classmethod
    def from_argument(cls, anchor_model: str | Mapping[str, float] | None) -> "WorthScale":
        """Return the scale for the user's argument `anchor_model`."""
        if anchor_model is None:
            return cls()
        rating_by_option = anchor_model
        if isinstance(anchor_model, str):
            rating_by_option = {anchor_model: CENTRE}
        if not isinstance(rating_by_option, Mapping) or len(rating_by_option) != 1:
            raise ArgumentError(
                Argument("anchor_model"),
                " must be one option, or one option with its rating, such as {'m1': 1000}; got"
                f" {anchor_model!r}.",
            )
        ((option, rating),) = rating_by_option.items()
        if isinstance(rating, bool) or not isinstance(rating, Real) or not math.isfinite(rating):
            raise ArgumentError(
                Argument("anchor_model"), f" must have a number as rating; got {rating!r}."
            )
        return cls(str(option), float(rating))

    def anchor_index(self, labels: Sequence[str]) -> int | None:
        """Return the index of the anchor option among the labels, or None."""
        if self.anchor is None:
            return None
        if self.anchor not in labels:
            raise DataError(
                Argument("anchor_model"),
                f" is {self.anchor!r}, which is not one of the options"
                f" {shorten(labels)}.{suggest(self.anchor, labels)}",
            )
        return list(labels).index(self.anchor)

    def adapt_to_part(self, labels: Sequence[str], full_table: "pandas.DataFrame") -> "WorthScale":
        """Return the scale for a part's options, aligned with the full leaderboard."""
        if self.anchor is None or self.anchor in labels:
            return self
        return WorthScale(None, float(full_table.loc[list(labels), "rating"].mean()))

    def subtract_anchor(
        self, log_worths: np.ndarray, labels: Sequence[str], axis: int = -1
    ) -> np.ndarray:
        """Return log worths minus the anchor's (or their mean) along `axis`."""
        anchor_index = self.anchor_index(labels)
        if anchor_index is None:
            return log_worths
        return log_worths - np.take(log_worths, [anchor_index], axis)

    def compute_ratings(self, log_worths: np.ndarray) -> Any:
        """Return ratings of log worths that are 0 at the anchor or on average."""
        return self.rating + PER_UNIT * log_worths

    @property
    def sentence(self) -> str:
        """Sentence that says which rating is fixed, and at what number."""
        if self.anchor is None:
            among_options = ""
            if self.rating != CENTRE:
                among_options = ", as for the same options in the full leaderboard"
            return f"the mean rating is {self.rating:.0f}{among_options}"
        return (
            f"{self.anchor} is fixed at {self.rating:g}, and intervals are for differences from it"
        )
