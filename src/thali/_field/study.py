"""`study.toml`: what a study says besides its options, checked key by key."""

import re
import string
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

from thali._data.roles import ROLES, plain
from thali._labels import as_label, checked_labels, listed, shorten, suggest
from thali.errors import ArgumentError, DataError

LANGUAGES = ("en", "de")
RANDOM, GIVEN, ASKED = "random", "given", "asked"
_LONGEST_TEXT = 20_000  # characters
_NAME = re.compile(r"[^\W\d_][^\W_]*")
_HERE = ("localhost", "127.0.0.1")


class Question(NamedTuple):
    """A question about the person."""

    name: str  # of the column
    ask: str
    kind: str  # number, choice or text
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    required: bool = True


class RatingScale(NamedTuple):
    """The scale on which pairs are rated."""

    steps: int = 7
    low: str = ""  # "": the usual words
    high: str = ""


class Extra(NamedTuple):
    """A practice or catch trial: options by their labels, or products by attribute."""

    shown: tuple[Any, ...]
    answer: int | None = None  # the place of what is right


@dataclass(frozen=True)
class StudyDescription:
    """What a study says of itself.

    Parameters
    ----------
    title : str
        What the page is called.
    language : str
        "en" or "de".
    instructions, consent, thanks : str
        Texts of the first page, of the page before it, and of the last one; a blank line ends a
        paragraph.
    no_preference : bool
        Whether a pair has a third answer, that neither is preferred.
    dual : bool
        Whether a choice among products is followed by the question whether it would really be
        chosen.
    size, per_person : int, optional
        Options of a set, and sets of each person, where options alone are given.
    order, sides : str
        "random" or "given": of tasks, and of the options of a task.
    breaks : int, optional
        Answers between two breaks.
    person : str
        "random": a random name; "asked": the person gives one. `?person=...` in the address comes
        first.
    post : str
        The address to which answers are sent; "": they are saved by the person.
    show_labels : bool
        Whether options with pictures have their names below.
    words : mapping
        Words that replace those of the language.
    pictures : mapping
        Option -> path of its picture.
    questions, practice, catch : list
        What is asked about the person; trials that do not count; trials that have a right answer.
    scale : mapping
        Of ratings: steps, low, high.
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
    show_labels: bool = True
    words: Mapping[str, str] = field(default_factory=dict)
    pictures: Mapping[str, Path] = field(default_factory=dict)
    questions: tuple[Question, ...] = ()
    practice: tuple[Extra, ...] = ()
    catch: tuple[Extra, ...] = ()
    scale: RatingScale = RatingScale()

    def all_words(self, kind: str) -> dict[str, str]:
        """Every word of the page."""
        usual = dict(words_in(self.language))
        question: Any = usual.pop("question")
        return {**usual, "question": question[kind], **self.words}


@cache
def words_in(language: str) -> dict[str, Any]:
    """The words of a language, and its questions by kind."""
    return tomllib.loads(
        (files("thali._field") / "languages" / f"{language}.toml").read_text("utf-8")
    )


def study_of(given: Any) -> StudyDescription:
    """The study in a file, or in a mapping that is laid out like one.

    Raises
    ------
    DataError
        If the file is no TOML, or a key or a value is none that a study has.
    """
    if given is None:
        return StudyDescription()
    if isinstance(given, Mapping):
        return _checked(given, Path())
    path = Path(given)
    try:
        held = tomllib.loads(path.read_text(encoding="utf-8-sig"))
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
        return _checked(held, path.parent)
    except (ArgumentError, DataError) as error:
        raise DataError(f"{path}: ", error) from None


def _checked(held: Mapping[str, Any], folder: Path) -> StudyDescription:
    """The study, once each of its keys is known and each value can be used."""
    known = tuple(each.name for each in fields(StudyDescription))
    for name in held:
        if name not in known:
            raise DataError(
                f"Unknown key {name!r} in a study; available keys:"
                f" {', '.join(known)}.{suggest(str(name), known)}"
            )
    language = _one_of("language", held.get("language", "en"), LANGUAGES)
    found: dict[str, Any] = {
        "language": language,
        **{
            name: _text(name, held[name])
            for name in ("title", "instructions", "consent", "thanks")
            if name in held
        },
        **{
            name: _flag(name, held[name])
            for name in ("no_preference", "dual", "show_labels")
            if name in held
        },
        **{name: _whole(name, held[name], 1) for name in ("per_person", "breaks") if name in held},
        **{
            name: _one_of(name, held[name], (RANDOM, GIVEN))
            for name in ("order", "sides")
            if name in held
        },
    }
    if "size" in held:
        found["size"] = _whole("size", held["size"], 2)
    if "person" in held:
        found["person"] = _one_of("person", held["person"], (RANDOM, ASKED))
    if held.get("post"):
        found["post"] = post_address(held["post"])
    if "words" in held:
        found["words"] = _words(held["words"], language)
    if "pictures" in held:
        pictures = _table("pictures", held["pictures"])
        found["pictures"] = {
            as_label(name): folder / _text("pictures", file) for name, file in pictures.items()
        }
    if "scale" in held:
        found["scale"] = _scale(held["scale"])
    found["questions"] = _questions(held.get("questions", []))
    for name in ("practice", "catch"):
        found[name] = tuple(_extra(name, each) for each in _list(name, held.get(name, [])))
    return StudyDescription(**found)


# Values -------------------------------------------------------------------------------------------


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise DataError(f"{name!r} must be text in quotes; got {value!r}.")
    if len(value) > _LONGEST_TEXT:
        raise DataError(f"{name!r} has {len(value):,} characters; shorten it to {_LONGEST_TEXT:,}.")
    return value.strip()


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise DataError(f"{name!r} must be true or false; got {value!r}.")
    return value


def _whole(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise DataError(f"{name!r} must be an integer >= {least}; got {value!r}.")
    return value


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DataError(f"{name!r} must be a number; got {value!r}.")
    return value


def _one_of(name: str, value: Any, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise DataError(f"{name!r} must be {' or '.join(map(repr, choices))}; got {value!r}.")
    return value


def _table(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise DataError(
            f"{name!r} must be a table, that is, a line [{name}] followed by one line per name;"
            f" got {value!r}."
        )
    return value


def _list(name: str, value: Any) -> list[Mapping[str, Any]]:
    if not isinstance(value, list | tuple) or not all(isinstance(each, Mapping) for each in value):
        raise DataError(f"{name!r} must be a list of tables, each under [[{name}]]; got {value!r}.")
    return list(value)


def _only(what: str, held: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in held:
        if name not in known:
            raise DataError(
                f"{what} has no {name!r}; available: {', '.join(known)}.{suggest(str(name), known)}"
            )


def post_address(value: Any) -> str:
    """An address to which a page may send: https, or http on this computer."""
    expected = (
        "'post' must be an address with https and without user name or password, such as"
        " 'https://example.org/answers'"
    )
    text = _text("post", value)
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise DataError(f"{expected}; got {text!r}.") from None
    is_here = parts.hostname in _HERE
    if parts.scheme == "http" and parts.hostname and not is_here:
        raise DataError(f"{expected}; got {text!r}, which sends answers unencrypted (use https).")
    safe = re.fullmatch(r"[!$&'()*+./0-9:=?@A-Z_a-z~%,-]+", text) and not set(text) & set("',")
    is_web = parts.scheme in ("https", "http") and parts.hostname and port != 0
    if not is_web or not safe or parts.username or parts.fragment:
        raise DataError(f"{expected}; got {text!r}.")
    return text


def sends_to(post: str) -> str:
    """What a policy of a page names, of the address to which it sends: the address without its
    question."""
    parts: SplitResult = urlsplit(post)
    return f"{parts.scheme}://{parts.netloc}{parts.path}" if post else ""


def _words(held: Any, language: str) -> dict[str, str]:
    """The words that replace others; each may name in braces what the others do."""
    usual = words_in(language)
    found = {}
    for name, text in _table("words", held).items():
        if name not in usual:
            raise DataError(f"Unknown key {name!r} in [words].{suggest(name, tuple(usual))}")
        found[name] = _text(name, text)
        allowed = _braces(usual[name]) if isinstance(usual[name], str) else set()
        try:
            named = _braces(found[name])
        except ValueError:
            raise DataError(
                f"The text {name!r} has an unmatched brace; write {{{{ or }}}} for a literal brace."
            ) from None
        if unknown := sorted(named - allowed):
            may = (
                "may contain only the placeholders"
                f" {listed(f'{{{each}}}' for each in sorted(allowed))}"
                if allowed
                else "must not contain placeholders"
            )
            raise DataError(f"The text {name!r} {may}; got {{{unknown[0]}}}.")
    return found


def _braces(text: str) -> set[str]:
    """What a text names in braces."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def _scale(held: Any) -> RatingScale:
    scale = _table("scale", held)
    _only("The scale", scale, RatingScale._fields)
    steps = _whole("steps", scale.get("steps", 7), 2)
    if steps > 11:
        raise DataError(f"A scale must have 2 to 11 steps; got {steps}.")
    return RatingScale(steps, *(_text(name, scale.get(name, "")) for name in ("low", "high")))


