"""The app's words in each language: what stands on its pages, what its fields are called, how messages name them."""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

from thali.errors import ThaliError, Words
from thali.model.registry import SPECS
from thali.model.spec import ModelSpec, Option

from ..cli.boundary import OptionWords

ENGLISH = "en"
LANGUAGES = (ENGLISH, "de")  # a file each in `languages`
BESIDE_COLUMNS = {"covariates": ("order",)}  # what may be chosen beside columns


class Speech:
    """The words of the app in one language; what a file lacks, the library says in English.

    Examples
    --------
    >>> speech_in("de").label("draws")
    'Ziehungen jeder Kette'
    >>> speech_in("de").duration(600.0)
    'etwa 10 Minuten'

    Attributes
    ----------
    language : str
        One of LANGUAGES.
    texts : namespace
        What stands on pages, by page: `speech.texts.home.title`.
    """

    def __init__(self, language: str) -> None:
        text = (files("thali.surfaces.app") / "languages" / f"{language}.toml").read_text("utf-8")
        self.language = language
        self._of: dict[str, Any] = tomllib.loads(text)
        self.texts: SimpleNamespace = SimpleNamespace(**{name: _namespace(each) for name, each in self._of.items()})

    def _own(self, section: str, key: str, english: str) -> str:
        return self._of.get(section, {}).get(key, english)

    def label(self, name: str) -> str:
        """What the field of an argument is called."""
        return self._own("labels", name, name.replace("_", " ").capitalize())

    def help(self, option: Option, options: Iterable[Option]) -> str:
        """What a field is for: in words of the page, not of what is typed."""
        return self._own("help", option.name, "") or self.in_words(option.help, options)

    def default(self, option: Option, options: Iterable[Option]) -> str:
        """What holds where a field is empty."""
        english = self.in_words(option.default, options)
        return self._own("defaults", english, english)

    def choice(self, name: str, word: str) -> str:
        """What a word that an option takes is called; "": what holds unless one is chosen."""
        own: dict[str, str] = self._of["choices"].get(name, {})
        return own.get(word or "default", word.replace("-", " "))

    def beside_columns(self, name: str) -> list[tuple[str, str]]:
        """What an option takes beside names of columns: word and what it is called."""
        return [(word, getattr(self.texts.field, word)) for word in BESIDE_COLUMNS.get(name, ())]

    def method(self, word: str) -> str:
        """What a method gives."""
        return self._own("methods", word, word)

    def title(self, spec: ModelSpec) -> str:
        """What a model is called."""
        return self._own("titles", spec.name, spec.name.replace("-", " ").capitalize())

    def answers(self, spec: ModelSpec) -> str:
        """What a model finds out, or the question of a classical test."""
        # what follows a semicolon says how the data are given at the command line
        return self._own("answers", spec.name, self.in_words(spec.answers.partition(";")[0], spec.options))

    def kind(self, kind: str) -> str:
        """What a kind of data is called."""
        return self._own("kinds", kind, kind)

    def data_set(self, name: str, english: str) -> str:
        """What a bundled data set holds."""
        return self._own("datasets", name, english)

    def compared(self, item: str, english: str) -> str:
        """What a model is called that may be compared."""
        return self._own("compared", item, english)

    def unit(self, unit: str) -> str:
        """Of what there are so many."""
        return self._own("units", unit, unit)

    def number(self, number: float, decimals: int = 0) -> str:
        """A number as it is read in the language.

        Examples
        --------
        >>> speech_in("en").number(1234), speech_in("de").number(1234), speech_in("de").number(1.5, 1)
        ('1,234', '1.234', '1,5')
        """
        text = f"{number:,.{decimals}f}"
        return text if self.language == ENGLISH else text.translate({ord(","): ".", ord("."): ","})

    def plain_number(self, text: str, is_whole: bool = False) -> str:
        """A number that somebody wrote, as Python reads it; of whole ones the thousands may be separated.

        Examples
        --------
        >>> speech_in("de").plain_number("0,05"), speech_in("de").plain_number("0.05")
        ('0.05', '0.05')
        >>> speech_in("de").plain_number("10.000", True), speech_in("en").plain_number("10,000", True)
        ('10000', '10000')
        """
        point, thousands = (".", ",") if self.language == ENGLISH else (",", ".")
        return text.replace(thousands, "") if is_whole else text.replace(point, ".")

    def counted(self, what: str, number: int) -> str:
        """So many of something."""
        one, several = self._of["counted"][what]
        return (one if number == 1 else several).format(number=self.number(number))

    def duration(self, seconds: float) -> str:
        """A time in words."""
        texts = self.texts.durations
        if seconds < 90:
            return texts.seconds.format(number=max(1, round(seconds / 5) * 5)) if seconds >= 5 else texts.moment
        minutes = seconds / 60
        if minutes < 90:
            return texts.minutes.format(number=self.number(minutes))
        return texts.hours.format(number=self.number(minutes / 60, 1))

    def in_words(self, text: str, options: Iterable[Option]) -> str:
        """Help that was written for the command line, with labels in place of options.

        Examples
        --------
        >>> from thali.model.options import CHOSEN
        >>> speech_in("en").in_words("The column of the loser, beside --chosen.", [CHOSEN])
        'The column of the loser, beside “What was chosen”.'
        """
        names = {option.word: option.name for option in options}

        def spelled(found: re.Match[str]) -> str:
            no, word, value = found.groups()
            name = names.get(word, word.replace("-", "_"))
            if value in self._of["methods"] and name == "method":
                return f"“{self.method(value)}”"
            return f"{'without ' if no else ''}“{self.label(name)}”{f' {value}' if value else ''}"

        return re.sub(r"--(no-)?([a-z]+(?:-[a-z]+)*)(?: ([a-z]+(?:-[a-z]+)*)\b)?", spelled, text)

    def words(self, options: Iterable[Option]) -> "AppWords":
        """How messages spell arguments for a page with these options."""
        return AppWords(options, self)


