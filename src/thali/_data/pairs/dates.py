"""Dates of comparisons: days since 1970, or integer periods such as seasons."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.index_arithmetic import find_first, sum_by_index
from thali._labels import format_plural, is_number, shorten
from thali._object_descriptions import Facts
from thali.errors import Argument, ArgumentError, DataError, Setting

from ..base_classes import Frozen
from ..column_readers import get_column, number_distinct_rows
from ..column_roles import column_names
from ..respondent_answers import RowRespondents

if TYPE_CHECKING:
    import pandas as pd

PERIODS = ("day", "week", "month", "year")
# units of time: days since 1970, or the integers of a column
DAY = "day"
STEP = "step"
NOUNS = {DAY: "date", STEP: "period"}
_LETTERS: dict[str, Any] = {"month": "M", "year": "Y"}  # NumPy's letters of periods
_FORMATS = (
    "ISO8601",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%d.%m.%y",
    "%d/%m/%y",
    "%m/%d/%y",
    "%d-%m-%y",
    "%d %b %Y",
    "%b %d, %Y",
)
_EXAMPLE = "2024-05-31"
_TIME_NAME = re.compile("day|date|time|stamp|created", re.IGNORECASE)
_N_ROWS_SEEN = 200  # rows that show whether a column contains dates
# smallest numbers treated as nano-, micro-, milliseconds and seconds since 1970, per second
_TICKS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3), (1e8, 1.0))
_RAPID = 1.0  # seconds


class RowDates(NamedTuple):
    """The date of each table row's comparison, and its unit."""

    name: str  # of the column
    unit: str
    number: np.ndarray  # (rows,) int64

    def select_rows(self, rows: np.ndarray) -> "RowDates":
        """Return the dates of the given rows."""
        return self._replace(number=self.number[rows])


class DatedComparisons(Frozen):
    """Counts by date, pair, respondent and covariate values.

    Attributes
    ----------
    name : str
        Of the column.
    unit : {"day", "step"}
        Days since 1970-01-01, or the integers of the column.
    time : int64 array, shape (rows,)
        When.
    first, second : int64 arrays, shape (rows,)
        The options, first < second.
    respondent : int64 array, shape (rows,), or (0,)
        Indices of respondents; empty if respondents are unknown.
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

    def __str__(self) -> str:
        return format_plural(len(np.unique(self.time)), NOUNS[self.unit])

    def _details(self) -> Facts:
        """Return (name, labels) facts that a notebook shows below the size."""
        return (("dates", self.ends),)

    @property
    def ends(self) -> tuple[str, str]:
        """First and last date, as texts."""
        return format_time(self.unit, self.time.min()), format_time(self.unit, self.time.max())

    def are_between(self, since: Any, until: Any) -> np.ndarray:
        """Return which rows are between two dates, both included; None: no limit."""
        limits = self.time.min(), self.time.max()
        first_time, _ = parse_bound(self.unit, "since", since) or limits
        _, last_time = parse_bound(self.unit, "until", until) or limits
        is_between = (self.time >= first_time) & (self.time <= last_time)
        if not is_between.any():
            raise DataError(
                f"No comparison falls between these dates; {self.name!r} ranges from"
                f" {' to '.join(self.ends)}. Set ",
                Argument("since"),
                " or ",
                Argument("until"),
                " to dates in this range.",
            )
        return is_between

    def periods(self, period: str) -> "tuple[np.ndarray, list[str]]":
        """Return each row's period ("month", "year", ...), and all period names.

        Periods are numbered on a calendar without gaps.
        """
        if self.unit == STEP or period == DAY:
            period_numbers = self.time
        elif period == "week":
            # weeks begin on Mondays, and 1970-01-01 was a Thursday
            period_numbers = (self.time + 3) // 7
        else:
            days = self.time.astype("datetime64[D]")
            period_numbers = days.astype(f"datetime64[{_LETTERS[period]}]").astype(np.int64)
        return period_numbers, [
            _format_period(self.unit, period, time) for time in np.unique(period_numbers)
        ]


def group_equal_rows(
    keys: "Sequence[np.ndarray]", x: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Sum counts of rows with equal keys and covariates; also return one row of each.

    Return the first row of each group, and the sums.
    """
    group_index, first_rows = number_distinct_rows([*keys, *x.T])
    return first_rows, sum_by_index(group_index, counts, len(first_rows))


def format_time(unit: str, time: int) -> str:
    """Format days since 1970 as a date, or an integer period as a number."""
    if unit == STEP:
        return str(int(time))
    return str(np.datetime64(int(time), "D"))


