"""Tables of comparisons and choices as leaderboards read them: in all, by part, by answer."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from thali._data.column_readers import get_column, read_row_texts
from thali._data.kinds import CHOICES, PAIRS
from thali._data.pairs.dates import name_date_column
from thali._inference.index_arithmetic import find_first
from thali.errors import DataError, prefix_errors

from .layout_recognition import list_named_columns, recognise
from .layouts import BOARD_SHAPES
from .read import read_frame
from .row_filter import RowFilter
from .table_files import RawTable, load_table
from .table_layout import Reading

MAX_PARTS = 100  # values of a column that splits the rows


class ComparisonTable(NamedTuple):
    """Rows of comparisons or choices, and how to read them."""

    table: RawTable
    options: dict[str, Any]

    def build(self) -> tuple[Any, str]:
        """Convert the rows to comparisons or choices; also return a sentence on how."""
        return self._recognise_reading().build()

    def _recognise_reading(self) -> Reading:
        """Recognise the table's layout and columns."""
        return recognise(self.table, PAIRS, CHOICES, shapes=BOARD_SHAPES, asks=True, **self.options)

    def split_by(self, name: str) -> dict[str, Any]:
        """Return the comparisons for each value of a column, without empty cells."""
        with prefix_errors(self.table.file):
            column = get_column(self.table.frame, name)
        distinct_values, value_index = np.unique(
            read_row_texts(column).astype(str), return_inverse=True
        )
        if distinct_values.size - ("" in distinct_values) > MAX_PARTS:
            raise DataError(
                f"{self.table.file}: Column {name!r} has {distinct_values.size:,} different values,"
                f" and each would get a leaderboard; choose a column with at most {MAX_PARTS}."
            )
        return {
            label: self._convert_rows(value_index == k, name, label)
            for k, label in enumerate(distinct_values.tolist())
            if label
        }

    def drop_known_answers(
        self, name: str, known_hashes: np.ndarray
    ) -> "tuple[ComparisonTable, np.ndarray, int]":
        """Return the table without known answers, all known hashes, and the number dropped.

        Identifiers are known by their hashes, of 8 bytes each.
        """
        from pandas.util import hash_array

        frame = self.table.frame
        with prefix_errors(self.table.file):
            identifiers = get_column(frame, name)
            if (row := find_first(identifiers.isna().to_numpy())) is not None:
                raise DataError(
                    f"Column {name!r} identifies answers but is empty in row"
                    f" {frame.index[row]}; fill it in."
                )
        compute_hashes: Any = hash_array  # pandas declares it as an object
        row_hashes = compute_hashes(read_row_texts(identifiers), categorize=False)
        answer_index, is_repeated, answer_counts = self._group_answers()
        _, first_rows, hash_index = np.unique(row_hashes, return_index=True, return_inverse=True)
        is_known = np.isin(row_hashes, known_hashes) | (
            answer_index[first_rows][hash_index] != answer_index
        )
        n_rows_by_answer = np.bincount(answer_index)
        n_known_by_answer = np.bincount(answer_index, is_known)
        if (
            k := find_first((n_known_by_answer > 0) & (n_known_by_answer < n_rows_by_answer))
        ) is not None:
            is_in_answer = answer_index == k
            known_row = frame.index[is_in_answer & is_known][0]
            new_row = frame.index[is_in_answer & ~is_known][0]
            raise DataError(
                f"{self.table.file}: rows {known_row} and {new_row} belong to one answer, but their"
                f" identifiers in {name!r} differ, so only row {known_row} was counted when the"
                " file was first read; give all rows of an answer the same identifier."
            )
        is_kept = ~is_known & ~is_repeated
        remaining_table = self._replace(table=replace(self.table, frame=frame.loc[is_kept]))
        n_kept = np.unique(answer_index[is_kept]).size
        return (
            remaining_table,
            np.union1d(known_hashes, row_hashes),
            int(answer_counts.sum()) - n_kept,
        )

    def drop_column(self, name: str) -> "ComparisonTable":
        """Drop a column that the reading does not use."""
        roles = self._recognise_reading().roles
        if roles is None:
            return self
        if name in {*roles.all, *(roles.answer or ()), *list_named_columns(self.options)}:
            return self
        return self._replace(table=replace(self.table, frame=self.table.frame.drop(columns=name)))

    def _group_answers(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return each row's answer number, which rows repeat, and answer counts."""
        frame = self.table.frame
        row_indices = np.arange(len(frame))
        roles = self._recognise_reading().roles
        if roles is None or roles.answer is None:
            return row_indices, row_indices < 0, np.ones(len(frame))
        answer_index = 0 * row_indices
        if roles.answer:
            answer_index = (
                frame.groupby(list(roles.answer), sort=False, dropna=False).ngroup().to_numpy()
            )
        equal_rows = frame.groupby(list(frame.columns), sort=False, dropna=False)
        repetition_number = equal_rows.cumcount().to_numpy()
        answer_counts = np.zeros(answer_index.max() + 1)
        np.maximum.at(answer_counts, answer_index, repetition_number + 1.0)
        return answer_index, repetition_number > 0, answer_counts

    def _convert_rows(self, is_selected: np.ndarray, name: str, label: str) -> Any:
        """Convert these rows to comparisons; errors name the column's value."""
        table = self.table
        file = f"{table.file}, {name} {label!r}"
        table = replace(table, frame=table.frame.loc[is_selected], file=file, note="")
        with prefix_errors(table.file):
            return self._replace(table=table)._recognise_reading().convert()[0]


def read_rows(
    source: Any, options: dict[str, Any], extra_columns: Sequence[str]
) -> ComparisonTable:
    """Load the selected rows of a file or a data frame.

    `extra_columns`: columns that are used although no argument of the layout names them.
    """
    options = dict(options)
    conditions = RowFilter.parse(options.pop("where", None))
    dropped_columns = options.pop("without", None) or ()
    named_columns = [*extra_columns, *list_named_columns(options)]
    if isinstance(source, str | Path):
        table = load_table(source)
    else:
        table = read_frame(source)
    with prefix_errors(table.file):
        table = table.filter_rows(conditions).drop_columns(dropped_columns, named_columns)
        return ComparisonTable(table, name_date_column(table.frame, options))
