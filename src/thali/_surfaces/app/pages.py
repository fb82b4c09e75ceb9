"""HTML pages of the app, rendered from templates."""

import traceback
from collections.abc import Sequence
from contextlib import suppress
from functools import cache, partial
from importlib.resources import files
from typing import Any

import jinja2

from thali._data.kinds import EXPERIMENTS, PAIRS
from thali._labels import escape_unprintable
from thali._model.default_models import list_offers
from thali._model.model_spec import Option
from thali.errors import ThaliError

from ..cli.model_lookup import find_model
from . import background_runs, english_texts
from .background_runs import Runs, read_end
from .comparison_candidates import has_evidence, list_candidates, select_ticked
from .data_description import find_reading
from .english_texts import AppWords
from .form_fields import (
    BY,
    CODING,
    COVARIATES,
    FILE,
    WHERE,
    Field,
    build_fields,
    list_data_kinds,
    list_data_options,
    list_model_options,
    list_offered_methods,
    list_shown_options,
    list_tests,
)
from .study_folders import (
    COMPARE,
    COVER,
    EVIDENCE,
    FIT,
    READ,
    TEST,
    Studies,
    StudyFolder,
)

# Screens of a study, one decision each. The state of the study decides which exist; the first is
# the default.
DATA = "data"
ASK = "ask"
RUN = "run"
REPORT = "report"
MORE = "more"
TESTS = "tests"
ABOUT = "about"
SCREENS = (DATA, ASK, RUN, REPORT, MORE, COMPARE, EVIDENCE, TESTS, ABOUT)
# screen that shows the progress of a run, except for the fit
SCREEN_OF = {TEST: TESTS, COMPARE: COMPARE, EVIDENCE: EVIDENCE}
COVER_FIELDS = ("title", "author", "question")  # fields of the cover of a report
# options with the same meaning for all models
_SHARED_OPTIONS = ("market", "price", "labels", "ci", "monotone")
# runs that do not report their progress
_PROGRESS_TEXTS = {TEST: "testing", EVIDENCE: "weighing"}


def render_page(name: str, **context: Any) -> str:
    """Render the template `name` with the app's texts and this context."""
    return escape_unprintable(
        _templates().get_template(name).render(say=english_texts.texts, **context)
    )


@cache
def _templates() -> jinja2.Environment:
    """Return the jinja2 environment of the page templates, cached."""
    loader = jinja2.FunctionLoader(
        lambda name: (files("thali._surfaces.app") / "page" / name).read_text("utf-8")
    )
    return jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