def _namespace(held: Any) -> Any:
    """Tables as objects, so that a template names what they hold."""
    return SimpleNamespace(**{key: _namespace(each) for key, each in held.items()}) if isinstance(held, dict) else held


@cache
def speech_in(language: object) -> Speech:
    """The words in a language, or in English where the app does not know it."""
    return Speech(str(language) if language in LANGUAGES else ENGLISH)


def speech_for(accepted: str) -> Speech:
    """The words in the first language of a browser that the app knows.

    Examples
    --------
    >>> [speech_for(each).language for each in ("fr, de-CH;q=.9, en;q=.8", "en-US,en;q=0.5,de;q=0.3", "fr", "de;q=x")]
    ['de', 'en', 'en', 'en']
    """
    wanted = []
    for each in accepted.split(","):
        language, _, weight = each.partition(";")
        try:
            wanted.append((float(weight.strip().removeprefix("q=") or 1), language.strip().lower().partition("-")[0]))
        except ValueError:
            continue
    known = [language for _, language in sorted(wanted, key=lambda each: -each[0]) if language in LANGUAGES]
    return speech_in(known[0] if known else ENGLISH)


class AppWords(OptionWords):
    """How messages spell arguments for whoever sees fields with labels.

    Examples
    --------
    >>> from thali.errors import ArgumentError, Setting
    >>> from thali.model.options import DRAWS
    >>> ArgumentError("Set ", Setting("draws", 2000), ".").render(AppWords([DRAWS]))
    'Set “Draws of each chain” = 2000.'

    Attributes
    ----------
    named : list of str
        The arguments that were spelled so far, whose fields the page shows beside the message.
    """

    def __init__(self, options: Iterable[Option], speech: Speech | None = None) -> None:
        super().__init__(options)
        self._speech = speech_in(ENGLISH) if speech is None else speech
        self.named: list[str] = []

    def argument(self, name: str) -> str:
        """The label of the field."""
        self._speak_of(name)
        return f"“{self._speech.label(name)}”"

    def setting(self, name: str, value: object) -> str:
        """The label, and what to choose or to write."""
        return f"{self.argument(name)} = {self.value(name, value)}"

    def value(self, name: str, value: Any) -> str:
        """What the field shows for the value."""
        self._speak_of(name)
        field = self._speech.texts.field
        if isinstance(value, bool):
            words = self._options[name].words if self.has(name) else {}
            word = next((word for word, meant in words.items() if meant is value), None)
            return f"“{self._speech.choice(name, word)}”" if word else field.yes if value else field.no
        if name == "method" and (shown := self._speech.method(str(value))) != value:
            return f"“{shown}”"
        if isinstance(value, str) and (shown := self._speech.choice(name, value)) != value.replace("-", " "):
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
        return next((self._speech.title(spec) for spec in SPECS if spec.cls.endswith(f":{name}")), name)


def sentence_and_names(error: ThaliError, words: Words) -> tuple[str, list[str]]:
    """What is wrong in words of the page, and the arguments that it speaks of, where the sentence belongs.

    Examples
    --------
    >>> from thali.errors import Argument, ArgumentError
    >>> sentence_and_names(ArgumentError(Argument("draws"), " must be a whole number; got 'x'."), AppWords([]))
    ("“Draws of each chain” must be a whole number; got 'x'.", ['draws'])
    """
    own = words if isinstance(words, AppWords) else AppWords([])
    own.named.clear()  # of messages before
    return error.render(own), list(own.named)
