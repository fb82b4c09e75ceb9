"""What a model is called, takes and answers, without loading it: data only, so that `thali --help`
stays fast."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from thali._late import load
from thali._posterior.dependence import ADJUSTED, INDEPENDENT

# Who takes the value of an option.
MODEL = "model"  # the constructor
FIT = "fit"
FEATURES = "features"  # the constructor, once the data say which options there are
DATA = "data"  # whoever reads the data
REPORT = "report"  # whoever prints and writes the answer

# How a value is typed that is neither text, a number, a path nor a switch.
NUMBER = "number"  # or one of the words
NUMBERS = "numbers"  # between commas; a single one is a number
# whole numbers between commas, or the first and the last with a dash; a single one is a number
COUNTS = "counts"
NAMES = "names"  # between commas
PAIRS = "pairs"  # NAME=VALUE, several of them
AMOUNTS = "amounts"  # NAME=NUMBER, several of them
LISTS = "lists"  # NAME=A,B,..., several of them
CUTS = "cuts"  # NAME=K or NAME=A,B,..., several of them
CELL = "cell"  # a text, or COLUMN=VALUE
EACH = "each"  # a text, several of them
CONDITIONS = "conditions"  # on the rows of a table, several of them
PEOPLE_VALUE = "people"  # how respondents differ: a word, classes:K or groups:WEIGHTS
ANCHOR = "anchor"  # NAME, or NAME=NUMBER
CONTRASTS = "contrasts"  # NAME=NUMBER,NAME=NUMBER,..., several of them


@dataclass(frozen=True)
class Option:
    """An argument that the command line offers, too.

    Parameters
    ----------
    name : str
        Of the argument, as messages and labels know it.
    help : str
        What it means.
    type : type or str
        str, int, float, bool, Path, or one of the constants above.
    to : str
        Who takes the value: MODEL, FIT, FEATURES, DATA or REPORT.
    argument : str
        The argument, where an option of the same model for another one has its name.
    typed : str
        Its name at the command line, where that is not the name of the argument.
    default : str
        What the argument is if it is not given, in words.
    metavar : str
        What stands for the value in the help.
    words : mapping
        Words that may be typed, and the value of each.
    check : callable, optional
        (name, value): raises an ArgumentError for a value that no data make possible, as `fit`
        does.
    methods : tuple of str
        The methods of the model that have it; empty if all have.
    data : tuple of str
        The kinds of data for which it means something; empty if it does for all that the model
        takes.
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
        """The option as it is typed, without dashes."""
        return self.typed or self.name.replace("_", "-")

    @property
    def passed(self) -> str:
        """The argument that takes the value."""
        return self.argument or self.name

    def is_for(self, kind: str) -> bool:
        """Whether it means something for data of this kind."""
        return not self.data or kind in self.data

    @property
    def several(self) -> bool:
        """Whether it may be typed several times."""
        return self.type in (PAIRS, AMOUNTS, LISTS, CUTS, EACH, CONDITIONS, CONTRASTS)

    def but(self, **changes: Any) -> "Option":
        """The same option with some things different."""
        return replace(self, **changes)


@dataclass(frozen=True)
class ModelSpec:
    """A model, as everything above the models knows it.

    Parameters
    ----------
    name : str
        As it is typed at the command line.
    aliases : tuple of str
        Other names that users have for it; capitals, hyphens and underscores do not matter.
    cls : str
        "module:Class".
    data : tuple of str
        The kinds of data that `fit` takes, of `thali._data.kinds`.
    answers : str
        What the model finds out, in one phrase.
    methods : tuple of str
        Values of the argument `method`, the default first; empty if there is none.
    features : str
        The name of the argument for the features; "" if the model has none.
    pictures : tuple of str
        Functions of `thali.plots` that draw the fitted model, as `--out` writes them.
    options : tuple of Option
        What the command line offers.
    aliases_mean : mapping
        Of an alias that names a special case, the settings that make it one.
    aliases_need : mapping
        Of an alias that names a special case, the option without which it is none.
    methods_mean : mapping
        Of a method, the settings that it has unless others are given.
    method_of_individuals : str
        The method where parameters differ between respondents, classes or groups; "": the default.
    implied_by : tuple of str
        Arguments that name the model, because only its data have them.
    papers : tuple of str
        The works that introduced it: keys of `surfaces/references.bib`, which `thali cite` prints.
    """

    name: str
    aliases: tuple[str, ...]
    cls: str
    data: tuple[str, ...]
    answers: str
    methods: tuple[str, ...] = ()
    features: str = ""
    pictures: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    aliases_mean: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    aliases_need: Mapping[str, str] = field(default_factory=dict)
    methods_mean: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    method_of_individuals: str = ""
    implied_by: tuple[str, ...] = ()
    papers: tuple[str, ...] = ()

    def method_of(self, typed: Mapping[str, Any]) -> str:
        """The method by what was typed; "" if the model has none."""
        if "method" in typed:
            return typed["method"]
        people = typed.get("people", "groups" if "group" in typed else INDEPENDENT)
        is_one = people in (INDEPENDENT, ADJUSTED)
        if self.method_of_individuals and ("by" in typed or not is_one):
            return self.method_of_individuals
        return self.methods[0] if self.methods else ""

    def options_of(self, method: str) -> tuple[Option, ...]:
        """The options that the model has with that method."""
        return tuple(
            option for option in self.options if not option.methods or method in option.methods
        )

    def load(self) -> type[Any]:
        """The class of the model."""
        return load(self.cls)
