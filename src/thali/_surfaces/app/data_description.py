"""Description of a study's table (kind, columns, first rows) for the app's data page."""

import warnings
from typing import TYPE_CHECKING, Any

from thali._data.column_guesses import (
    ColumnsRead,
    guess_respondent_column,
    list_comparison_columns,
    list_people_columns,
)
from thali._data.kinds import EXPERIMENTS, SPECS
from thali._input_files import Source
from thali._labels import format_label
from thali._model.default_models import choose_default_model, choose_model
from thali._model.model_spec import DATA
from thali._object_descriptions import Facts
from thali._reading.layout_recognition import RecognitionError, recognise
from thali._reading.layouts import SHAPES
from thali._reading.row_filter import RowFilter
from thali._reading.table_files import RawTable
from thali.errors import DataWarning, ThaliError, prefix_errors

from ..cli.data_loading import NamedData, find_data, recognise_data
from ..cli.option_parsers import parse_option
from ..cli.terminal_messages import Terminal
from .english_texts import AppWords
from .form_fields import BY, COVARIATES, WHERE, list_data_options
from .study_folders import READ, StudyFolder

if TYPE_CHECKING:
    import pandas

    from thali._data.base_classes import Frozen

_RECOGNISED_KINDS = tuple(spec.kind for spec in SPECS if spec.is_recognised)
_ROWS, _COLUMNS, _CELL = 10, 40, 60  # shown rows and columns; characters of a cell
_VALUES = 12  # values of an outcome, each with a menu of meanings
_EXAMPLES = 3  # cells of a column that may identify respondents


def find_reading(study: StudyFolder, problem: str = "") -> dict[str, Any]:
    """Return the stored description of a study's table.

    `problem`: the problem to show before the table is read.
    """
    return build_empty_reading(problem) | study.read("reading")


def build_empty_reading(problem: str) -> dict[str, Any]:
    """Return the description of a table that could not be read, with the problem."""
    return {
        "kind": "",
        "could_be": "",
        "size": "",
        "problem": problem,
        "said": [],
        "notes": [],
        "found": [],
        "named": [],
        "roles": {},
        "asks_covariates": False,
        "attributes": [],
        "offered": {},
        "who": [],
        "has_people": False,
        "values": [],
        "practice": [],
        "models": [],
        "settings": {},
        "facts": [],
        "columns": [],
        "head": [],
        "rows": 0,
        "all_rows": 0,
    }


def describe_table(study: StudyFolder, terminal: Terminal) -> dict[str, Any]:
    """Read a study's table; return a dict with kind, facts, warnings, first rows."""
    table_options = list_data_options(study.read(READ).get("kind", ""))
    terminal.use_options(table_options)
    message_words = AppWords(table_options)
    with warnings.catch_warnings(record=True) as caught_warnings:
        warnings.simplefilter("always")
        description = _describe_data(study, message_words)
    note_words = AppWords(table_options)
    note_texts = [
        caught.message.render(note_words)
        for caught in caught_warnings
        if isinstance(caught.message, DataWarning)
    ]
    description["practice"] = [
        condition for name, condition in note_words.settings if name == WHERE
    ]
    return description | {"notes": list(dict.fromkeys(note_texts))}


def _describe_data(study: StudyFolder, message_words: AppWords) -> dict[str, Any]:
    """Describe a study's data, or the problem of reading them, as a dict."""
    read_request = study.read(READ)
    description = build_empty_reading("")
    read_arguments = {}
    try:
        named_data = _open_data(study)
        if named_data.bundled is None:
            description |= _show_first_rows(named_data.table)
            description["all_rows"] = len(named_data.table.frame)
        read_arguments = _parse_read_arguments(read_request)
        if named_data.bundled is None:
            with prefix_errors(named_data.table.file):
                description |= _show_first_rows(_filter_rows(named_data.table, read_arguments))
        data_kind, data, description["said"], description["could_be"] = _read_data(
            named_data, read_request, read_arguments, description
        )
        description["kind"] = data_kind
        data_questions = _choose_questions(data_kind, data)
        description["asks_covariates"] = data_questions.asks_covariates(data)
        description["facts"] = [
            _format_fact(name, value) for name, value in data_questions.list_facts(data)
        ]
        description["size"] = description["facts"][0][1]
        description["attributes"] = data_questions.list_attributes(data)
        default_model = choose_default_model(data)
        description["models"] = [default_model.offer.name, *default_model.others]
        description["settings"] = default_model.settings
    except RecognitionError as error:
        description |= {"problem": error.render(message_words), "found": list(error.kinds)}
    except ThaliError as error:
        description["problem"] = error.render(message_words)
        # the table was read, so the problem concerns covariates
        if (
            description["offered"]
            and COVARIATES in read_arguments
            and COVARIATES not in message_words.argument_names
        ):
            message_words.argument_names.append(COVARIATES)
    description["named"] = message_words.argument_names
    return description


