"""The data that the command line was given: bundled or a file, comparisons, choices or similarities."""

from pathlib import Path
from typing import Any

from thali.cli.models import CHOICES, PRODUCT_CLASSES, SIMILARITIES, Kind, kind_for
from thali.data.check import shorten
from thali.errors import DataError

COLUMNS = {"respondent": "respondent", "choice_id": "task", "alternative": "alternative", "chosen": "chosen"}
_NO_COMPARISONS = "are not paired comparisons"  # in the error about columns that mean something else
_CLASSES = " If one of them holds classes and the others are covariates, name it: thali fit FILE --target COLUMN."
_SETS = (
    " If they tell which alternative was chosen, one alternative a row, name their column: thali fit FILE"
    " --alternative COLUMN."
)


def kind_of_data(name: str, leave_out: bool = False) -> Kind:
    """The model for the data of that name.

    Parameters
    ----------
    name : str
        A bundled data set or a file; where a name is both, it is the bundled one ("./name" is the file).
    leave_out : bool
        Whether columns that describe the alternatives of choices are left out unasked.

    Returns
    -------
    Kind
        That of comparisons for a file that could be either.

    Raises
    ------
    DataError
        If there is neither, or the file cannot be read, or holds choices between alternatives that further columns
        describe, of which two models make something different.
    """
    bundled = _bundled()
    if name in bundled:
        return kind_for(bundled[name].kind)
    _check_name(name)

    from thali.data.choices_file import describing_columns
    from thali.data.tables import looks_like_similarities

    described = describing_columns(name)
    if described and not leave_out:
        raise DataError(
            f"{name} holds choices of one alternative out of several, and columns that describe them "
            f"({shorten(described)}). Say --model {PRODUCT_CLASSES} to learn from these, or --model "
            f"{CHOICES.names[-1]} to leave them out."
        )
    return SIMILARITIES if described is None and looks_like_similarities(name) else CHOICES


def load_data(
    name: str, kind: Kind, symmetrize: str | None = None, columns: dict[str, str] | None = None
) -> tuple[Any, str]:
    """The data of that name, and a sentence that says what they were recognised as.

    Parameters
    ----------
    name : str
        As for `kind_of_data`.
    kind : Kind
        The model that they are for.
    symmetrize : "mean", optional
        Of similarities whose two sides differ.
    columns : mapping of str to str, optional
        Those of a long table of choices that were named: respondent, choice_id, alternative, chosen.

    Returns
    -------
    data : PairedComparisons, Choices or Similarities
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
        if columns:
            option = COLUMNS[next(iter(columns))]
            raise DataError(f"`--{option}` names a column of a file, and {name} is a bundled data set; leave it out.")
        return datasets.load(name), f"bundled data set, {record.description}; {record.source}"
    _check_name(name)

    if kind is CHOICES:
        return _choices(name, columns or {})
    from thali.data.tables import read_similarities

    try:
        return read_similarities(name, symmetrize=symmetrize)
    except DataError as error:
        raise DataError(str(error).replace('pass symmetrize="mean"', "say --symmetrize mean")) from None


def _choices(name: str, columns: dict[str, str]) -> tuple[Any, str]:
    from thali.data.choices_file import has_long_columns, read_choices, read_pairs_or_sets

    try:
        try:
            return read_pairs_or_sets(name, **columns)
        except DataError as error:
            if _NO_COMPARISONS not in str(error):
                raise
            if has_long_columns(name):  # so that the error is about what is wrong with them
                return read_choices(name)
            raise DataError(f"{error}{_CLASSES}{_SETS}") from None
    except DataError as error:
        message = str(error)
        for role, option in COLUMNS.items():
            message = message.replace(f"name it, {role}=...", f"name it with `--{option}`")
        raise DataError(message) from None


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
