"""Columns that describe respondents, as filters and weights, and as covariates of a model."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.respondent_table import list_differing_columns
from thali._inference.array_dict_encoding import encode_base64
from thali._inference.user_warnings import warn
from thali._labels import format_label, format_plural, shorten, suggest
from thali.errors import Argument, ArgumentError, DataError, DataWarning

if TYPE_CHECKING:
    import pandas
    import xarray

MAX_VALUES = 12  # maximum of a column that selects respondents
MISSING = "(missing)"


class RespondentColumn(NamedTuple):
    """A column of respondents with few distinct values, encoded."""

    name: str
    values: tuple[str, ...]
    codes: np.ndarray  # (respondents,) uint8, indices of values


class MarketRespondents(NamedTuple):
    """Columns, weights and classes of respondents in a market simulator."""

    number: int
    columns: tuple[RespondentColumn, ...]  # that select respondents
    weights: tuple[tuple[str, np.ndarray], ...]  # names and (respondents,) float32
    kinds: tuple[str, ...]  # latent classes, as in the choice rule
    others: tuple[str, ...]  # columns with more values that are not weights

    def to_json(self) -> dict[str, Any]:
        """Convert the respondents' columns to JSON types."""
        return {
            "number": self.number,
            "columns": [
                {"name": c.name, "values": c.values, "codes": encode_base64(c.codes)}
                for c in self.columns
            ],
            "weights": [
                {"name": name, "values": encode_base64(values)} for name, values in self.weights
            ],
            "kinds": self.kinds,
        }


def describe_respondents(
    table: "pandas.DataFrame | None", n_respondents: int, classes: tuple[str, ...] = ()
) -> MarketRespondents | None:
    """Encode the columns of a table of respondents; None if nothing differs."""
    columns = []
    weights = []
    other_columns = []
    cells_by_name = {}
    if table is not None:
        cells_by_name = {str(name): cells for name, cells in table.items()}
    for name in list_differing_columns(table):
        encoded_column = _encode_column(name, cells_by_name[name])
        column_weights = _read_weights(cells_by_name[name])
        if encoded_column is not None:
            columns.append(encoded_column)
        if column_weights is not None:
            weights.append((name, column_weights))
        if encoded_column is None and column_weights is None:
            other_columns.append(name)
    if not (columns or weights or classes):
        return None
    return MarketRespondents(
        n_respondents, tuple(columns), tuple(weights), classes, tuple(other_columns)
    )


def _encode_column(name: str, cells: "pandas.Series") -> RespondentColumn | None:
    """Encode a column of respondents; None if it has too many values."""
    # Values are in the order of categories, or sorted.
    import pandas as pd

    if cells.nunique(dropna=False) > MAX_VALUES:
        return None
    has_order = cells.dtype != object or cells.dropna().map(type).eq(str).all()
    codes, labels_in_order = pd.factorize(cells, sort=bool(has_order))
    value_labels = []
    for label in labels_in_order:
        if not isinstance(label, str):
            label = format_label(label)
        value_labels.append(label)
    if (codes < 0).any():
        codes[codes < 0] = len(value_labels)
        value_labels.append(MISSING)
    return RespondentColumn(name, tuple(value_labels), codes.astype(np.uint8))


def _read_weights(cells: "pandas.Series") -> np.ndarray | None:
    """Return a column as weights (float32); None if it cannot be weights."""

    if not _is_numeric(cells):
        return None
    with np.errstate(over="ignore"):
        weights = cells.to_numpy(float, na_value=np.nan).astype(np.float32)
    if np.isfinite(weights).all() and (weights >= 0.0).all():
        return weights
    return None


# Covariates of respondents, on which parameters may depend ----------------------------------------


