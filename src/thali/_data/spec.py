"""Description of a data kind that can be read without loading it, like `thali._model.spec`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DataSpec:
    """Description of a data kind for code outside `thali._data`.

    Parameters
    ----------
    kind : str
        As users read it, in the plural.
    cls : str
        "module:Class"; "" of data that are no class of thali.
    shapes : str
        "module:NAME" of the shapes of table that hold such data, a tuple of
        `thali._reading.shape.Shape`; "": none.
    ways : tuple of (str, str)
        What can be left out of them and how its prediction is scored, the usual way first:
        "module:Class" of a `thali._comparison.splitter.Splitter` and of a
        `thali._comparison.scorer.Scorer`.
    matrix : str
        What a cell of a plain matrix is, where one is taken for such data.
    example : str
        A model of such data, as it is written in Python.
    compared : str
        The models that `thali compare` compares unless others are named, and those of several
        groups of people.
    compared_by_group : str
        The same of several groups of people.
    by_group : bool
        Whether such data of several groups of respondents are modelled.
    has_classes : bool
        Whether latent classes of respondents are modelled.
    by_name : str
        The role of the column without whose name no table holds such data; "": they are recognised.
    is_described : bool
        Whether a table holds such data because its columns describe alternatives; without them it
        holds choices.
    by_people : bool
        Whether the answers of people can be left out although each unit is of all people together.
    of_objects : bool
        Whether respondents judge how similar objects are.
    """

    kind: str
    cls: str
    shapes: str = ""
    ways: tuple[tuple[str, str], ...] = ()
    matrix: str = ""
    example: str = ""
    compared: str = ""
    compared_by_group: str = ""
    by_group: bool = False
    has_classes: bool = False
    by_name: str = ""
    is_described: bool = False
    by_people: bool = False
    of_objects: bool = False

    @property
    def is_recognised(self) -> bool:
        """Whether a table without named columns can be recognised as this kind."""
        return bool(self.shapes) and not self.by_name
