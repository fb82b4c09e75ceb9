"""When comparisons were made: days, or whole numbers such as seasons, and the comparisons of
each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._described import Facts
from thali._labels import plural
from thali.errors import Argument, ArgumentError, DataError, Setting

from ..columns import get_column
from ..judged import Frozen

if TYPE_CHECKING:
    import pandas as pd

PERIODS = ("day", "week", "month", "year")
# what a time is counted in: days since 1970, or the whole numbers of a column
DAY, STEP = "day", "step"
_FORMATS = (
    "ISO8601",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%d.%m.%y",
    "%d %b %Y",
    "%b %d, %Y",
)
_EXAMPLE = "2024-05-31"
# least numbers of such units since 1970
_SECONDS = ((1e17, "ns"), (1e14, "us"), (1e11, "ms"), (1e8, "s"))


class When(NamedTuple):
    """When the comparison of each row of a table was made."""

    name: str  # of the column
    unit: str
    number: np.ndarray  # (rows,) int64

    def of_rows(self, rows: np.ndarray) -> "When":
        """Of some of the rows."""
        return self._replace(number=self.number[rows])


class Dates(Frozen):
    """Comparisons as finely as they are known, with when they were made.

    Attributes
    ----------
    name : str
        Of the column.
    unit : {"day", "step"}
        Days since 1970-01-01, or the whole numbers of the column.
    time : int64 array, shape (rows,)
        When.
    first, second : int64 arrays, shape (rows,)
        The options, first < second.
    respondent : int64 array, shape (rows,), or (0,)
        Places of those who answered; empty if they are not known.
    x : float64 array, shape (rows, covariates)
        Covariates, with the sign of "first over second".
    wins, losses, tied : float64 arrays, shape (rows,)
        As in `PairedComparisons`.
    """

    _FIELDS = (
        "name",
        "unit",
        "time",
        "first",
        "second",
        "respondent",
        "x",
        "wins",
        "losses",
        "tied",
    )

    name: str
    unit: str
    time: np.ndarray
    first: np.ndarray
    second: np.ndarray
    respondent: np.ndarray
    x: np.ndarray
    wins: np.ndarray
    losses: np.ndarray
    tied: np.ndarray

    @classmethod
    def of_rows(
        cls,
        name: str,
        unit: str,
        time: np.ndarray,
        sides: tuple[np.ndarray, np.ndarray],
        respondent: np.ndarray,
        x: np.ndarray,
        counts: np.ndarray,
    ) -> "Dates":
        """Added up from rows, whose sides may stand in either order; `counts` (3, rows): wins,
        losses, ties."""
        first, second = sides
        turned = first > second
        x = np.where(turned[:, None], -x, x) + 0.0
        counts = np.where(turned, counts[[1, 0, 2]], counts)
        respondent = respondent.astype(np.int64)
        keys = [
            time,
            np.minimum(first, second),
            np.maximum(first, second),
            *([respondent] if len(respondent) else []),
        ]
        where, sums = rows_alike(keys, x, counts)
        keys = [key[where].astype(np.int64) for key in keys]
        return cls._from_fields(
            name, unit, *keys[:3], keys[3] if len(respondent) else respondent, x[where], *sums
        )

    def __str__(self) -> str:
        return plural(len(np.unique(self.time)), "date" if self.unit == DAY else "period")

    def _details(self) -> Facts:
        return (
            (
                "dates",
                (time_label(self.unit, self.time.min()), time_label(self.unit, self.time.max())),
            ),
        )

    @property
    def counts(self) -> np.ndarray:
        """Wins, losses and ties (3, rows)."""
        return np.stack([self.wins, self.losses, self.tied])

    def of_options(self, place: np.ndarray) -> "Dates":
        """The rows of the options that have a new place, others have -1."""
        kept = (place[self.first] >= 0) & (place[self.second] >= 0)
        return self._changed(kept, sides=(place[self.first], place[self.second]))

    def of_pairs(self, pairs: np.ndarray, n_options: int) -> "Dates":
        """The rows of some pairs, as first times the number of options plus second."""
        return self._changed(np.isin(self.first * n_options + self.second, pairs))

    def of_covariates(self, kept: list[int]) -> "Dates":
        """The rows with some of the covariates."""
        return self._changed(np.ones(len(self.time), bool), x=self.x[:, kept])

    def of_respondents(self, members: np.ndarray) -> "Dates":
        """The rows of some people, by their places."""
        return self._changed(
            np.isin(self.respondent, members), respondent=np.searchsorted(members, self.respondent)
        )

    def without_ties(self, share: float) -> "Dates":
        """The rows where a tie counts that share of a choice of either side."""
        wins, losses = self.wins + share * self.tied, self.losses + share * self.tied
        return self._changed(wins + losses > 0.0, counts=np.stack([wins, losses, 0.0 * wins]))

    def _changed(self, kept: np.ndarray, **new: Any) -> "Dates":
        """Some of the rows, of which something is new."""
        sides, x = new.get("sides", (self.first, self.second)), new.get("x", self.x)
        respondent, counts = new.get("respondent", self.respondent), new.get("counts", self.counts)
        respondent = respondent[kept] if len(respondent) else respondent
        sides = (sides[0][kept], sides[1][kept])
        return self.of_rows(
            self.name, self.unit, self.time[kept], sides, respondent, x[kept], counts[:, kept]
        )

    def between(self, since: Any, until: Any) -> "Dates":
        """Those from a time on, and up to another, both included; None: all."""
        low, high = (
            bound(self.unit, name, value) for name, value in (("since", since), ("until", until))
        )
        there = np.ones(len(self.time), bool) if low is None else self.time >= low[0]
        there &= True if high is None else self.time <= high[1]
        if not there.any():
            ends = [time_label(self.unit, end) for end in (self.time.min(), self.time.max())]
            raise DataError(
                f"No comparison is between these dates; {self.name!r} ranges from {ends[0]} to"
                f" {ends[1]}. Set ",
                Argument("since"),
                " or ",
                Argument("until"),
                " to dates in this range.",
            )
        return self._changed(there)

    def periods(self, period: str) -> "tuple[np.ndarray, list[str]]":
        """The number of the period of each row, on a calendar without gaps, and the names of the
        different ones."""
        if self.unit == STEP or period == DAY:
            number = self.time
        elif period == "week":
            number = (self.time + 3) // 7  # weeks begin on Mondays, and 1970-01-01 was a Thursday
        else:
            days = self.time.astype("datetime64[D]")
            number = days.astype("datetime64[M]" if period == "month" else "datetime64[Y]").astype(
                np.int64
            )
        return number, [_period_label(self.unit, period, each) for each in np.unique(number)]


def rows_alike(
    keys: "Sequence[np.ndarray]", x: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A row for each different combination of whole numbers and covariates, and the sums of the
    counts (.., rows)."""
    place = np.zeros(len(x), np.int64)
    for key in keys:
        _, own = np.unique(key, return_inverse=True)
        _, place = np.unique(place * (own.max(initial=0) + 1) + own, return_inverse=True)
    if x.shape[1]:
        _, place = np.unique(np.column_stack([place, x]), axis=0, return_inverse=True)
    _, where = np.unique(place.ravel(), return_index=True)
    return where, np.stack([np.bincount(place.ravel(), each, len(where)) for each in counts])


