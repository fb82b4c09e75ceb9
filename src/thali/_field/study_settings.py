"""`study.toml`: settings of a questionnaire, parsed and checked."""

import re
import string
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

from thali._data.column_roles import ROLES, simplify_name
from thali._labels import check_labels, format_label, list_names, shorten, suggest
from thali.errors import ArgumentError, DataError

LANGUAGES = ("en", "de")
RANDOM = "random"
GIVEN = "given"
ASKED = "asked"
_MAX_TEXT = 20_000  # characters
_NAME = re.compile(r"[^\W\d_][^\W_]*")
_LOCAL_HOSTS = ("localhost", "127.0.0.1")


class Question(NamedTuple):
    """A question about the respondent, such as age."""

    name: str  # column name
    ask: str
    kind: str  # number, choice or text
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    required: bool = True


class RatingScale(NamedTuple):
    """Scale of similarity ratings: number of steps and labels of its ends."""

    steps: int = 7
    low: str = ""  # "": the default words
    high: str = ""


class ExtraTrial(NamedTuple):
    """A practice or catch trial: its options, and the right answer."""

    shown: tuple[Any, ...]
    answer: int | None = None  # index of the correct answer


@dataclass(frozen=True)
class StudyDescription:
    """Settings of a questionnaire, as written in `study.toml`.

    Parameters
    ----------
    title : str
        Title of the page.
    language : str
        "en" or "de".
    instructions, consent, thanks : str
        Texts of the first page, of the page before it, and of the last page; a blank line ends
        a paragraph.
    no_preference : bool
        Whether pairs have a third answer, no preference.
    dual : bool
        Whether each choice of a product is followed by the question whether the respondent would
        really choose it.
    size, per_person : int, optional
        Options per set, and sets per respondent, for options without a design.
    order, sides : str
        "random" or "given": order of tasks, and of the options within a task.
    breaks : int, optional
        Answers between two breaks.
    person : str
        "random": a random name; "asked": the respondent enters a name. `?person=...` in the address
        takes precedence.
    post : str
        The address to which answers are sent; "": the respondent saves them.
    words : mapping
        Words that replace those of the language.
    questions, practice, catch : list
        Questions about the respondent; practice trials; trials with a correct answer.
    scale : mapping
        Scale of ratings: steps, low, high.
    """

    title: str = ""
    language: str = "en"
    instructions: str = ""
    consent: str = ""
    thanks: str = ""
    no_preference: bool = False
    dual: bool = False
    size: int | None = None
    per_person: int | None = None
    order: str = RANDOM
    sides: str = RANDOM
    breaks: int | None = None
    person: str = RANDOM
    post: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    questions: tuple[Question, ...] = ()
    practice: tuple[ExtraTrial, ...] = ()
    catch: tuple[ExtraTrial, ...] = ()
    scale: RatingScale = RatingScale()

    def merge_words(self, question_kind: str) -> dict[str, str]:
        """Return all texts of the page for a kind of question."""
        default_words = dict(load_words(self.language))
        question: Any = default_words.pop("question")
        return {**default_words, "question": question[question_kind], **self.words}


@cache
def load_words(language: str) -> dict[str, Any]:
    """Load the page's texts in a language."""
    return tomllib.loads(
        (files("thali._field") / "languages" / f"{language}.toml").read_text("utf-8")
    )


def read_study(source: str | Path | Mapping[str, Any]) -> StudyDescription:
    """Read `study.toml`, or a dict of the same layout.

    Raises
    ------
    DataError
        If the file is not TOML, or a key or value is not valid for a study.
    """
    if source is None:
        return StudyDescription()
    if isinstance(source, Mapping):
        return _parse_study(source)
    path = Path(source)
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise DataError(f"There is no file {str(path)!r}.") from None
    except UnicodeDecodeError:
        raise DataError(f"{path} is not UTF-8 text; save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise DataError(
            f"{path} is not valid TOML: {error}. Each line must be a name, = and a value, with"
            " text in quotes."
        ) from None
    try:
        return _parse_study(entries)
    except (ArgumentError, DataError) as error:
        raise DataError(f"{path}: ", error) from None