class Pages:
    """Renders the pages of studies as HTML fragments."""

    def __init__(self, studies: Studies, children: Runs) -> None:
        self._studies = studies
        self._runs = children

    def render_shell(self) -> str:
        """Render the outer page, into which the others are loaded."""
        return render_page("shell.html", script=vars(english_texts.texts.script))

    def render_home(self) -> str:
        """Render the start page: upload form and list of studies."""
        from thali.datasets import catalogue

        return render_page(
            "home.html",
            studies=sorted(
                map(self._summarise_study, self._studies.list_all()),
                key=lambda line: line["begun"],
                reverse=True,
            ),
            datasets=[(record.name, record.description, record.kind) for record in catalogue()],
        )

    def _summarise_study(self, study: StudyFolder) -> dict[str, str]:
        """Return title, date and state of a study for the start page."""
        try:
            start_time = study.about["created"]
            return {
                "name": study.name,
                "title": study.shown_title,
                "state": self._describe_state(study),
                "model": _find_model_title(study),
                "created": start_time[:16].replace("T", " "),
                "begun": start_time,
            }
        except Exception as error:
            empty_summary = dict.fromkeys(("model", "created", "begun"), "")
            return {
                "name": study.name,
                "title": study.name,
                "state": _explain_error(error),
            } | empty_summary

    def render_study(self, study: StudyFolder, screen: str) -> str:
        """Render one screen of a study; an error page if it fails.

        An unavailable screen is replaced by the current screen.
        """
        try:
            screens = self._list_screens(study)
            # a refused fit leads to the questions, with the reason
            default_screen = screens[0]
            if ASK in screens and self._runs.find_state(study, FIT) != background_runs.NEVER:
                default_screen = ASK
            if screen not in screens:
                screen = default_screen
            context = {
                "study": study.name,
                "title": study.shown_title,
                "screens": screens,
                "here": screen,
                "model": _find_model_title(study),
                "size": study.read("reading").get("size", ""),
            }
            context_builders = {
                DATA: self._build_data_context,
                ASK: self._build_question_context,
                RUN: self._build_run_context,
                REPORT: self._build_report_context,
                MORE: self._build_more_context,
                COMPARE: partial(self._build_comparison_context, run=COMPARE),
                EVIDENCE: partial(self._build_comparison_context, run=EVIDENCE),
                TESTS: self._build_test_context,
                ABOUT: self._build_about_context,
            }
            template_name = screen
            if screen in (COMPARE, EVIDENCE):
                template_name = "comparison"
            return render_page(
                f"{template_name}.html", **context, **context_builders[screen](study)
            )
        except Exception as error:
            return render_page(
                "damaged.html",
                study=study.name,
                folder=str(study.path),
                why=_explain_error(error),
            )

    def _list_screens(self, study: StudyFolder) -> list[str]:
        """Return the names of the screens that a study has at present."""
        reading = find_reading(study)
        state = self._runs.find_state(study, FIT)
        if is_open(self._runs, study):
            screens = [DATA]
            if reading["models"]:
                screens.append(ASK)
        elif state == background_runs.ENDED and study.has_report:
            screens = [REPORT]
            if self._runs.count_draws(study, FIT):
                screens.append(MORE)
            if list_candidates(study):
                screens.append(COMPARE)
            if has_evidence(study):
                screens.append(EVIDENCE)
        else:
            return [RUN, ABOUT]
        if reading["kind"] == PAIRS:
            screens.append(TESTS)
        return [*screens, ABOUT]

    def _build_data_context(self, study: StudyFolder) -> dict[str, Any]:
        """Return the template variables of the screen that describes the table."""
        reading = find_reading(study, english_texts.texts.data.not_read)
        read_request = study.read(READ)
        data_kind = reading["kind"]
        named_arguments = reading["named"]
        typed_options = study.typed
        offered_columns = _list_offered_columns(reading)

        def build(options: Sequence[Option]) -> list[Field]:
            """Build the fields of these options with their typed values."""
            return build_fields(options, typed_options, reading["columns"], offered=offered_columns)

        options_by_kind = {name: list_shown_options(name) for name in list_data_kinds()}
        named_options = [
            option
            for option in list_shown_options(read_request.get("kind", ""))
            if option.name in named_arguments
        ]
        other_options = [
            option for option in list_shown_options(data_kind) if option.name not in named_arguments
        ]
        role_options = [option for option in other_options if option.name in reading["roles"]]
        if named_arguments:  # a page about a problem shows only the options that the problem names
            role_options = []
        names_elsewhere = {option.name for option in (*named_options, *role_options)} | {COVARIATES}
        other_options_by_kind = {
            name: [option for option in options if option.name not in names_elsewhere]
            for name, options in options_by_kind.items()
        }
        return {
            "reading": reading,
            "named": [_remove_default(field) for field in build(named_options)],
            "roles": [
                _label_recognised_column(option, field, reading["roles"])
                for option, field in zip(role_options, build(role_options), strict=True)
            ],
            "asked_kind": read_request.get("kind", ""),
            "kept": [
                (field.word, field.value)
                for field in build(list_data_options(data_kind))
                if field.value and field.word != WHERE
            ],
            "rows": build([option for option in list_data_options("") if option.name == WHERE])[0],
            "about_rows": bool(reading["problem"]) and WHERE in named_arguments,
            "kinds": [(name, build(options)) for name, options in other_options_by_kind.items()],
            "kind": read_request.get("kind") or data_kind,
            "is_file": "file" in study.about,
        }

    def _build_question_context(self, study: StudyFolder) -> dict[str, Any]:
        """Return the template variables of the screen on which a model is chosen."""
        # After a refused fit, it contains the reason.
        reading = find_reading(study)
        fit_request = study.read(FIT) or study.read("draft")
        refusal = _Refusal(read_end(study, FIT), fit_request)
        offered_columns = _list_offered_columns(reading)
        model_contexts = []
        has_people = reading["kind"] == EXPERIMENTS or reading["has_people"]
        for offer in list_offers(reading["kind"]):
            name = offer.name
            spec = offer.spec
            if name not in reading["models"]:
                continue
            model_fields = build_fields(
                list_model_options(spec, reading["kind"], has_people),
                _list_field_values(study, fit_request, name),
                reading["attributes"],
                list_offered_methods(spec),
                offered_columns,
            )
            shown_name = name
            if name == reading["models"][0] and "people" in reading["settings"]:
                shown_name = "individuals"
            model_contexts.append(
                {
                    "name": name,
                    "title": english_texts.find_title(shown_name),
                    "answers": english_texts.describe_model(spec, shown_name),
                    "fields": refusal.attach(model_fields, name),
                }
            )
        question_options = [
            option
            for option in list_shown_options(reading["kind"])
            if option.name == COVARIATES and reading["asks_covariates"]
        ]
        question_fields = refusal.attach(
            build_fields(
                question_options,
                study.typed,
                reading["columns"],
                offered=offered_columns,
            )
        )
        sentence_above = refusal.sentence
        if refusal.is_shown:
            sentence_above = ""
        return {
            "models": model_contexts,
            "questions": question_fields,
            "refused": sentence_above,
            "chosen": fit_request.get("model") or reading["models"][0],
            "cover": dict.fromkeys(COVER_FIELDS, "") | fit_request.get(COVER, {}),
        }

    def _build_run_context(self, study: StudyFolder) -> dict[str, Any]:
        """Return the template variables of the screen with a fit's progress."""
        fit_request = study.read(FIT)
        typed = fit_request["typed"]
        spec, _ = find_model(fit_request["model"])
        option_words = {option.word for option in spec.select_options(spec.choose_method(typed))}
        return {
            "state": self._runs.find_state(study, FIT),
            "stopping": self._runs.is_stopping(study, FIT),
            "end": read_end(study, FIT),
            # whether the chains have no fixed number of draws
            "until_agree": {"chains", "tune"} <= option_words and "draws" not in typed,
            "log": study.read_log(FIT),
        }

    def _build_report_context(self, study: StudyFolder) -> dict[str, Any]:
        """Return the template variables of the screen with the report."""
        return {"end": read_end(study, FIT)}

    def _build_more_context(self, study: StudyFolder) -> dict[str, Any]:
        """Return the template variables of the screen that adds draws."""
        return {
            "end": read_end(study, FIT),
            "draws": self._runs.count_draws(study, FIT),
        }

    def _build_comparison_context(self, study: StudyFolder, run: str) -> dict[str, Any]:
        """Return the template variables of a comparison's screen."""
        state = self._runs.find_state(study, run)
        run_end = read_end(study, run)
        has_ended = state == background_runs.ENDED and run_end["code"] == 0
        return {
            "run": run,
            "texts": getattr(english_texts.texts, run),
            "models": [(candidate.name, candidate.name) for candidate in list_candidates(study)],
            "ticked": select_ticked(study, run),
            "state": state,
            "end": run_end,
            "has_report": has_ended and (study.path / run / "report.html").exists(),
        }

    def _build_test_context(self, study: StudyFolder) -> dict[str, Any]:
        """Return the template variables of the screen of classical tests."""
        group_columns = _list_offered_columns(find_reading(study))[BY]
        return {
            "tests": [
                (spec.name, english_texts.describe_model(spec, spec.name))
                for spec in list_tests(bool(group_columns))
            ],
            "group_columns": group_columns,
            "tested": study.read(TEST).get("name", ""),
            "state": self._runs.find_state(study, TEST),
            "end": read_end(study, TEST),
        }

    def _build_about_context(self, study: StudyFolder) -> dict[str, Any]:
        """Return the template variables of the screen about a study's log and result files."""
        fit_folder = study.path / FIT
        return {
            "has_results": fit_folder.is_dir(),
            "has_report": (fit_folder / "report.html").exists(),
            "has_draws": (fit_folder / "posterior.nc").exists(),
            "has_excel": any(fit_folder.glob("*.xlsx")),
            "log": study.read_log(FIT),
        }

    def _describe_state(self, study: StudyFolder) -> str:
        """Return the state of a study (fitting, stopped, ...) as text."""
        state_texts = english_texts.texts.states
        state = self._runs.find_state(study, FIT)
        if state == background_runs.ENDED and read_end(study, FIT)["message"]:
            return state_texts.not_possible
        if state == background_runs.ENDED and not study.has_report:
            return state_texts.stopped
        if state == background_runs.NEVER and study.read("reading").get("problem"):
            return state_texts.not_read
        return getattr(state_texts, state)


