"""The pages: what the templates are given, and nothing that was not escaped."""

import traceback
from contextlib import suppress
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2

from thali._data.kinds import PAIRS
from thali._labels import printable
from thali._model.default_models import list_offers
from thali._model.spec import Option
from thali.errors import ThaliError

from ..cli.models import model_named
from . import english, runs
from .comparisons import candidates, has_evidence, has_groups, ticked
from .english import AppWords
from .fields import (
    BY,
    CODING,
    COVARIATES,
    FILE,
    GROUP,
    LOOKING,
    QUESTIONS,
    WHERE,
    Field,
    data_options,
    fields,
    kinds,
    model_options,
    shown_of_data,
    tests_of,
)
from .reading import reading_of
from .runs import Runs, ended
from .studies import (
    COMPARE,
    COVER,
    EVIDENCE,
    FIT,
    LOOK,
    READ,
    TEST,
    TOOK,
    TOOK_TO_COMPARE,
    Studies,
    StudyFolder,
)

# The screens of a study, one decision each; which there are depends on how far it is, and the first
# is shown unasked.
DATA, ASK, RUN, REPORT, MORE, TESTS, ABOUT = (
    "data",
    "ask",
    "run",
    "report",
    "more",
    "tests",
    "about",
)
SCREENS = (DATA, ASK, RUN, REPORT, MORE, COMPARE, EVIDENCE, TESTS, ABOUT)
# where a run is followed, but for the fit
SCREEN_OF = {TEST: TESTS, COMPARE: COMPARE, EVIDENCE: EVIDENCE}
COVERED = ("title", "author", "question")  # what may be written at the head of a report
# words that mean the same whatever the model
_FOR_ANY_MODEL = ("market", "price", "labels", "ci", "monotone")
# runs that do not say how far they are
_SHORT = {TEST: "testing", LOOK: "first_look", EVIDENCE: "weighing"}


def rendered(name: str, **context: Any) -> str:
    """The page of that name."""
    return printable(_templates().get_template(name).render(say=english.texts, **context))