def _open_data(study: StudyFolder) -> NamedData:
    """Open a study's data file under its original name."""
    about = study.about
    if "dataset" in about:
        return find_data(about["dataset"])
    original_name = about["title"]
    return NamedData(
        original_name, None, Source(original_name, (study.path / about["file"]).read_bytes())
    )


def _parse_read_arguments(read_request: dict[str, Any]) -> dict[str, Any]:
    """Parse the typed options about the table to arguments of its reader."""
    option_by_word = {
        option.word: option for option in list_data_options(read_request.get("kind", ""))
    }
    typed_options = read_request.get("typed", {})
    return {
        option_by_word[word].name: parse_option(option_by_word[word], text)
        for word, text in typed_options.items()
        if word in option_by_word
    }


def _read_data(
    named_data: NamedData,
    read_request: dict[str, Any],
    read_arguments: dict[str, Any],
    description: dict[str, Any],
) -> tuple[str, Any, list[str], str]:
    """Return kind, data, sentences and another possible kind; fill `description`."""
    # Read the columns without covariates first, so that a page can offer them even if their current
    # values cause an error.
    data_kind = read_request.get("kind", "")
    reading = None
    if not data_kind:
        data_kind = next((spec.kind for spec in SPECS if spec.by_name in read_arguments), "")
    if named_data.bundled is not None:
        data_kind = named_data.bundled.kind
    else:
        data_kinds = _RECOGNISED_KINDS
        if data_kind:
            data_kinds = (data_kind,)
        reading = recognise(named_data.table, *data_kinds, **read_arguments)
        data_kind = reading.kind
        if reading.roles is not None and len(reading.roles.outcome) == 1:
            outcome_column = named_data.table.frame[reading.roles.outcome[0]]
            description["values"] = [
                format_label(cell) for cell in outcome_column.dropna().unique()[:_VALUES]
            ]
    spec = choose_model(data_kind)
    option_names = {option.name for option in spec.options if option.to == DATA}
    model_arguments = {name: cell for name, cell in read_arguments.items() if name in option_names}
    column_arguments = {name: cell for name, cell in model_arguments.items() if name != COVARIATES}
    recognition = recognise_data(named_data, spec, column_arguments)
    if reading is not None:
        frame = _filter_rows(named_data.table, read_arguments).frame
        main_roles = next(shape.main for shape in SHAPES if shape.name == reading.shape)
        data_questions = _choose_questions(data_kind, recognition[0])
        column_by_role = data_questions.list_recognised_columns(
            main_roles, reading.roles, recognition[0]
        )
        description["roles"] = dict.fromkeys(main_roles, "") | {
            role: name for role, name in column_by_role.items() if role in main_roles and name
        }
        description |= data_questions.list_offered_columns(
            recognition[0], frame, reading.roles, read_request.get("others", [])
        )
    if model_arguments != column_arguments:
        recognition = recognise_data(named_data, spec, model_arguments)
    return data_kind, *recognition


def _filter_rows(table: RawTable, read_arguments: dict[str, Any]) -> RawTable:
    """Return the table without rows and columns that the options exclude."""
    return table.filter_rows(read_arguments.get(WHERE, RowFilter())).drop_columns(
        read_arguments.get("without", ())
    )


class _DataQuestions:
    """Base class of what the data page shows and asks about one kind of data."""

    def list_recognised_columns(
        self, main_roles: tuple[str, ...], roles: ColumnsRead | None, data: Any
    ) -> dict[str, str | None]:
        """Return the recognised column of each main role, such as respondent."""
        if roles is None:
            return {}
        column_by_role: dict[str, str | None] = {"respondent": roles.who}
        if len(roles.counts) == 1:
            column_by_role["count"] = roles.counts[0]
        for first_role, second_role, outcome_role in (
            ("first", "second", "chosen"),
            ("home", "away", "result"),
        ):
            if {first_role, second_role} <= {*main_roles}:
                column_by_role |= {
                    first_role: roles.options[0],
                    second_role: roles.options[1],
                    outcome_role: roles.outcome[-1],
                }
        if "rejected" in main_roles and len(roles.counts) < 2:  # else each side has its count
            column_by_role |= {"chosen": roles.options[0], "rejected": roles.options[1]}
        if "worst" in main_roles:
            column_by_role |= dict(zip(("best", "worst"), roles.outcome, strict=True))
        return column_by_role

    def list_offered_columns(
        self,
        data: Any,
        frame: "pandas.DataFrame",
        roles: ColumnsRead | None,
        other_columns: list[str],
    ) -> dict[str, Any]:
        """Return columns that may be covariates or respondents."""
        return {}

    def asks_covariates(self, data: Any) -> bool:
        """Return whether the user is asked for covariates of comparisons."""
        return False

    def list_attributes(self, data: Any) -> list[str]:
        """Return the names of product attributes; [] for other data."""
        return []

    def list_facts(self, data: Any) -> Facts:
        """Return (name, text) facts about the data."""
        return data._description().facts or (("data", str(data)),)


