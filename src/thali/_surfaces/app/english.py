"""The app's words: what stands on its pages, what its fields are called, how messages name them."""

import re
import tomllib
from collections.abc import Iterable
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

from thali._model.registry import SPECS
from thali._model.spec import ModelSpec, Option
from thali.errors import ThaliError, Words

from ..cli.terminal import OptionWords

BESIDE_COLUMNS = {"covariates": ("order",)}  # what may be chosen beside columns
TEXTS: dict[str, Any] = tomllib.loads(
    (files("thali._surfaces.app") / "english.toml").read_text("utf-8")
)


def _namespace(held: Any) -> Any:
    """Return tables as objects, so that a template names what they hold."""
    return (
        SimpleNamespace(**{key: _namespace(each) for key, each in held.items()})
        if isinstance(held, dict)
        else held
    )


texts: SimpleNamespace = _namespace(TEXTS)  # by page: `texts.home.title`


def label(name: str) -> str:
    """Return what the field of an argument is called.

    Examples
    --------
    >>> label("draws")
    'Draws per chain'
    """
    return TEXTS["labels"].get(name, name.replace("_", " ").capitalize())


def choice(name: str, word: str) -> str:
    """Return what a word that an option takes is called; "": what holds unless one is chosen."""
    own: dict[str, str] = TEXTS["choices"].get(name, {})
    return own.get(word or "default", word.replace("-", " "))


def method(word: str) -> str:
    """Return what a method gives."""
    return TEXTS["methods"].get(word, word)


def title(name: str) -> str:
    """Return what a model is called."""
    return TEXTS["titles"].get(name, name.replace("-", " ").capitalize())


def answers(spec: ModelSpec, name: str) -> str:
    """Return what a model of that name finds out, or the question of a classical test."""
    # what follows a semicolon says how the data are given at the command line
    return TEXTS["answers"].get(name) or in_words(spec.answers.partition(";")[0], spec.options)


def counted(what: str, number: int) -> str:
    """Return so many of something.

    Examples
    --------
    >>> counted("fit", 1), counted("fit", 1200)
    ('1 fit', '1,200 fits')
    """
    one, several = TEXTS["counted"][what]
    return (one if number == 1 else several).format(number=f"{number:,}")


def duration(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> duration(600.0)
    'about 10 minutes'
    """
    if seconds < 5:
        return texts.durations.moment
    if seconds < 90:
        return texts.durations.seconds.format(number=round(seconds / 5) * 5)
    minutes = seconds / 60
    if minutes < 90:
        return texts.durations.minutes.format(number=f"{minutes:,.0f}")
    return texts.durations.hours.format(number=f"{minutes / 60:,.1f}")


def in_words(text: str, options: Iterable[Option]) -> str:
    """Return help that was written for the command line with labels in place of options.

    Examples
    --------
    >>> from thali._model.options import CHOSEN
    >>> in_words("Column with the loser (with --chosen).", [CHOSEN])
    'Column with the loser (with “Chosen option”).'
    """
    names = {option.word: option.name for option in options}

    def spelled(found: re.Match[str]) -> str:
        no, word, value = found.groups()
        name = names.get(word, word.replace("-", "_"))
        if value in TEXTS["methods"] and name == "method":
            return f"“{method(value)}”"
        return f"{'without ' if no else ''}“{label(name)}”{f' {value}' if value else ''}"

    return re.sub(r"--(no-)?([a-z]+(?:-[a-z]+)*)(?: ([a-z]+(?:-[a-z]+)*)\b)?", spelled, text)


class AppWords(OptionWords):
    """How messages spell arguments for whoever sees fields with labels.

    Examples
    --------
    >>> from thali.errors import ArgumentError, Setting
    >>> from thali._model.options import DRAWS
    >>> ArgumentError("Set ", Setting("draws", 2000), ".").render(AppWords([DRAWS]))
    'Set “Draws per chain” = 2000.'

    Attributes
    ----------
    named : list of str
        The arguments that were spelled so far, whose fields the page shows beside the message.
    settings : list of (str, object)
        Those of them that were spelled with a value.
    """

    def __init__(self, options: Iterable[Option]) -> None:
        super().__init__(options)
        self.named: list[str] = []
        self.settings: list[tuple[str, object]] = []

    def argument(self, name: str) -> str:
        """The label of the field."""
        self._speak_of(name)
        return f"“{label(name)}”"

    def setting(self, name: str, value: object) -> str:
        """The label, and what to choose or to write."""
        self.settings.append((name, value))
        return f"{self.argument(name)} = {self.value(name, value)}"

    def value(self, name: str, value: Any) -> str:
        """What the field shows for the value."""
        self._speak_of(name)
        field = texts.field
        if isinstance(value, bool):
            words = self._options[name].words if self.has(name) else {}
            word = next((word for word, meant in words.items() if meant is value), None)
            return f"“{choice(name, word)}”" if word else field.yes if value else field.no
        if name == "method" and (shown := method(str(value))) != value:
            return f"“{shown}”"
        if isinstance(value, str) and (shown := choice(name, value)) != value.replace("-", " "):
            return f"“{shown}”"
        if value is None or value == []:
            return field.as_default if value is None else f"“{field.none}”"
        return super().value(name, value)

    def _speak_of(self, name: str) -> None:
        """From now on the argument is named."""
        if name and name not in self.named:
            self.named.append(name)

    def model(self, name: str) -> str:
        """The title of the model."""
        return next((title(spec.name) for spec in SPECS if spec.cls.endswith(f":{name}")), name)


def sentence_and_names(error: ThaliError, words: Words) -> tuple[str, list[str]]:
    """What is wrong in words of the page, and the arguments that it speaks of, where the sentence
    belongs.

    Examples
    --------
    >>> from thali.errors import Argument, ArgumentError
    >>> sentence_and_names(
    ...     ArgumentError(Argument("draws"), " must be an integer; got 'x'."), AppWords([])
    ... )
    ("“Draws per chain” must be an integer; got 'x'.", ['draws'])
    """
    own = words if isinstance(words, AppWords) else AppWords([])
    own.named.clear()  # of messages before
    return error.render(own), list(own.named)