def _format_period(unit: str, period: str, period_start: int) -> str:
    """Format a period by its start, such as "2024-05" for a month."""
    if unit == STEP or period == DAY:
        return format_time(unit, period_start)
    if period == "week":
        return format_time(unit, period_start * 7 - 3)
    return str(np.datetime64(int(period_start), _LETTERS[period]))


def parse_bound(unit: str, argument: str, value: Any) -> tuple[int, int] | None:
    """Return first and last day of a bound such as "2024-05" or 2024; None for None."""
    if value is None:
        return None
    try:
        if unit == STEP:
            return int(value), int(value)
        bound_text = str(value).strip()
        first_day = np.datetime64(bound_text, "D")
        # a day, a month or a year
        if "-" in bound_text:
            period_start = np.datetime64(bound_text[:10])
        else:
            period_start = np.datetime64(bound_text, "Y")
        next_period = period_start + np.timedelta64(1, np.datetime_data(period_start.dtype)[0])
        end_day = next_period.astype("datetime64[D]")
        return int(first_day.astype(np.int64)), int(end_day.astype(np.int64)) - 1
    except (ValueError, TypeError):
        expected_text = "an integer"
        if unit == DAY:
            expected_text = f"a date such as {_EXAMPLE}"
        raise ArgumentError(
            Argument(argument), f" must be {expected_text}; got {value!r}."
        ) from None


def read_dates(frame: "pd.DataFrame", name: str) -> RowDates:
    """Read a column of dates in a common format, as Unix time, or as integers."""
    import pandas as pd

    date_column = get_column(frame, name)
    date_texts = date_column
    if not (has_dates := pd.api.types.is_datetime64_any_dtype(date_column.dtype)):
        date_texts = date_column.astype(object).map(str).str.strip()
    is_blank = date_column.isna() | (date_texts == "")
    if (row := find_first(is_blank.to_numpy())) is not None:
        raise DataError(
            f"Column {name!r} has no date in {format_plural(int(is_blank.sum()), 'row')} (first:"
            f" row {frame.index[row]}); enter the missing dates, or exclude rows without a date"
            " with ",
            Setting("where", f"{name} is not missing"),
            ".",
        )
    if has_dates:
        return RowDates(name, DAY, _convert_days(date_column))
    parsed_numbers: Any = pd.to_numeric(date_texts, errors="coerce")
    if parsed_numbers.notna().all():
        return _parse_numbers(name, parsed_numbers.to_numpy(float), frame)
    return RowDates(name, DAY, _parse_texts(name, date_texts, frame))


def name_date_column(frame: "pd.DataFrame", columns: dict[str, Any]) -> dict[str, Any]:
    """Return the columns; `finds_date` is replaced by `date`, the only column of dates."""
    columns = dict(columns)
    if not columns.pop("finds_date", False) or columns.get("date") is not None:
        return columns
    named_columns = [name for name in columns.values() if isinstance(name, str)]
    date_columns = [
        name
        for name in column_names(frame)
        if name not in named_columns and _contains_dates(frame, name)
    ]
    if len(date_columns) > 1:
        raise DataError(
            f"These comparisons have several columns of dates ({shorten(date_columns)}); choose"
            " one with ",
            Setting("date", date_columns[0]),
            ".",
        )
    if not date_columns:
        return columns
    return columns | {"date": date_columns[0]}


def _contains_dates(frame: "pd.DataFrame", name: str) -> bool:
    """Return whether the first rows of a column are dates."""
    first_rows = frame.head(_N_ROWS_SEEN)
    try:
        row_dates = read_dates(first_rows, name)
    except DataError:
        return False
    # Numbers may also be identifiers or scores, so their name decides.
    is_numeric = get_column(first_rows, name).map(str).map(is_number).all()
    return row_dates.unit == DAY and (not is_numeric or _TIME_NAME.search(name) is not None)


def _convert_days(date_column: "pd.Series") -> np.ndarray:
    """Convert pandas dates to days since 1970; time zones are converted to UTC."""
    import pandas as pd

    return (
        pd.to_datetime(date_column, utc=True)
        .dt.tz_localize(None)
        .to_numpy("datetime64[D]")
        .astype(np.int64)
    )


def _parse_numbers(column: str, numbers: np.ndarray, frame: "pd.DataFrame") -> RowDates:
    """Convert numbers to dates: Unix times, days such as 20240531, or integer periods."""
    import pandas as pd

    if (ticks_per_second := _find_ticks(numbers)) is not None:
        return RowDates(
            column, DAY, np.floor(numbers / ticks_per_second / 86_400.0).astype(np.int64)
        )
    if (row := find_first(numbers != np.floor(numbers))) is not None:
        raise DataError(
            f"Column {column!r} contains {numbers[row]:g} in row {frame.index[row]},"
            f" which is not a date such as {_EXAMPLE}, a number of seconds since 1970, or an"
            " integer period."
        )
    if numbers.min() >= 19000101 and numbers.max() <= 21001231:
        days = pd.to_datetime(
            pd.Series(numbers.astype(np.int64).astype(str)), format="%Y%m%d", errors="coerce"
        )
        if days.notna().all():
            return RowDates(column, DAY, _convert_days(days))
    return RowDates(column, STEP, numbers.astype(np.int64))