@cache
def _templates() -> jinja2.Environment:
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
    """The pages of these studies, as fragments of HTML."""

    def __init__(self, studies: Studies, children: Runs) -> None:
        self._studies, self._runs = studies, children

    def shell(self) -> str:
        """The page around the fragments, which shows nothing of anybody."""
        return rendered("shell.html", script=vars(english.texts.script))

    def home(self) -> str:
        """Where to drop a file, and the studies so far."""
        from thali.datasets import catalogue

        return rendered(
            "home.html",
            studies=sorted(
                (self._line(each) for each in self._studies.all()),
                key=lambda each: each["begun"],
                reverse=True,
            ),
            datasets=[(each.name, each.description, each.kind) for each in catalogue()],
        )

    def _line(self, study: StudyFolder) -> dict[str, str]:
        """What the start says of a study."""
        try:
            begun = study.about["created"]
            state, model = self._state(study), _model(study)
            title = study.shown_title
            created = begun[:16].replace("T", " ")
            return {
                "name": study.name,
                "title": title,
                "state": state,
                "model": model,
                "created": created,
                "begun": begun,
            }
        except Exception as error:
            state = _why(error)
            return {
                "name": study.name,
                "title": study.name,
                "state": state,
                "model": "",
                "created": "",
                "begun": "",
            }

    def study(self, study: StudyFolder, screen: str) -> str:
        """A screen of a study, the one where it stands unless it has that which is asked for, or
        why it has none."""
        try:
            screens = self._screens(study)
            # of a fit that was refused the question, where the reason stands
            unasked = (
                ASK if ASK in screens and self._runs.state(study, FIT) != runs.NEVER else screens[0]
            )
            here = screen if screen in screens else unasked
            context = {
                "study": study.name,
                "title": study.shown_title,
                "screens": screens,
                "here": here,
            }
            shows = {
                DATA: self._data,
                ASK: self._ask,
                RUN: self._run,
                REPORT: self._report,
                MORE: self._more,
                COMPARE: self._comparison,
                EVIDENCE: self._comparison,
                TESTS: self._tests,
                ABOUT: self._about,
            }
            name = "comparison" if here in (COMPARE, EVIDENCE) else here
            return rendered(f"{name}.html", **context, **shows[here](study, here))
        except Exception as error:
            return rendered(
                "damaged.html", study=study.name, folder=str(study.path), why=_why(error)
            )

    def _screens(self, study: StudyFolder) -> list[str]:
        """The screens that a study has."""
        reading, state = reading_of(study), self._runs.state(study, FIT)
        tests = [TESTS] if reading["kind"] == PAIRS else []
        if is_open(self._runs, study):
            return [DATA, *([ASK] if reading["models"] else []), *tests, ABOUT]
        if state == runs.ENDED and study.has_report:
            more = [MORE] if self._runs.draws(study, FIT) else []
            compared = [COMPARE] if candidates(study) else []
            weighed = [EVIDENCE] if has_evidence(study) else []
            return [REPORT, *more, *compared, *weighed, *tests, ABOUT]
        return [RUN, ABOUT]

    def _data(self, study: StudyFolder, here: str) -> dict[str, Any]:
        """What the table was read as, and what may be typed about its columns."""
        reading, asked = reading_of(study, english.texts.data.not_read), study.read(READ)
        kind, typed, named = reading["kind"], asked.get("typed", {}), reading["named"]
        columns, offered = reading["columns"], _offered(reading)

        def of(options: Any) -> list[Field]:
            return fields(options, typed, columns, offered=offered)

        of_kinds = {each: shown_of_data(each) for each in kinds()}
        asked_for = [each for each in shown_of_data(asked.get("kind", "")) if each.name in named]
        own = [each for each in shown_of_data(kind) if each.name not in named]
        roles = [each for each in own if each.name in reading["roles"]]
        if named:  # what is asked for comes alone
            roles = []
        asked_elsewhere = {each.name for each in (*asked_for, *roles)} | set(QUESTIONS)
        of_kind = {
            kind: [each for each in options if each.name not in asked_elsewhere]
            for kind, options in of_kinds.items()
        }
        return {
            "reading": reading,
            "named": [_unrecognised(field) for field in of(asked_for)],
            "roles": [
                _recognised(*each, reading["roles"]) for each in zip(roles, of(roles), strict=True)
            ],
            "asked_kind": asked.get("kind", ""),
            "kept": [
                (each.word, each.value)
                for each in of(data_options(kind))
                if each.value and each.word != WHERE
            ],
            "rows": of([option for option in data_options("") if option.name == WHERE])[0],
            "about_rows": bool(reading["problem"]) and WHERE in named,
            "kinds": [(each, of(options)) for each, options in of_kind.items()],
            "kind": asked.get("kind") or kind,
            "is_file": "file" in study.about,
        }

    def _ask(self, study: StudyFolder, here: str) -> dict[str, Any]:
        """The questions that models answer, with the fields of each; after a fit that was refused,
        why."""
        reading, asked = reading_of(study), study.read(READ)
        before, given = study.read(FIT) or study.read("draft"), study.files()
        fault, offered = _Fault(ended(study, FIT), before), _offered(reading)
        models = []
        has_people = bool(offered[GROUP]) or GROUP in asked.get("typed", {})
        for offer in list_offers(reading["kind"]):
            name, spec = offer.name, offer.spec
            if name not in reading["models"]:
                continue
            typed = before.get("typed", {})
            if before.get("model") != name:  # what is typed about the method holds for it alone
                typed = {word: value for word, value in typed.items() if word in _FOR_ANY_MODEL}
            shown = {
                word: FILE if word in given and value == given[word] else value
                for word, value in typed.items()
            }
            own = fields(
                model_options(spec, reading["kind"], has_people),
                shown,
                reading["attributes"],
                spec.methods,
                offered,
            )
            called = (
                "individuals"
                if name == reading["models"][0] and "people" in reading["settings"]
                else name
            )
            title, answers = english.title(called), english.answers(spec, called)
            models.append(
                {"name": name, "title": title, "answers": answers, "fields": fault.at(own, name)}
            )
        own, typed = (
            {each.name: each for each in shown_of_data(reading["kind"])},
            asked.get("typed", {}),
        )
        options = [own[name] for name in QUESTIONS if name in reading["questions"]]
        questions = fault.at(fields(options, typed, reading["columns"], offered=offered))
        return {
            "models": models,
            "questions": questions,
            "refused": "" if fault.is_shown else fault.sentence,
            "chosen": before.get("model") or reading["models"][0],
            "cover": dict.fromkeys(COVERED, "") | before.get(COVER, {}),
        }

    def _run(self, study: StudyFolder, here: str) -> dict[str, Any]:
        """How far the fit is."""
        asked = study.read(FIT)
        return {
            "model": _model(study),
            "size": _size(study),
            "state": self._runs.state(study, FIT),
            "stopping": self._runs.is_stopping(study, FIT),
            "end": ended(study, FIT),
            "look": self._runs.state(study, LOOK),
            "look_end": ended(study, LOOK),
            "has_chains": asked["has_cores"],
            "until_agree": _draws_until_agreement(asked["model"], asked["typed"]),
            "log": study.log(FIT),
        }

    def _report(self, study: StudyFolder, here: str) -> dict[str, Any]:
        """The report of the fit, which fills the page."""
        return {"end": ended(study, FIT)}

    def _more(self, study: StudyFolder, here: str) -> dict[str, Any]:
        """How many draws there are to be."""
        draws = self._runs.draws(study, FIT)
        return {
            "model": _model(study),
            "size": _size(study),
            "end": ended(study, FIT),
            "draws": draws,
        }

    def _comparison(self, study: StudyFolder, here: str) -> dict[str, Any]:
        """A comparison of models by prediction or by evidence: what is asked, how far it is, or its
        report."""
        state, end = self._runs.state(study, here), ended(study, here)
        has_ended = state == runs.ENDED and end["code"] == 0
        return {
            "model": _model(study),
            "size": _size(study),
            "run": here,
            "texts": getattr(english.texts, here),
            "models": [(each.name, each.name) for each in candidates(study)],
            "ticked": ticked(study, here),
            "estimates": _estimates(study, has_ended),
            "has_groups": has_groups(study),
            "state": state,
            "end": end,
            "has_report": has_ended and (study.path / here / "report.html").exists(),
        }

    def _tests(self, study: StudyFolder, here: str) -> dict[str, Any]:
        """Classical tests, and the answer of the last one."""
        return {
            "tests": [
                (spec.name, english.answers(spec, spec.name))
                for spec in tests_of(has_groups(study))
            ],
            "may_group": not has_groups(study) and bool(_offered(reading_of(study))[GROUP]),
            "tested": study.read(TEST).get("name", ""),
            "state": self._runs.state(study, TEST),
            "end": ended(study, TEST),
        }

    def _about(self, study: StudyFolder, here: str) -> dict[str, Any]:
        """The name of a study, and its files."""
        folder = study.path / FIT
        return {
            "has_results": folder.is_dir(),
            "has_report": (folder / "report.html").exists(),
            "has_draws": (folder / "posterior.nc").exists(),
            "has_excel": any(folder.glob("*.xlsx")),
            "log": study.log(FIT),
        }

    def _state(self, study: StudyFolder) -> str:
        """How far a study is, in words."""
        states = english.texts.states
        state = self._runs.state(study, FIT)
        if state == runs.ENDED and ended(study, FIT)["message"]:
            return states.not_possible
        if state == runs.ENDED and not study.has_report:
            return states.stopped
        if state == runs.NEVER and study.read("reading").get("problem"):
            return states.not_read
        return getattr(states, state)


