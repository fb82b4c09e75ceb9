"""What a table was read as, in words and with its first rows; in a child process."""

import warnings
from typing import TYPE_CHECKING, Any

from thali._data.described_columns import (
    ColumnsRead,
    guess_respondent_column,
    list_comparison_columns,
    list_people_columns,
)
from thali._data.kinds import EXPERIMENTS, SPECS
from thali._described import Facts
from thali._labels import as_label
from thali._model.default_models import choose_default_model
from thali._model.spec import DATA
from thali._reading.recognise import RecognitionError, recognise
from thali._reading.row_filter import RowFilter
from thali._reading.shapes import SHAPES
from thali._reading.table import RawTable, prefix_errors
from thali._source import Source
from thali.errors import DataWarning, ThaliError

from ..cli.boundary import Terminal
from ..cli.loading import NamedData, find_data, recognised
from ..cli.models import model_for
from ..cli.values import value_of
from .english import AppWords
from .fields import BY, COVARIATES, GROUP, LOOKING, QUESTIONS, WHERE, data_options
from .studies import READ, StudyFolder

if TYPE_CHECKING:
    import pandas

_UNASKED = tuple(spec.kind for spec in SPECS if spec.is_recognised)
_ROWS, _COLUMNS, _CELL = 10, 40, 60  # of the table that are shown; characters of a cell
_VALUES = 12  # of an outcome, each with a menu of what it means
_EXAMPLES = 3  # of cells that may say who answered


def reading_of(study: StudyFolder, problem: str = "") -> dict[str, Any]:
    """What is known of the table of a study; `problem`: what there is to say before it is read."""
    return nothing_read(problem) | study.read("reading")


def nothing_read(problem: str) -> dict[str, Any]:
    """What is known of a table before it is read."""
    empty: dict[str, Any] = {"kind": "", "could_be": "", "size": "", "problem": problem}
    return empty | {
        "said": [],
        "notes": [],
        "found": [],
        "named": [],
        "roles": {},
        "questions": [],
        "attributes": [],
        "offered": {},
        "who": [],
        "values": [],
        "practice": [],
        "models": [],
        "settings": {},
        "parts": 0,
        "facts": [],
        "columns": [],
        "head": [],
        "rows": 0,
        "all_rows": 0,
    }


def what_was_read(study: StudyFolder, terminal: Terminal) -> dict[str, Any]:
    """The kind of data, a sentence, facts, warnings and the first rows; or the problem, and
    whatever else is known."""
    options = data_options(study.read(READ).get("kind", ""))
    terminal.know(options)
    words = AppWords(options)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        shown = _what_was_read(study, words)
    of_notes = AppWords(options)
    notes = [
        each.message.render(of_notes) for each in warned if isinstance(each.message, DataWarning)
    ]
    shown["practice"] = [value for name, value in of_notes.settings if name == WHERE]
    return shown | {"notes": list(dict.fromkeys(notes))}


def _what_was_read(study: StudyFolder, words: AppWords) -> dict[str, Any]:
    asked = study.read(READ)
    shown, wanted = nothing_read(""), {}
    try:
        found = _found(study)
        if found.bundled is None:
            shown |= _first_rows(found.table) | {"all_rows": len(found.table.frame)}
        wanted = _wanted(asked)
        if found.bundled is None:
            with prefix_errors(found.table.file):
                shown |= _first_rows(_of_rows(found.table, wanted))
        kind, data, shown["said"], shown["could_be"] = _read(found, asked, wanted, shown)
        shown["kind"] = kind
        of_kind = _questions_of(kind, data)
        shown["questions"] = of_kind.questions(data, asked.get("typed", {}), shown["offered"])
        shown["facts"] = [_fact(*fact) for fact in of_kind.facts(data)]
        shown["size"] = shown["facts"][0][1]
        shown["parts"] = _parts(data)
        shown["attributes"] = of_kind.attributes(data)
        default = choose_default_model(data, {GROUP} & asked.get("typed", {}).keys())
        shown["models"], shown["settings"] = [default.offer.name, *default.others], default.settings
    except RecognitionError as error:
        shown |= {"problem": error.render(words), "found": list(error.kinds)}
    except ThaliError as error:
        shown["problem"] = error.render(words)
        if shown["offered"]:  # the table was read: it is what it was asked besides
            words.named += [
                name for name in QUESTIONS if name in wanted and name not in words.named
            ]
    shown["named"] = words.named
    return shown


