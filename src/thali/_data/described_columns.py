"""What the columns of a table are there for: those that a shape reads, those that describe people
or comparisons."""

import math
import re
from collections.abc import Collection, Iterable, Iterator
from itertools import count, takewhile
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali._labels import as_label

from .columns import column, numbers_rows
from .people import list_differing_columns
from .roles import (
    ALTERNATIVE,
    CHOSEN_OF_TWO,
    DISSIMILARITY,
    GOALS,
    MORE_SIDES,
    RESPONSE_TIME,
    RESULT,
    SHORT_GOALS,
    SIDES,
    SIMILARITY,
    STEMS_OF_SIDES,
    THIRD,
    TRIAL,
    by_plain_name,
    column_names,
    plain,
)

if TYPE_CHECKING:
    import pandas as pd


class Sides(NamedTuple):
    """Two columns with the same name but for their side."""

    stem: str  # what the two names have in common, in plain letters
    side: tuple[str, str]  # the marks, such as ("left", "right")
    columns: tuple[str, str]


def side_columns(names: list[str]) -> list[Sides]:
    """All such columns, but for those of three or more with the marks a, b, c and the like."""
    own = by_plain_name(names)
    found: dict[tuple[str, str], Sides] = {}
    for side in (*SIDES, *MORE_SIDES):
        for stem, first, second, third in _spelled(own, side):
            if second in own and third not in own:
                found.setdefault(
                    (own[first], own[second]), Sides(stem, side, (own[first], own[second]))
                )
    return list(found.values())


def _spelled(own: dict[str, str], side: tuple[str, str]) -> Iterator[tuple[str, str, str, str]]:
    """Stem, first, second and third of every plain name that begins or ends with the mark of the
    first side."""
    mark, other = side
    after = THIRD.get(other, "")
    for name in own:
        if name == mark:
            yield "", mark, other, after
        elif name.endswith(mark):
            stem = name[: -len(mark)]
            yield stem, name, stem + other, stem + after if after else ""
        elif name.startswith(mark) and len(mark) > 1:
            stem = name[len(mark) :]
            yield stem, name, other + stem, after + stem if after else ""


_NUMBERED = tuple(
    name.format("") for name in STEMS_OF_SIDES if name.format("") and name.endswith("{0}")
)


def shown_columns(names: Iterable[str]) -> list[str]:
    """The columns of a design of pairs or sets, a row each, that hold what is shown; none of a
    design of products.

    They are called by their side, or by a number.

    Examples
    --------
    >>> (
    ...     shown_columns(["version", "task", "option1", "option2", "option3"]),
    ...     shown_columns(["Nr", "links", "rechts"]),
    ... )
    (['option1', 'option2', 'option3'], ['links', 'rechts'])
    """
    own = by_plain_name(names)
    if next(ALTERNATIVE.surely(own), None) is not None:
        return []
    for stem in _NUMBERED:
        numbered = takewhile(own.__contains__, (f"{stem}{k}" for k in count(1)))
        if len(found := [own[name] for name in numbered]) > 1:
            return found
    sides = (side for side in (*SIDES, *MORE_SIDES) if not side[0].isdigit() and len(side[0]) > 1)
    return next(([own[one], own[other]] for one, other in sides if one in own and other in own), [])


# What the columns of a table are there for: those that a shape reads, those that describe people or
# comparisons


_CHANCE = 1e-3  # below which numbers that rise from row to row are no chance
# of a column that may say who answered: different values, rows of each
_MIN_PEOPLE, _MIN_ANSWERS = 5, 2
_LOOKED_AT = 100  # cells that must be dates
_ROWS_LOOKED_AT = 10_000  # that tell whether a column may say who answered
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}|\d{1,2}:\d{2}")
_OUTCOMES = {
    name for role in (CHOSEN_OF_TWO, RESULT, GOALS, RESPONSE_TIME, TRIAL) for name in role.synonyms
}
_OUTCOMES |= {name for two in SHORT_GOALS for name in two}


