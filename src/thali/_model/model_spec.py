"""Descriptions of models (names, data, command-line options) that load without their code."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from thali._lazy_imports import load_object
from thali._posterior.respondent_dependence import ADJUSTED, INDEPENDENT

# The function that takes the value of an option.
MODEL = "model"  # the constructor
FIT = "fit"
FEATURES = "features"  # the constructor, once the options are known from the data
DATA = "data"  # functions that read the data
REPORT = "report"  # functions that print and write results

# Forms of typed values other than a text, a number, a path and a switch.
NUMBER = "number"  # or one of the words
NUMBERS = "numbers"  # between commas; a single one is a number
# integers separated by commas, or a range with a dash; a single one is a number
COUNTS = "counts"
NAMES = "names"  # between commas
PAIRS = "pairs"  # NAME=VALUE, several of them
AMOUNTS = "amounts"  # NAME=NUMBER, several of them
LISTS = "lists"  # NAME=A,B,..., several of them
CUTS = "cuts"  # NAME=K or NAME=A,B,..., several of them
CELL = "cell"  # a text, or COLUMN=VALUE
EACH = "each"  # a text, several of them
FLAG = "flag"  # a switch that can only be turned on
CONDITIONS = "conditions"  # on the rows of a table, several of them
ANCHOR = "anchor"  # NAME, or NAME=NUMBER
CONTRASTS = "contrasts"  # NAME=NUMBER,NAME=NUMBER,..., several of them


@dataclass(frozen=True)
class Option:
    """An argument of a model or `fit`, as a command-line option.

    Parameters
    ----------
    name : str
        Name of the argument in messages and labels.
    help : str
        Its meaning.
    type : type or str
        str, int, float, bool, Path, or one of the constants above.
    to : str
        Receiver of the value: MODEL, FIT, FEATURES, DATA or REPORT.
    argument : str
        The argument, if another option of the same model has its name.
    typed : str
        Its name at the command line, if it differs from the argument.
    default : str
        Description of the default.
    metavar : str
        Placeholder of the value in the help.
    words : mapping
        Words that may be typed, and the value of each.
    check : callable, optional
        (name, value): raises an ArgumentError for a value that is invalid for any data.
    methods : tuple of str
        The methods of the model that have it; empty: all.
    data : tuple of str
        The kinds of data to which it applies; empty: all kinds of the model.
    """

    name: str
    help: str
    type: Any = str
    to: str = MODEL
    argument: str = ""
    typed: str = ""
    default: str = ""
    metavar: str = ""
    words: Mapping[str, Any] = field(default_factory=dict)
    check: Callable[[str, Any], Any] | None = None
    methods: tuple[str, ...] = ()
    data: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        """Name of the option at the command line, such as "random-seed"."""
        return self.typed or self.name.replace("_", "-")

    @property
    def target(self) -> str:
        """Name of the Python argument that gets the option's value."""
        return self.argument or self.name

    def applies_to(self, data_kind: str) -> bool:
        """Return whether the option applies to this kind of data."""
        return not self.data or data_kind in self.data

    @property
    def is_repeatable(self) -> bool:
        """Whether the option may be typed several times."""
        return self.type in (PAIRS, AMOUNTS, LISTS, CUTS, EACH, CONDITIONS, CONTRASTS)

    def but(self, **changes: Any) -> "Option":
        """Return a copy of the option with the given fields changed."""
        return replace(self, **changes)


@dataclass(frozen=True)
class ModelSpec:
    """Description of a model for interfaces: names, data, methods, options.

    Parameters
    ----------
    name : str
        Name at the command line.
    aliases : tuple of str
        Other names of the model; case, hyphens and underscores are ignored.
    cls : str
        "module:Class".
    data : tuple of str
        The kinds of data that `fit` accepts, from `thali._data.kinds`.
    answers : str
        The results of the model, in one phrase.
    methods : tuple of str
        Values of the argument `method`, the default first; empty if there is none.
    features : str
        The name of the argument for the features; "" if the model has none.
    options : tuple of Option
        Options of the command line.
    aliases_mean : mapping
        For an alias of a special case: its settings.
    aliases_need : mapping
        For an alias of a special case: the option that it requires.
    methods_mean : mapping
        Default settings of a method.
    method_of_individuals : str
        The method if parameters differ between respondents; "": the default.
    implied_by : tuple of str
        Arguments that imply the model, because only its data have them.
    papers : tuple of str
        Keys of its papers in `surfaces/references.bib`; `thali cite` prints them.
    """

    name: str
    aliases: tuple[str, ...]
    cls: str
    data: tuple[str, ...]
    answers: str
    methods: tuple[str, ...] = ()
    features: str = ""
    options: tuple[Option, ...] = ()
    aliases_mean: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    aliases_need: Mapping[str, str] = field(default_factory=dict)
    methods_mean: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    method_of_individuals: str = ""
    implied_by: tuple[str, ...] = ()
    papers: tuple[str, ...] = ()

    def choose_method(self, typed: Mapping[str, Any]) -> str:
        """Return the method that the typed options imply; "" if the model has none."""
        if "method" in typed:
            return typed["method"]
        pools_people = typed.get("people", INDEPENDENT) in (INDEPENDENT, ADJUSTED)
        if self.method_of_individuals and ("by" in typed or not pools_people):
            return self.method_of_individuals
        if self.methods:
            return self.methods[0]
        return ""

    def select_options(self, method: str) -> tuple[Option, ...]:
        """Return the model's options that apply to a fitting method."""
        return tuple(
            option for option in self.options if not option.methods or method in option.methods
        )

    def load(self) -> type[Any]:
        """Import and return the class of the model."""
        return load_object(self.cls)