def is_open(children: Runs, study: StudyFolder) -> bool:
    """Return whether data and model of a study may still be changed.

    They may change before the first fit, and after a refused fit.
    """
    state = children.find_state(study, FIT)
    return state == background_runs.NEVER or (
        state == background_runs.ENDED and background_runs.is_refused(study)
    )


def _find_model_title(study: StudyFolder) -> str:
    """Return the title of a study's model; "" before a fit was requested."""
    if model_name := study.read(FIT).get("model", ""):
        return english_texts.find_title(model_name)
    return ""


def _list_field_values(
    study: StudyFolder, fit_request: dict[str, Any], model: str
) -> dict[str, Any]:
    """Return the field values of a model's form, from the last fit request."""
    field_values = dict(fit_request.get("typed", {}))
    option_files = study.list_option_files()
    for word, typed_value in fit_request.get("typed", {}).items():
        # what is typed about the method holds for it alone
        if fit_request.get("model") != model and word not in _SHARED_OPTIONS:
            del field_values[word]
        elif option_files.get(word) == typed_value:
            field_values[word] = FILE
    return field_values


def _list_offered_columns(reading: dict[str, Any]) -> dict[str, list[str]]:
    """Return the columns offered as covariates and respondent attributes."""
    no_columns: dict[str, list[str]] = {COVARIATES: [], BY: []}
    return no_columns | reading["offered"] | {CODING: reading["values"]}