@cache
def _taken() -> dict[str, str]:
    """The names by which tables of answers are recognised, as they are compared: what such a column
    holds."""
    found = {word: role.meaning for role in ROLES for word in role.synonyms}
    own = {
        "seed": "the seed",
        "study": "the study",
        "part": "the part",
        "passed": "whether a catch trial was passed",
    }
    own |= {
        "left": "an option",
        "right": "an option",
        "version": "the version",
        "started": "when a respondent started",
    }
    return found | own


def _questions(held: Any) -> tuple[Question, ...]:
    found: list[Question] = []
    for each in _list("questions", held):
        _only("A question", each, Question._fields)
        name = _text("name", each.get("name", ""))
        if not _NAME.fullmatch(name):
            raise DataError(
                "The name of a question is the name of its column and must be one word of letters"
                f" and digits; got {name!r}."
            )
        if plain(name) in _taken():
            raise DataError(
                f"The column of the question {name!r} would be read as {_taken()[plain(name)]};"
                " rename it."
            )
        if any(plain(name) == plain(other.name) for other in found):
            raise DataError(f"Two questions are called {name!r}; rename one.")
        ask = _text("ask", each.get("ask", ""))
        if not ask:
            raise DataError(f'The question {name!r} has no text; add ask = "...".')
        kind = _one_of(
            "kind",
            each.get("kind", "choice" if "choices" in each else "text"),
            ("number", "choice", "text"),
        )
        choices: tuple[str, ...] = ()
        if kind == "choice":
            if not isinstance(each.get("choices"), list | tuple) or len(each["choices"]) < 2:
                raise DataError(
                    f'The question {name!r} requires at least two choices = ["...", "..."].'
                )
            choices = checked_labels(each["choices"], f"The choices of {name!r}")
        limits = {
            limit: _number(limit, each[limit]) for limit in ("least", "most") if limit in each
        }
        if (limits or "choices" in each) and kind != ("number" if limits else "choice"):
            raise DataError(
                f"The question {name!r} is of kind {kind!r}, which does not allow"
                f" {next(iter(limits), 'choices')!r}."
            )
        if len(limits) == 2 and limits["least"] > limits["most"]:
            raise DataError(
                f"The question {name!r} has no possible answer, because 'least' is greater than"
                " 'most'; correct one of them."
            )
        required = _flag("required", each.get("required", True))
        found.append(
            Question(name, ask, kind, choices, limits.get("least"), limits.get("most"), required)
        )
    return tuple(found)


