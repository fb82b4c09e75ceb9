"""What every splitter answers: what is left out at a time, and what models are fitted to without it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from thali._arguments import whole
from thali.data.groups import Groups
from thali.errors import Argument, ArgumentError, DataError, Setting


class Splitter(ABC):
    """Data of one kind, whose units (pairs, tasks, rows, ...) are left out part by part.

    A part is whatever the splitter itself makes of it: one unit, or a mask of several. What is left out together, such
    as all choices of a person, has a number, and so have units: those of number k are left out with it.
    """

    leave_out: ClassVar[str]  # what the user calls this
    what: ClassVar[str]  # what is left out together, in the singular, in messages
    alone: ClassVar[str]  # that a group has only one of them, in messages
    part: ClassVar[str] = "part"  # what a part is called, in records and in messages
    told_apart: bool = True  # whether it is known who answered
    usual: ClassVar[dict[str, int | None]] = {}  # draws, tune, chains and thin of fits unless the user says otherwise

    def __init__(self, data: Any) -> None:
        self.data = data

    @classmethod
    def of_groups(cls, groups: Groups) -> "dict[str, Self]":
        """The splitter of each of several groups."""
        found = {}
        for name, each in groups.items():
            try:
                found[name] = cls(each)
            except DataError as error:
                raise DataError(f"Group {name!r}: ", error) from None
        return found

    def parts(self, seed: np.random.SeedSequence, hold_out: int | None, folds: int | None) -> list[Any]:
        """What is left out at a time; whatever is random comes from the seed."""
        return [self.part_of(numbers) for numbers in self.drawn(self.count, seed, hold_out, folds)]

    @classmethod
    def drawn(cls, count: int, seed: np.random.SeedSequence, hold_out: Any, folds: Any) -> list[np.ndarray]:
        """The numbers of what is left out at a time, of so many."""
        not_both(hold_out, folds)
        return random_groups(count, cls.what, hold_out, folds, np.random.default_rng(seed.spawn(1)[0]))

    @classmethod
    def drawn_of_groups(
        cls, counts: dict[str, int], seed: np.random.SeedSequence, hold_out: Any, folds: Any
    ) -> list[np.ndarray]:
        """The same of several groups, which have so many each, counted through all of them."""
        return cls.drawn(sum(counts.values()), seed, hold_out, folds)

    @property
    def number_of_unit(self) -> np.ndarray:
        """The number with which each unit is left out."""
        raise NotImplementedError

    @property
    def count(self) -> int:
        """How many numbers there are."""
        return int(self.number_of_unit.max(initial=-1)) + 1

    def part_of(self, numbers: np.ndarray) -> Any:
        """The part that has these numbers."""
        return np.isin(self.number_of_unit, numbers)

    @property
    def whole(self) -> Any:
        """The data of which nothing is left out, as models are fitted to them."""
        return self.data

    @abstractmethod
    def train(self, part: Any) -> tuple[Any, ...]:
        """The arguments of `fit`: the data without a part."""

    @abstractmethod
    def test(self, part: Any) -> Any:
        """The part itself, as the scorer reads it."""

    def units(self, part: Any) -> np.ndarray:
        """The numbers of the units of a part."""
        return np.flatnonzero(part)

    @abstractmethod
    def labels(self, units: np.ndarray) -> Any:
        """The index of a table with a row a unit."""

    def observed(self) -> dict[str, np.ndarray]:
        """What scores need to know of every unit besides predictions."""
        return {}

    def place(self, number: int) -> dict[str, Any]:
        """A part in the table of missing fits."""
        return {"part": number}

    def name(self, place: Mapping[Any, Any]) -> str:
        """A part in messages, from where it stands in the table of missing fits."""
        return f"part {place['part'] + 1}"

    def warn(self) -> None:
        """Warn of what the data lack once a part is left out."""
        return None


def not_both(hold_out: int | None, folds: int | None) -> None:
    """Refuse two answers to one question."""
    if hold_out is not None and folds is not None:
        raise ArgumentError("Give ", Argument("hold_out"), " or ", Argument("folds"), ", not both.")


def random_groups(count: int, what: str, hold_out: Any, folds: Any, rng: np.random.Generator) -> list[np.ndarray]:
    """The numbers of the units that are left out at a time: so many once, or all of them in so many folds."""
    if count < 2:
        raise DataError(f"There is one {what}; leaving out {what}s needs two.")
    number = folds_wanted(folds, count, f"{what}s")
    order = rng.permutation(count)
    if number is not None:
        return [order[k::number] for k in range(number)]
    return [order[: hold_out_wanted(hold_out, count, what)]]


def hold_out_wanted(hold_out: Any, count: int, what: str) -> int:
    """How many are left out once: a fifth, unless said otherwise."""
    wanted = max(1, count // 5) if hold_out is None else whole("hold_out", hold_out, 1)
    if wanted >= count:
        raise ArgumentError(Setting("hold_out", wanted), f" leaves none of {count} {what}s to fit.")
    return wanted


def folds_wanted(folds: Any, most: int, what: str) -> int | None:
    """The number of folds, if there are that many units to share out; None if none are wanted."""
    if folds is None:
        return None
    number = whole("folds", folds, 2)
    if number > most:
        raise ArgumentError(Setting("folds", number), f" is more than the {most} {what}.")
    return number


def lost_group(counts: Mapping[str, int], numbers: np.ndarray) -> str | None:
    """The first of the groups, which have so many each, of which nothing but these numbers would be there."""
    group = np.repeat(np.arange(len(counts)), list(counts.values()))
    held = np.bincount(group[numbers], minlength=len(counts))
    return next((name for name, count, of in zip(counts, counts.values(), held, strict=True) if of == count), None)
