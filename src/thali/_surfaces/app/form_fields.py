"""Form fields of the app's pages, built from the options of models, and parsing of forms."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from thali._model.model_spec import DATA, FEATURES, NAMES, ModelSpec, Option
from thali.errors import Argument, ArgumentError

from ..cli.classical_test_options import TESTS
from ..cli.model_lookup import TYPED
from ..cli.option_parsers import parse_option
from . import english_texts

PEOPLE = "people"  # omitted if the data do not identify respondents
CODING = "coding"  # a meaning for each value of a column
RESPONDENT = "respondent"  # the column that identifies respondents
WHERE = "where"  # a condition on the rows, shown above them
GROUP = "group"  # the column of groups of the test "group"
COVARIATES = "covariates"  # a question about the data, not a correction of their reading
BY = "by"  # a question about the model; omitted if no columns describe respondents
YES = "yes"
NO = "no"
_OTHER_TESTS = ("trinary", "likelihood-ratio", "wald")  # classical tests that need more than data
FILE = "file"  # a value: the file that was uploaded for the option


class Field(NamedTuple):
    """A form field: label, help, kind, choices, value."""

    word: str
    label: str
    help: str
    kind: str  # choice, words, number, text, lines, column, columns, directions or file
    choices: list[tuple[str, str]]  # (value, label)
    default: str
    takes_file: bool
    methods: str  # methods of the model that use it, separated by blanks; "": all
    value: str
    values: list[str]  # of several columns
    in_lines: bool  # whether several values are separated by lines rather than by commas
    meanings: list[tuple[str, str]]  # for directions: (value, label) of each possible meaning
    fault: str = ""  # why the value cannot be used


def list_tests(has_columns: bool) -> list[ModelSpec]:
    """Return the classical tests that need only the data, and maybe a column of groups."""
    plain_tests = [spec for spec in TESTS if spec.name not in (*_OTHER_TESTS, GROUP)]
    return [*(spec for spec in TESTS if spec.name == GROUP and has_columns), *plain_tests]


def list_data_kinds() -> list[str]:
    """Return all kinds of data that models accept."""
    return list(dict.fromkeys(data for spec in TYPED for data in spec.data))


def list_data_options(data_kind: str) -> list[Option]:
    """Return the options that describe a table of this kind; "": of any kind.

    The page itself asks for the kind.
    """
    option_by_word: dict[str, Option] = {}
    for spec in TYPED:
        if not data_kind or data_kind in spec.data:
            for option in spec.options:
                if (
                    option.to == DATA
                    and option.word != "kind"
                    and option.type is not Path
                    and (not data_kind or option.applies_to(data_kind))
                ):
                    option_by_word.setdefault(option.word, option)
    return list(option_by_word.values())


def list_shown_options(data_kind: str) -> list[Option]:
    """Return the options about a table's columns that the page shows.

    If several options set the same argument, the last is shown.
    """
    return list(
        {
            option.name: option for option in list_data_options(data_kind) if option.name != WHERE
        }.values()
    )


def translate_typed_options(typed: Mapping[str, Any], options: Sequence[Option]) -> dict[str, Any]:
    """Rename typed options about a table to the same options of another data kind.

    Options without an equivalent are omitted.

    Examples
    --------
    >>> from thali._model.command_line_options import RESPONDENT
    >>> translate_typed_options({"respondent": "VP", "alternative": "food"}, [RESPONDENT])
    {'respondent': 'VP'}
    """
    option_words = {option.word for option in options}
    name_by_word = {option.word: option.name for option in list_data_options("")}
    word_by_name = {option.name: option.word for option in options}
    translated_options: dict[str, Any] = {}
    for word, typed_value in typed.items():
        option_name = name_by_word.get(word, "")
        if word in option_words:
            translated_options[word] = typed_value
        elif option_name in word_by_name:
            translated_options[word_by_name[option_name]] = typed_value
    return translated_options


def build_fields(
    options: Sequence[Option],
    typed_options: Mapping[str, Any],
    columns: Sequence[str] = (),
    methods: Sequence[str] = (),
    offered: Mapping[str, Sequence[str]] | None = None,
) -> list[Field]:
    """Build one form field for each option.

    `offered`: columns to offer, by name of an option that accepts only some columns. Columns chosen
    before are also offered.
    """
    form_fields = []
    for option in options:
        typed_value = typed_options.get(option.word)
        offered_columns = columns
        if offered is not None and option.name == CODING:
            offered_columns = offered.get(CODING, ())
        elif offered is not None and option.name in offered:
            extra_choices = ("", *english_texts.EXTRA_CHOICES.get(option.name, ()))
            chosen_columns = [
                choice for choice in _list_values(typed_value) if choice not in extra_choices
            ]
            offered_columns = list(dict.fromkeys([*offered[option.name], *chosen_columns]))
        if offered_columns or option.name != BY:
            form_fields.append(_build_field(option, options, typed_value, offered_columns, methods))
    return form_fields


def list_model_options(spec: ModelSpec, data_kind: str, has_people: bool) -> list[Option]:
    """Return the model's options that its form shows for this kind of data."""
    # options with a file about the table also belong to the model
    model_options = [option for option in spec.options if option.to != DATA or option.type is Path]
    applicable_options = [option for option in model_options if option.applies_to(data_kind)]
    return [option for option in applicable_options if has_people or option.name != PEOPLE]


