"""Options of models as the fields of a page, and what was entered there as the command line has
it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from thali._model.spec import DATA, FEATURES, NAMES, PEOPLE_VALUE, ModelSpec, Option
from thali.errors import Argument, ArgumentError

from ..cli.classical import TESTS
from ..cli.models import TYPED
from ..cli.values import value_of
from . import english

PEOPLE = "people"  # not asked where the data do not say who answered
CODING = "coding"  # a meaning for each value of a column
WHO = "respondent"  # the column of who answered
WHERE = "where"  # a question of the rows, asked above them
GROUP, COVARIATES = "group", "covariates"
QUESTIONS = (GROUP, COVARIATES)  # of the data, rather than corrections of how they were read
BY, LOOKING = "by", "attention_by"  # questions of the model
OF_PEOPLE = (GROUP, BY, LOOKING)  # not asked where the data say nothing of people
YES, NO = "yes", "no"
_NOT_OF_DATA = ("trinary", "likelihood-ratio", "wald")  # classical tests that need more than data
_OF_GROUPS = "group"
FILE = "file"  # a value: the file that was given for the option


class Field(NamedTuple):
    """One field, with what it holds."""

    word: str
    label: str
    help: str
    kind: str  # choice, words, number, text, lines, column, columns, directions or file
    choices: list[tuple[str, str]]  # (value, label)
    default: str
    takes_file: bool
    methods: str  # of the model that have it, between blanks; "": all
    value: str
    values: list[str]  # of several columns
    in_lines: bool  # whether several values are sent in lines rather than between commas
    meanings: list[tuple[str, str]]  # of directions: what each choice can mean, (value, label)
    fault: str = ""  # why what it holds cannot be used


def tests_of(has_groups: bool) -> list[ModelSpec]:
    """The classical tests that need nothing but data; that of groups comes first where there are
    any."""
    own = [spec for spec in TESTS if spec.name not in (*_NOT_OF_DATA, _OF_GROUPS)]
    return [*(spec for spec in TESTS if spec.name == _OF_GROUPS and has_groups), *own]


def kinds() -> list[str]:
    """The kinds of data that models take."""
    return list(dict.fromkeys(data for spec in TYPED for data in spec.data))


def data_options(kind: str) -> list[Option]:
    """What can be asked about a table of this kind; of any kind if it is unknown."""
    found: dict[str, Option] = {}
    for spec in TYPED:
        if not kind or kind in spec.data:
            for option in spec.options:
                if (
                    option.to == DATA
                    and option.type is not Path
                    and (not kind or option.applies_to(kind))
                ):
                    found.setdefault(option.word, option)
    return list(found.values())


def shown_of_data(kind: str) -> list[Option]:
    """What a page asks of the columns of a table of this kind: of options that name the same
    argument, the last."""
    return list(
        {option.name: option for option in data_options(kind) if option.name != WHERE}.values()
    )


def given_of_data(typed: Mapping[str, Any], options: Sequence[Option]) -> dict[str, Any]:
    """What was typed about a table, by the words that these options have for it; the rest is left
    out.

    Examples
    --------
    >>> from thali._model.options import RESPONDENT
    >>> given_of_data({"respondent": "VP", "alternative": "food"}, [RESPONDENT])
    {'respondent': 'VP'}
    """
    own, name_of = (
        {option.word for option in options},
        {option.word: option.name for option in data_options("")},
    )
    word_of = {option.name: option.word for option in options}
    words = {word: word if word in own else word_of.get(name_of.get(word, "")) for word in typed}
    return {own_word: typed[word] for word, own_word in words.items() if own_word}


def fields(
    options: Sequence[Option],
    given: Mapping[str, Any],
    columns: Sequence[str] = (),
    methods: Sequence[str] = (),
    offered: Mapping[str, Sequence[str]] | None = None,
) -> list[Field]:
    """A field for each option, those of several methods side by side.

    `offered`: of options that take some of the columns alone, by their names, those; what was given
    is offered, too.
    """
    found = []
    for option in options:
        value = given.get(option.word)
        own = columns
        if offered is not None and option.name == CODING:
            own = offered.get(CODING, ())
        elif offered is not None and option.name in offered:
            chosen = value if isinstance(value, list) else str(value or "").split(",")
            beside = english.BESIDE_COLUMNS.get(option.name, ())
            own = list(
                dict.fromkeys(
                    [
                        *offered[option.name],
                        *(each for each in chosen if each and each not in beside),
                    ]
                )
            )
        if not (option.name in OF_PEOPLE and not own):
            found.append(_field(option, options, value, own, methods))
    return found


def model_options(spec: ModelSpec, kind: str, has_people: bool) -> list[Option]:
    """The options of a model that are asked of whoever has data of this kind."""
    # or beside the table
    of_model = [option for option in spec.options if option.to != DATA or option.type is Path]
    own = [option for option in of_model if option.applies_to(kind)]
    return [option for option in own if has_people or option.name != PEOPLE]


def _field(
    option: Option,
    options: Sequence[Option],
    given: Any,
    columns: Sequence[str],
    methods: Sequence[str],
) -> Field:
    kind, choices, default, texts = (
        "text",
        [],
        english.in_words(option.default, options),
        english.texts.field,
    )
    label = english.label(option.name)
    help = english.TEXTS["help"].get(option.name) or english.in_words(option.help, options)
    help = "" if help.rstrip(".") == label else help
    answers = {YES: texts.yes, NO: texts.no}
    if option.name == "method":
        kind, help, default = "choice", "", ""
        choices = [(each, english.method(each)) for each in methods]
    elif option.type is bool:
        usual = NO if option.default.startswith("--no-") else YES
        other = YES if usual == NO else NO
        kind, default = "choice", ""
        choices = [("", texts.is_default.format(value=answers[usual])), (other, answers[other])]
    elif option.metavar == "COLUMN" and option.is_repeatable:
        kind, default = "columns", ""
        beside = [
            (word, english.TEXTS["field"][word])
            for word in english.BESIDE_COLUMNS.get(option.name, ())
        ]
        choices = [*beside, *((each, each) for each in columns)]
    elif option.metavar == "COLUMN":
        kind, default = "column", ""
        choices = [
            ("", texts.none if option.default == "none" else texts.recognised),
            *((each, each) for each in columns),
        ]
    elif option.type is NAMES and columns:
        kind, choices, default = "columns", [(each, each) for each in columns], default
    elif option.name in english.TEXTS["meanings"] and columns:
        kind, choices, default = "directions", [(each, each) for each in columns], ""
    elif option.type in (int, float):
        kind = "number"
    elif option.type is Path:
        kind = FILE
    elif option.is_repeatable and option.name != WHERE:
        kind = "lines"
    elif option.words:
        kind = "words" if "|" in option.metavar and option.type != PEOPLE_VALUE else "choice"
        choices = [(each, english.choice(option.name, each)) for each in option.words]
        usual = dict(choices).get(option.default)
        usually = (
            texts.is_default.format(value=usual)
            if usual
            else english.choice(option.name, "") or texts.usual
        )
        choices = [("", usually), *(each for each in choices if each[0] != option.default)]
        default = "" if usual or kind == "words" else default
    takes_file = option.type is Path or "FILE" in option.metavar.split("|")
    several: list[str] = (
        given
        if isinstance(given, list)
        else str(given or "").split(",")
        if kind == "columns"
        else []
    )
    value = "\n".join(given) if isinstance(given, list) else _shown(given)
    return Field(
        option.word,
        label,
        help,
        kind,
        choices,
        default,
        takes_file,
        " ".join(option.methods),
        value,
        several,
        option.is_repeatable,
        [*english.TEXTS["meanings"].get(option.name, {}).items()],
    )


def _shown(value: Any) -> str:
    """A value as its field shows it."""
    if isinstance(value, bool):
        return YES if value else NO
    return "" if value is None else str(value)


def entered(spec: ModelSpec, form: Mapping[str, str], files: Mapping[str, str]) -> dict[str, Any]:
    """What was entered for a model, by the words of its options, as the command line has it."""
    method = spec.choose_method({word: text for word, text in form.items() if text})
    found: dict[str, Any] = {}
    for option in (
        spec.select_options(method) if method in spec.methods or not spec.methods else spec.options
    ):
        text = form.get(option.word, "").strip()
        if text == FILE and option.word in files:
            found[option.word] = (
                Path(files[option.word]) if option.type is Path else files[option.word]
            )
            continue
        if option.type is Path:
            text = ""
        if option.to == FEATURES and text and not _is_known(option, text):
            raise ArgumentError(
                Argument(option.name),
                f" must be one of the listed values or an integer; got {text!r}.",
            )
        if text and not (option.name == "method" and text == spec.methods[0]):
            found[option.word] = typed = _typed(option, text)
            if option.to != FEATURES:
                value_of(option, typed)
    return found


def _is_known(option: Option, text: str) -> bool:
    """Whether a text is no path: only files that were given are read."""
    return option.type is not str or text in option.words or text.isdecimal()


def _typed(option: Option, text: str) -> Any:
    """A text as the command line would read it; whole numbers may have commas between thousands."""
    if option.type is bool:
        return text == YES
    if option.type in (int, float):
        try:
            return option.type(text.replace(",", "") if option.type is int else text)
        except ValueError:
            what = "an integer" if option.type is int else "a number"
            raise ArgumentError(Argument(option.name), f" must be {what}; got {text!r}.") from None
    if option.is_repeatable:
        return [line.strip() for line in text.splitlines() if line.strip()]
    return text
