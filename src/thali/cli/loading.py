"""The data that the command line was given: bundled or a file, comparisons or similarities."""

from pathlib import Path
from typing import Any

from thali.cli.models import CHOICES, SIMILARITIES, Kind, kind_for
from thali.errors import DataError

_NO_COMPARISONS = "are not paired comparisons"  # in the error about columns that mean something else
_CLASSES = " If one of them holds classes and the others are covariates, name it: thali fit FILE --target COLUMN."


def kind_of_data(name: str) -> Kind:
    """The model for the data of that name.

    Parameters
    ----------
    name : str
        A bundled data set or a file; where a name is both, it is the bundled one ("./name" is the file).

    Returns
    -------
    Kind
        That of comparisons for a file that could be either.

    Raises
    ------
    DataError
        If there is neither, or the file cannot be read.
    """
    bundled = _bundled()
    if name in bundled:
        return kind_for(bundled[name].kind)
    _check_name(name)

    from thali.data.tables import looks_like_similarities

    return SIMILARITIES if looks_like_similarities(name) else CHOICES


def load_data(name: str, kind: Kind, symmetrize: str | None = None) -> tuple[Any, str]:
    """The data of that name, and a sentence that says what they were recognised as.

    Parameters
    ----------
    name : str
        As for `kind_of_data`.
    kind : Kind
        The model that they are for.
    symmetrize : "mean", optional
        Of similarities whose two sides differ.

    Returns
    -------
    data : PairedComparisons or Similarities
    recognised : str

    Raises
    ------
    DataError
        If there is neither, the file cannot be read, or holds data of another kind.
    """
    from thali import datasets

    bundled = _bundled()
    if name in bundled:
        record = bundled[name]
        if record.kind != kind.data:
            raise DataError(f"{name} holds {record.kind}, but {kind} needs {kind.data}; leave out `--model`.")
        return datasets.load(name), f"bundled data set, {record.description}; {record.source}"
    _check_name(name)

    from thali.data.tables import read_comparisons, read_similarities

    if kind is CHOICES:
        try:
            return read_comparisons(name)
        except DataError as error:
            raise DataError(f"{error}{_CLASSES if _NO_COMPARISONS in str(error) else ''}") from None
    try:
        return read_similarities(name, symmetrize=symmetrize)
    except DataError as error:
        raise DataError(str(error).replace('pass symmetrize="mean"', "say --symmetrize mean")) from None


def _bundled() -> dict:
    from thali import datasets

    return {record.name: record for record in datasets.catalogue()}


def _check_name(name: str) -> None:
    """Raise an error for what looks like the name of a bundled data set and is none."""
    from thali.data.check import suggest

    bundled = list(_bundled())
    if not Path(name).exists() and not Path(name).suffix and "/" not in name and "\\" not in name:
        raise DataError(
            f"There is no file and no bundled data set {name!r}; bundled are {', '.join(bundled)}."
            f"{suggest(name, bundled)}"
        )