def _build_field(
    option: Option,
    options: Sequence[Option],
    typed_value: str | Sequence[str] | None,
    columns: Sequence[str],
    methods: Sequence[str],
) -> Field:
    """Build the form field of one option."""
    label = english_texts.find_label(option.name)
    help_text = english_texts.TEXTS["help"].get(option.name) or english_texts.replace_option_names(
        option.help, options
    )
    if option.name == "method" or help_text.rstrip(".") == label:
        help_text = ""
    default_text = english_texts.replace_option_names(option.default, options)
    menu = _build_menu(option, default_text, columns, methods)
    column_values: list[str] = []
    if isinstance(typed_value, list) or menu.kind == "columns":
        column_values = _list_values(typed_value)
    return Field(
        option.word,
        label,
        help_text,
        menu.kind,
        menu.choices,
        menu.default,
        option.type is Path or "FILE" in option.metavar.split("|"),
        " ".join(option.methods),
        _format_field_text(typed_value),
        column_values,
        option.is_repeatable,
        [*english_texts.TEXTS["meanings"].get(option.name, {}).items()],
    )


class _Menu(NamedTuple):
    """Kind of a form field, its choices, and its default as text."""

    kind: str
    choices: list[tuple[str, str]] = []  # (value, label)
    default: str = ""


def _build_menu(
    option: Option, default: str, columns: Sequence[str], methods: Sequence[str]
) -> _Menu:
    """Choose the kind of form field for an option, and its choices."""
    # `default`: the default of the option, for fields that show it as text.
    field_texts = english_texts.texts.field
    column_choices = [(column, column) for column in columns]
    if option.name == "method":
        return _Menu(
            "choice", [(method, english_texts.describe_method(method)) for method in methods]
        )
    if option.type is bool:
        yes_no_choices = [(YES, field_texts.yes), (NO, field_texts.no)]
        if option.default.startswith("--no-"):
            yes_no_choices.reverse()
        (_, default_label), other_choice = yes_no_choices
        return _Menu(
            "choice", [("", field_texts.is_default.format(value=default_label)), other_choice]
        )
    if option.metavar == "COLUMN" and option.is_repeatable:
        extra_choices = [
            (word, english_texts.TEXTS["field"][word])
            for word in english_texts.EXTRA_CHOICES.get(option.name, ())
        ]
        return _Menu("columns", extra_choices + column_choices)
    if option.metavar == "COLUMN":
        default_label = field_texts.recognised
        if option.default == "none":
            default_label = field_texts.none
        return _Menu("column", [("", default_label), *column_choices])
    if option.type is NAMES and columns:
        return _Menu("columns", column_choices, default)
    if option.name in english_texts.TEXTS["meanings"] and columns:
        return _Menu("directions", column_choices)
    if option.type in (int, float):
        return _Menu("number", default=default)
    if option.type is Path:
        return _Menu(FILE, default=default)
    if option.is_repeatable and option.name != WHERE:
        return _Menu("lines", default=default)
    if option.words:
        return _build_word_menu(option, default)
    return _Menu("text", default=default)


