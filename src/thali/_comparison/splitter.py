"""Base classes of splitters, which split data into training and held-out parts."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._argument_checks import check_integer
from thali.errors import Argument, ArgumentError, DataError, Setting

if TYPE_CHECKING:
    import pandas

# default run of a fit
USUAL: dict[str, int | None] = {"draws": 1000, "tune": 1000, "chains": 4, "thin": None}


class Splitter(ABC):
    """Base class that splits data of one kind into training and held-out parts.

    A unit (such as a task) has one score. A block of units, such as all choices of a respondent, is
    never split; `block_of_unit` is the block of each unit. Each splitter defines the form of a
    part: one unit, or a mask of several.
    """

    leave_out: ClassVar[str]  # the value of the argument `leave_out`
    block_noun: ClassVar[str]  # the noun for a block in messages
    part_noun: str = "part"  # the noun for a part in records and messages
    knows_people: bool = True  # whether the data identify respondents
    # default draws, tune, chains and thin of fits
    default_run: ClassVar[dict[str, int | None]] = {}

    def __init__(self, data: Any) -> None:
        self.data = data

    def list_parts(
        self, seed: np.random.SeedSequence, hold_out: int | None, folds: int | None
    ) -> list[Any]:
        """Return all parts to hold out; randomness comes from the seed."""
        return [
            self.build_part(block_numbers)
            for block_numbers in self.draw_parts(seed, hold_out, folds)
        ]

    def draw_parts(
        self, seed: np.random.SeedSequence, hold_out: int | None, folds: int | None
    ) -> list[np.ndarray]:
        """Return the block numbers of each part."""
        refuse_both(hold_out, folds)
        noun = self.block_noun
        n_blocks = self.count
        if n_blocks < 2:
            raise DataError(f"There is only one {noun}; leaving out {noun}s requires at least two.")
        n_folds = check_n_folds(folds, n_blocks, f"{noun}s")
        shuffled_blocks = np.random.default_rng(seed.spawn(1)[0]).permutation(n_blocks)
        if n_folds is not None:
            return [shuffled_blocks[k::n_folds] for k in range(n_folds)]
        return [shuffled_blocks[: count_test_blocks(hold_out, n_blocks, noun)]]

    @property
    def block_of_unit(self) -> np.ndarray:
        """Number of the block to which each unit belongs, shape (units,)."""
        raise NotImplementedError

    @property
    def count(self) -> int:
        """Number of blocks."""
        return int(self.block_of_unit.max(initial=-1)) + 1

    def build_part(self, blocks: np.ndarray) -> Any:
        """Return the part (by default a mask of units) that holds out these blocks."""
        return np.isin(self.block_of_unit, blocks)

    def select_training_data(self, part: Any) -> tuple[Any, ...]:
        """Return the arguments of `fit`: the data without the held-out part."""
        return (self.data.take(~part),)

    def select_held_out_data(self, part: Any) -> Any:
        """Return the held-out data, in the form that the scorer predicts."""
        return self.data.take(part)

    def list_units(self, part: Any) -> np.ndarray:
        """Return the indices of a part's held-out units."""
        return np.flatnonzero(part)

    @abstractmethod
    def build_unit_index(self, units: np.ndarray) -> "pandas.Index":
        """Return the table index that names these units."""

    def get_observed(self) -> dict[str, np.ndarray]:
        """Return observed values of every unit that scores need."""
        return {}

    def locate_part(self, part_number: int) -> dict[str, Any]:
        """Return the columns that identify a part in the table of missing fits."""
        return {"part": part_number}

    def name_part(self, part_columns: Mapping[Any, Any]) -> str:
        """Return a part's name for messages, such as "part 3"."""
        return f"part {part_columns['part'] + 1}"

    def warn_about_parts(self) -> None:
        """Warn if the data without a part are insufficient (default: no warning)."""
        return None


def refuse_both(hold_out: int | None, folds: int | None) -> None:
    """Raise ArgumentError if both `hold_out` and `folds` are given."""
    if hold_out is not None and folds is not None:
        raise ArgumentError(
            "Both ", Argument("hold_out"), " and ", Argument("folds"), " are given; remove one."
        )


def count_test_blocks(hold_out: int | None, n_blocks: int, unit_noun: str) -> int:
    """Return the number of blocks to hold out; a fifth of all by default."""
    if hold_out is None:
        hold_out = max(1, n_blocks // 5)
    n_held_out = check_integer("hold_out", hold_out, 1)
    if n_held_out >= n_blocks:
        raise ArgumentError(
            Setting("hold_out", n_held_out),
            f" leaves none of {n_blocks} {unit_noun}s to fit; hold out fewer {unit_noun}s.",
        )
    return n_held_out


def check_n_folds(folds: int | None, max_folds: int, unit_noun: str) -> int | None:
    """Return the checked number of folds; None if not requested."""
    if folds is None:
        return None
    n_folds = check_integer("folds", folds, 2)
    if n_folds > max_folds:
        raise ArgumentError(
            Setting("folds", n_folds),
            f" exceeds the number of {unit_noun}; use at most {max_folds}.",
        )
    return n_folds