class _Refusal:
    """Error message of a refused fit, to be shown at the field that caused it.

    Parameters
    ----------
    end : dict
        End of the fit.
    asked : dict
        Request of the fit.
    """

    def __init__(self, end: dict[str, Any], request: dict[str, Any]) -> None:
        self.sentence: str = end["message"]
        self.is_shown = False
        self._model = request.get("model", "")
        self._word = ""
        if self.sentence:
            spec, _ = find_model(self._model)
            options = [
                *spec.select_options(spec.choose_method(request["typed"])),
                *(option for option in spec.options if option.name == COVARIATES),
            ]
            refused_words = (
                option.word for name in end["named"] for option in options if option.name == name
            )
            self._word = next(refused_words, "")

    def attach(self, field_list: list[Field], model: str = "") -> list[Field]:
        """Return the fields with the error message added to the first that it names."""
        attached_fields = []
        for field in field_list:
            if field.word == self._word and model in ("", self._model):
                self.is_shown = True
                field = field._replace(fault=self.sentence)
            attached_fields.append(field)
        return attached_fields


def build_progress_event(children: Runs, study: StudyFolder, run_name: str) -> dict[str, Any]:
    """Build the server-sent event (a dict) with a run's progress."""
    state = children.find_state(study, run_name)
    progress_texts = english_texts.texts.progress
    state_text = getattr(english_texts.texts.states, state)
    if state == background_runs.ENDED and _is_impossible(study, run_name):
        state_text = progress_texts.impossible
    event: dict[str, Any] = {
        "state": state,
        "text": getattr(progress_texts, run_name).format(state=state_text),
    }
    if state == background_runs.QUEUED:
        event["text"] = progress_texts.waiting
    if state == background_runs.RUNNING:
        event["hint"] = study.read(f"{run_name}.long").get("sentence", "")
        progress = None
        if run_name not in _PROGRESS_TEXTS:
            progress = children.read_progress(study, run_name)
        event["text"] = getattr(progress_texts, _PROGRESS_TEXTS.get(run_name, "preparing"))
        if children.is_stopping(study, run_name):
            event["text"] = progress_texts.stopping
        elif progress is not None:
            n_done = f"{progress.done:,}"
            n_total = f"{progress.total:,}"
            unit = progress.unit
            event |= {"done": progress.done, "total": progress.total}
            event["text"] = progress_texts.done.format(done=n_done, total=n_total, unit=unit)
            if progress.seconds_left is not None:
                time_left = english_texts.format_duration(progress.seconds_left)
                event["text"] = progress_texts.time_left.format(
                    done=n_done, total=n_total, unit=unit, time=time_left
                )
    return event


def _is_impossible(study: StudyFolder, run_name: str) -> bool:
    """Return whether a run ended with an error message for the user."""
    with suppress(ThaliError):
        return bool(read_end(study, run_name)["message"])
    return False


def _label_recognised_column(
    option: Option, field: Field, recognised_columns: dict[str, str]
) -> Field:
    """Return the field whose empty choice names the recognised column."""
    default_label = english_texts.texts.field.recognised
    if column := recognised_columns[option.name]:
        default_label = english_texts.texts.field.recognised_as.format(column=column)
    return field._replace(help="", choices=[("", default_label), *field.choices[1:]])


def _remove_default(field: Field) -> Field:
    """Return the field without its default value."""
    if field.kind == "column":
        empty_choice = ("", english_texts.texts.data.choose_column)
        field = field._replace(choices=[empty_choice, *field.choices[1:]])
    return field._replace(default="")


def _explain_error(error: Exception) -> str:
    """Return the sentence of an error page; print unexpected errors."""
    if isinstance(error, ThaliError):
        return error.render(AppWords([]))
    traceback.print_exception(error)
    return english_texts.texts.refused.foreign_file
