"""Paired comparisons, similarities and triplets, of which pairs of options, pairs of objects or sets are left out."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from thali._labels import shorten
from thali.data.groups import Groups
from thali.data.pairs import PairedComparisons
from thali.data.pairs.left_out import LeftPair
from thali.data.similarities import Similarities
from thali.data.triplets import Triplets
from thali.errors import Argument, ArgumentError, DataError, DataWarning
from thali.inference.warn import warn

from .splitter import Splitter, lost_group

if TYPE_CHECKING:
    import pandas

_MAX_NAMED = 5


class Pairs(Splitter):
    """Leaves out all comparisons of one pair at a time; a part is the number of the pair."""

    leave_out = what = "pair"
    part = "pair"
    alone = "compared a single pair:"
    data: PairedComparisons
    usual: ClassVar[dict[str, int | None]] = {"draws": 1000, "tune": 1000, "chains": 4, "thin": None}

    def __init__(self, data: PairedComparisons) -> None:
        super().__init__(data)
        self.has_ties, self.has_cells = bool(data.n_ties), True

    @classmethod
    def of_groups(cls, groups: Groups) -> "dict[str, Self]":
        """All are scored alike: with ties if any group has some, and without covariates."""
        found = super().of_groups(groups)
        for each in found.values():
            each.has_ties, each.has_cells = any(other.n_ties for other in groups.data), False
        return found

    @classmethod
    def drawn(cls, count: int, seed: np.random.SeedSequence, hold_out: Any, folds: Any) -> list[np.ndarray]:
        if hold_out is not None or folds is not None:
            raise ArgumentError(
                Argument("hold_out"),
                " and ",
                Argument("folds"),
                " are not for paired comparisons, of which every pair is left out in turn.",
            )
        return list(np.arange(count)[:, None])

    @property
    def number_of_unit(self) -> np.ndarray:
        return np.arange(self.data.n_pairs)

    def part_of(self, numbers: np.ndarray) -> int:
        return int(numbers[0])

    def observed(self) -> dict[str, np.ndarray]:
        return {name: getattr(self.data, name) for name in ("wins", "losses", "tied")}

    def options(self, part: int) -> tuple[str, str]:
        """Labels of a pair."""
        return self.data.labels[self.data.first[part]], self.data.labels[self.data.second[part]]

    def train(self, part: int) -> tuple[PairedComparisons]:
        return (self.data.without_pair(*self.options(part)),)

    def test(self, part: int) -> LeftPair:
        own = self.data.covariates
        if own is None or own.is_of_options.all() or not self.has_cells:
            return LeftPair(self.options(part), self._counts(self.data, np.array([part])))
        rows = np.flatnonzero(own.pair == part)
        values = {name: own.values[rows, m] for m, name in enumerate(own.names) if not own.is_of_options[m]}
        return LeftPair(self.options(part), self._counts(own, rows), values)

    def _counts(self, data: Any, rows: np.ndarray) -> np.ndarray:
        """How often each outcome was observed (rows, outcomes)."""
        sides = ("wins", "tied", "losses") if self.has_ties else ("wins", "losses")
        return np.column_stack([getattr(data, side)[rows] for side in sides])

    def units(self, part: int) -> np.ndarray:
        return np.array([part])

    def labels(self, units: np.ndarray) -> "pandas.MultiIndex":
        return pair_index(self.data, units)

    def place(self, number: int) -> dict[str, Any]:
        return dict(zip("ab", self.options(number), strict=True))

    def name(self, place: Mapping[Any, Any]) -> str:
        return f"{place['a']}-{place['b']}"

    def warn(self) -> None:
        """Warn of options that no comparison connects to the others once a pair is left out."""
        lonely, cut, alone = [], [], set(self.data.never_compared)
        groups = len(self.data.components())
        for part in range(self.data.n_pairs):
            (rest,), name = self.train(part), self.name(self.place(part))
            if lost := [label for label in rest.never_compared if label not in alone]:
                lonely.append(f"{' and '.join(lost)} (compared with nothing but the other of {name})")
            elif len(rest.components()) > groups:
                cut.append(name)
        found = []
        if lonely:
            found.append(f"Leaving out a pair leaves an option without comparisons: {shorten(lonely, _MAX_NAMED)}.")
        if cut:
            found.append(
                "Leaving out a pair parts the options into groups never compared with each other: "
                f"{shorten(cut, _MAX_NAMED)}."
            )
        if found:
            message = " ".join(found) + " The prior alone determines what is predicted there."
            warn(DataWarning(message))


def pair_index(data: Any, units: np.ndarray) -> "pandas.MultiIndex":
    """The labels of measured or compared pairs, as the index of a table."""
    import pandas as pd

    sides = ([data.labels[k] for k in side[units]] for side in (data.first, data.second))
    return pd.MultiIndex.from_arrays(list(sides), names=["a", "b"])


class ObjectPairs(Splitter):
    """Leaves out every measured pair of objects in turn, or random parts of them; a part is a mask of pairs."""

    leave_out = "pair"
    what = "measured pair"
    alone = "judged a single pair:"
    data: Similarities
    usual: ClassVar[dict[str, int | None]] = {"draws": 1000, "tune": 1000, "chains": 4, "thin": None}

    @classmethod
    def drawn(cls, count: int, seed: np.random.SeedSequence, hold_out: Any, folds: Any) -> list[np.ndarray]:
        if hold_out is not None or folds is not None:
            return super().drawn(count, seed, hold_out, folds)
        if count < 2:
            raise DataError("There is one measured pair; leaving out pairs needs two.")
        return list(np.arange(count)[:, None])

    @classmethod
    def drawn_of_groups(
        cls, counts: dict[str, int], seed: np.random.SeedSequence, hold_out: Any, folds: Any
    ) -> list[np.ndarray]:
        found = super().drawn_of_groups(counts, seed, hold_out, folds)
        for numbers in found:
            if lost := lost_group(counts, numbers):
                raise DataError(f"A part would hold all similarities of group {lost!r}; leave out fewer at a time.")
        return found

    @property
    def number_of_unit(self) -> np.ndarray:
        return np.arange(self.data.n_pairs)

    def observed(self) -> dict[str, np.ndarray]:
        return {"values": self.data.values, "judgements": self.data.judgements}

    def train(self, part: np.ndarray) -> tuple[Similarities]:
        return (self.data.take(~part),)

    def test(self, part: np.ndarray) -> Similarities:
        return self.data.take(part)

    def labels(self, units: np.ndarray) -> "pandas.MultiIndex":
        return pair_index(self.data, units)


class PairSets(Splitter):
    """Leaves out random sets, a fifth of them by default; a part is a mask of sets, a unit an answer."""

    leave_out = what = "set"
    data: Triplets
    usual: ClassVar[dict[str, int | None]] = {"draws": 1000, "tune": 1000, "chains": 4, "thin": None}

    def __init__(self, data: Triplets) -> None:
        super().__init__(data)
        if not np.array_equal(data.counts, np.floor(data.counts)):
            raise DataError("compare leaves whole answers out; these have fractional weights. Give whole counts.")
        self.places = np.repeat(np.arange(len(data.counts)), data.counts.astype(np.int64))  # of each answer
        self.set = data.set_of[self.places]

    @property
    def number_of_unit(self) -> np.ndarray:
        return self.set

    @property
    def count(self) -> int:
        return self.data.n_sets

    def part_of(self, numbers: np.ndarray) -> np.ndarray:
        return np.isin(np.arange(self.count), numbers)

    def observed(self) -> dict[str, np.ndarray]:
        return {"sizes": self.data.sizes[self.set]}

    def train(self, part: np.ndarray) -> tuple[Triplets]:
        return (self.data.take(~part),)

    def test(self, part: np.ndarray) -> Triplets:
        return self.data.take(part)

    def units(self, part: np.ndarray) -> np.ndarray:
        return np.flatnonzero(part[self.set])

    def labels(self, units: np.ndarray) -> "pandas.MultiIndex":
        import pandas as pd

        names, places = np.asarray(self.data.labels, dtype=object), self.places[units]
        sides = (names[side[places]] for side in (self.data.first, self.data.second))
        return pd.MultiIndex.from_arrays([self.set[units], *sides], names=["set", "a", "b"])