def _build_word_menu(option: Option, default: str) -> _Menu:
    """Build a menu of the words that an option accepts."""
    field_texts = english_texts.texts.field
    menu_kind = "choice"
    if "|" in option.metavar:
        menu_kind = "words"
    label_by_word = {
        word: english_texts.find_choice_label(option.name, word) for word in option.words
    }
    if default_label := label_by_word.pop(option.default, ""):
        first_label = field_texts.is_default.format(value=default_label)
    else:
        first_label = english_texts.find_choice_label(option.name, "") or field_texts.usual
    if default_label or menu_kind == "words":
        default = ""
    return _Menu(menu_kind, [("", first_label), *label_by_word.items()], default)


def _list_values(typed_value: str | Sequence[str] | None) -> list[str]:
    """Return a typed value as list: itself, or split at commas."""
    if isinstance(typed_value, list):
        return typed_value
    return str(typed_value or "").split(",")


def _format_field_text(typed_value: str | Sequence[str] | None) -> str:
    """Return a typed value as the text of its field; "" if not set."""
    if isinstance(typed_value, list):
        return "\n".join(typed_value)
    if typed_value is True:
        return YES
    if typed_value is False:
        return NO
    if typed_value is None:
        return ""
    return str(typed_value)


def list_offered_methods(spec: ModelSpec) -> tuple[str, ...]:
    """Return the methods that a form offers, the default first; "": the data decide."""
    if spec.method_of_individuals:
        return ("", *spec.methods)
    return spec.methods


def parse_form(
    spec: ModelSpec, form: Mapping[str, str], files: Mapping[str, str]
) -> dict[str, Any]:
    """Parse a submitted form to typed options of the model, by name."""
    value_by_word: dict[str, Any] = {}
    options = spec.options
    if form.get("method") in spec.methods:
        options = spec.select_options(form["method"])
    for option in options:
        field_text = form.get(option.word, "").strip()
        if field_text == FILE and option.word in files:
            value_by_word[option.word] = files[option.word]
            if option.type is Path:
                value_by_word[option.word] = Path(files[option.word])
            continue
        if option.type is Path:
            field_text = ""
        if option.to == FEATURES and field_text and not _is_not_path(option, field_text):
            raise ArgumentError(
                Argument(option.name),
                f" must be one of the listed values or an integer; got {field_text!r}.",
            )
        if option.name == "method" and field_text == list_offered_methods(spec)[0]:
            continue  # the default
        if field_text:
            value_by_word[option.word] = parsed_value = _parse_text(option, field_text)
            if option.to != FEATURES:
                parse_option(option, parsed_value)
    return value_by_word


def _is_not_path(option: Option, text: str) -> bool:
    """Return whether a text is not a file path, unless it was uploaded."""
    return option.type is not str or text in option.words or text.isdecimal()


def _parse_text(option: Option, text: str) -> Any:
    """Parse a field's text as the command line does; integers may contain commas."""
    if option.type is bool:
        return text == YES
    if option.type in (int, float):
        expected_noun = "a number"
        number_text = text
        if option.type is int:
            expected_noun = "an integer"
            number_text = text.replace(",", "")
        try:
            return option.type(number_text)
        except ValueError:
            raise ArgumentError(
                Argument(option.name), f" must be {expected_noun}; got {text!r}."
            ) from None
    if option.is_repeatable:
        return [line.strip() for line in text.splitlines() if line.strip()]
    return text
