"""Rows of comparisons, and the fields of `PairedComparisons` as sums of these rows."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import shorten
from thali.errors import DataError

from ..option_covariates import CovariateColumns
from ..respondent_answers import Answers, RowRespondents
from .covariates import PairCovariates
from .dates import DatedComparisons, RowDates

if TYPE_CHECKING:
    from .comparisons import PairedComparisons


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

    def sort_sides(self) -> "ComparisonRows":
        """Return the rows with the smaller option index as the first."""
        is_turned = self.first > self.second
        covariates = self.covariates
        if covariates is not None:
            covariates = covariates.turn_rows(is_turned)
        return self._replace(
            first=np.minimum(self.first, self.second),
            second=np.maximum(self.first, self.second),
            counts=np.where(is_turned, self.counts[[1, 0, 2]], self.counts),
            covariates=covariates,
        )


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
    rows = rows.select_rows(is_positive)
    is_forward = rows.first < rows.second
    rows = rows.sort_sides()
    pair_keys, pair_index = np.unique(
        rows.first.astype(np.int64) * n_options + rows.second, return_inverse=True
    )
    n_pairs = len(pair_keys)
    pair_counts = (np.bincount(pair_index, row_counts, n_pairs) for row_counts in rows.counts)
    forward = answers = covariates = dates = None
    if knows_order:
        forward = np.array(
            [
                np.bincount(pair_index, row_counts, n_pairs)
                for row_counts in rows.counts * is_forward
            ]
        )
    if rows.respondents is not None:
        answers = Answers.from_rows(rows.respondents, pair_index, *rows.counts)
    if rows.covariates is not None:
        covariates = PairCovariates.from_rows(
            rows.covariates, n_options, pair_index, rows.counts, rows.respondents
        )
    if rows.dates is not None:
        respondent = np.zeros(0, np.int64)
        if rows.respondents is not None:
            respondent = rows.respondents.number
        x = np.zeros((len(rows.first), 0))
        if rows.covariates is not None:
            x = rows.covariates.values
        dates = DatedComparisons.from_rows(
            rows.dates, rows.first, rows.second, respondent, x, rows.counts
        )
    pair_sides = pair_keys // n_options, pair_keys % n_options
    return labels, *pair_sides, *pair_counts, forward, answers, covariates, dates


def list_finest_rows(data: "PairedComparisons") -> ComparisonRows:
    """Return counts by pair, covariates, respondent and date, as far as known."""
    covariates = data.covariates
    dates = data.dates
    cells: Any = covariates or data
    pair = np.arange(data.n_pairs)
    values = np.zeros((data.n_pairs, 0))
    if covariates is not None:
        pair = covariates.pair
        values = covariates.values
    answers = cells.answers
    row_counts = cells
    respondent = np.zeros(0, np.int64)
    if answers is not None:
        row_counts = answers
        respondent = answers.respondent.astype(np.int64)
        pair = pair[answers.pair]
        values = values[answers.pair]
    sides = data.first[pair], data.second[pair]
    row_respondents = columns = row_dates = rapid = None
    if answers is not None and dates is None:
        rapid = answers.rapid
    if dates is not None:
        row_counts = dates
        respondent = dates.respondent
        values = dates.x
        sides = dates.first, dates.second
        row_dates = RowDates(dates.name, dates.unit, dates.time)
    if data.answers is not None:
        people = data.answers.people
        scores = data.answers.scores
        row_respondents = RowRespondents(data.respondents, respondent, people, scores, rapid)
    if covariates is not None:
        columns = CovariateColumns(covariates.names, values, covariates.options, covariates.table)
    counts = np.stack([row_counts.wins, row_counts.losses, row_counts.tied])
    return ComparisonRows(*sides, counts, row_respondents, columns, row_dates)


def list_rows_by_order(data: "PairedComparisons") -> ComparisonRows:
    """Return counts by pair and order: where its first option was shown first, then the others."""
    forward = np.asarray(data.forward)
    backward = np.stack([data.wins, data.losses, data.tied]) - forward
    return ComparisonRows(
        np.append(data.first, data.second),
        np.append(data.second, data.first),
        np.hstack([forward, backward[[1, 0, 2]]]),
    )