def _parse_study(entries: Mapping[str, Any]) -> StudyDescription:
    """Parse the entries of `study.toml`; raise DataError for unknown keys."""
    known_keys = tuple(entry.name for entry in fields(StudyDescription))
    for name in entries:
        if name not in known_keys:
            raise DataError(
                f"Unknown key {name!r} in a study; available keys:"
                f" {', '.join(known_keys)}.{suggest(str(name), known_keys)}"
            )
    language = _parse_choice("language", entries.get("language", "en"), LANGUAGES)
    settings: dict[str, Any] = {"language": language}
    parsers: list[tuple[Callable[..., Any], tuple[Any, ...], tuple[str, ...]]] = [
        (_parse_text, (), ("title", "instructions", "consent", "thanks")),
        (_parse_flag, (), ("no_preference", "dual")),
        (_parse_integer, (1,), ("per_person", "breaks")),
        (_parse_choice, ((RANDOM, GIVEN),), ("order", "sides")),
        (_parse_integer, (2,), ("size",)),
        (_parse_choice, ((RANDOM, ASKED),), ("person",)),
    ]
    for parse_entry, parser_arguments, setting_names in parsers:
        for name in setting_names:
            if name in entries:
                settings[name] = parse_entry(name, entries[name], *parser_arguments)
    if entries.get("post"):
        settings["post"] = parse_post_address(entries["post"])
    if "words" in entries:
        settings["words"] = _parse_words(entries["words"], language)
    if "scale" in entries:
        settings["scale"] = _parse_scale(entries["scale"])
    settings["questions"] = _parse_questions(entries.get("questions", []))
    for name in ("practice", "catch"):
        settings[name] = tuple(
            _parse_extra_trial(name, entry)
            for entry in _parse_mappings(name, entries.get(name, []))
        )
    return StudyDescription(**settings)


# Values -------------------------------------------------------------------------------------------


def _parse_text(name: str, entry: Any) -> str:
    """Return a stripped text; raise DataError for other types or lengths."""
    if not isinstance(entry, str):
        raise DataError(f"{name!r} must be text in quotes; got {entry!r}.")
    if len(entry) > _MAX_TEXT:
        raise DataError(f"{name!r} has {len(entry):,} characters; shorten it to {_MAX_TEXT:,}.")
    return entry.strip()


def _parse_flag(name: str, entry: Any) -> bool:
    """Return a bool; raise DataError for other types."""
    if not isinstance(entry, bool):
        raise DataError(f"{name!r} must be true or false; got {entry!r}.")
    return entry


def _parse_integer(name: str, entry: Any, minimum: int) -> int:
    """Return an integer >= `minimum`; raise DataError otherwise."""
    if isinstance(entry, bool) or not isinstance(entry, int) or entry < minimum:
        raise DataError(f"{name!r} must be an integer >= {minimum}; got {entry!r}.")
    return entry


def _parse_number(name: str, entry: Any) -> float:
    """Return a number; raise DataError for other types."""
    if isinstance(entry, bool) or not isinstance(entry, int | float):
        raise DataError(f"{name!r} must be a number; got {entry!r}.")
    return entry


def _parse_choice(name: str, entry: Any, choices: tuple[str, ...]) -> str:
    """Return one of `choices`; raise DataError for other entries."""
    if entry not in choices:
        raise DataError(f"{name!r} must be {' or '.join(map(repr, choices))}; got {entry!r}.")
    return entry


def _parse_mapping(name: str, entry: Any) -> Mapping[str, Any]:
    """Return a TOML table (dict); raise DataError for other types."""
    if not isinstance(entry, Mapping):
        raise DataError(
            f"{name!r} must be a table, that is, a line [{name}] followed by one line per name;"
            f" got {entry!r}."
        )
    return entry


def _parse_mappings(name: str, entries: Any) -> list[Mapping[str, Any]]:
    """Return a list of TOML tables; raise DataError for other types."""
    if not isinstance(entries, list | tuple) or not all(
        isinstance(entry, Mapping) for entry in entries
    ):
        raise DataError(
            f"{name!r} must be a list of tables, each under [[{name}]]; got {entries!r}."
        )
    return list(entries)


