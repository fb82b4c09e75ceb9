"""Description of a data kind that loads without its code."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DataSpec:
    """Description of a data kind: class, readers, words.

    Parameters
    ----------
    kind : str
        As users read it, in the plural.
    cls : str
        "module:Class"; "" for data of another package.
    shapes : str
        "module:NAME" of the shapes of table with such data, a tuple of
        `thali._reading.table_layout.Shape`; "": none.
    ways : tuple of (str, str)
        Ways to hold data out and to score their prediction, the usual way first:
        "module:Class" of a `thali._comparison.splitter.Splitter` and of a
        `thali._comparison.scorer.Scorer`.
    matrix : str
        Meaning of a cell of a plain matrix with such data.
    example : str
        A model of such data, in Python.
    compared : str
        The models that `thali compare` compares unless others are named.
    by_name : str
        The role of the column that must be named for such data; "": they are recognised.
    is_described : bool
        Whether columns that describe alternatives distinguish such data from choices.
    by_people : bool
        Whether respondents can be held out although each unit combines all respondents.
    of_objects : bool
        Whether respondents judge how similar objects are.
    name : str
        Value of the argument `kind` of readers; "": the kind is not chosen by it.
    """

    kind: str
    cls: str
    shapes: str = ""
    ways: tuple[tuple[str, str], ...] = ()
    matrix: str = ""
    example: str = ""
    compared: str = ""
    by_name: str = ""
    is_described: bool = False
    by_people: bool = False
    of_objects: bool = False
    name: str = ""

    @property
    def is_recognised(self) -> bool:
        """Whether a table without named columns can be recognised as this kind."""
        return bool(self.shapes) and not self.by_name
