"""Choices out of sets from files."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from thali.data.check import shorten
from thali.data.choice_table import LONG, is_long_table, roles
from thali.data.choices import Choices
from thali.data.names import WEIGHTS, plain
from thali.data.pairs import PairedComparisons
from thali.data.source import Source
from thali.data.tables import Table, as_comparisons, load
from thali.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


def read_choices(path: str | Path | Source, **columns: Any) -> tuple[Choices, str]:
    """Choices of one option out of several from a long table, and a sentence that tells how it was read.

    Parameters
    ----------
    path : str, Path or Source
        A CSV, TSV, Excel or Parquet file with one row for each alternative of each occasion. Counts may be fractional
        if their column is called "weight".
    **columns : str, optional
        The columns, as for `Choices`; None: recognised.

    Returns
    -------
    Choices
    str
        Such as "long table, 'alt' chosen if 'choice', occasions 'obsID': 3 options, 2 sets of 2 to 3, 2 choices".

    Raises
    ------
    DataError
        If the file cannot be read, or as `Choices` raises it; the file is named.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tea.csv"
    >>> _ = path.write_text("obsID,alt,choice\\n1,tea,1\\n1,milk,0\\n2,tea,0\\n2,milk,1\\n")
    >>> read_choices(path)[1]
    "long table, 'alt' chosen if 'choice', occasions 'obsID': 2 options, 1 set of 2, 2 choices"
    """
    return _as_choices(load(path), columns)


def read_pairs_or_sets(path: str | Path | Source, **columns: Any) -> tuple[PairedComparisons | Choices, str]:
    """Choices if columns of a long table are named or recognised, paired comparisons if not; and how it was read.

    Parameters
    ----------
    path : str, Path or Source
        A CSV, TSV, Excel or Parquet file.
    **columns : str, optional
        As for `read_choices`.

    Returns
    -------
    PairedComparisons or Choices
    str

    Raises
    ------
    DataError
        As `read_choices` or `thali.data.tables.read_comparisons`.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tea.csv"
    >>> _ = path.write_text("winner,loser\\ntea,milk\\n")
    >>> read_pairs_or_sets(path)[0]
    PairedComparisons(2 options, 1 pair, 1 comparison, 1 component)
    """
    table = load(path)
    if columns or is_long_table(table.frame):
        return _as_choices(table, columns)
    return as_comparisons(table)


def _as_choices(table: Table, columns: dict[str, Any]) -> tuple[Choices, str]:
    try:
        found = roles(table.frame, dict.fromkeys(LONG) | columns)
        fractional: dict[str, Any] = {"weights": plain(found["count"] or "") in WEIGHTS}
        data = Choices(table.frame, **fractional | columns)
    except DataError as error:
        raise DataError(f"{table.file}: {error}") from None
    told = f"long table, {found['alternative']!r} chosen if {found['chosen']!r}, occasions {found['choice_id']!r}"
    if found["respondent"] not in (None, found["choice_id"]):
        told += f" of respondents {found['respondent']!r}"
    for role, word in (("available", "offered if"), ("count", "counted by")):
        told += f", {word} {found[role]!r}" if found[role] is not None else ""
    told += f": {data}"
    if further := _others(table.frame, found):
        told += f"; not read: {shorten(further)}"
    return data, f"{told}; {table.note}" if table.note else told


def describing_columns(path: str | Path | Source) -> list[str] | None:
    """The columns of a long table of choices whose values differ between alternatives of an occasion.

    Parameters
    ----------
    path : str, Path or Source

    Returns
    -------
    list of str, or None
        Without the columns that say what was chosen out of what; None if the file is no long table of choices.

    Raises
    ------
    DataError
        If the file cannot be read.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tea.csv"
    >>> _ = path.write_text("obsID,alt,choice,price\\n1,tea,1,2.5\\n1,milk,0,1\\n")
    >>> describing_columns(path)
    ['price']
    """
    frame = load(path, triangle=True).frame
    if not is_long_table(frame):
        return None
    found = roles(frame, dict.fromkeys(LONG))
    keys = dict.fromkeys(found[role] for role in ("respondent", "choice_id") if found[role] is not None)
    occasions = frame.groupby(list(keys), sort=False)
    return [name for name in _others(frame, found) if (occasions[name].nunique().to_numpy() > 1).any()]


def has_long_columns(path: str | Path | Source) -> bool:
    """Whether columns of a file are called what those of a long table of choices usually are, whatever they hold.

    Parameters
    ----------
    path : str, Path or Source

    Returns
    -------
    bool

    Raises
    ------
    DataError
        If the file cannot be read.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tea.csv"
    >>> _ = path.write_text("obsID,alt,choice\\n1,tea,perhaps\\n1,milk,0\\n")
    >>> has_long_columns(path)
    True
    """
    try:
        roles(load(path).frame, dict.fromkeys(LONG))
    except DataError:
        return False
    return True


def _others(frame: "pd.DataFrame", found: dict[str, str | None]) -> list[str]:
    """The columns without a role."""
    return [str(name) for name in frame.columns if str(name) not in found.values()]