class RespondentCovariates(NamedTuple):
    """Standardised covariates of respondents, shape (respondents, covariates).

    The prior does not depend on their units.
    """

    names: tuple[str, ...]  # (q - 1,), such as "age", "sex[male]"
    # (respondents, q): 1, and standardised covariates
    matrix: np.ndarray
    sd: np.ndarray  # (q - 1,)
    mean: np.ndarray  # (q - 1,)
    first: tuple[str, ...]  # (q - 1,) reference label of the column; "" for numeric columns
    columns: tuple[str, ...]  # (q - 1,) columns, such as "age", "sex"

    def list_labels(self) -> dict[str, tuple[str, ...]]:
        """Return the labels of each categorical column, the reference first."""
        labels_by_column: dict[str, tuple[str, ...]] = {}
        for name, column, reference in zip(self.names, self.columns, self.first, strict=True):
            if name != column:
                labels_by_column[column] = (
                    *labels_by_column.get(column, (reference,)),
                    _extract_label(name, column),
                )
        return labels_by_column

    def describe_label(self, name: str) -> tuple[str, str, str] | None:
        """Return column, label and reference label of an indicator covariate.

        None for a numeric one.
        """
        covariate_index = self.names.index(name)
        column = self.columns[covariate_index]
        if name == column:
            return None
        return (column, _extract_label(name, column), self.first[covariate_index])

    @property
    def sources(self) -> list[str]:
        """Names of the columns from which covariates were made."""
        return list(dict.fromkeys(self.columns))

    def to_variables(self, dimension: str) -> dict[str, Any]:
        """Return the covariates as variables of a posterior's dataset."""
        return {
            "known_of_people": ((dimension, "known"), self.matrix[:, 1:]),
            "known_mean": ("known", self.mean),
            "known_sd": ("known", self.sd),
            "known_first": ("known", list(self.first)),
            "known_column": ("known", list(self.columns)),
        }

    def encode_respondent(self, respondent_cells: Mapping[str, Any]) -> np.ndarray:
        """Return the standardised covariates of a new respondent, (q - 1,).

        `respondent_cells` maps column names to numbers and labels.

        Raises
        ------
        ArgumentError
            If a column is missing or unknown, or a label is one that no respondent has.
        """
        import pandas as pd

        sources = self.sources
        argument_name = Argument("respondent")
        cells = {}
        if isinstance(respondent_cells, Mapping):
            cells = {str(column): value for column, value in respondent_cells.items()}
        for column in sources:
            if column not in cells:
                raise ArgumentError(
                    argument_name,
                    f" must be a dictionary with the key {column!r}; got {respondent_cells!r}.",
                )
        for column in cells:
            if column not in sources:
                raise ArgumentError(
                    argument_name,
                    f" contains {column!r}, but the model depends only on"
                    f" {shorten(sources)}.{suggest(column, sources)}",
                )
        respondent_table = pd.DataFrame(
            {column: [cells[column]] for column in sources}, dtype=object
        )
        for column in self.find_unknown_labels(respondent_table):
            label = str(cells[column])
            labels = self.list_labels()[column]
            raise ArgumentError(
                argument_name,
                f" has {label!r} for {column!r}, but the fitted respondents have only"
                f" {shorten(labels)}.{suggest(label, labels)}",
            )
        return self.standardise_rows(respondent_table)[0, 1:]

    def encode_table(self, table: "pandas.DataFrame | None") -> "pandas.DataFrame":
        """Return the covariates of new respondents as table; NaN if unknown."""
        import pandas as pd

        for name in self.sources:
            if table is None or name not in table.columns:
                raise DataError(
                    f"The model depends on the respondent column {name!r}, which the data do not"
                    " contain; add the column."
                )
        assert table is not None  # there is a source
        return pd.DataFrame(self.standardise_rows(table)[:, 1:], index=table.index)

    def find_unknown_labels(self, table: "pandas.DataFrame") -> dict[str, np.ndarray]:
        """Return masks of rows with labels that the fit did not know, by column."""
        unknown_by_column = {}
        for column, labels in self.list_labels().items():
            is_unknown = ~table.loc[:, column].astype(str).isin(labels).to_numpy(bool)
            if is_unknown.any():
                unknown_by_column[column] = is_unknown
        return unknown_by_column

    def standardise_rows(self, table: "pandas.DataFrame") -> np.ndarray:
        """Return the standardised covariates of new respondents, shape (rows, q).

        NaN in rows with a label that no respondent has, with a warning.
        """
        covariates = np.ones((len(table), 1 + len(self.names)))
        for name in dict.fromkeys(self.columns):
            if n_missing := int(table.loc[:, name].isna().sum()):
                raise DataError(
                    f"Column {name!r} of new respondents is missing in"
                    f" {format_plural(n_missing, 'row')}; fill it in."
                )
        for covariate_index, (name, column) in enumerate(
            zip(self.names, self.columns, strict=True)
        ):
            cells = table.loc[:, column]
            if name == column:
                column_values = _read_numbers(name, cells)
            else:
                column_values = cells.astype(str) == _extract_label(name, column)
            deviation = np.asarray(column_values, float) - self.mean[covariate_index]
            covariates[:, 1 + covariate_index] = deviation / self.sd[covariate_index]
        for column, is_unknown in self.find_unknown_labels(table).items():
            label = str(table.loc[:, column].iloc[is_unknown.argmax()])
            label_list = shorten(sorted(self.list_labels()[column]))
            warn(
                DataWarning(
                    f"Column {column!r} of the new respondents contains {label!r}, but the fitted"
                    f" respondents have only {label_list}; the value is treated as unknown for"
                    " these respondents."
                )
            )
            covariates[is_unknown, 1:] = np.nan
        return covariates


def _extract_label(name: str, column: str) -> str:
    """Return "north" from a covariate's name such as "region[north]"."""
    return name[len(column) + 1 : -1]


