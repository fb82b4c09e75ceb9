"""The one door for data frames: pandas as it is, polars and others through narwhals."""

from typing import TYPE_CHECKING, Any

from thali.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


def as_frame(frame: Any) -> "pd.DataFrame":
    """The table as a pandas DataFrame, whose columns are those of any data frame with the Arrow interface."""
    if hasattr(frame, "columns") and hasattr(frame, "index"):
        return frame
    if not hasattr(frame, "__arrow_c_stream__"):
        raise DataError(
            "`frame` must be a DataFrame, of pandas, polars or whatever has the Arrow interface; got "
            f"{type(frame).__name__}."
        )
    try:
        import narwhals as nw
    except ImportError:
        raise DataError(
            f"A {type(frame).__name__} of {type(frame).__module__.partition('.')[0]} needs narwhals: pip install "
            '"thali[frames]", or pass frame.to_pandas().'
        ) from None
    import pandas as pd

    table = nw.from_native(frame, eager_only=True, pass_through=True)
    if table is frame:  # nothing that narwhals knows: its Arrow stream
        table = nw.from_arrow(frame, backend="pyarrow")
    return pd.DataFrame({name: table[name].to_numpy() for name in table.columns})