def _find_ticks(numbers: np.ndarray) -> float | None:
    """Return the unit of times since 1970, per second; None for other numbers."""
    largest_magnitude = np.nanmax(np.abs(numbers))
    return next((ticks for least, ticks in _TICKS if largest_magnitude >= least), None)


def count_rapid_votes(
    frame: "pd.DataFrame",
    row_respondents: RowRespondents | None,
    first: np.ndarray,
    second: np.ndarray,
    counts: np.ndarray,
) -> RowRespondents | None:
    """Add the rows' votes within a second after another of the same respondent and pair."""
    time_columns = [name for name in column_names(frame) if _TIME_NAME.search(name)]
    if row_respondents is None or not time_columns:
        return row_respondents
    low = np.minimum(first, second)
    high = np.maximum(first, second)
    group, _ = number_distinct_rows([row_respondents.number, low, high])
    rows = np.flatnonzero(np.bincount(group)[group] > 1)
    for name in time_columns:
        seconds = _read_seconds(get_column(frame, name).iloc[rows])
        if seconds is not None:
            order = np.lexsort((seconds, group[rows]))
            rows = rows[order]
            is_rapid = (np.diff(group[rows]) == 0) & (np.diff(seconds[order]) <= _RAPID)
            rapid = np.zeros(len(group))
            rapid[rows[1:]] = is_rapid
            return row_respondents._replace(rapid=rapid * counts.sum(axis=0))
    return row_respondents


def _read_seconds(column: "pd.Series") -> np.ndarray | None:
    """Return seconds since 1970, NaN where missing; None for a column without seconds."""
    import pandas as pd

    texts = column.map(str)
    numbers: Any = pd.to_numeric(texts, errors="coerce")
    numbers = numbers.where(np.isfinite(numbers))
    if numbers.notna().any():
        if (ticks_per_second := _find_ticks(numbers.to_numpy(float))) is None:
            return None
        seconds = numbers / ticks_per_second
    else:
        moments: Any = pd.to_datetime(texts, format="ISO8601", errors="coerce", utc=True)
        seconds = (moments - pd.Timestamp(0, tz="UTC")).dt.total_seconds()
    if not (seconds % 60 > 0).any():  # dates, or times in minutes
        return None
    return seconds.to_numpy(float)


def _parse_texts(column: str, texts: "pd.Series", frame: "pd.DataFrame") -> np.ndarray:
    """Parse dates in one common format as days since 1970; raise if ambiguous."""
    import pandas as pd

    distinct_texts, text_index = np.unique(texts.to_numpy(str), return_inverse=True)
    distinct_series: Any = pd.Series(distinct_texts)
    possible_days = []
    is_read_best = np.zeros(len(distinct_texts), bool)
    for date_format in _FORMATS:
        date_texts = distinct_series
        if date_format != "ISO8601":
            date_texts = distinct_series.str.replace(r"[ T]\d{1,2}:\d{2}.*$", "", regex=True)
        days: Any = pd.to_datetime(date_texts, format=date_format, errors="coerce", utc=True)
        is_read = days.notna().to_numpy()
        if is_read.all():
            possible_days.append(_convert_days(days))
        if is_read.sum() > is_read_best.sum():
            is_read_best = is_read
    if not possible_days:
        is_read_row = is_read_best[text_index]
        bad_row = is_read_row.argmin()
        contrast_text = ""
        if (good_row := find_first(is_read_row)) is not None:
            contrast_text = f", but {texts.iloc[good_row]!r} in row {frame.index[good_row]}"
        raise DataError(
            f"Column {column!r} contains {texts.iloc[bad_row]!r} in row"
            f" {frame.index[bad_row]}{contrast_text};"
            f" write all dates in one format, preferably as {_EXAMPLE}."
        )
    if any(not np.array_equal(possible_days[0], days) for days in possible_days[1:]):
        k = (possible_days[0] != possible_days[1])[text_index].argmax()
        raise DataError(
            f"Column {column!r} contains {texts.iloc[k]!r} in row {frame.index[k]}, where day and"
            f" month are ambiguous; write dates as {_EXAMPLE}."
        )
    return possible_days[0][text_index]