def time_label(unit: str, number: Any) -> str:
    """A time in words."""
    return str(np.datetime64(int(number), "D")) if unit == DAY else str(int(number))


def _period_label(unit: str, period: str, number: Any) -> str:
    if unit == STEP or period == DAY:
        return time_label(unit, number)
    if period == "week":
        return time_label(unit, number * 7 - 3)
    return str(np.datetime64(int(number), "M" if period == "month" else "Y"))


def bound(unit: str, argument: str, value: Any) -> tuple[int, int] | None:
    """The first and the last time that a bound such as "2024-05-31", "2024-05" or 2024 means."""
    if value is None:
        return None
    try:
        if unit == STEP:
            return int(value), int(value)
        text = np.datetime64(str(value).strip(), "D"), str(value).strip().count("-")
        named = (
            np.datetime64(str(value).strip()[:10])
            if text[1]
            else np.datetime64(str(value).strip(), "Y")
        )
        # a day, a month or a year
        after = named + np.timedelta64(1, np.datetime_data(named.dtype)[0])
        return int(text[0].astype(np.int64)), int(
            after.astype("datetime64[D]").astype(np.int64)
        ) - 1
    except (ValueError, TypeError):
        expected = f"a date such as {_EXAMPLE}" if unit == DAY else "an integer"
        raise ArgumentError(Argument(argument), f" must be {expected}; got {value!r}.") from None


