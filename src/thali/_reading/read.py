"""`thali.read`, which recognises and reads the data in a file or data frame."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thali._data.column_readers import convert_frame, rename_as_text
from thali._data.column_roles import column_names
from thali._data.kinds import EXPERIMENTS, SPECS
from thali._input_files import Source
from thali.errors import DataError

from .layout_recognition import check_names, recognise
from .table_files import RawTable, load_table

if TYPE_CHECKING:
    import pandas as pd

_READABLE_KINDS = tuple(spec.kind for spec in SPECS if spec.shapes)


def read(
    path_or_frame: "str | Path | Source | pd.DataFrame",
    where: str | Sequence[str] | None = None,
    without: str | Sequence[str] = (),
    kind: str | None = None,
    **columns: Any,
) -> Any:
    """Read the data in a file or data frame whose layout is recognised.

    Parameters
    ----------
    path_or_frame : str, Path, DataFrame
        A file as for `read_table`, or a data frame: comparisons, choices, choice experiments,
        similarities, triplets; or covariates and classes, with the column of classes as `target`.
    where : str or list of str, optional
        Conditions on rows, as for `read_table`.
    without : str or list of str
        Columns to drop.
    kind : str, optional
        Kind of data, if the table can be read in several ways: "choices", "comparisons",
        "experiment", "similarities" or "triplets".
    **columns
        Meanings of columns that their names do not show, as the options of ``thali fit``:
        ``respondent="voter"``, ``chosen="depvar"``, ``attributes=["price", "brand"]``,
        ``dissimilarities="linear"``.

    Returns
    -------
    PairedComparisons, Choices, ChoiceExperiment, Similarities, Triplets or a table of observations
        The attribute ``read_as`` describes how the table was read, and what was not used.

    Raises
    ------
    DataError
        If the table has no known shape (the error states the closest one and what it lacks), if
        several kinds of data are possible, or if a cell cannot be used.
    ArgumentError
        If an argument is unknown, or a condition cannot be read.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> votes = pd.DataFrame(
    ...     {
    ...         "winner": ["tea", "milk"],
    ...         "loser": ["milk", "rum"],
    ...         "voter_id": [1, 2],
    ...         "mood": [3, 3],
    ...     }
    ... )
    >>> data = th.read(votes, without="mood")
    >>> data
    PairedComparisons(3 options, 2 pairs, 2 comparisons, 2 respondents, 1 component)
    >>> data.read_as.partition(":")[0]
    "long table, 'winner' chosen over 'loser', one comparison per row, respondents in 'voter_id'"
    """
    check_names(columns, *_READABLE_KINDS)
    kinds = []
    if columns.get("attributes") is not None:
        kinds = [EXPERIMENTS]
    if isinstance(path_or_frame, str | Path | Source):
        table = load_table(path_or_frame)
    else:
        table = read_frame(path_or_frame)
    if not len(table.frame):
        raise DataError("The data frame has no rows.")
    reading = recognise(table, *kinds, where=where, without=without, kind=kind, **columns)
    data, sentence = reading.build()
    object.__setattr__(data, "read_as", sentence)
    return data


def read_frame(frame: Any) -> RawTable:
    """Convert a data frame to a `RawTable`; labels of a square become the first column."""
    frame = convert_frame(frame)
    names = {*column_names(frame)}
    # stops at the first row that is not called like a column
    if names.issuperset(map(str, frame.index)) and names.issubset(map(str, frame.index)):
        frame = frame.reset_index(names="column 1")
    frame = rename_as_text(frame).set_axis(range(len(frame)), axis=0)
    return RawTable(_convert_numbers(frame), "the data frame")


def _convert_numbers(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a frame whose object and category columns of numbers are numeric."""
    import pandas as pd

    frame = frame.copy(deep=False)
    for k, (_, column) in enumerate(frame.items()):
        if column.dtype != object and not isinstance(column.dtype, pd.CategoricalDtype):
            continue
        cells = column.astype(object).dropna()
        if pd.api.types.infer_dtype(cells) in ("integer", "floating", "mixed-integer-float"):
            numbers: Any = pd.to_numeric(cells)
            if numbers.dtype.kind in "iuf":  # not integers of any length
                frame.isetitem(k, numbers.reindex(frame.index))
    return frame