def _found(study: StudyFolder) -> NamedData:
    """The data under the name that they came with."""
    about = study.about
    if "dataset" in about:
        return find_data(about["dataset"])
    name = about.get("data", about["title"])
    return NamedData(name, None, Source(name, (study.path / about["file"]).read_bytes()))


def _wanted(asked: dict[str, Any]) -> dict[str, Any]:
    """What was typed about the table, as the shapes take it."""
    known = {option.word: option for option in data_options(asked.get("kind", ""))}
    typed = asked.get("typed", {})
    return {
        known[word].name: value_of(known[word], value)
        for word, value in typed.items()
        if word in known
    }


def _read(
    found: NamedData, asked: dict[str, Any], wanted: dict[str, Any], shown: dict[str, Any]
) -> tuple[str, Any, list[str], str]:
    """The kind of data, the data, sentences about them, and another kind that they could be."""
    # What the columns can be asked is shown even if the answers cannot be used.
    kind, reading = asked.get("kind", ""), None
    if not kind:
        kind = next((spec.kind for spec in SPECS if spec.by_name in wanted), "")
    if found.bundled is not None:
        kind = found.bundled.kind
    else:
        reading = recognise(found.table, *([kind] if kind else _UNASKED), **wanted)
        kind = reading.kind
        if reading.roles is not None and len(reading.roles.outcome) == 1:
            column = found.table.frame[reading.roles.outcome[0]]
            shown["values"] = [as_label(value) for value in column.dropna().unique()[:_VALUES]]
    spec = model_for(kind, {"group"} & wanted.keys())
    own = {option.name for option in spec.options if option.to == DATA}
    own_wanted = {name: value for name, value in wanted.items() if name in own}
    of_columns = {name: value for name, value in own_wanted.items() if name not in QUESTIONS}
    whole = recognised(found, spec, of_columns)
    if reading is not None:
        frame = _of_rows(found.table, wanted).frame
        main = next(shape.main for shape in SHAPES if shape.name == reading.shape)
        of_kind = _questions_of(kind, whole[0])
        named = of_kind.recognised(main, reading.roles, whole[0])
        shown["roles"] = dict.fromkeys(main, "") | {
            name: each for name, each in named.items() if name in main and each
        }
        shown |= of_kind.offered(whole[0], frame, reading.roles, asked.get("others", []))
    return kind, *(whole if own_wanted == of_columns else recognised(found, spec, own_wanted))


def _of_rows(table: RawTable, wanted: dict[str, Any]) -> RawTable:
    """The rows and columns that count."""
    return table.filter_rows(wanted.get(WHERE, RowFilter())).drop_columns(wanted.get("without", ()))


class _DataQuestions:
    """What a page says and asks of data; what goes with one kind of them is a class of its own."""

    def recognised(
        self, main: tuple[str, ...], roles: ColumnsRead | None, data: Any
    ) -> dict[str, str | None]:
        """Of what is asked first the columns that were recognised, as far as a reading says so."""
        if roles is None:
            return {}
        found = {
            "respondent": roles.who,
            "count": roles.counts[0] if len(roles.counts) == 1 else None,
        }
        for one, other, outcome in (("first", "second", "chosen"), ("home", "away", "result")):
            if {one, other} <= {*main}:
                found |= {
                    one: roles.options[0],
                    other: roles.options[1],
                    outcome: roles.outcome[-1],
                }
        if "rejected" in main and len(roles.counts) < 2:  # else each side has its count
            found |= {"chosen": roles.options[0], "rejected": roles.options[1]}
        if "worst" in main:
            found |= dict(zip(("best", "worst"), roles.outcome, strict=True))
        return found

    def offered(
        self, data: Any, frame: "pandas.DataFrame", roles: ColumnsRead | None, others: list[str]
    ) -> dict[str, Any]:
        """The columns that describe people or comparisons, and one that may say who answered, with
        some cells."""
        return {}

    def questions(
        self, data: Any, typed: dict[str, Any], offered: dict[str, list[str]]
    ) -> list[str]:
        """What the data can be asked beside what a column means: groups of people, and covariates
        of comparisons."""
        return []

    def attributes(self, data: Any) -> list[str]:
        """The attributes of what was offered."""
        return []

    def facts(self, data: Any) -> Facts:
        """What the data hold."""
        return data._description().facts or (("data", str(data)),)


