"""The columns of a Parquet file."""

import io
from typing import TYPE_CHECKING, Any

from thali._labels import as_label
from thali.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

# A file of some kilobytes may hold any number of equal rows, and a long text for each at the room of one.
HARMLESS, MAX_PARQUET_CELLS, MAX_TIMES = 1 << 24, 1 << 29, 100  # cells of any file; of one; of a byte
MAX_BYTES = 1 << 28  # to which any file may unpack


def parquet_frame(content: bytes) -> "pd.DataFrame":
    """The table, an index with names or labels as its first columns; column names as text."""
    import pandas as pd

    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise DataError('Parquet files need pyarrow: pip install "thali[files]", or save as CSV.') from None
    try:
        _refuse_parquet_bomb(content)
        frame = pd.read_parquet(io.BytesIO(content), engine="pyarrow")
    except DataError:
        raise
    except Exception as error:  # pyarrow and pandas raise whatever the broken part of the file makes them
        raise DataError(f"This is not a readable Parquet file ({error}); save it again, or as CSV.") from None
    if not isinstance(frame.index, pd.RangeIndex):
        names = [*(name or "" for name in frame.index.names), *frame.columns]
        frame = frame.set_axis(range(frame.shape[1]), axis=1)  # one may be called as the index is
        frame = frame.reset_index(names=[f"index {k}" for k in range(frame.index.nlevels)]).set_axis(names, axis=1)
    if not len(frame):
        raise DataError("The file holds a header but no row of data below it.")
    return frame.set_axis([as_label(name) for name in frame.columns], axis=1)


def _refuse_parquet_bomb(content: bytes) -> None:
    """Raise if the cells, or their texts, take far more room than a table of that many bytes needs."""
    import pyarrow.parquet

    packed, claimed = len(content), pyarrow.parquet.ParquetFile(io.BytesIO(content)).metadata
    groups = [claimed.row_group(group) for group in range(claimed.num_row_groups)]
    parts = [(group, each.column(k)) for group, each in enumerate(groups) for k in range(each.num_columns)]
    cells = sum(part.num_values for _, part in parts)
    if cells > min(MAX_PARQUET_CELLS, max(HARMLESS, MAX_TIMES * packed)):
        raise DataError(
            f"The file of {packed:,} bytes holds {cells:,} cells, more than fit into memory; leave out what the model "
            "does not need."
        )
    most = max(MAX_BYTES, MAX_TIMES * packed)
    unpacked = sum(part.total_uncompressed_size for _, part in parts)
    for group, part in parts if unpacked <= most else ():
        if part.physical_type == "BYTE_ARRAY" and part.num_values * part.total_uncompressed_size > most:
            unpacked += _bytes_of_text(content, group, part.path_in_schema)
    if unpacked > most:
        raise DataError(
            f"The file of {packed:,} bytes would unpack to {unpacked:,} or more, which no table needs; leave out what "
            "the model does not need."
        )


def _bytes_of_text(content: bytes, group: int, column: str) -> int:
    """How long the texts of a column are together, each of which is read once; 0 for a column of lists."""
    import pyarrow
    import pyarrow.compute
    import pyarrow.parquet

    file = pyarrow.parquet.ParquetFile(io.BytesIO(content), read_dictionary=[column])
    compute: Any = pyarrow.compute  # whose functions are made when it is imported
    found = 0
    for part in file.read_row_group(group, columns=[column])[0].chunks if "." not in column else ():
        if pyarrow.types.is_dictionary(part.type):
            lengths = compute.binary_length(part.dictionary)
            found += compute.sum(lengths.take(part.indices)).as_py() or 0
    return found
