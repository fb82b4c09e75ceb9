"""Rows of comparisons, and the fields of `PairedComparisons` as sums of these rows."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.index_arithmetic import find_distinct_keys, sum_by_index
from thali._labels import shorten
from thali.errors import DataError

from ..base_classes import build_from_fields
from ..option_covariates import CovariateColumns
from ..respondent_answers import Answers, RowRespondents, merge_respondents, read_respondents
from .covariates import PairCovariates, read_covariates
from .dates import DatedComparisons, RowDates, count_rapid_votes, group_equal_rows, read_dates

if TYPE_CHECKING:
    import pandas as pd

    from .column_recognition import PairColumns
    from .comparisons import PairedComparisons
    from .trial_rows import TrialColumns


class ComparisonRows(NamedTuple):
    """Counts of choices between two options, with what is known about each row."""

    first: np.ndarray  # (rows,) option indices; of the option shown first, if the order is known
    second: np.ndarray
    counts: np.ndarray  # (3, rows): choices of the first, of the second, and ties
    respondents: RowRespondents | None = None
    covariates: CovariateColumns | None = None  # with the sign of "first over second"
    dates: RowDates | None = None

    def select_rows(self, rows: np.ndarray) -> "ComparisonRows":
        """Return the given rows, a mask or indices."""
        respondents, covariates, dates = (
            None if detail is None else detail.select_rows(rows) for detail in self[3:]
        )
        return self._replace(
            first=self.first[rows],
            second=self.second[rows],
            counts=self.counts[:, rows],
            respondents=respondents,
            covariates=covariates,
            dates=dates,
        )

    def turn_rows(self, is_turned: np.ndarray) -> "ComparisonRows":
        """Return the rows with the two sides of some rows exchanged."""
        covariates = self.covariates
        if covariates is not None:
            covariates = covariates.turn_rows(is_turned)
        counts = self.counts.copy()
        counts[:2] = np.where(is_turned, counts[1::-1], counts[:2])
        return self._replace(
            first=np.where(is_turned, self.second, self.first),
            second=np.where(is_turned, self.first, self.second),
            counts=counts,
            covariates=covariates,
        )


def read_row_details(
    rows: ComparisonRows,
    frame: "pd.DataFrame",
    columns: "PairColumns | TrialColumns",
    answer_columns: Iterable[str | None],
    covariates: Sequence[str] | None,
    date: str | None,
) -> ComparisonRows:
    """Add the respondents, covariates and dates of the rows of a table.

    No covariate is read from `answer_columns`.
    """
    respondents = read_respondents(frame, columns.respondent, columns.used)
    respondents = count_rapid_votes(frame, respondents, rows.first, rows.second, rows.counts)
    covariate_rows = row_dates = None
    if covariates is not None:
        used_columns = list(filter(None, answer_columns))
        covariate_rows = read_covariates(frame, covariates, columns.options, used_columns)
    if date is not None:
        row_dates = read_dates(frame, date)
    return rows._replace(respondents=respondents, covariates=covariate_rows, dates=row_dates)


def has_mirrored_rows(rows: ComparisonRows) -> bool:
    """Return whether all rows list the counts of another row from the other side."""
    wins, losses, _ = rows.counts
    # few or unanimous choices of options in both orders also agree
    return int(np.count_nonzero(wins * losses)) > 5 and (
        {*zip(rows.first, rows.second, wins, losses, strict=True)}
        == {*zip(rows.second, rows.first, losses, wins, strict=True)}
    )


def stack_rows(parts: Sequence[ComparisonRows]) -> ComparisonRows:
    """Return all rows, with respondents if all parts know them; the same name is one person."""
    respondents = [rows.respondents for rows in parts if rows.respondents is not None]
    covariates = [rows.covariates for rows in parts if rows.covariates is not None]
    dates = [rows.dates for rows in parts if rows.dates is not None]
    stacked_rows = ComparisonRows(
        np.concatenate([rows.first for rows in parts]),
        np.concatenate([rows.second for rows in parts]),
        np.hstack([rows.counts for rows in parts]),
    )
    if len(respondents) == len(parts):
        stacked_rows = stacked_rows._replace(respondents=merge_respondents(respondents))
    if covariates:
        values = np.concatenate([columns.values for columns in covariates])
        stacked_rows = stacked_rows._replace(covariates=covariates[0]._replace(values=values))
    if dates:
        numbers = np.concatenate([row_dates.number for row_dates in dates])
        stacked_rows = stacked_rows._replace(dates=dates[0]._replace(number=numbers))
    return stacked_rows


def build_fields(
    labels: tuple[str, ...], rows: ComparisonRows, knows_order: bool = False
) -> tuple[Any, ...]:
    """Sum rows to the fields of `PairedComparisons`.

    `knows_order` states whether the first option of each row was shown first. Raise a DataError if
    nothing was compared.
    """
    n_options = len(labels)
    if n_options < 2:
        raise DataError(
            f"Comparisons require at least two options; got {shorten(labels) or 'none'}."
        )
    is_positive = rows.counts.sum(axis=0) > 0
    if not is_positive.any():
        raise DataError(
            f"There are no comparisons among the {n_options:,} options: every count is 0; check the"
            " counts."
        )
    if not is_positive.all():
        rows = rows.select_rows(is_positive)
    is_turned = rows.first > rows.second
    rows = rows.turn_rows(is_turned)
    row_keys = rows.first.astype(np.int64) * n_options + rows.second
    pair_keys, pair_index = find_distinct_keys(row_keys, n_options**2)
    wins, losses, tied = sum_by_index(pair_index, rows.counts, len(pair_keys))
    forward = answers = covariates = dates = None
    if knows_order:
        forward = sum_by_index(pair_index, rows.counts * ~is_turned, len(pair_keys))
    if rows.respondents is not None:
        answers = Answers.from_rows(rows.respondents, pair_index, *rows.counts)
    if rows.covariates is not None:
        covariates = PairCovariates.from_rows(
            rows.covariates, n_options, pair_index, rows.counts, rows.respondents
        )
    if rows.dates is not None:
        dates = _sum_by_date(rows, rows.dates)
    first = pair_keys // n_options
    second = pair_keys % n_options
    return labels, first, second, wins, losses, tied, forward, answers, covariates, dates


def _sum_by_date(rows: ComparisonRows, row_dates: RowDates) -> DatedComparisons:
    """Sum rows with equal date, pair, respondent and covariates."""
    key_columns = [row_dates.number, rows.first, rows.second]
    respondent = np.zeros(0, np.int64)
    x = np.zeros((len(rows.first), 0))
    if rows.respondents is not None:
        respondent = rows.respondents.number
        key_columns.append(respondent)
    if rows.covariates is not None:
        x = rows.covariates.values
    row_index, counts = group_equal_rows(key_columns, x, rows.counts)
    time, first, second = (column[row_index].astype(np.int64) for column in key_columns[:3])
    if len(respondent):
        respondent = respondent[row_index]
    return build_from_fields(
        DatedComparisons,
        row_dates.name,
        row_dates.unit,
        time,
        first,
        second,
        respondent,
        x[row_index],
        *counts,
    )


def _stack_counts(
    counted: "PairedComparisons | PairCovariates | Answers | DatedComparisons",
) -> np.ndarray:
    """Return the counts of wins, losses and ties of comparisons, cells or answers, (3, rows)."""
    return np.stack([counted.wins, counted.losses, counted.tied])


def list_pair_rows(data: "PairedComparisons") -> ComparisonRows:
    """Return counts by pair."""
    return ComparisonRows(data.first, data.second, _stack_counts(data))


def list_cell_rows(data: "PairedComparisons") -> ComparisonRows:
    """Return counts by pair and covariates."""
    rows = list_pair_rows(data)
    covariates = data.covariates
    if covariates is None:
        return rows
    columns = CovariateColumns(
        covariates.names, covariates.values, covariates.options, covariates.table
    )
    return rows.select_rows(covariates.pair)._replace(
        counts=_stack_counts(covariates), covariates=columns
    )


def list_finest_rows(data: "PairedComparisons") -> ComparisonRows:
    """Return counts by pair, covariates, respondent and date, as far as known."""
    rows = list_cell_rows(data)
    counted_cells: Any = data.covariates or data
    answers = counted_cells.answers
    if answers is not None:
        respondents = RowRespondents(
            answers.respondents,
            answers.respondent.astype(np.int64),
            answers.people,
            answers.scores,
            answers.rapid,
        )
        rows = rows.select_rows(answers.pair)._replace(
            counts=_stack_counts(answers), respondents=respondents
        )
    if (dates := data.dates) is not None:
        respondents = rows.respondents
        columns = rows.covariates
        if respondents is not None:
            respondents = respondents._replace(number=dates.respondent, rapid=None)
        if columns is not None:
            columns = columns._replace(values=dates.x)
        row_dates = RowDates(dates.name, dates.unit, dates.time)
        rows = ComparisonRows(
            dates.first, dates.second, _stack_counts(dates), respondents, columns, row_dates
        )
    return rows


def split_by_order(data: "PairedComparisons") -> tuple[ComparisonRows, ComparisonRows]:
    """Return counts by pair where its first option was shown first, and where its second was."""
    rows = list_pair_rows(data)
    forward = np.asarray(data.forward)
    return rows._replace(counts=forward), rows._replace(counts=rows.counts - forward)


def stack_orders(forward_rows: ComparisonRows, backward_rows: ComparisonRows) -> ComparisonRows:
    """Return rows of both orders, with the option shown first as the first of each row."""
    is_turned = backward_rows.first < backward_rows.second
    return stack_rows([forward_rows, backward_rows.turn_rows(is_turned)])


def list_rows_by_order(data: "PairedComparisons") -> ComparisonRows:
    """Return counts by pair and order, with the option shown first as the first of each row."""
    forward_rows, backward_rows = split_by_order(data)
    return stack_orders(forward_rows, backward_rows)
