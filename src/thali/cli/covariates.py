"""A table of observations, read: the columns that explain, and the column of classes."""

import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali.data.check import plural, shorten, suggest
from thali.errors import ArgumentError, DataError, DataWarning

if TYPE_CHECKING:
    import pandas

    from thali.data.source import Source

_MOST_CLASSES = 20  # whose counts are written out


class Observations(NamedTuple):
    """Covariates and classes of the rows of a table."""

    covariates: "pandas.DataFrame"
    labels: np.ndarray
    target: str  # name of the column of classes

    @property
    def classes(self) -> dict[str, int]:
        """Each class and its rows, in the order of the labels."""
        found, counts = np.unique(self.labels, return_counts=True)
        return dict(zip(map(str, found), counts.tolist(), strict=True))

    def __str__(self) -> str:
        classes = self.classes
        counted = [f"{name} {count:,}" for name, count in list(classes.items())[:_MOST_CLASSES]]
        more = f" and {len(classes) - _MOST_CLASSES:,} more" if len(classes) > _MOST_CLASSES else ""
        return (
            f"{plural(len(self.labels), 'row')}, {plural(self.covariates.shape[1], 'covariate')}; "
            f"{len(classes):,} classes in {self.target!r}: {', '.join(counted)}{more}"
        )


def read_observations(path: "str | Source", target: str | None) -> Observations:
    """Covariates and classes from a file.

    Parameters
    ----------
    path : str or Source
        A CSV, TSV, Excel or Parquet file with one observation a line.
    target : str or None
        The column of classes.

    Returns
    -------
    Observations

    Raises
    ------
    ArgumentError
        If the target is not named, or is no column.
    DataError
        If the file cannot be read, a covariate is not a column of numbers, or a cell is empty.

    Warns
    -----
    DataWarning
        If a column only counts the rows.

    Example
    -------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "plants.csv"
    >>> _ = path.write_text("height,kind\\n1.5,moss\\n30,fern\\n2,moss\\n")
    >>> print(read_observations(str(path), "kind"))
    3 rows, 1 covariate; 2 classes in 'kind': fern 1, moss 2
    """
    from thali.data.tables import load

    frame, _, _, name = load(path)
    columns = [str(column) for column in frame.columns]
    if target is None:
        raise ArgumentError(f"`--target` must name the column of classes; {name} has {shorten(columns, 20)}.")
    if target not in columns:
        raise ArgumentError(
            f"`--target` must be a column of {name}, which has {shorten(columns, 20)}; got {target!r}."
            f"{suggest(target, columns)}"
        )
    labels, covariates = frame.loc[:, target], frame.drop(columns=target)
    if not covariates.shape[1]:
        raise DataError(f"{name} has no column besides {target!r}; covariates are expected beside it.")
    empty = labels.isna().to_numpy()
    if empty.any():
        line = labels.index[int(empty.argmax())]
        raise DataError(f"{name}: line {line} has no class in {target!r}; leave such lines out.")
    _check_numbers(covariates, name)
    _warn_of_counters(covariates)
    return Observations(covariates.astype(float).reset_index(drop=True), labels.to_numpy(), target)


def _check_numbers(covariates: "pandas.DataFrame", name: str) -> None:
    """Raise an error that names all columns that are not numbers, or the first empty cell."""
    import pandas as pd

    kinds = {str(column): values.dtype for column, values in covariates.items()}
    words = [column for column, kind in kinds.items() if not pd.api.types.is_numeric_dtype(kind)]
    if words:
        values = covariates[words[0]].tolist()
        line = int(np.isnan(np.asarray(pd.to_numeric(pd.Series(values), errors="coerce"), float)).argmax())
        which = f"column {words[0]!r} is" if len(words) == 1 else f"columns {shorten(words, 20)} are"
        what = "is empty" if values[line] is None or values[line] != values[line] else f"holds {values[line]!r}"
        raise DataError(
            f"{name}: the {which} not made of numbers (line {covariates.index[line]} of {words[0]!r} {what}); give each"
            " category a column of 0 and 1, or leave the column out."
        )
    empty = np.argwhere(covariates.isna().to_numpy())
    if len(empty):
        line, column = covariates.index[empty[0, 0]], covariates.columns[empty[0, 1]]
        more = f", and so {plural(len(empty) - 1, 'more cell')}" if len(empty) > 1 else ""
        raise DataError(f"{name}: line {line} of {column!r} is empty{more}; fill cells in or leave their lines out.")


def _warn_of_counters(covariates: "pandas.DataFrame") -> None:
    """Warn of columns that hold 0, 1, 2, ... or 1, 2, 3, ... in the order of the rows."""
    steps = np.arange(len(covariates))
    for column, values in covariates.items():
        if len(steps) > 2 and (np.array_equal(values, steps) or np.array_equal(values, steps + 1)):
            warnings.warn(
                f"Column {str(column)!r} only counts the rows, and is taken for a covariate all the same; leave it out "
                "of the table if the order of the rows means nothing.",
                DataWarning,
                stacklevel=3,
            )