class ColumnsRead(NamedTuple):
    """The columns that a shape reads."""

    options: tuple[str, ...]  # what was compared, or offered; of pairs those of the two options
    outcome: tuple[str, ...] = ()  # what came of it, where other columns say so
    counts: tuple[str, ...] = ()  # how many answers a row stands for
    who: str | None = None  # answered
    judged: bool = True  # whether people answered, rather than played
    # that say to which answer a row belongs; None: each row is one
    answer: tuple[str, ...] | None = None

    @property
    def all(self) -> set[str]:
        """All of them."""
        return {
            *self.options,
            *self.outcome,
            *self.counts,
            *(() if self.who is None else (self.who,)),
        }


def columns_of_people(people: "pd.DataFrame | None") -> list[str]:
    """The columns that describe people and can tell some of them from others: no dates, no text of
    everybody's own.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame(
    ...     {"sex": ["f", "m", "f"], "name": ["A", "B", "C"], "age": [9, 8, 7], "city": "x"}
    ... )
    >>> columns_of_people(people)
    ['sex', 'age']
    """
    if people is None:
        return []
    each = {name: column(people, name) for name in list_differing_columns(people)}
    return [
        name
        for name, of in each.items()
        if not _is_date(of) and not (_is_text(of) and of.is_unique)
    ]


def columns_of_comparisons(frame: "pd.DataFrame", roles: ColumnsRead) -> list[str]:
    """The columns that may describe the first of two options over the second.

    Not among them are those that say who answered or describe who did, the options, what came of
    it, or how long it took, in these or in other words; numbers of trials, dates, and what is the
    same, or another text, in every row.
    """
    options = _labels(frame, roles)
    known = [_codes(column(frame, name)) for name in sorted(roles.all)]
    known += [_by_side(frame, name, roles) for name in roles.outcome]
    people = None if roles.who is None else _codes(column(frame, roles.who))
    codes = {name: _codes(column(frame, name)) for name in _further(frame, roles)}
    return [
        name
        for name, each in codes.items()
        if not any(_say_the_same(each, other) for other in known)
        and not (people is not None and _is_constant_within(each, people))
        and not _is_text_of_others(column(frame, name), options)
        and not _counts_rows(column(frame, name), people)
    ]


def column_of_people(
    frame: "pd.DataFrame", roles: ColumnsRead, others: Collection[str] = ()
) -> str | None:
    """The column that may say who answered, where none is known to: it has many values, each in
    several rows.

    The rows of a value stand together, or something else is the same in them. Of several columns it
    is the finest.
    """
    codes = {name: _codes(column(frame, name)) for name in _further(frame, roles)}
    most = {name: each.max() for name, each in codes.items()}
    likely = [
        name
        for name in possible_respondents(frame, roles)
        if name not in others
        and most[name] >= _MIN_PEOPLE - 1
        and np.bincount(codes[name]).min() >= _MIN_ANSWERS
        and (
            np.count_nonzero(np.diff(codes[name])) == most[name]
            or any(
                _is_constant_within(codes[other], codes[name])
                for other in most
                if most[other] < most[name]
            )
        )
    ]
    return max(likely, key=most.__getitem__, default=None)


def possible_respondents(frame: "pd.DataFrame", roles: ColumnsRead) -> list[str]:
    """Return the columns that may say who answered, where none is known to: few labels, each of
    several rows."""
    if roles.who is not None or roles.counts or not roles.judged:
        return []
    whole, frame = frame, frame.head(_ROWS_LOOKED_AT)
    options = _labels(frame, roles)
    known = [_codes(column(frame, name)) for name in sorted(roles.all)]
    return [
        name
        for name in _further(frame, roles)
        if _has_few_labels(column(whole, name))
        and not any(_say_the_same(_codes(column(frame, name)), other) for other in known)
        and not _is_text_of_others(column(frame, name), options)
    ]


def _labels(frame: "pd.DataFrame", roles: ColumnsRead) -> set[str]:
    """Of the options."""
    return {
        as_label(value) for name in roles.options for value in column(frame, name).dropna().unique()
    }


def may_measure(name: str, values: "pd.Series") -> bool:
    """Return whether a column contains numbers that differ, and is none of trials, times or rows by
    its name."""
    if _is_text(values) or _names_outcome(name) or values.nunique() == 1:
        return False
    return plain(name) in (*SIMILARITY.synonyms, *DISSIMILARITY.synonyms) or not numbers_rows(
        values
    )


