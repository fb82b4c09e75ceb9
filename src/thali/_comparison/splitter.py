"""Base classes of splitters, which split data into training and held-out parts."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from thali._argument_checks import check_integer
from thali._data.grouped_data import GroupedData
from thali._inference.index_arithmetic import repeat_indices
from thali.errors import Argument, ArgumentError, DataError, Setting, prefix_errors

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
    single_block_text: ClassVar[str]  # the end of the message that a group has only one block
    # the column of `labels` with the unit of scoring, separate for each group
    level: ClassVar[str] = ""
    part_noun: str = "part"  # the noun for a part in records and messages
    knows_people: bool = True  # whether the data identify respondents
    # default draws, tune, chains and thin of fits
    default_run: ClassVar[dict[str, int | None]] = {}

    def __init__(self, data: Any) -> None:
        self.data = data

    @classmethod
    def build_splitters(cls, groups: GroupedData) -> Mapping[str, Self]:
        """Return a splitter for each of several groups."""
        splitters = {}
        for name, group_data in groups.items():
            with prefix_errors(f"Group {name!r}"):
                splitters[name] = cls(group_data)
        return splitters

    def list_parts(
        self, seed: np.random.SeedSequence, hold_out: int | None, folds: int | None
    ) -> list[Any]:
        """Return all parts to hold out; randomness comes from the seed."""
        return [
            self.build_part(numbers)
            for numbers in self.draw_parts(self.count, seed, hold_out, folds)
        ]

    @classmethod
    def draw_parts(
        cls, n_blocks: int, seed: np.random.SeedSequence, hold_out: int | None, folds: int | None
    ) -> list[np.ndarray]:
        """Return the block numbers of each part, drawn from `n_blocks` blocks."""
        refuse_both(hold_out, folds)
        noun = cls.block_noun
        if n_blocks < 2:
            raise DataError(f"There is only one {noun}; leaving out {noun}s requires at least two.")
        n_folds = check_n_folds(folds, n_blocks, f"{noun}s")
        shuffled_blocks = np.random.default_rng(seed.spawn(1)[0]).permutation(n_blocks)
        if n_folds is not None:
            return [shuffled_blocks[k::n_folds] for k in range(n_folds)]
        return [shuffled_blocks[: count_test_blocks(hold_out, n_blocks, noun)]]

    @classmethod
    def draw_parts_of_groups(
        cls,
        block_counts: dict[str, int],
        seed: np.random.SeedSequence,
        hold_out: int | None,
        folds: int | None,
    ) -> list[np.ndarray]:
        """Return the block numbers of each part; blocks are numbered through all groups.

        `block_counts` gives the number of blocks per group.
        """
        return cls.draw_parts(sum(block_counts.values()), seed, hold_out, folds)

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

    @property
    def whole(self) -> Any:
        """The complete data, in the form that models are fitted to."""
        return self.data

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


class EvenSplitter(Splitter):
    """Base class of splitters that hold out equal shares of each group."""

    @classmethod
    def draw_parts_of_groups(
        cls,
        block_counts: dict[str, int],
        seed: np.random.SeedSequence,
        hold_out: int | None,
        folds: int | None,
    ) -> list[np.ndarray]:
        """Return random blocks for each part, evenly from all groups."""
        refuse_both(hold_out, folds)
        rng = np.random.default_rng(seed.spawn(1)[0])
        n_blocks = sum(block_counts.values())
        first_block = 0
        shuffled_blocks = np.empty(n_blocks, np.int64)
        for count in block_counts.values():
            shuffled_blocks[first_block : first_block + count] = first_block + rng.permutation(
                count
            )
            first_block += count
        n_folds = check_n_folds(folds, n_blocks, f"{cls.block_noun}s")
        if n_folds is not None:
            return [shuffled_blocks[k::n_folds] for k in range(n_folds)]
        n_held_out = count_test_blocks(hold_out, n_blocks, cls.block_noun)
        held_out_blocks = shuffled_blocks[
            ((np.arange(n_held_out) + 0.5) * n_blocks / n_held_out).astype(int)
        ]
        if find_lost_group(block_counts, held_out_blocks):
            raise ArgumentError(
                Setting("hold_out", n_held_out),
                f" leaves a group without a {cls.block_noun}; hold out fewer {cls.block_noun}s.",
            )
        return [held_out_blocks]


class GroupSplitter(Splitter):
    """Splits data of several groups with one splitter per group.

    Blocks and units are numbered through all groups. A part is a mapping from groups to parts of
    their splitters; groups without test data are absent.
    """

    splitter_class: type[Splitter]
    splitters: Mapping[str, Splitter]

    def __init__(self, splitter_class: type[Splitter], data: GroupedData) -> None:
        super().__init__(data)
        self.splitter_class = splitter_class
        self.splitters = splitter_class.build_splitters(data)
        self.leave_out: str = splitter_class.leave_out  # type: ignore[misc]
        self.part_noun: str = splitter_class.part_noun  # type: ignore[misc]
        self.default_run: dict[str, int | None] = splitter_class.default_run  # type: ignore[misc]
        self.knows_people: bool = all(splitter.knows_people for splitter in self.splitters.values())
        self._block_counts = {name: splitter.count for name, splitter in self.splitters.items()}
        if small_groups := [name for name, count in self._block_counts.items() if count < 2]:
            raise DataError(
                f"Group {small_groups[0]!r} {splitter_class.single_block_text}; without it, the"
                " group would be empty."
            )
        self._first_block = np.cumsum([0, *self._block_counts.values()])
        self._first_unit = np.cumsum(
            [0, *(len(splitter.block_of_unit) for splitter in self.splitters.values())]
        )

    def list_parts(
        self, seed: np.random.SeedSequence, hold_out: int | None, folds: int | None
    ) -> list[dict[str, Any]]:
        """Return all parts to hold out, each a dict of parts by group."""
        return [
            self.build_part(numbers)
            for numbers in self.splitter_class.draw_parts_of_groups(
                self._block_counts, seed, hold_out, folds
            )
        ]

    def build_part(self, blocks: np.ndarray) -> dict[str, Any]:
        """Return, by group, the part that holds out these blocks."""
        group_names = self.data.names
        group_of_block = np.searchsorted(self._first_block, blocks, side="right") - 1
        return {
            group_names[g]: self.splitters[group_names[g]].build_part(
                blocks[group_of_block == g] - self._first_block[g]
            )
            for g in np.unique(group_of_block)
        }

    def select_training_data(self, part: Mapping[str, Any]) -> tuple[GroupedData]:
        """Return the data of all groups without the held-out part."""
        training_data = {name: splitter.whole for name, splitter in self.splitters.items()}
        for name, group_part in part.items():
            (training_data[name],) = self.splitters[name].select_training_data(group_part)
        return (GroupedData(training_data),)

    def select_held_out_data(self, part: Mapping[str, Any]) -> dict[str, Any]:
        """Return the held-out data of each group with any."""
        return {
            name: self.splitters[name].select_held_out_data(group_part)
            for name, group_part in part.items()
        }

    def list_units(self, part: Mapping[str, Any]) -> np.ndarray:
        """Return indices of held-out units, numbered through all groups."""
        splitters = zip(self.splitters.items(), self._first_unit, strict=False)
        return np.concatenate(
            [
                first_unit + splitter.list_units(part[name])
                for (name, splitter), first_unit in splitters
                if name in part
            ]
        )

    def build_unit_index(self, units: np.ndarray) -> "pandas.MultiIndex":
        """Return the table index of units, with the group's name."""
        import pandas as pd

        group_frames = []
        for name, splitter in self.splitters.items():
            frame = splitter.build_unit_index(np.arange(len(splitter.block_of_unit))).to_frame(
                index=False
            )
            if group_level := splitter.level:
                frame[group_level] = f"{name}: " + frame[group_level].astype(str)
            else:
                frame.insert(0, "group", name)
            group_frames.append(frame)
        return pd.MultiIndex.from_frame(pd.concat(group_frames).iloc[units])

    def get_observed(self) -> dict[str, np.ndarray]:
        """Return observed values of every unit of all groups."""
        group_values = [splitter.get_observed() for splitter in self.splitters.values()]
        return {
            name: np.concatenate([group[name] for group in group_values])
            for name in group_values[0]
        }

    def locate_part(self, part_number: int) -> dict[str, Any]:
        """Return the columns that identify a part: group, and its part there."""
        if self.part_noun == Splitter.part_noun:  # parts of several units have no name
            return super().locate_part(part_number)
        ((group, group_part),) = self.build_part(np.array([part_number])).items()
        return {"group": group, **self.splitters[group].locate_part(group_part[0])}

    def name_part(self, part_columns: Mapping[Any, Any]) -> str:
        """Return a part's name with its group."""
        if "group" not in part_columns:
            return super().name_part(part_columns)
        group = part_columns["group"]
        return f"{self.splitters[group].name_part(part_columns)} of {group}"


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


def find_lost_group(block_counts: Mapping[str, int], blocks: np.ndarray) -> str | None:
    """Return the first group whose blocks are all held out; None if none."""
    group_of_block = repeat_indices(list(block_counts.values()))
    held_out_counts = np.bincount(group_of_block[blocks], minlength=len(block_counts))
    for (name, count), n_held_out in zip(block_counts.items(), held_out_counts, strict=True):
        if n_held_out == count:
            return name
    return None
