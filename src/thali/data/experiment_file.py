"""Choice experiments from files."""

from pathlib import Path

from thali.data.experiment import ChoiceExperiment
from thali.data.source import Source
from thali.data.tables import load
from thali.errors import DataError


def read_experiment(path: str | Path | Source, **options) -> ChoiceExperiment:
    """A choice experiment from a CSV, TSV, Excel or Parquet file.

    Parameters
    ----------
    path : str, Path or Source
    **options
        As for `ChoiceExperiment.from_frame`.

    Returns
    -------
    ChoiceExperiment

    Raises
    ------
    DataError
        If the file cannot be read, or as `ChoiceExperiment.from_frame` raises it; the file is named.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tea.csv"
    >>> _ = path.write_text("id,task,choice,price\\n1,1,1,2\\n1,1,0,3\\n")
    >>> read_experiment(path).n_tasks
    1
    """
    table = load(path)
    try:
        return ChoiceExperiment.from_frame(table.frame, **options)
    except DataError as error:
        raise DataError(f"{table.file}: {error}") from None
