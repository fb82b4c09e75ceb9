"""Columns of people: those by which a reader chooses or weighs them, and covariates of a model."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.people import list_differing_columns
from thali._inference.arrays import encode_base64
from thali._inference.warn import warn
from thali._labels import format_label, format_plural, shorten, suggest
from thali.errors import Argument, ArgumentError, DataError, DataWarning

if TYPE_CHECKING:
    import pandas
    import xarray

MAX_VALUES = 12  # of a column by which people are chosen
MISSING = "(missing)"


class PeopleColumn(NamedTuple):
    """A column that has few values."""

    name: str
    values: tuple[str, ...]
    codes: np.ndarray  # (respondents,) uint8, of the values


class MarketPeople(NamedTuple):
    """What is known of the respondents, in their order."""

    number: int
    columns: tuple[PeopleColumn, ...]  # by which people are chosen
    weights: tuple[tuple[str, np.ndarray], ...]  # names and (respondents,) float32
    kinds: tuple[str, ...]  # of people, as the rule has them
    others: tuple[str, ...]  # columns of more values that are no weights

    def packed(self) -> dict[str, Any]:
        """The people in terms of JSON."""
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


def people_of(
    table: "pandas.DataFrame | None", number: int, kinds: tuple[str, ...] = ()
) -> MarketPeople | None:
    """What the columns of a table say of so many people; None where they do not tell one from
    another."""
    columns, weights, others = [], [], []
    named = {} if table is None else {str(name): cells for name, cells in table.items()}
    for name in list_differing_columns(table):
        column = _column(name, named[name])
        weight = _weight(named[name])
        if column is not None:
            columns.append(column)
        if weight is not None:
            weights.append((name, weight))
        if column is None and weight is None:
            others.append(name)
    if not (columns or weights or kinds):
        return None
    return MarketPeople(number, tuple(columns), tuple(weights), kinds, tuple(others))


def _column(name: str, cells: "pandas.Series") -> PeopleColumn | None:
    """The column, its values in the order of categories or sorted; None if there are too many."""
    import pandas as pd

    if cells.nunique(dropna=False) > MAX_VALUES:
        return None
    has_order = cells.dtype != object or cells.dropna().map(type).eq(str).all()
    numbers, values = pd.factorize(cells, sort=bool(has_order))
    labels = [
        *(value if isinstance(value, str) else format_label(value) for value in values),
        MISSING,
    ]
    return PeopleColumn(
        name,
        tuple(labels[: None if (numbers < 0).any() else -1]),
        (numbers % len(labels)).astype(np.uint8),
    )


def _weight(cells: "pandas.Series") -> np.ndarray | None:
    """The numbers of a column that may be weights."""
    import pandas as pd

    if pd.api.types.is_bool_dtype(cells) or not pd.api.types.is_numeric_dtype(cells):
        return None
    with np.errstate(over="ignore"):
        found = cells.to_numpy(float, na_value=np.nan).astype(np.float32)
    return found if np.isfinite(found).all() and (found >= 0.0).all() else None


# Covariates of people, on which what they want may depend -----------------------------------------


class RespondentCovariates(NamedTuple):
    """Numbers that describe people: standardised, so that the prior does not depend on their
    units."""

    names: tuple[str, ...]  # (q - 1,), such as "age", "sex[male]"
    # (respondents, q): 1, and the covariates less their means, divided by their sds
    matrix: np.ndarray
    sd: np.ndarray  # (q - 1,)
    mean: np.ndarray  # (q - 1,)
    first: tuple[str, ...]  # (q - 1,) the label of the column that has no covariate; "" of numbers
    columns: tuple[str, ...]  # (q - 1,) of people, such as "age", "sex"

    def labels(self) -> dict[str, tuple[str, ...]]:
        """Of each column of labels those that the respondents have, the first one first."""
        found: dict[str, tuple[str, ...]] = {}
        for name, column, first in zip(self.names, self.columns, self.first, strict=True):
            if name != column:
                found[column] = (*found.get(column, (first,)), _label_in(name, column))
        return found

    def label(self, name: str) -> tuple[str, str, str] | None:
        """The column, the label and the first label of the covariate of a label; None of a
        number."""
        place = self.names.index(name)
        column = self.columns[place]
        return None if name == column else (column, _label_in(name, column), self.first[place])

    @property
    def sources(self) -> list[str]:
        """Return the columns of people, each once."""
        return list(dict.fromkeys(self.columns))

    def stored(self, dimension: str) -> dict[str, Any]:
        """Return the covariates as variables of a dataset with the coordinate `known`; people are
        along a dimension."""
        return {
            "known_of_people": ((dimension, "known"), self.matrix[:, 1:]),
            "known_mean": ("known", self.mean),
            "known_sd": ("known", self.sd),
            "known_first": ("known", list(self.first)),
            "known_column": ("known", list(self.columns)),
        }

    def of_person(self, given: Any) -> np.ndarray:
        """Return the covariates of a new person (q - 1,) from numbers and labels by the names of
        columns.

        Raises
        ------
        ArgumentError
            If a column is missing or unknown, or a label is one that no respondent has.
        """
        import pandas as pd

        wanted, name = self.sources, Argument("respondent")
        values = (
            {str(column): value for column, value in given.items()}
            if isinstance(given, Mapping)
            else {}
        )
        if missing := [column for column in wanted if column not in values]:
            raise ArgumentError(
                name, f" must be a dictionary with the key {missing[0]!r}; got {given!r}."
            )
        if strange := [column for column in values if column not in wanted]:
            known = f"the model depends only on {shorten(wanted)}.{suggest(strange[0], wanted)}"
            raise ArgumentError(name, f" contains {strange[0]!r}, but {known}")
        person = pd.DataFrame({column: [values[column]] for column in wanted}, dtype=object)
        for column in self.strange(person):
            label, labels = str(values[column]), self.labels()[column]
            only = (
                f" has {label!r} for {column!r}, but the fitted respondents have only"
                f" {shorten(labels)}."
            )
            raise ArgumentError(name, only + suggest(label, labels))
        return self.of(person)[0, 1:]

    def of_others(self, table: "pandas.DataFrame | None") -> "pandas.DataFrame":
        """Return the covariates of other people, a row each; NaN where nothing is known."""
        import pandas as pd

        missing = [name for name in self.sources if table is None or name not in table.columns]
        if table is None or missing:
            raise DataError(
                f"The model depends on the respondent column {missing[0]!r}, which the data do not"
                " contain; add the column."
            )
        return pd.DataFrame(self.of(table)[:, 1:], index=table.index)

    def strange(self, table: "pandas.DataFrame") -> dict[str, np.ndarray]:
        """Of each column of labels in which rows of other people hold what no respondent does:
        which (rows,)."""
        known = self.labels().items()
        found = {
            column: ~table.loc[:, column].astype(str).isin(labels).to_numpy(bool)
            for column, labels in known
        }
        return {column: rows for column, rows in found.items() if rows.any()}

    def of(self, table: "pandas.DataFrame") -> np.ndarray:
        """Those of other people (rows, q), in the same units; NaN in a row that holds a label which
        no respondent does, with a warning."""
        found = np.ones((len(table), 1 + len(self.names)))
        for name in dict.fromkeys(self.columns):
            if gaps := int(table.loc[:, name].isna().sum()):
                raise DataError(
                    f"Column {name!r} of new respondents is missing in"
                    f" {format_plural(gaps, 'row')}; fill it in."
                )
        for place, (name, column) in enumerate(zip(self.names, self.columns, strict=True)):
            given = table.loc[:, column]
            values = (
                _numbers(name, given)
                if name == column
                else given.astype(str) == _label_in(name, column)
            )
            found[:, 1 + place] = (np.asarray(values, float) - self.mean[place]) / self.sd[place]
        for column, rows in self.strange(table).items():
            label = str(table.loc[:, column].iloc[int(rows.argmax())])
            labels = shorten(sorted(self.labels()[column]))
            warn(
                DataWarning(
                    f"Column {column!r} of the new respondents contains {label!r}, but the fitted"
                    f" respondents have only {labels}; the value is treated as unknown for these"
                    " respondents."
                )
            )
            found[rows, 1:] = np.nan
        return found


def _label_in(name: str, column: str) -> str:
    """The label in the name of a covariate of a column."""
    return name[len(column) + 1 : -1]


def stored_covariates(fixed: "xarray.Dataset") -> RespondentCovariates | None:
    """Read what `RespondentCovariates.stored` made; None if there are none."""
    if "known" not in fixed.coords:
        return None
    names, first, columns = (
        tuple(map(str, fixed[name].values)) for name in ("known", "known_first", "known_column")
    )
    matrix = np.insert(fixed["known_of_people"].values, 0, 1.0, axis=1)
    return RespondentCovariates(
        names, matrix, fixed["known_sd"].values, fixed["known_mean"].values, first, columns
    )


def no_covariates() -> ArgumentError:
    """Return the error for a description of a new person where the model has no respondent
    columns."""
    name = Argument("respondent")
    return ArgumentError(
        name, " requires a model that depends on respondent columns; remove ", name, "."
    )


def covariates_of(
    by: Any, table: "pandas.DataFrame | None", people: int, argument: str = "by"
) -> RespondentCovariates:
    """The columns of a table of so many people that an argument names: numbers as they are, of
    labels a column for each but the first."""
    names, values, first, columns = [], [], [], []
    for name in names_of(by, argument):
        if table is None:
            raise DataError(
                "The data have no respondent columns, so ",
                Argument(argument),
                f" cannot contain {name!r}; add a column that is constant within each respondent.",
            )
        if name not in table.columns:
            known = [str(column) for column in table.columns]
            raise ArgumentError(
                Argument(argument),
                f" contains {name!r}, which is not a respondent column; available:"
                f" {shorten(known, 20)}.{suggest(name, known)}",
            )
        for label, numbers in _columns(name, table.loc[:, name], argument):
            names.append(label)
            values.append(numbers)
            first.append("" if label == name else min(map(str, table.loc[:, name])))
            columns.append(name)
    matrix = np.array(values, float).reshape(len(values), people).T
    sd = matrix.std(axis=0)
    standard = (matrix - matrix.mean(axis=0)) / sd
    if np.linalg.matrix_rank(np.column_stack([np.ones(people), standard])) < 1 + len(names):
        raise DataError(
            Argument(argument),
            f": {format_plural(len(names), 'covariate')} of {format_plural(people, 'respondent')}"
            " are collinear, so their effects cannot be separated; remove one covariate.",
        )
    standard = np.column_stack([np.ones(people), standard])
    return RespondentCovariates(
        tuple(names), standard, sd, matrix.mean(axis=0), tuple(first), tuple(columns)
    )


def _numbers(name: str, column: "pandas.Series") -> np.ndarray:
    """A column of numbers of new people."""
    import pandas as pd

    found = np.asarray(pd.to_numeric(column, errors="coerce"), float)
    if not np.isfinite(found).all():
        bad = column.iloc[int(np.argmin(np.isfinite(found)))]
        raise DataError(
            f"Column {name!r} was numeric in the fitted data, but contains {str(bad)!r} for the"
            " new respondents; use numbers."
        )
    return found


def names_of(columns: Any, argument: str = "by") -> tuple[str, ...]:
    """The argument `by`, or another one, as names of columns."""
    if columns is None:
        return ()
    if isinstance(columns, str):
        return (columns,)
    if not isinstance(columns, Iterable):
        raise ArgumentError(
            Argument(argument), f" must be a list of columns of `data.people`; got {columns!r}."
        )
    return tuple(dict.fromkeys(str(name) for name in columns))


def _columns(
    name: str, column: "pandas.Series", argument: str = "by"
) -> list[tuple[str, np.ndarray]]:
    """The covariates of a column of people, with their names."""
    gaps = int(column.isna().sum())
    if gaps:
        raise DataError(
            Argument(argument),
            f": {name!r} is missing for {gaps} of {format_plural(len(column), 'respondent')}; fill"
            " it in, or remove the covariate or the respondents without it.",
        )
    if column.nunique() < 2:
        raise DataError(
            Argument(argument),
            f": {name!r} is {str(column.iloc[0])!r} for all respondents and explains nothing;"
            " remove the column.",
        )
    if _is_number(column):
        return [(name, column.to_numpy(float))]
    labels = sorted({str(label) for label in column})
    return [
        (f"{name}[{label}]", (column.astype(str) == label).to_numpy(float)) for label in labels[1:]
    ]


def _is_number(column: "pandas.Series") -> bool:
    """Whether a column holds numbers, and not truths or labels."""
    import pandas as pd

    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