def _has_few_labels(values: "pd.Series") -> bool:
    """Return whether the cells are texts or whole numbers, each of two rows or more on average."""

    if values.isna().any():
        return False
    is_text, labels = _is_text(values), values.nunique()
    # and no count, as of trials
    whole = values.dtype.kind in "iu" and np.mean(np.diff(values) == 1) < 0.5
    return (2 if is_text else 3) <= labels <= len(values) / 2 and (is_text or bool(whole))


def _further(frame: "pd.DataFrame", roles: ColumnsRead) -> list[str]:
    """The columns that no shape reads, and whose name or cells do not show that they say nothing of
    their rows."""
    names = column_names(frame)
    goals = {
        name
        for sides in side_columns(names)
        if sides.stem in GOALS.synonyms
        for name in sides.columns
    }
    return [
        name
        for name in names
        if name not in roles.all
        and name not in goals
        and not _names_outcome(name)
        and column(frame, name).nunique() > 1
        and not _is_date(column(frame, name))
    ]


def _names_outcome(name: str) -> bool:
    """Whether a name is that of an outcome, of the time that it took, or of a trial."""
    known = plain(re.sub(r"[(\[].*?[)\]]", "", name))  # without a unit
    return known in _OUTCOMES or known.endswith(("thisn", "thistrialn", "thisrepn", "thisindex"))


def _codes(values: "pd.Series") -> np.ndarray:
    """Numbers of the different cells; an empty one is one of them."""
    import pandas as pd

    return pd.factorize(values, use_na_sentinel=False)[0]


def _say_the_same(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two columns tell the same rows apart, of which some are alike."""
    alike = one.max() == other.max() < len(one) - 1
    return alike and _is_constant_within(one, other) and _is_constant_within(other, one)


def _is_constant_within(codes: np.ndarray, groups: np.ndarray) -> bool:
    """Whether a column is the same in all rows of each group."""
    of_group = np.zeros(groups.max() + 1, np.int64)
    of_group[groups] = codes
    return np.array_equal(of_group[groups], codes)


def _by_side(frame: "pd.DataFrame", name: str, roles: ColumnsRead) -> np.ndarray:
    """What came of each row as the place of the option, where a cell names one."""
    import pandas as pd

    def cells(name: str) -> pd.Series:
        return pd.Series(list(map(as_label, column(frame, name))), dtype=object)

    found = cells(name)
    for place, option in enumerate(roles.options):
        found = found.where(found != cells(option), place)  # a number, as labels are texts
    return _codes(found)


def _is_text(values: "pd.Series") -> bool:
    import pandas as pd

    return not pd.api.types.is_numeric_dtype(values.dtype)


def _is_date(values: "pd.Series") -> bool:
    """Whether the cells are dates, or times of a day."""
    import datetime

    if values.dtype.kind in "mM":
        return True
    cells = list(values.dropna().unique()[:_LOOKED_AT]) if _is_text(values) else []
    times = (datetime.date, datetime.time, datetime.timedelta)
    return bool(cells) and all(
        isinstance(each, times) or _DATE.match(str(each).strip()) for each in cells
    )


def _is_text_of_others(values: "pd.Series", options: Collection[str]) -> bool:
    """Whether the cells name options, or are comments: most are those of a single row."""
    if not _is_text(values):
        return False
    cells = values.dropna()
    different = {as_label(value) for value in cells.unique()}
    return different <= set(options) or 2 * len(different) > len(cells)


def _counts_rows(values: "pd.Series", people: np.ndarray | None) -> bool:
    """Whether numbers rise from row to row, of each person if they are known, as those of trials
    and of clocks do."""
    if _is_text(values):
        return False
    people = np.zeros(len(values), np.int64) if people is None else people
    order = np.argsort(people, kind="stable")
    numbers, who = values.to_numpy(float, na_value=np.nan)[order], people[order]
    same = who[1:] == who[:-1]
    by_chance = -sum(math.lgamma(rows + 1) for rows in np.bincount(people))
    return by_chance < math.log(_CHANCE) and bool((np.diff(numbers)[same] > 0).all())
