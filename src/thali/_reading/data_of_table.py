"""`thali.read`: the data in a file or a data frame, recognised as the command line does."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thali._data.columns import as_frame, with_text_names
from thali._data.kinds import EXPERIMENTS, SPECS
from thali._data.roles import column_names
from thali._source import Source
from thali.errors import DataError

from .recognise import RecognitionError, check_names, reasons, recognise
from .shapes import SHAPES
from .table import RawTable, load
from .where import Where

if TYPE_CHECKING:
    import pandas as pd

_RECOGNISED = tuple(spec.kind for spec in SPECS if spec.shapes)


def read(
    path_or_frame: "str | Path | Source | pd.DataFrame",
    where: str | Sequence[str] | None = None,
    without: str | Sequence[str] = (),
    **columns: Any,
) -> Any:
    """Read the data of a table, whichever of the known shapes it has.

    Parameters
    ----------
    path_or_frame : str, Path, DataFrame
        A file as `read_table` reads it, or a data frame: comparisons, choices, choice experiments,
        similarities, triplets; or covariates and classes, whose column `target` names.
    where : str or list of str, optional
        Conditions on the rows that count, as `read_table` takes them.
    without : str or list of str
        Columns that are not read.
    **columns
        What columns mean that are not recognised by their names, under the names of the options of
        ``thali fit``: ``respondent="voter"``, ``chosen="depvar"``, ``attributes=["price",
        "brand"]``, ``dissimilarities="linear"``.

    Returns
    -------
    PairedComparisons, Choices, ChoiceExperiment, Similarities, Triplets or a table of observations
        Its attribute ``read_as`` is the sentence that says how the table was read, and what was not
        used.

    Raises
    ------
    DataError
        If the table has no known shape, with what was tried and why it did not fit; if it may hold
        data of several kinds; if a cell cannot be used.
    ArgumentError
        If there is no argument of that name, or a condition cannot be read.

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
    check_names(columns, *_RECOGNISED)
    kinds = [EXPERIMENTS] if columns.get("attributes") is not None else []
    table = (
        load(path_or_frame)
        if isinstance(path_or_frame, str | Path | Source)
        else table_of(path_or_frame)
    )
    dropped = [without] if isinstance(without, str) else without
    try:
        reading = recognise(table, *kinds, where=Where.of(where), without=dropped, **columns)
    except RecognitionError as error:
        if EXPERIMENTS in error.found:
            raise DataError(
                error,
                " For choice experiments, name `attributes`; for choices from sets, name"
                " `choice_id`.",
            ) from None
        if error.nearest:
            raise DataError(error, f" {reasons(SHAPES, table)}") from None
        raise
    data, sentence = reading.build()
    object.__setattr__(data, "read_as", sentence)
    return data


def table_of(frame: Any) -> RawTable:
    """The data frame as a table that was read; the labels of a square become its first column."""
    frame = as_frame(frame)
    if {*map(str, frame.index)} == {*column_names(frame)}:
        frame = frame.reset_index(names="column 1")
    frame = with_text_names(frame).set_axis(range(len(frame)), axis=0)
    return RawTable(frame, "the data frame")