def _check_keys(owner: str, entries: Mapping[str, Any], known_keys: tuple[str, ...]) -> None:
    """Raise DataError if a TOML table has an unknown key."""
    for name in entries:
        if name not in known_keys:
            raise DataError(
                f"{owner} has no {name!r}; available:"
                f" {', '.join(known_keys)}.{suggest(str(name), known_keys)}"
            )


def parse_post_address(entry: Any) -> str:
    """Return a URL to which answers are sent; it must be https, or this computer."""
    requirement = (
        "'post' must be an address with https and without user name or password, such as"
        " 'https://example.org/answers'"
    )
    address = _parse_text("post", entry)
    try:
        url_parts = urlsplit(address)
        port = url_parts.port
    except ValueError:
        raise DataError(f"{requirement}; got {address!r}.") from None
    is_here = url_parts.hostname in _LOCAL_HOSTS
    if url_parts.scheme == "http" and url_parts.hostname and not is_here:
        raise DataError(
            f"{requirement}; got {address!r}, which sends answers unencrypted (use https)."
        )
    is_safe = re.fullmatch(r"[!$&'()*+./0-9:=?@A-Z_a-z~%,-]+", address) and not set(address) & set(
        "',"
    )
    is_web = url_parts.scheme in ("https", "http") and url_parts.hostname and port != 0
    if not is_web or not is_safe or url_parts.username or url_parts.fragment:
        raise DataError(f"{requirement}; got {address!r}.")
    return address


def remove_query(post: str) -> str:
    """Return a URL without its query, for the content security policy."""
    if not post:
        return ""
    url_parts: SplitResult = urlsplit(post)
    return f"{url_parts.scheme}://{url_parts.netloc}{url_parts.path}"


def _parse_words(entries: Any, language: str) -> dict[str, str]:
    """Return replacement texts; raise DataError for unknown keys or placeholders."""
    default_words = load_words(language)
    new_texts = {}
    for name, text in _parse_mapping("words", entries).items():
        if name not in default_words:
            raise DataError(
                f"Unknown key {name!r} in [words].{suggest(name, tuple(default_words))}"
            )
        new_texts[name] = _parse_text(name, text)
        allowed_placeholders: set[str] = set()
        if isinstance(default_words[name], str):
            allowed_placeholders = _list_placeholders(default_words[name])
        try:
            placeholders = _list_placeholders(new_texts[name])
        except ValueError:
            raise DataError(
                f"The text {name!r} has an unmatched brace; write {{{{ or }}}} for a literal brace."
            ) from None
        if unknown_placeholders := sorted(placeholders - allowed_placeholders):
            requirement = "must not contain placeholders"
            if allowed_placeholders:
                allowed_text = list_names(
                    f"{{{placeholder}}}" for placeholder in sorted(allowed_placeholders)
                )
                requirement = f"may contain only the placeholders {allowed_text}"
            raise DataError(f"The text {name!r} {requirement}; got {{{unknown_placeholders[0]}}}.")
    return new_texts