class NoDate(DataError):
    """A column of dates is empty in some rows, of a table or of a part of one."""

    def __init__(self, name: str, row: int, count: int) -> None:
        super().__init__(
            f"Column {name!r} has no date in {plural(count, 'row')}, starting with row {row};"
            " enter the missing dates, or exclude rows without a date with ",
            Setting("where", f"{name} is not missing"),
            ".",
        )
        self.row, self.count = row, count


def when_of(frame: "pd.DataFrame", name: str) -> When:
    """The times in a column: dates in one of the usual forms, seconds since 1970, or whole numbers
    of periods."""
    import pandas as pd

    values = get_column(frame, name)
    blank = values.isna() | (values.astype(str).str.strip() == "")
    if blank.any():
        raise NoDate(name, int(frame.index[int(np.flatnonzero(blank)[0])]), int(blank.sum()))
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        return When(name, DAY, _days(values))
    if pd.api.types.is_numeric_dtype(values.dtype) and not pd.api.types.is_bool_dtype(values.dtype):
        return _of_numbers(name, values.to_numpy(float), frame)
    texts = values.astype(str).str.strip()
    numbers: Any = pd.to_numeric(texts, errors="coerce")
    if numbers.notna().all():
        return _of_numbers(name, numbers.to_numpy(float), frame)
    return When(name, DAY, _of_texts(name, texts, frame))


def _days(values: "pd.Series") -> np.ndarray:
    """Dates and times as days, those with a time zone at Greenwich."""
    import pandas as pd

    return (
        pd.to_datetime(values, utc=True)
        .dt.tz_localize(None)
        .to_numpy("datetime64[D]")
        .astype(np.int64)
    )


def _of_numbers(name: str, numbers: np.ndarray, frame: "pd.DataFrame") -> When:
    """Seconds and the like since 1970, days such as 20240531, or whole numbers of periods."""
    import pandas as pd

    size = np.abs(numbers).max()
    if size >= _SECONDS[-1][0]:
        per_second = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
        unit = next(unit for least, unit in _SECONDS if size >= least)
        return When(name, DAY, np.floor(numbers / per_second[unit] / 86_400.0).astype(np.int64))
    if (broken := np.flatnonzero(numbers != np.floor(numbers))).size:
        raise DataError(
            f"Column {name!r} contains {numbers[broken[0]]:g} in row {frame.index[broken[0]]},"
            f" which is not a date such as {_EXAMPLE}, a number of seconds since 1970, or an"
            " integer period."
        )
    if numbers.min() >= 19000101 and numbers.max() <= 21001231:
        days = pd.to_datetime(
            pd.Series(numbers.astype(np.int64).astype(str)), format="%Y%m%d", errors="coerce"
        )
        if days.notna().all():
            return When(name, DAY, _days(days))
    return When(name, STEP, numbers.astype(np.int64))


def _of_texts(name: str, texts: "pd.Series", frame: "pd.DataFrame") -> np.ndarray:
    """Days of dates that are all written in one form."""
    import pandas as pd

    different, place = np.unique(texts.to_numpy(str), return_inverse=True)
    words: Any = pd.Series(different)
    found, best = {}, ("", np.zeros(len(different), bool))
    for form in _FORMATS:
        read = (
            words
            if form == "ISO8601"
            else words.str.replace(r"[ T]\d{1,2}:\d{2}.*$", "", regex=True)
        )
        days: Any = pd.to_datetime(read, format=form, errors="coerce", utc=True)
        if days.notna().all():
            found[form] = _days(days)
        if days.notna().sum() > best[1].sum():
            best = form, days.notna().to_numpy()
    ways = list(found.values())
    if not ways:
        bad = int(np.flatnonzero(~best[1][place])[0])
        good = np.flatnonzero(best[1][place])
        beside = f", but {texts.iloc[good[0]]!r} in row {frame.index[good[0]]}" if good.size else ""
        raise DataError(
            f"Column {name!r} contains {texts.iloc[bad]!r} in row {frame.index[bad]}{beside};"
            f" write all dates in one format, preferably as {_EXAMPLE}."
        )
    if any(not np.array_equal(ways[0], other) for other in ways[1:]):
        k = int(np.flatnonzero(ways[0][place] != ways[1][place])[0])
        raise DataError(
            f"Column {name!r} contains {texts.iloc[k]!r} in row {frame.index[k]}, where day and"
            f" month are ambiguous; write dates as {_EXAMPLE}."
        )
    return ways[0][place]
