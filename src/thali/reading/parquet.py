"""The columns of a Parquet file."""

import io
from typing import TYPE_CHECKING

from thali._labels import as_label
from thali.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

MAX_CELLS = 1 << 29  # a file of some kilobytes may claim any number of equal rows


def parquet_frame(content: bytes) -> "pd.DataFrame":
    """The table, an index with names or labels as its first columns; column names as text."""
    import pandas as pd

    try:
        import pyarrow.parquet
    except ImportError:
        raise DataError('Parquet files need pyarrow: pip install "thali[files]", or save as CSV.') from None
    try:
        claimed = pyarrow.parquet.ParquetFile(io.BytesIO(content)).metadata
        if claimed.num_rows * claimed.num_columns > MAX_CELLS:
            raise DataError(
                f"The file holds {claimed.num_rows:,} rows of {claimed.num_columns:,} columns, more than fit into "
                "memory; leave out what the model does not need."
            )
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