def is_open(children: Runs, study: StudyFolder) -> bool:
    """Whether data and model may still change: no fit was begun, or none but one that was
    refused."""
    state = children.state(study, FIT)
    return state == runs.NEVER or (state == runs.ENDED and runs.was_refused(study))


def _model(study: StudyFolder) -> str:
    """What the model of the study is called; "" before there is one."""
    name = study.read(FIT).get("model", "")
    return english.title(name) if name else ""


def _size(study: StudyFolder) -> str:
    """How many data there are."""
    return study.read("reading").get("size", "")


def _offered(reading: dict[str, Any]) -> dict[str, list[str]]:
    """The columns that may be groups, covariates, or describe people."""
    empty: dict[str, list[str]] = {name: [] for name in (GROUP, COVARIATES, BY, LOOKING)}
    return empty | reading["offered"] | {CODING: reading["values"]}


def _estimates(study: StudyFolder, is_compared: bool) -> list[str]:
    """How long a comparison of none, one, two, ... models takes, judged by the last one, or by the
    fit."""
    parts, texts = reading_of(study)["parts"], english.texts.compare
    took, fitted = study.read(TOOK).get("seconds"), study.read(FIT)
    spec, _ = model_named(fitted["model"])
    # which a comparison fits by, too
    is_usual = fitted["typed"].get("method", "") in ("", *spec.methods[:1])
    compared = study.read(TOOK_TO_COMPARE) if is_compared else {}
    found = [texts.none_ticked]
    for number in range(1, 1 + len(candidates(study))):
        fits = f"{english.counted('model', number)}:"
        if parts:
            models, refits = (
                english.counted("model", number),
                english.counted("fit", number * parts),
            )
            fits = texts.fits.format(models=models, fits=refits)
        if compared:
            time = english.duration(number * compared["seconds"] / compared["models"])
            found.append(texts.as_before.format(fits=fits, time=time))
        elif parts and took is not None and is_usual:
            found.append(
                texts.takes.format(fits=fits, time=english.duration(number * parts * took))
            )
        else:
            found.append(texts.unknown.format(fits=fits))
    return found