def read_stored_covariates(constant_data: "xarray.Dataset") -> RespondentCovariates | None:
    """Read respondent covariates from a posterior's dataset; None if there are none."""
    if "known" not in constant_data.coords:
        return None
    covariate_names, reference_labels, source_columns = (
        tuple(map(str, constant_data[name].values))
        for name in ("known", "known_first", "known_column")
    )
    matrix = np.insert(constant_data["known_of_people"].values, 0, 1.0, axis=1)
    return RespondentCovariates(
        covariate_names,
        matrix,
        constant_data["known_sd"].values,
        constant_data["known_mean"].values,
        reference_labels,
        source_columns,
    )


def no_covariates_error() -> ArgumentError:
    """Return the error that the model has no respondent covariates."""
    name = Argument("respondent")
    return ArgumentError(
        name, " applies only to models with respondent covariates; remove ", name, "."
    )


def build_covariates(
    by: str | Sequence[str] | None, table: "pandas.DataFrame | None", n_respondents: int
) -> RespondentCovariates:
    """Build respondent covariates from the columns named by `by`.

    Numeric columns have one covariate; columns of labels have one per label except the first.
    """
    covariate_names = []
    covariate_columns = []
    references = []
    source_columns = []
    for name in list_column_names(by):
        if table is None:
            raise DataError(
                "The data have no respondent columns, so ",
                Argument("by"),
                f" cannot contain {name!r}; add a column that is constant within each respondent.",
            )
        if name not in table.columns:
            column_names = [str(column) for column in table.columns]
            raise ArgumentError(
                Argument("by"),
                f" contains {name!r}, which is not a respondent column; available:"
                f" {shorten(column_names, 20)}.{suggest(name, column_names)}",
            )
        for covariate_name, values in _expand_column(name, table.loc[:, name]):
            reference = ""
            if covariate_name != name:
                reference = min(map(str, table.loc[:, name]))
            covariate_names.append(covariate_name)
            covariate_columns.append(values)
            references.append(reference)
            source_columns.append(name)
    matrix = np.array(covariate_columns, float).reshape(len(covariate_columns), n_respondents).T
    sd = matrix.std(axis=0)
    standardised = (matrix - matrix.mean(axis=0)) / sd
    if np.linalg.matrix_rank(np.column_stack([np.ones(n_respondents), standardised])) < 1 + len(
        covariate_names
    ):
        raise DataError(
            Argument("by"),
            f": {format_plural(len(covariate_names), 'covariate')} of"
            f" {format_plural(n_respondents, 'respondent')}"
            " are collinear, so their effects cannot be separated; remove one covariate.",
        )
    standardised = np.column_stack([np.ones(n_respondents), standardised])
    return RespondentCovariates(
        tuple(covariate_names),
        standardised,
        sd,
        matrix.mean(axis=0),
        tuple(references),
        tuple(source_columns),
    )


def _read_numbers(name: str, column: "pandas.Series") -> np.ndarray:
    """Return a numeric column as floats; raise DataError for other cells."""
    import pandas as pd

    numbers = np.asarray(pd.to_numeric(column, errors="coerce"), float)
    if not np.isfinite(numbers).all():
        bad_cell = column.iloc[np.argmin(np.isfinite(numbers))]
        raise DataError(
            f"Column {name!r} was numeric in the fitted data, but contains {str(bad_cell)!r} for"
            " the new respondents; use numbers."
        )
    return numbers


def list_column_names(columns: Any) -> tuple[str, ...]:
    """Return the argument `by` as a tuple of column names."""
    if columns is None:
        return ()
    if isinstance(columns, str):
        return (columns,)
    if not isinstance(columns, Iterable):
        raise ArgumentError(
            Argument("by"), f" must be a list of columns of `data.people`; got {columns!r}."
        )
    return tuple(dict.fromkeys(str(name) for name in columns))


def _expand_column(name: str, column: "pandas.Series") -> list[tuple[str, np.ndarray]]:
    """Return (name, values) of a column's covariates: numbers or indicators."""
    n_missing = int(column.isna().sum())
    if n_missing:
        raise DataError(
            Argument("by"),
            f": {name!r} is missing for {n_missing} of {format_plural(len(column), 'respondent')};"
            " fill it in, or remove the covariate or the respondents without it.",
        )
    if column.nunique() < 2:
        raise DataError(
            Argument("by"),
            f": {name!r} is {str(column.iloc[0])!r} for all respondents and explains nothing;"
            " remove the column.",
        )
    if _is_numeric(column):
        return [(name, column.to_numpy(float))]
    labels = sorted({str(label) for label in column})
    return [
        (f"{name}[{label}]", (column.astype(str) == label).to_numpy(float)) for label in labels[1:]
    ]


def _is_numeric(column: "pandas.Series") -> bool:
    """Return whether a column has numbers, not booleans or labels."""
    import pandas as pd

    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
