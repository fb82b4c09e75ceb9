"""Options of models as fields of a page, and the entered values as options of the command line."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from thali._model.spec import DATA, FEATURES, NAMES, PEOPLE_VALUE, ModelSpec, Option
from thali.errors import Argument, ArgumentError

from ..cli.classical_tests import TESTS
from ..cli.model_choice import TYPED
from ..cli.option_values import parse_option
from . import english

PEOPLE = "people"  # omitted if the data do not identify respondents
CODING = "coding"  # a meaning for each value of a column
RESPONDENT = "respondent"  # the column that identifies respondents
WHERE = "where"  # a condition on the rows, shown above them
GROUP, COVARIATES = "group", "covariates"
QUESTIONS = (GROUP, COVARIATES)  # questions about the data, not corrections of their reading
BY, ATTENTION_BY = "by", "attention_by"  # questions about the model
RESPONDENT_OPTIONS = (
    GROUP,
    BY,
    ATTENTION_BY,
)  # omitted if the data have no columns about respondents
YES, NO = "yes", "no"
_OTHER_TESTS = ("trinary", "likelihood-ratio", "wald")  # classical tests that need more than data
_GROUP_TEST = "group"
FILE = "file"  # a value: the file that was uploaded for the option


class Field(NamedTuple):
    """A field of a page with its value."""

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


def list_tests(has_groups: bool) -> list[ModelSpec]:
    """Return the classical tests that need only data, the test of groups first."""
    plain_tests = [spec for spec in TESTS if spec.name not in (*_OTHER_TESTS, _GROUP_TEST)]
    return [*(spec for spec in TESTS if spec.name == _GROUP_TEST and has_groups), *plain_tests]


def list_data_kinds() -> list[str]:
    """Return the kinds of data that models accept."""
    return list(dict.fromkeys(data for spec in TYPED for data in spec.data))


def list_data_options(data_kind: str) -> list[Option]:
    """Return the options about a table of this kind, or of any kind if unknown."""
    option_by_word: dict[str, Option] = {}
    for spec in TYPED:
        if not data_kind or data_kind in spec.data:
            for option in spec.options:
                if (
                    option.to == DATA
                    and option.type is not Path
                    and (not data_kind or option.applies_to(data_kind))
                ):
                    option_by_word.setdefault(option.word, option)
    return list(option_by_word.values())


def list_shown_options(data_kind: str) -> list[Option]:
    """Return the options about columns that a page shows.

    If several options set the same argument, the last is shown.
    """
    return list(
        {
            option.name: option for option in list_data_options(data_kind) if option.name != WHERE
        }.values()
    )


def translate_typed_options(typed: Mapping[str, Any], options: Sequence[Option]) -> dict[str, Any]:
    """Translate typed options about a table to the names of these options.

    Options without an equivalent are omitted.

    Examples
    --------
    >>> from thali._model.options import RESPONDENT
    >>> translate_typed_options({"respondent": "VP", "alternative": "food"}, [RESPONDENT])
    {'respondent': 'VP'}
    """
    option_words = {option.word for option in options}
    name_by_word = {option.word: option.name for option in list_data_options("")}
    word_by_name = {option.name: option.word for option in options}
    new_word_by_word = {
        word: word if word in option_words else word_by_name.get(name_by_word.get(word, ""))
        for word in typed
    }
    return {new_word: typed[word] for word, new_word in new_word_by_word.items() if new_word}


def build_fields(
    options: Sequence[Option],
    typed_options: Mapping[str, Any],
    columns: Sequence[str] = (),
    methods: Sequence[str] = (),
    offered: Mapping[str, Sequence[str]] | None = None,
) -> list[Field]:
    """Return one field per option.

    `offered`: columns to offer, by name of an option that accepts only some columns. Columns chosen
    before are also offered.
    """
    field_list = []
    for option in options:
        typed_value = typed_options.get(option.word)
        offered_columns = columns
        if offered is not None and option.name == CODING:
            offered_columns = offered.get(CODING, ())
        elif offered is not None and option.name in offered:
            chosen_values = (
                typed_value if isinstance(typed_value, list) else str(typed_value or "").split(",")
            )
            extra_choices = ("", *english.EXTRA_CHOICES.get(option.name, ()))
            chosen_columns = [choice for choice in chosen_values if choice not in extra_choices]
            offered_columns = list(dict.fromkeys([*offered[option.name], *chosen_columns]))
        if offered_columns or option.name not in RESPONDENT_OPTIONS:
            field_list.append(_build_field(option, options, typed_value, offered_columns, methods))
    return field_list


def list_model_options(spec: ModelSpec, data_kind: str, has_people: bool) -> list[Option]:
    """Return the options of a model that a page shows for data of this kind."""
    # options with a file about the table also belong to the model
    of_model = [option for option in spec.options if option.to != DATA or option.type is Path]
    applicable_options = [option for option in of_model if option.applies_to(data_kind)]
    return [option for option in applicable_options if has_people or option.name != PEOPLE]


def _build_field(
    option: Option,
    options: Sequence[Option],
    typed_value: Any,
    columns: Sequence[str],
    methods: Sequence[str],
) -> Field:
    """Return the field of an option."""
    field_kind, choices, default, texts = (
        "text",
        [],
        english.replace_option_names(option.default, options),
        english.texts.field,
    )
    label = english.find_label(option.name)
    help = english.TEXTS["help"].get(option.name) or english.replace_option_names(
        option.help, options
    )
    help = "" if help.rstrip(".") == label else help
    answer_labels = {YES: texts.yes, NO: texts.no}
    if option.name == "method":
        field_kind, help, default = "choice", "", ""
        choices = [(method, english.describe_method(method)) for method in methods]
    elif option.type is bool:
        default_choice = NO if option.default.startswith("--no-") else YES
        other_answer = YES if default_choice == NO else NO
        field_kind, default = "choice", ""
        choices = [
            ("", texts.is_default.format(value=answer_labels[default_choice])),
            (other_answer, answer_labels[other_answer]),
        ]
    elif option.metavar == "COLUMN" and option.is_repeatable:
        field_kind, default = "columns", ""
        extra_choices = [
            (word, english.TEXTS["field"][word])
            for word in english.EXTRA_CHOICES.get(option.name, ())
        ]
        choices = [*extra_choices, *((column, column) for column in columns)]
    elif option.metavar == "COLUMN":
        field_kind, default = "column", ""
        choices = [
            ("", texts.none if option.default == "none" else texts.recognised),
            *((column, column) for column in columns),
        ]
    elif option.type is NAMES and columns:
        field_kind, choices = "columns", [(column, column) for column in columns]
    elif option.name in english.TEXTS["meanings"] and columns:
        field_kind, choices, default = "directions", [(column, column) for column in columns], ""
    elif option.type in (int, float):
        field_kind = "number"
    elif option.type is Path:
        field_kind = FILE
    elif option.is_repeatable and option.name != WHERE:
        field_kind = "lines"
    elif option.words:
        field_kind = "words" if "|" in option.metavar and option.type != PEOPLE_VALUE else "choice"
        choices = [(word, english.find_choice_label(option.name, word)) for word in option.words]
        default_choice = dict(choices).get(option.default)
        default_label = (
            texts.is_default.format(value=default_choice)
            if default_choice
            else english.find_choice_label(option.name, "") or texts.usual
        )
        choices = [
            ("", default_label),
            *(choice for choice in choices if choice[0] != option.default),
        ]
        default = "" if default_choice or field_kind == "words" else default
    takes_file = option.type is Path or "FILE" in option.metavar.split("|")
    column_values: list[str] = []
    if isinstance(typed_value, list):
        column_values, field_text = typed_value, "\n".join(typed_value)
    else:
        field_text = _format_field_text(typed_value)
        if field_kind == "columns":
            column_values = str(typed_value or "").split(",")
    return Field(
        option.word,
        label,
        help,
        field_kind,
        choices,
        default,
        takes_file,
        " ".join(option.methods),
        field_text,
        column_values,
        option.is_repeatable,
        [*english.TEXTS["meanings"].get(option.name, {}).items()],
    )


def _format_field_text(typed_value: Any) -> str:
    """Return a value as the text of its field."""
    if isinstance(typed_value, bool):
        return YES if typed_value else NO
    return "" if typed_value is None else str(typed_value)


def parse_form(
    spec: ModelSpec, form: Mapping[str, str], files: Mapping[str, str]
) -> dict[str, Any]:
    """Return the options of a model that were entered in a form, by name."""
    method = spec.choose_method({word: text for word, text in form.items() if text})
    value_by_word: dict[str, Any] = {}
    for option in (
        spec.select_options(method) if method in spec.methods or not spec.methods else spec.options
    ):
        text = form.get(option.word, "").strip()
        if text == FILE and option.word in files:
            value_by_word[option.word] = (
                Path(files[option.word]) if option.type is Path else files[option.word]
            )
            continue
        if option.type is Path:
            text = ""
        if option.to == FEATURES and text and not _is_not_path(option, text):
            raise ArgumentError(
                Argument(option.name),
                f" must be one of the listed values or an integer; got {text!r}.",
            )
        if text and not (option.name == "method" and text == spec.methods[0]):
            value_by_word[option.word] = parsed = _parse_text(option, text)
            if option.to != FEATURES:
                parse_option(option, parsed)
    return value_by_word


def _is_not_path(option: Option, text: str) -> bool:
    """Return whether a text is not a path; only uploaded files may be read."""
    return option.type is not str or text in option.words or text.isdecimal()


def _parse_text(option: Option, text: str) -> Any:
    """Parse a text as the command line does; integers may contain commas."""
    if option.type is bool:
        return text == YES
    if option.type in (int, float):
        try:
            return option.type(text.replace(",", "") if option.type is int else text)
        except ValueError:
            expected = "an integer" if option.type is int else "a number"
            raise ArgumentError(
                Argument(option.name), f" must be {expected}; got {text!r}."
            ) from None
    if option.is_repeatable:
        return [line.strip() for line in text.splitlines() if line.strip()]
    return text