class _Fault:
    """Why a fit was refused, which is shown at the first field that the sentence names.

    Parameters
    ----------
    end : dict
        How the fit ended.
    asked : dict
        What it was asked.
    """

    def __init__(self, end: dict[str, Any], asked: dict[str, Any]) -> None:
        self.sentence: str = end["message"]
        self.is_shown = False
        self._model, self._word = asked.get("model", ""), ""
        if self.sentence:
            spec, _ = model_named(self._model)
            own = spec.select_options(spec.choose_method(asked["typed"]))
            own = [*own, *(option for option in spec.options if option.name in QUESTIONS)]
            found = (option.word for name in end["named"] for option in own if option.name == name)
            self._word = next(found, "")

    def at(self, shown: list[Field], model: str = "") -> list[Field]:
        """These fields, of a model or of all, the one that the sentence is about with it."""
        at = [field.word == self._word and model in ("", self._model) for field in shown]
        self.is_shown = self.is_shown or any(at)
        return [
            field._replace(fault=self.sentence) if is_it else field
            for field, is_it in zip(shown, at, strict=True)
        ]


def progress_of(children: Runs, study: StudyFolder, name: str) -> dict[str, Any]:
    """How far a run is, as an event."""
    state, texts = children.state(study, name), english.texts.progress
    shown = getattr(english.texts.states, state)
    if state == runs.ENDED and _is_impossible(study, name):
        shown = texts.impossible
    found: dict[str, Any] = {"state": state, "text": getattr(texts, name).format(state=shown)}
    if state == runs.QUEUED:
        found["text"] = texts.waiting
    if state == runs.RUNNING:
        found["hint"] = study.read(f"{name}.long").get("sentence", "")
        progress = None if name in _SHORT else children.progress(study, name)
        found["text"] = getattr(texts, _SHORT.get(name, "preparing"))
        if children.is_stopping(study, name):
            found["text"] = texts.stopping
        elif progress is not None:
            done, total, unit = f"{progress.done:,}", f"{progress.total:,}", progress.unit
            found |= {"done": progress.done, "total": progress.total}
            found["text"] = texts.done.format(done=done, total=total, unit=unit)
            if progress.left is not None:
                left = english.duration(progress.left)
                found["text"] = texts.time_left.format(done=done, total=total, unit=unit, time=left)
    return found


def _is_impossible(study: StudyFolder, name: str) -> bool:
    """Whether a run ended with a message, as far as that can be read."""
    with suppress(ThaliError):
        return bool(ended(study, name)["message"])
    return False


def _draws_until_agreement(model: str, typed: dict[str, Any]) -> bool:
    """Whether a fit has chains, whose length nobody typed."""
    spec, _ = model_named(model)
    method = spec.choose_method(typed)
    words = {option.word for option in spec.select_options(method)}
    return "chains" in words and "tune" in words and "draws" not in typed


def _recognised(option: Option, field: Field, columns: dict[str, str]) -> Field:
    """A field of a column that a table must have, with the one that was recognised, and without
    further words."""
    column = columns[option.name]
    first = (
        "",
        english.texts.field.recognised_as.format(column=column)
        if column
        else english.texts.field.recognised,
    )
    return field._replace(help="", choices=[first, *field.choices[1:]])


def _unrecognised(field: Field) -> Field:
    """A field without its default, which has led to a problem."""
    first = ("", english.texts.data.choose_column)
    return field._replace(
        choices=[first, *field.choices[1:]] if field.kind == "column" else field.choices, default=""
    )


def _why(error: Exception) -> str:
    """Why a study cannot be shown; what nobody expected is printed where the app was started."""
    if isinstance(error, ThaliError):
        return error.render(AppWords([]))
    traceback.print_exception(error)
    return english.texts.refused.foreign_file
