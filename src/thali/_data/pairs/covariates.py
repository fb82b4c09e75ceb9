"""Covariates of comparisons (such as position or judge) and of options (such as text length)."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.index_arithmetic import find_first, sum_by_index
from thali._labels import check_labels, format_label, shorten
from thali.errors import Argument, ArgumentError, DataError

from ..base_classes import build_from_fields
from ..column_readers import (
    add_note,
    convert_frame,
    encode_column,
    get_column,
    number_distinct_rows,
)
from ..column_roles import SIDES, column_names, has_numbers
from ..number_checks import refuse_extremes
from ..option_covariates import CovariateColumns, OptionCovariates
from ..respondent_answers import Answers, RowRespondents

if TYPE_CHECKING:
    import pandas as pd

_MIN_SHOWN_EFFECT = 0.005  # log odds below which odds round to 1.00
ORDER = "order"  # the covariate that is 1 for the option shown first, or at home


class CovariateCells(NamedTuple):
    """Counts by cell, a pair of options with equal covariate values."""

    pair: np.ndarray  # (cells,) index among the compared pairs
    first: np.ndarray
    second: np.ndarray
    wins: np.ndarray
    losses: np.ndarray
    tied: np.ndarray
    # (cells, covariates): effect on the log odds of the first, per unit of a coefficient
    x: np.ndarray
    answers: Answers | None  # the counts by person; its pairs are cells


class PairCovariates(OptionCovariates):
    """Comparisons counted by cell, a pair of options with equal covariate values.

    Attributes
    ----------
    names : tuple of str
    pair : int64 array, shape (cells,)
        Place among the compared pairs, ascending.
    values : float64 array, shape (cells, covariates)
        Of the comparisons, with the sign of "first of the pair over its second"; 0 for covariates
        of options.
    options : float64 array, shape (options, covariates)
        Of the options; 0 for covariates of comparisons. A cell has the sum of its value and of the
        difference between the first of the pair and its second.
    wins, losses, tied : float64 arrays, shape (cells,)
        As in `PairedComparisons`.
    answers : Answers or None
        The same counts by person; its pairs are cells.
    table : DataFrame or None
        As of `OptionCovariates`.
    """

    _FIELDS = ("names", "pair", "values", "options", "wins", "losses", "tied", "answers", "table")

    pair: np.ndarray
    values: np.ndarray
    wins: np.ndarray
    losses: np.ndarray
    tied: np.ndarray
    answers: Answers | None

    def list_effect_units(self, effects: Sequence[float]) -> list[float]:
        """Return the covariate difference for which each effect is reported.

        The unit is 1; if the odds per unit round to 1, it is the power of ten just below the
        standard deviation.
        """
        cell_counts = self.wins + self.losses + self.tied
        effect_units = []
        for effect, covariate_values in zip(effects, self.values.T, strict=True):
            deviations = covariate_values - np.average(covariate_values, weights=cell_counts)
            sd = float(np.sqrt(np.average(deviations**2, weights=cell_counts)))
            is_unit_one = abs(effect) >= _MIN_SHOWN_EFFECT or sd <= 1.0
            effect_units.append(1.0 if is_unit_one else float(f"1e{np.floor(np.log10(sd)):.0f}"))
        return effect_units

    @classmethod
    def from_rows(
        cls,
        columns: CovariateColumns,
        n_options: int,
        pair: np.ndarray,
        counts: np.ndarray,
        row_respondents: RowRespondents | None,
    ) -> "PairCovariates":
        """Sum rows to counts by pair and covariate values.

        `counts` are the wins, losses and ties of the rows, shape (3, rows).
        """
        cell_index, first_rows = number_distinct_rows([pair, *columns.values.T])
        option_values = columns.options
        if option_values is None:
            option_values = np.zeros((n_options, len(columns.names)))
        answers = None
        if row_respondents is not None:
            answers = Answers.from_rows(row_respondents, cell_index, *counts)
        return build_from_fields(
            cls,
            columns.names,
            pair[first_rows],
            columns.values[first_rows],
            option_values,
            *sum_by_index(cell_index, counts, len(first_rows)),
            answers,
            columns.table,
        )


def read_covariates(
    frame: "pd.DataFrame",
    names: Sequence[str],
    option_columns: tuple[str, str] | None,
    used_columns: Sequence[str],
) -> CovariateColumns:
    """Read columns as covariates of comparisons; categories become indicators.

    `option_columns` are the columns of the first and second option; None for covariates of options.
    "order", unless a column has this name, is 1 in every row. Two columns of either side (length_a,
    length_b) become the difference between first and second.
    """
    if isinstance(names, str):
        names = [names]
    if not names:
        raise DataError("No covariates were given; specify at least one column.")
    if repeated_names := [name for name in names if names.count(name) > 1]:
        raise DataError(f"Covariate {repeated_names[0]!r} is listed twice; remove the duplicate.")
    values_by_name: dict[str, np.ndarray] = {}
    columns = column_names(frame)
    free_columns = [name for name in columns if name not in used_columns]
    for name in names:
        side_pair = None
        if option_columns is not None:
            if name == ORDER and ORDER not in columns:
                values_by_name[ORDER] = np.ones(len(frame))
                continue
            side_pair = find_side_pair(name, free_columns, option_columns)
        if side_pair is not None:
            values_by_name |= _compute_differences(frame, *side_pair)
            continue
        values = get_column(frame, name)
        if name in used_columns:
            raise DataError(
                f"Column {name!r} contains the options or the outcome and cannot be a covariate;"
                " give the name of another column."
            )
        if has_numbers(values):
            values_by_name |= _read_number_covariate(values, frame)
        else:
            values_by_name |= _build_indicators(frame, name)
    for name, values in values_by_name.items():
        refuse_extremes(values, f"value of the covariate {name!r}")
    return CovariateColumns(tuple(values_by_name), np.column_stack(list(values_by_name.values())))


def read_option_covariates(frame: "pd.DataFrame", labels: Sequence[str]) -> CovariateColumns:
    """Read all columns of a table of options as covariates (options, covariates).

    The index of the table contains the labels.
    """
    row_labels = check_labels(frame.index, "Labels in the table of option covariates")
    if missing_labels := [label for label in labels if label not in row_labels]:
        raise DataError(
            f"The option covariates have no row for {shorten(missing_labels)}; the index of the"
            f" table must contain the option labels, but it contains only {shorten(row_labels, 3)}."
        )
    if unused_labels := [label for label in row_labels if label not in labels]:
        add_note(
            "covariates not used, because these options do not occur in the data:"
            f" {shorten(unused_labels)}"
        )
    table = frame.set_axis(row_labels).loc[list(labels)]
    return read_covariates(table, column_names(table), None, ())._replace(table=table)


def read_new_options(
    frame: "pd.DataFrame", covariates: OptionCovariates | None, labels: Sequence[str]
) -> tuple[list[str], np.ndarray]:
    """Read covariates of options that are not in the data, coded as those of the data.

    `labels` are the options of the data. Return new labels and values (options, covariates).
    """
    import pandas as pd

    name = Argument("options")
    if covariates is None or covariates.table is None:
        raise ArgumentError(
            name,
            " requires covariates of options; add them to the data with",
            " with_option_covariates, and refit.",
        )
    table = covariates.table
    frame = convert_frame(frame)
    columns = column_names(table)
    if sorted(columns) != sorted(column_names(frame)):
        raise ArgumentError(
            name,
            f" contains {shorten(column_names(frame))}, but the fit used"
            f" {shorten(columns)}; give the same columns.",
        )
    new_labels = [format_label(label) for label in frame.index]
    check_labels([*labels, *new_labels], "The labels of old and new options")
    new_rows = frame.set_axis(new_labels)[list(table)].astype(
        table.select_dtypes("category").dtypes
    )
    all_rows: Any = pd.concat([table, new_rows])
    columns_of_all = read_option_covariates(all_rows, [*table.index, *new_labels])
    if columns_of_all.names != read_option_covariates(table, list(table.index)).names:
        raise ArgumentError(
            name,
            " contains text instead of a number, or a category that no fitted option has; the"
            f" covariates are {shorten(covariates.names, 12)}.",
        )
    values = np.zeros((len(new_labels), len(covariates.names)))
    for k, covariate_name in enumerate(covariates.names):
        if covariate_name in columns_of_all.names:
            column_index = columns_of_all.names.index(covariate_name)
            values[:, k] = columns_of_all.values[len(table) :, column_index]
    return new_labels, values


# Covariates in two columns, one for each side -----------------------------------------------------


_PARTNERS = {
    mark: partner
    for marks in SIDES
    if marks != ("i", "j")
    for mark, partner in (marks, marks[::-1])
}


def list_covariate_columns(
    names: Sequence[str] | None, columns: Sequence[str], option_columns: tuple[str, str]
) -> list[str]:
    """Return the table columns from which these covariates are read."""
    candidates = [
        column
        for name in names or ()
        for column in find_side_pair(name, columns, option_columns) or (name,)
    ]
    return [column for column in dict.fromkeys(candidates) if column in columns]


def find_side_pair(
    name: str, columns: Sequence[str], option_columns: tuple[str, str]
) -> tuple[str, str] | None:
    """Find the two columns with a covariate's values for first and second option.

    Return None if the covariate is not in two columns. `name` is either column, or the part that
    both names share.

    Examples
    --------
    >>> columns = ["model_a", "model_b", "length_a", "length_b", "turns"]
    >>> [
    ...     find_side_pair(name, columns, ("model_a", "model_b"))
    ...     for name in ("length", "length_b", "turns")
    ... ]
    [('length_a', 'length_b'), ('length_a', 'length_b'), None]
    """
    for column in columns:
        for stem, mark in _split_side_words(column):
            partner_split = stem, _PARTNERS[mark]
            partner = next((c for c in columns if partner_split in _split_side_words(c)), None)
            if (
                partner is None
                or column in option_columns
                or name not in (column, partner, stem)
                or (name == stem and stem in columns)
            ):
                continue
            first_marks, second_marks = (
                {word for _, word in _split_side_words(option_column)}
                for option_column in option_columns
            )
            is_second = _PARTNERS[mark] in first_marks or mark in second_marks
            # neither option column contains a side word
            if not (is_second or mark in first_marks or _PARTNERS[mark] in second_marks):
                is_second = any(mark == second for _, second in SIDES)
            if is_second:
                return partner, column
            return column, partner
    return None


def _split_side_words(column: str) -> list[tuple[str, str]]:
    """Return (rest, side word) splits of a column name."""
    name_splits = []
    name_parts = re.split(r"([ _.\-]+)", column)
    for k in range(0, len(name_parts), 2):
        side_word = name_parts[k].lower()
        # without the separator before the word, or after the first word
        other_words = name_parts[: max(k - 1, 0)] + name_parts[max(k + 1, 2) :]
        if side_word in _PARTNERS and other_words:
            name_splits.append(("".join(other_words), side_word))
    return name_splits


def _compute_differences(
    frame: "pd.DataFrame", first_column: str, second_column: str
) -> dict[str, np.ndarray]:
    """Return first minus second option's values, by covariate name."""
    first_values, second_values = (
        get_column(frame, name) for name in (first_column, second_column)
    )
    for side_column in (first_values, second_values):
        if not has_numbers(side_column):
            raise DataError(
                f"{first_column!r} and {second_column!r} describe the two sides, so their"
                f" difference requires numbers, but {side_column.name!r} contains"
                f" {side_column.iloc[0]!r}. Rename one of them if it describes the whole"
                " comparison."
            )
    differences: pd.Series = first_values - second_values
    return _read_number_covariate(differences.rename(f"{first_column} - {second_column}"), frame)