class _JudgementQuestions(_DataQuestions):
    """What the data page shows and asks about comparisons, choices, similarities."""

    def list_offered_columns(
        self,
        data: Any,
        frame: "pandas.DataFrame",
        roles: ColumnsRead | None,
        other_columns: list[str],
    ) -> dict[str, Any]:
        """Return columns that may be covariates or respondents."""
        if roles is None:
            return {}
        people_columns = list_people_columns(data.people)
        offered_columns = {BY: people_columns}
        respondent_column = None
        column_and_examples = []
        if not data.respondents:
            respondent_column = guess_respondent_column(frame, roles, other_columns)
        if respondent_column is not None:
            roles = roles._replace(who=respondent_column)
            example_cells = frame[respondent_column].unique()[:_EXAMPLES]
            column_and_examples = [respondent_column, *map(_shorten_cell, example_cells)]
        if data.forward is not None:
            offered_columns[COVARIATES] = list_comparison_columns(frame, roles)
        return {
            "offered": offered_columns,
            "who": column_and_examples,
            "has_people": bool(data.respondents),
        }

    def asks_covariates(self, data: Any) -> bool:
        """Return whether the user is asked for covariates of comparisons."""
        return data.forward is not None


class _ExperimentQuestions(_DataQuestions):
    """What the data page shows and asks about choice experiments."""

    def list_recognised_columns(
        self, main_roles: tuple[str, ...], roles: ColumnsRead | None, data: Any
    ) -> dict[str, str | None]:
        """Return the columns of respondent, task and choice."""
        scheme = data.scheme
        return {"respondent": scheme.respondent, "task": scheme.task, "chosen": scheme.chosen}

    def list_offered_columns(
        self,
        data: Any,
        frame: "pandas.DataFrame",
        roles: ColumnsRead | None,
        other_columns: list[str],
    ) -> dict[str, Any]:
        """Return the columns that may be attributes or describe respondents."""
        return {"offered": {BY: list_people_columns(data.people)}}

    def list_attributes(self, data: Any) -> list[str]:
        """Return the names of the product attributes."""
        return [attribute.name for attribute in data.scheme.attributes]

    def list_facts(self, data: Any) -> Facts:
        """Return (name, text) facts: size, and levels of each attribute."""
        scheme = data.scheme
        column_texts = tuple(
            f"{name} ({role})"
            for name, role in (
                (scheme.respondent, "respondent"),
                (scheme.task, "task"),
                (scheme.alternative, "alternative"),
                (scheme.chosen, "chosen"),
            )
            if name is not None
        )
        size_fact, *attribute_facts = data._description().facts
        if scheme.has_inside:
            del attribute_facts[0]
        return size_fact, ("columns", column_texts), *attribute_facts


def _choose_questions(data_kind: str, data: "Frozen") -> _DataQuestions:
    """Return the object that shows and asks about this kind of data."""
    if data_kind == EXPERIMENTS:
        return _ExperimentQuestions()
    if getattr(data, "add_up", False):
        return _JudgementQuestions()
    return _DataQuestions()


def _show_first_rows(table: RawTable) -> dict[str, Any]:
    """Return column names and first rows of a table as texts."""
    first_rows = table.frame.iloc[:_ROWS, :_COLUMNS]
    cell_texts = [
        [_shorten_cell(cell) for cell in row] for row in first_rows.itertuples(index=False)
    ]
    return {"columns": table.names, "head": cell_texts, "rows": len(table.frame)}


def _shorten_cell(cell: Any) -> str:
    """Return a cell as short text; "" if empty."""
    if cell is None or cell != cell:
        return ""
    text = str(cell)
    if len(text) > _CELL:
        return f"{text[: _CELL - 1]}…"
    return text


def _format_fact(name: str, fact_value: str | tuple[str, ...]) -> list[str]:
    """Return a fact as [name, text]."""
    if isinstance(fact_value, str):
        return [name, fact_value]
    fact_text = ", ".join(map(_shorten_cell, fact_value[:_ROWS]))
    if len(fact_value) > _ROWS:
        fact_text += f" … {len(fact_value)} in all"
    return [name, fact_text]
