"""What every splitter answers: what is left out at a time, and what models are fitted to without
it; and groups."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from thali._arguments import whole
from thali._data.groups import GroupedData
from thali.errors import Argument, ArgumentError, DataError, Setting

if TYPE_CHECKING:
    import pandas

USUAL: dict[str, int | None] = {"draws": 1000, "tune": 1000, "chains": 4, "thin": None}  # of a fit


class Splitter(ABC):
    """Data of one kind, whose units (pairs, tasks, rows, ...) are left out part by part.

    A part is whatever the splitter itself makes of it: one unit, or a mask of several. What is left
    out together, such as all choices of a person, has a number, and so have units: those of number
    k are left out with it.
    """

    leave_out: ClassVar[str]  # what the user calls this
    what: ClassVar[str]  # what is left out together, in the singular, in messages
    alone: ClassVar[str]  # that a group has only one of them, in messages
    # the column of `labels` that says what is scored together, of each group its own
    level: ClassVar[str] = ""
    part: str = "part"  # what a part is called, in records and in messages
    knows_people: bool = True  # whether it is known who answered
    # draws, tune, chains and thin of fits unless the user says otherwise
    usual: ClassVar[dict[str, int | None]] = {}

    def __init__(self, data: Any) -> None:
        self.data = data

    @classmethod
    def of_groups(cls, groups: GroupedData) -> Mapping[str, Self]:
        """The splitter of each of several groups."""
        found = {}
        for name, each in groups.items():
            try:
                found[name] = cls(each)
            except DataError as error:
                raise DataError(f"Group {name!r}: ", error) from None
        return found

    def parts(
        self, seed: np.random.SeedSequence, hold_out: int | None, folds: int | None
    ) -> list[Any]:
        """What is left out at a time; whatever is random comes from the seed."""
        return [self.part_of(numbers) for numbers in self.drawn(self.count, seed, hold_out, folds)]

    @classmethod
    def drawn(
        cls, count: int, seed: np.random.SeedSequence, hold_out: int | None, folds: int | None
    ) -> list[np.ndarray]:
        """The numbers of what is left out at a time, of so many."""
        not_both(hold_out, folds)
        return random_groups(
            count, cls.what, hold_out, folds, np.random.default_rng(seed.spawn(1)[0])
        )

    @classmethod
    def drawn_of_groups(
        cls,
        counts: dict[str, int],
        seed: np.random.SeedSequence,
        hold_out: int | None,
        folds: int | None,
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

    def train(self, part: Any) -> tuple[Any, ...]:
        """The arguments of `fit`: the data without a part."""
        return (self.data.take(~part),)

    def test(self, part: Any) -> Any:
        """The part itself, as the scorer reads it."""
        return self.data.take(part)

    def units(self, part: Any) -> np.ndarray:
        """The numbers of the units of a part."""
        return np.flatnonzero(part)

    @abstractmethod
    def labels(self, units: np.ndarray) -> "pandas.Index":
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


class Evenly(Splitter):
    """Leaves out of several groups as evenly of each as can be, so that something is left of every
    one."""

    @classmethod
    def drawn_of_groups(
        cls,
        counts: dict[str, int],
        seed: np.random.SeedSequence,
        hold_out: int | None,
        folds: int | None,
    ) -> list[np.ndarray]:
        not_both(hold_out, folds)
        rng, total, first = np.random.default_rng(seed.spawn(1)[0]), sum(counts.values()), 0
        order = np.empty(total, np.int64)
        for count in counts.values():
            order[first : first + count] = first + rng.permutation(count)
            first += count
        number = folds_wanted(folds, total, f"{cls.what}s")
        if number is not None:
            return [order[k::number] for k in range(number)]
        wanted = hold_out_wanted(hold_out, total, cls.what)
        taken = order[((np.arange(wanted) + 0.5) * total / wanted).astype(int)]
        if lost_group(counts, taken):
            raise ArgumentError(
                Setting("hold_out", wanted),
                f" leaves a group without a {cls.what}; hold out fewer {cls.what}s.",
            )
        return [taken]


class Grouped(Splitter):
    """Leaves out of groups what a splitter leaves out of one; numbers and units count through all
    groups.

    A part is a mapping from each group of which something is left out to the part of its own
    splitter.
    """

    of_one: type[Splitter]
    of_group: Mapping[str, Splitter]

    def __init__(self, of_one: type[Splitter], data: GroupedData) -> None:
        super().__init__(data)
        self.of_one, self.of_group = of_one, of_one.of_groups(data)
        self.leave_out: str = of_one.leave_out  # type: ignore[misc]
        self.part: str = of_one.part  # type: ignore[misc]
        self.usual: dict[str, int | None] = of_one.usual  # type: ignore[misc]
        self.knows_people: bool = all(each.knows_people for each in self.of_group.values())
        self._counts = {name: each.count for name, each in self.of_group.items()}
        if few := [name for name, count in self._counts.items() if count < 2]:
            raise DataError(
                f"Group {few[0]!r} {of_one.alone} nothing would be left of the group without it."
            )
        self._first = np.cumsum([0, *self._counts.values()])
        self._first_unit = np.cumsum(
            [0, *(len(each.number_of_unit) for each in self.of_group.values())]
        )

    def parts(
        self, seed: np.random.SeedSequence, hold_out: int | None, folds: int | None
    ) -> list[dict[str, Any]]:
        return [
            self.part_of(numbers)
            for numbers in self.of_one.drawn_of_groups(self._counts, seed, hold_out, folds)
        ]

    def part_of(self, numbers: np.ndarray) -> dict[str, Any]:
        names, group = self.data.names, np.searchsorted(self._first, numbers, side="right") - 1
        return {
            names[g]: self.of_group[names[g]].part_of(numbers[group == g] - self._first[g])
            for g in np.unique(group)
        }

    def train(self, part: Mapping[str, Any]) -> tuple[GroupedData]:
        left = {
            name: each.train(part[name])[0] if name in part else each.whole
            for name, each in self.of_group.items()
        }
        return (GroupedData(left),)

    def test(self, part: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.of_group[name].test(own) for name, own in part.items()}

    def units(self, part: Mapping[str, Any]) -> np.ndarray:
        firsts = zip(self.of_group.items(), self._first_unit, strict=False)
        return np.concatenate(
            [first + each.units(part[name]) for (name, each), first in firsts if name in part]
        )

    def labels(self, units: np.ndarray) -> "pandas.MultiIndex":
        """Those of one group, of which the name stands in front."""
        import pandas as pd

        frames = []
        for name, each in self.of_group.items():
            frame = each.labels(np.arange(len(each.number_of_unit))).to_frame(index=False)
            if level := each.level:
                frame[level] = f"{name}: " + frame[level].astype(str)
            else:
                frame.insert(0, "group", name)
            frames.append(frame)
        return pd.MultiIndex.from_frame(pd.concat(frames).iloc[units])

    def observed(self) -> dict[str, np.ndarray]:
        each = [splitter.observed() for splitter in self.of_group.values()]
        return {name: np.concatenate([found[name] for found in each]) for name in each[0]}

    def place(self, number: int) -> dict[str, Any]:
        if self.part == Splitter.part:  # parts of several units, which have no name
            return super().place(number)
        ((group, own),) = self.part_of(np.array([number])).items()
        return {"group": group, **self.of_group[group].place(own[0])}

    def name(self, place: Mapping[Any, Any]) -> str:
        if "group" not in place:
            return super().name(place)
        return f"{self.of_group[place['group']].name(place)} of {place['group']}"


def not_both(hold_out: int | None, folds: int | None) -> None:
    """Refuse two answers to one question."""
    if hold_out is not None and folds is not None:
        raise ArgumentError(
            "Both ", Argument("hold_out"), " and ", Argument("folds"), " are given; remove one."
        )


def random_groups(
    count: int, what: str, hold_out: int | None, folds: int | None, rng: np.random.Generator
) -> list[np.ndarray]:
    """The numbers of the units that are left out at a time: so many once, or all of them in so many
    folds."""
    if count < 2:
        raise DataError(f"There is only one {what}; leaving out {what}s requires at least two.")
    number = folds_wanted(folds, count, f"{what}s")
    order = rng.permutation(count)
    if number is not None:
        return [order[k::number] for k in range(number)]
    return [order[: hold_out_wanted(hold_out, count, what)]]


def hold_out_wanted(hold_out: int | None, count: int, what: str) -> int:
    """How many are left out at a time: a fifth by default."""
    wanted = max(1, count // 5) if hold_out is None else whole("hold_out", hold_out, 1)
    if wanted >= count:
        raise ArgumentError(
            Setting("hold_out", wanted),
            f" leaves none of {count} {what}s to fit; hold out fewer {what}s.",
        )
    return wanted


def folds_wanted(folds: int | None, most: int, what: str) -> int | None:
    """The number of folds, if there are that many units to share out; None if none are wanted."""
    if folds is None:
        return None
    number = whole("folds", folds, 2)
    if number > most:
        raise ArgumentError(
            Setting("folds", number), f" exceeds the number of {what}; use at most {most}."
        )
    return number


def lost_group(counts: Mapping[str, int], numbers: np.ndarray) -> str | None:
    """The first of the groups, which have so many each, of which nothing but these numbers would be
    there."""
    group = np.repeat(np.arange(len(counts)), list(counts.values()))
    held = np.bincount(group[numbers], minlength=len(counts))
    return next(
        (
            name
            for name, count, of in zip(counts, counts.values(), held, strict=True)
            if of == count
        ),
        None,
    )