def _extra(name: str, held: Mapping[str, Any]) -> Extra:
    """A trial besides those of the design."""
    what = f"A {name} trial"
    known = ("options", "products", *(("answer",) if name == "catch" else ()))
    _only(what, held, known)
    if ("options" in held) == ("products" in held):
        raise DataError(
            f'{what} requires options = ["...", "..."], or products = [{{...}}, {{...}}] for'
            " choice tasks."
        )
    shown = held.get("options", held.get("products"))
    if not isinstance(shown, list | tuple) or len(shown) < 2:
        raise DataError(f"{what} must show at least two options or products; got {shown!r}.")
    if "options" in held:
        labels = checked_labels(shown, f"The options of a {name} trial")
        answers: tuple[Any, ...] = labels
        answer = as_label(held.get("answer"))
        found: tuple[Any, ...] = labels
    else:
        found = tuple(
            {str(key): as_label(cell) for key, cell in _table("products", each).items()}
            for each in shown
        )
        answers, answer = tuple(range(1, len(found) + 1)), held.get("answer")
    if name == "practice":
        return Extra(found)
    if answer not in answers:
        raise DataError(
            f"{what} requires its correct answer, one of {shorten(list(map(str, answers)))}; got"
            f" {answer!r}."
        )
    return Extra(found, answers.index(answer))