def _list_placeholders(text: str) -> set[str]:
    """Return the names in braces in a text."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def _parse_scale(entries: Any) -> RatingScale:
    """Return the rating scale; raise DataError unless it has 2 to 11 steps."""
    scale_entries = _parse_mapping("scale", entries)
    _check_keys("The scale", scale_entries, RatingScale._fields)
    n_steps = _parse_integer("steps", scale_entries.get("steps", 7), 2)
    if n_steps > 11:
        raise DataError(f"A scale must have 2 to 11 steps; got {n_steps}.")
    return RatingScale(
        n_steps, *(_parse_text(name, scale_entries.get(name, "")) for name in ("low", "high"))
    )


@cache
def _reserved_columns() -> dict[str, str]:
    """Return {column name: meaning} of names that a question must not have."""
    role_columns = {word: role.meaning for role in ROLES for word in role.synonyms}
    return role_columns | {
        "seed": "the seed",
        "study": "the study",
        "part": "the part",
        "passed": "whether a catch trial was passed",
        "left": "an option",
        "right": "an option",
        "version": "the version",
        "started": "when a respondent started",
    }


def _parse_questions(entries: Any) -> tuple[Question, ...]:
    """Parse the questions about the respondent."""
    questions: list[Question] = []
    for entry in _parse_mappings("questions", entries):
        _check_keys("A question", entry, Question._fields)
        name = _parse_text("name", entry.get("name", ""))
        if not _NAME.fullmatch(name):
            raise DataError(
                "The name of a question is the name of its column and must be one word of letters"
                f" and digits; got {name!r}."
            )
        if simplify_name(name) in _reserved_columns():
            raise DataError(
                f"The column of the question {name!r} would be read as"
                f" {_reserved_columns()[simplify_name(name)]}; rename it."
            )
        if any(simplify_name(name) == simplify_name(question.name) for question in questions):
            raise DataError(f"Two questions are called {name!r}; rename one.")
        question_text = _parse_text("ask", entry.get("ask", ""))
        if not question_text:
            raise DataError(f'The question {name!r} has no text; add ask = "...".')
        default_kind = "text"
        if "choices" in entry:
            default_kind = "choice"
        answer_kind = _parse_choice(
            "kind", entry.get("kind", default_kind), ("number", "choice", "text")
        )
        choices: tuple[str, ...] = ()
        if answer_kind == "choice":
            if not isinstance(entry.get("choices"), list | tuple) or len(entry["choices"]) < 2:
                raise DataError(
                    f'The question {name!r} requires at least two choices = ["...", "..."].'
                )
            choices = check_labels(entry["choices"], f"The choices of {name!r}")
        limits = _parse_limits(name, answer_kind, entry)
        is_required = _parse_flag("required", entry.get("required", True))
        questions.append(
            Question(
                name,
                question_text,
                answer_kind,
                choices,
                limits.get("least"),
                limits.get("most"),
                is_required,
            )
        )
    return tuple(questions)


def _parse_limits(name: str, answer_kind: str, entry: Mapping[str, Any]) -> dict[str, float]:
    """Return an entry's limits, {"least": a, "most": b}; raise if the kind has none."""
    limits = {
        limit: _parse_number(limit, entry[limit]) for limit in ("least", "most") if limit in entry
    }
    required_kind = "choice"
    if limits:
        required_kind = "number"
    if (limits or "choices" in entry) and answer_kind != required_kind:
        raise DataError(
            f"The question {name!r} is of kind {answer_kind!r}, which does not allow"
            f" {next(iter(limits), 'choices')!r}."
        )
    if len(limits) == 2 and limits["least"] > limits["most"]:
        raise DataError(
            f"The question {name!r} has no possible answer, because 'least' is greater than"
            " 'most'; correct one of them."
        )
    return limits


def _parse_extra_trial(name: str, entries: Mapping[str, Any]) -> ExtraTrial:
    """Parse one practice or catch trial."""
    trial_noun = f"A {name} trial"
    known_keys: tuple[str, ...] = ("options", "products")
    if name == "catch":
        known_keys = (*known_keys, "answer")
    _check_keys(trial_noun, entries, known_keys)
    if ("options" in entries) == ("products" in entries):
        raise DataError(
            f'{trial_noun} requires options = ["...", "..."], or products = [{{...}}, {{...}}] for'
            " choice tasks."
        )
    shown_entries = entries.get("options", entries.get("products"))
    if not isinstance(shown_entries, list | tuple) or len(shown_entries) < 2:
        raise DataError(
            f"{trial_noun} must show at least two options or products; got {shown_entries!r}."
        )
    if "options" in entries:
        correct_answer = format_label(entries.get("answer"))
        shown: tuple[Any, ...] = check_labels(shown_entries, f"The options of a {name} trial")
        possible_answers = shown
    else:
        shown = tuple(
            {
                str(key): format_label(cell)
                for key, cell in _parse_mapping("products", product).items()
            }
            for product in shown_entries
        )
        correct_answer = entries.get("answer")
        possible_answers = tuple(range(1, len(shown) + 1))
    if name == "practice":
        return ExtraTrial(shown)
    if correct_answer not in possible_answers:
        raise DataError(
            f"The correct answer of a {name} trial must be one of"
            f" {shorten(list(map(str, possible_answers)))}; got {correct_answer!r}."
        )
    return ExtraTrial(shown, possible_answers.index(correct_answer))
