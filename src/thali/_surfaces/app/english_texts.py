"""English texts of the app's pages, field labels and messages."""

import re
import tomllib
from collections.abc import Iterable
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

from thali._model.model_spec import ModelSpec, Option
from thali.errors import ThaliError, Words

from ..cli.terminal_messages import OptionWords

EXTRA_CHOICES = {"covariates": ("order",)}  # choices in addition to columns
TEXTS: dict[str, Any] = tomllib.loads(
    (files("thali._surfaces.app") / "english.toml").read_text("utf-8")
)


def _convert_to_namespace(nested: Any) -> Any:
    """Convert nested dicts to namespaces, so that templates write `texts.page.title`."""
    if isinstance(nested, dict):
        return SimpleNamespace(
            **{key: _convert_to_namespace(entry) for key, entry in nested.items()}
        )
    return nested


texts: SimpleNamespace = _convert_to_namespace(TEXTS)  # by page: `texts.home.title`


def find_label(argument_name: str) -> str:
    """Return the label of the form field of an argument.

    Examples
    --------
    >>> find_label("draws")
    'Draws per chain'
    """
    return TEXTS["labels"].get(argument_name, argument_name.replace("_", " ").capitalize())


def find_choice_label(name: str, word: str) -> str:
    """Return the label of a menu entry; "" gives the label of the default entry."""
    label_by_word: dict[str, str] = TEXTS["choices"].get(name, {})
    return label_by_word.get(word or "default", word.replace("-", " "))


def describe_method(method: str) -> str:
    """Return the English text for a fitting method, such as "mcmc"."""
    return TEXTS["methods"].get(method, method)


def find_title(model_name: str) -> str:
    """Return the title of a model on the pages."""
    return TEXTS["titles"].get(model_name, model_name.replace("-", " ").capitalize())


def describe_model(spec: ModelSpec, name: str) -> str:
    """Return the question that a model or classical test answers."""
    # after a semicolon comes a note on data for the command line
    return TEXTS["answers"].get(name) or replace_option_names(
        spec.answers.partition(";")[0], spec.options
    )


def format_duration(seconds: float) -> str:
    """Return seconds as text, such as "about 2 minutes".

    Examples
    --------
    >>> format_duration(600.0)
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


def replace_option_names(text: str, options: Iterable[Option]) -> str:
    """Replace options in a help text, such as --draws, by the labels of fields.

    Examples
    --------
    >>> from thali._model.command_line_options import CHOSEN
    >>> replace_option_names("Column with the loser (with --chosen).", [CHOSEN])
    'Column with the loser (with “Chosen option”).'
    """
    name_by_word = {option.word: option.name for option in options}

    def format_option(match: re.Match[str]) -> str:
        """Return the label of the field for a matched option."""
        no_prefix, word, value_word = match.groups()
        argument_name = name_by_word.get(word, word.replace("-", "_"))
        if value_word in TEXTS["methods"] and argument_name == "method":
            return f"“{describe_method(value_word)}”"
        label_text = f"“{find_label(argument_name)}”"
        if no_prefix:
            label_text = f"without {label_text}"
        if value_word:
            label_text += f" {value_word}"
        return label_text

    return re.sub(r"--(no-)?([a-z]+(?:-[a-z]+)*)(?: ([a-z]+(?:-[a-z]+)*)\b)?", format_option, text)


class AppWords(OptionWords):
    """Words of messages in the app: arguments are named by the labels of fields.

    Examples
    --------
    >>> from thali.errors import ArgumentError, Setting
    >>> from thali._model.command_line_options import DRAWS
    >>> ArgumentError("Set ", Setting("draws", 2000), ".").render(AppWords([DRAWS]))
    'Set “Draws per chain” = 2000.'

    Attributes
    ----------
    named : list of str
        The arguments in messages so far; the page shows the message next to their fields.
    settings : list of (str, object)
        The arguments with values in messages so far.
    """

    def __init__(self, options: Iterable[Option]) -> None:
        super().__init__(options)
        self.argument_names: list[str] = []
        self.settings: list[tuple[str, object]] = []

    def argument(self, name: str) -> str:
        """Return the label of the argument's field."""
        self._record_name(name)
        return f"“{find_label(name)}”"

    def setting(self, name: str, value: object) -> str:
        """Return "label: value" for an argument that the user should set."""
        self.settings.append((name, value))
        return f"{self.argument(name)} = {self.value(name, value)}"

    def value(self, name: str, value: Any) -> str:
        """Return the text that a field shows for an argument's value."""
        self._record_name(name)
        field_texts = texts.field
        if isinstance(value, bool):
            if self.has(name):
                for word, option_value in self._options[name].words.items():
                    if option_value is value:
                        return f"“{find_choice_label(name, word)}”"
            if value:
                return field_texts.yes
            return field_texts.no
        if name == "method" and (value_label := describe_method(str(value))) != value:
            return f"“{value_label}”"
        if isinstance(value, str) and (
            value_label := find_choice_label(name, value)
        ) != value.replace("-", " "):
            return f"“{value_label}”"
        if value is None:
            return field_texts.as_default
        if value == []:
            return f"“{field_texts.none}”"
        return super().value(name, value)

    def _record_name(self, name: str) -> None:
        """Remember that a message named this argument, so that its field is marked."""
        if name and name not in self.argument_names:
            self.argument_names.append(name)

    def model(self, name: str) -> str:
        """Return the title of the model class `name`."""
        return find_title(super().model(name))


def render_error(error: ThaliError, words: Words) -> tuple[str, list[str]]:
    """Return an error's sentence, and the arguments whose fields it concerns.

    Examples
    --------
    >>> from thali.errors import Argument, ArgumentError
    >>> render_error(
    ...     ArgumentError(Argument("draws"), " must be an integer; got 'x'."), AppWords([])
    ... )
    ("“Draws per chain” must be an integer; got 'x'.", ['draws'])
    """
    assert isinstance(words, AppWords)
    words.argument_names.clear()  # names in earlier messages
    return error.render(words), list(words.argument_names)
