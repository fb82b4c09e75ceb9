"""The data that the command line was given: bundled or a file, comparisons, choices or similarities."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from thali.cli.models import CHOICES, PRODUCT_CLASSES, SIMILARITIES, Kind, kind_for
from thali.data.check import shorten
from thali.errors import DataError

if TYPE_CHECKING:
    from thali.data.source import Source
    from thali.datasets import Dataset

COLUMNS = {"respondent": "respondent", "choice_id": "task", "alternative": "alternative", "chosen": "chosen"}
_NO_COMPARISONS = "are not paired comparisons"  # in the error about columns that mean something else
_CLASSES = " If one of them holds classes and the others are covariates, name it: thali fit FILE --target COLUMN."
_SETS = (
    " If they tell which alternative was chosen, one alternative a row, name their column: thali fit FILE"
    " --alternative COLUMN."
)


class Found(NamedTuple):
    """What DATA names: a bundled data set, or a file, whose bytes were read once for all who look at them."""

    name: str
    bundled: "Dataset | None"
    source: "Source"  # empty if bundled


def find_data(name: str) -> Found:
    """The data of that name.

    Parameters
    ----------
    name : str
        A bundled data set, a file, or "-", which is what is piped in; where a name is both a bundled data set and a
        file, it is the bundled one ("./name" is the file).

    Returns
    -------
    Found

    Raises
    ------
    DataError
        If there is neither, or the file cannot be read.
    """
    from thali import datasets
    from thali.data.check import suggest
    from thali.data.source import Source, read_source, read_standard_input

    bundled = {record.name: record for record in datasets.catalogue()}
    if name in bundled:
        return Found(name, bundled[name], Source(name, b""))
    if name == "-":
        return Found(name, None, read_standard_input())
    if not os.path.lexists(name) and not Path(name).suffix and not {"/", "\\"} & set(name):
        raise DataError(
            f"There is no file and no bundled data set {name!r}; bundled are {', '.join(bundled)}."
            f"{suggest(name, list(bundled))}"
        )
    return Found(name, None, read_source(name))


def kind_of_data(found: Found, leave_out: bool = False) -> Kind:
    """The model for these data.

    Parameters
    ----------
    found : Found
    leave_out : bool
        Whether columns that describe the alternatives of choices are left out unasked.

    Returns
    -------
    Kind
        That of comparisons for a file that could be either.

    Raises
    ------
    DataError
        If the file is no table, or holds choices between alternatives that further columns describe, of which two
        models make something different.
    """
    if found.bundled is not None:
        return kind_for(found.bundled.kind)

    from thali.data.choices_file import describing_columns
    from thali.data.tables import looks_like_similarities

    described = describing_columns(found.source)
    if described and not leave_out:
        raise DataError(
            f"{found.name} holds choices of one alternative out of several, and columns that describe them "
            f"({shorten(described)}). Say --model {PRODUCT_CLASSES} to learn from these, or --model "
            f"{CHOICES.names[-1]} to leave them out."
        )
    return SIMILARITIES if described is None and looks_like_similarities(found.source) else CHOICES


def load_data(
    found: Found, kind: Kind, symmetrize: str | None = None, columns: dict[str, str] | None = None
) -> tuple[Any, str]:
    """The data, and a sentence that says what they were recognised as.

    Parameters
    ----------
    found : Found
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
        Of paired comparisons it ends with one of them, against which the direction can be checked.

    Raises
    ------
    DataError
        If the file cannot be read so, or these are data of another kind.
    """
    import thali

    data, recognised = _loaded(found, kind, symmetrize, columns or {})
    if isinstance(data, thali.PairedComparisons):
        recognised += f"; e.g. {data.example()}"
    return data, recognised


def _loaded(found: Found, kind: Kind, symmetrize: str | None, columns: dict[str, str]) -> tuple[Any, str]:
    from thali import datasets

    if (record := found.bundled) is not None:
        if record.kind != kind.data:
            raise DataError(f"{record.name} holds {record.kind}, but {kind} needs {kind.data}; leave out `--model`.")
        if columns:
            option = COLUMNS[next(iter(columns))]
            raise DataError(
                f"`--{option}` names a column of a file, and {record.name} is a bundled data set; leave it out."
            )
        return datasets.load(record.name), f"bundled data set, {record.description}; {record.source}"
    if kind is CHOICES:
        return _choices(found.source, columns)
    from thali.data.tables import read_similarities

    try:
        return read_similarities(found.source, symmetrize=symmetrize)
    except DataError as error:
        raise DataError(str(error).replace('pass symmetrize="mean"', "say --symmetrize mean")) from None


def _choices(source: "Source", columns: dict[str, str]) -> tuple[Any, str]:
    from thali.data.choices_file import has_long_columns, read_choices, read_pairs_or_sets

    try:
        try:
            return read_pairs_or_sets(source, **columns)
        except DataError as error:
            if _NO_COMPARISONS not in str(error):
                raise
            if has_long_columns(source):  # so that the error is about what is wrong with them
                return read_choices(source)
            raise DataError(f"{error}{_CLASSES}{_SETS}") from None
    except DataError as error:
        message = str(error)
        for role, option in COLUMNS.items():
            message = message.replace(f"name it, {role}=...", f"name it with `--{option}`")
        raise DataError(message) from None