class _OfAnswers(_DataQuestions):
    def offered(
        self, data: Any, frame: "pandas.DataFrame", roles: ColumnsRead | None, others: list[str]
    ) -> dict[str, Any]:
        if roles is None:
            return {}
        known = list_people_columns(data.people)
        offered = {GROUP: [*known, *filter(None, (roles.who,))], BY: known}
        who = None if data.respondents else guess_respondent_column(frame, roles, others)
        if data.forward is not None:
            offered[COVARIATES] = list_comparison_columns(
                frame, roles if who is None else roles._replace(who=who)
            )
        examples = (
            [] if who is None else [_cell(value) for value in frame[who].unique()[:_EXAMPLES]]
        )
        return {"offered": offered, "who": [] if who is None else [who, *examples]}

    def questions(
        self, data: Any, typed: dict[str, Any], offered: dict[str, list[str]]
    ) -> list[str]:
        if GROUP in typed:
            return [GROUP]
        groups = [GROUP] if data.respondents and offered.get(GROUP) else []
        return groups if data.forward is None else [*groups, COVARIATES]


class _OfExperiments(_DataQuestions):
    def recognised(
        self, main: tuple[str, ...], roles: ColumnsRead | None, data: Any
    ) -> dict[str, str | None]:
        scheme = data.scheme
        return {"respondent": scheme.respondent, "task": scheme.task, "chosen": scheme.chosen}

    def offered(
        self, data: Any, frame: "pandas.DataFrame", roles: ColumnsRead | None, others: list[str]
    ) -> dict[str, Any]:
        return {"offered": dict.fromkeys((BY, LOOKING), list_people_columns(data.people))}

    def attributes(self, data: Any) -> list[str]:
        return [each.name for each in data.scheme.attributes]

    def facts(self, data: Any) -> Facts:
        scheme = data.scheme
        roles = (
            (scheme.respondent, "respondent"),
            (scheme.task, "task"),
            (scheme.alternative, "alternative"),
        )
        columns = tuple(
            f"{name} ({role})"
            for name, role in (*roles, (scheme.chosen, "chosen"))
            if name is not None
        )
        size, *attributes = data._description().facts
        return size, ("columns", columns), *(attributes[1:] if scheme.has_inside else attributes)


def _questions_of(kind: str, data: Any) -> _DataQuestions:
    """Return what is asked of data of a kind: of answers that add up over people more than of
    others."""
    if kind == EXPERIMENTS:
        return _OfExperiments()
    return _OfAnswers() if getattr(data, "add_up", False) else _DataQuestions()


def _parts(data: Any) -> int:
    """How many parts of the data a comparison of models leaves out in turn; 0 if they are too
    few."""
    from thali._comparison.holdout_schemes import count_parts

    try:
        return count_parts(data, None)
    except ThaliError:
        return 0


def _first_rows(table: RawTable) -> dict[str, Any]:
    """The first rows of the table as text."""
    head = table.frame.iloc[:_ROWS, :_COLUMNS]
    rows = [[_cell(value) for value in row] for row in head.itertuples(index=False)]
    return {"columns": table.names, "head": rows, "rows": len(table.frame)}


def _cell(value: Any) -> str:
    text = "" if value is None or value != value else str(value)
    return text if len(text) <= _CELL else f"{text[: _CELL - 1]}…"


def _fact(name: str, value: str | tuple[str, ...]) -> list[str]:
    """A fact of the data as a name and a text."""
    if isinstance(value, str):
        return [name, value]
    more = f" … {len(value)} in all" if len(value) > _ROWS else ""
    return [name, ", ".join(_cell(each) for each in value[:_ROWS]) + more]
