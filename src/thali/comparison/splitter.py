"""What every splitter answers: what is left out at a time, and what models are fitted to without it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from thali._arguments import whole
from thali.errors import Argument, ArgumentError, DataError, Setting


class Splitter(ABC):
    """Data of one kind, whose units (pairs, tasks, rows, ...) are left out part by part.

    A part is whatever the splitter itself makes of it: one unit, or a mask of several.
    """

    leave_out: ClassVar[str]  # what the user calls this
    part: ClassVar[str] = "part"  # what a part is called, in records and in messages
    usual: ClassVar[dict[str, int | None]] = {}  # draws, tune, chains and thin of fits unless the user says otherwise

    def __init__(self, data: Any) -> None:
        self.data = data

    @abstractmethod
    def parts(self, seed: np.random.SeedSequence, hold_out: int | None, folds: int | None) -> list[Any]:
        """What is left out at a time; whatever is random comes from the seed."""

    @abstractmethod
    def train(self, part: Any) -> tuple[Any, ...]:
        """The arguments of `fit`: the data without a part."""

    @abstractmethod
    def test(self, part: Any) -> Any:
        """The part itself, as the scorer reads it."""

    @abstractmethod
    def units(self, part: Any) -> np.ndarray:
        """The numbers of the units of a part."""

    @abstractmethod
    def labels(self, units: np.ndarray) -> Any:
        """The index of a table with a row a unit."""

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