def _read_number_covariate(column: "pd.Series", frame: "pd.DataFrame") -> dict[str, np.ndarray]:
    """Return a numeric column by name; raise DataError if it has gaps or is constant."""
    numbers = column.to_numpy(float, na_value=np.nan)
    if (row := find_first(~np.isfinite(numbers))) is not None:
        problem = "infinite"
        if np.isnan(numbers[row]):
            problem = "empty"
        raise DataError(
            f"The covariate {column.name!r} is {problem} in row {frame.index.tolist()[row]!r};"
            " enter a number, or remove the row."
        )
    if np.ptp(numbers) == 0.0:
        raise _build_constant_error(str(column.name), f"{numbers[0]:g}")
    return {str(column.name): numbers}


def _build_indicators(frame: "pd.DataFrame", column: str) -> dict[str, np.ndarray]:
    """Return a 0/1 column for each category but the first, by name."""
    # Categories are in their order, or sorted by name.
    import pandas as pd

    codes, categories = encode_column(frame, column)
    if not isinstance(frame[column].dtype, pd.CategoricalDtype):
        category_ranks = np.argsort(np.argsort(categories))
        codes = category_ranks[codes]
        categories = sorted(categories)
    present_codes = np.unique(codes)
    if len(present_codes) == 1:
        raise _build_constant_error(column, repr(categories[present_codes[0]]))
    if len(present_codes) == len(frame) and len(present_codes) > 2:
        raise DataError(
            f"The covariate {column!r} has a different category in each of its {len(frame):,} rows:"
            f" {shorten(categories, 3)}; give numbers, or categories that repeat."
        )
    return {
        f"{column}={categories[code]}": (codes == code).astype(float) for code in present_codes[1:]
    }


def _build_constant_error(covariate: str, value_text: str) -> DataError:
    """Build the error for a covariate that is equal in all rows."""
    return DataError(
        f"The covariate {covariate!r} is {value_text} in every row, so its effect cannot be"
        f" estimated; remove it, or use {ORDER!r} for the effect of being first."
    )
