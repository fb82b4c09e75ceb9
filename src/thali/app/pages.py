"""The pages: what the templates are given, and nothing that was not escaped."""

import traceback
from contextlib import suppress
from importlib.resources import files
from typing import Any

import jinja2

from thali._described import printable
from thali._labels import plural
from thali.cli.models import model_named
from thali.data.kinds import PAIRS
from thali.errors import ThaliError
from thali.model.spec import ModelSpec

from . import runs
from .comparisons import candidates, has_evidence, has_groups, ticked
from .fields import (
    COVARIATES,
    FILE,
    GROUP,
    PEOPLE,
    QUESTIONS,
    WHERE,
    Field,
    data_options,
    fields,
    kinds,
    model_options,
    models_for,
    shown_of_data,
    tests_of,
)
from .interviews import GOALS, INTERVIEW, SIZES, Interviews
from .reading import nothing_read
from .runs import Runs, ended
from .studies import COMPARE, EVIDENCE, FIT, LOOK, READ, TEST, TOOK, Studies, Study
from .words import in_words, title, words_of

_STATES = {
    runs.NEVER: "not fitted yet",
    runs.QUEUED: "waits for a processor",
    runs.RUNNING: "running",
    runs.ENDED: "finished",
    runs.STOPPED: "stopped",
}
_RUNS = {
    FIT: "the fit",
    COMPARE: "the comparison",
    EVIDENCE: "the comparison",
    TEST: "the test",
    LOOK: "the first look",
}
_NOT_READ = "The table was not read to its end; read it again below, or drop it again."
_SHORT = {
    TEST: "Computing …",
    LOOK: "Looking at what was drawn so far …",
    EVIDENCE: "Computing; a model takes up to a minute, and under other priors a few times as long.",
}


class Pages:
    """The pages of these studies, as fragments of HTML."""

    def __init__(self, studies: Studies, children: Runs, interviews: Interviews) -> None:
        self._studies, self._runs, self._interviews = studies, children, interviews
        loader = jinja2.FunctionLoader(lambda name: (files("thali.app") / "page" / name).read_text("utf-8"))
        self._templates = jinja2.Environment(
            loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )

    def shell(self) -> str:
        """The page around the fragments, which shows nothing of anybody."""
        return self._templates.get_template("shell.html").render()

    def home(self) -> str:
        """Where to drop a file, and the studies so far."""
        from thali.datasets import catalogue

        studies = [self._line(each) for each in self._studies.all()]
        return self._rendered("home.html", studies=studies, datasets=catalogue(), goals=GOALS, sizes=SIZES)

    def _line(self, study: Study) -> dict[str, str]:
        """What the start says of a study."""
        try:
            created = study.about["created"][:16].replace("T", " ")
            state, model = self._state(study), self._model(study)
            return {"name": study.name, "title": study.title, "state": state, "model": model, "created": created}
        except Exception as error:
            return {"name": study.name, "title": study.name, "state": _why(error), "model": "", "created": ""}

    def study(self, study: Study) -> str:
        """A study, or why it cannot be shown."""
        try:
            return self._study(study)
        except Exception as error:
            return self._rendered("damaged.html", study=study.name, folder=study.path, why=_why(error))

    def _study(self, study: Study) -> str:
        """A study: an interview, or its data and the models for them, or how far the fit is, or what it found."""
        if study.read(INTERVIEW):
            return self._rendered("interview.html", study=study.name, **self._interviews.shown(study))
        state = self._runs.state(study, FIT)
        if state == runs.NEVER or (state == runs.ENDED and runs.was_refused(study)):
            return self.setup(study)
        if state == runs.ENDED and (study.path / FIT / "report.html").exists():
            return self._results(study)
        return self._run(study, state)

    def setup(self, study: Study) -> str:
        """What was read, and the models to choose from; after a fit that was refused, why, at the field."""
        reading, asked = nothing_read(_NOT_READ) | study.read("reading"), study.read(READ)
        kind = reading["kind"]
        before, given = study.read(FIT) or study.read("draft"), study.files()
        fault = _Fault(ended(study, FIT), before)
        columns, attributes = reading["columns"], reading["attributes"]
        offered = {name: [] for name in (GROUP, COVARIATES, PEOPLE)} | reading["offered"]
        models = []
        for spec in models_for(kind):
            first, others = model_options(spec, kind, GROUP in asked.get("typed", {}))
            typed = before.get("typed", {}) if before.get("model") == spec.name else {}
            shown = {word: FILE if word in given and value == given[word] else value for word, value in typed.items()}
            models.append(
                {
                    "name": spec.name,
                    "title": title(spec),
                    "answers": in_words(spec.answers, spec.options),
                    "methods": spec.methods,
                    "first": fault.at(spec, fields(first, shown, attributes, spec.methods, offered)),
                    "others": fault.at(spec, fields(others, shown, attributes, spec.methods, offered)),
                }
            )
        said, named = asked.get("typed", {}), reading["named"]
        of_kinds = {each: shown_of_data(each) for each in kinds()}
        asked_for = [each for each in shown_of_data(asked.get("kind", "")) if each.name in named]
        questions = [each for each in shown_of_data(kind) if each.name in reading["questions"]]
        rows = [option for option in data_options("") if option.name == WHERE]
        unsaid = {option.name for option in data_options("") if option.word not in said}
        apart = {option.name for option in (*asked_for, *questions)} | (unsaid & set(QUESTIONS))
        corrected = {kind: [each for each in options if each.name not in apart] for kind, options in of_kinds.items()}
        return self._rendered(
            "setup.html",
            study=study.name,
            has_results=False,
            title=study.title,
            reading=reading,
            named=[_unrecognised(field) for field in fields(asked_for, said, columns, offered=offered)],
            questions=fields(questions, said, columns, offered=offered),
            rows=fields(rows, said)[0],
            about_rows=bool(reading["problem"]) and WHERE in named,
            kinds=[(each, fields(own, said, columns, offered=offered)) for each, own in corrected.items()],
            kind=asked.get("kind") or kind,
            is_file="file" in study.about,
            models=models,
            refused="" if fault.is_shown else fault.sentence,
            chosen=before.get("model") or (models[0]["name"] if models else ""),
            **self._tests(study, kind),
        )

    def _run(self, study: Study, state: str) -> str:
        asked = study.read(FIT)
        return self._rendered(
            "run.html",
            study=study.name,
            has_results=(study.path / FIT).is_dir(),
            title=study.title,
            model=self._model(study),
            state=state,
            stopping=self._runs.is_stopping(study, FIT),
            end=ended(study, FIT),
            size=study.read("reading").get("size", ""),
            look=self._runs.state(study, LOOK),
            look_end=ended(study, LOOK),
            has_chains=asked["has_cores"],
            until_agree=_draws_until_agreement(asked["model"], asked["typed"]),
            log=study.log(FIT),
        )

    def _results(self, study: Study) -> str:
        kind = study.read("reading").get("kind", "")
        return self._rendered(
            "results.html",
            study=study.name,
            has_results=True,
            title=study.title,
            model=self._model(study),
            end=ended(study, FIT),
            has_draws=(study.path / FIT / "posterior.nc").exists(),
            has_excel=any((study.path / FIT).glob("*.xlsx")),
            compare_state=self._runs.state(study, COMPARE),
            compared=self._has_report(study, COMPARE),
            compare_end=ended(study, COMPARE),
            models=[each.name for each in candidates(study)],
            ticked={run: ticked(study, run) for run in (COMPARE, EVIDENCE)},
            estimates=self._estimates(study),
            has_groups=has_groups(study),
            has_evidence=has_evidence(study),
            evidence_state=self._runs.state(study, EVIDENCE),
            weighed=self._has_report(study, EVIDENCE),
            evidence_end=ended(study, EVIDENCE),
            size=study.read("reading").get("size", ""),
            draws=self._runs.draws(study, FIT),
            **self._tests(study, kind),
            log=study.log(FIT),
        )

    def _estimates(self, study: Study) -> list[str]:
        """How long a comparison by prediction of none, one, two, ... models takes, judged by the fit."""
        parts = (nothing_read("") | study.read("reading"))["parts"]
        took, fitted = study.read(TOOK).get("seconds"), study.read(FIT)
        spec, _ = model_named(fitted["model"])
        is_usual = fitted["typed"].get("method", "") in ("", *spec.methods[:1])  # which a comparison fits by, too
        found = ["No model is ticked."]
        for number in range(1, 1 + len(candidates(study))):
            fits = (
                f"{plural(number, 'model')}, {plural(number * parts, 'fit')}: "
                if parts
                else f"{plural(number, 'model')}: "
            )
            if parts and took is not None and is_usual:
                found.append(
                    f"{fits}{_duration(number * parts * took)}, if each takes as long as the fit of this study."
                )
            else:
                found.append(f"{fits}how long they take is not known before.")
        return found

    def _has_report(self, study: Study, name: str) -> bool:
        """Whether a comparison has come to its end, and its report is there."""
        has_ended = self._runs.state(study, name) == runs.ENDED and ended(study, name)["code"] == 0
        return has_ended and (study.path / name / "report.html").exists()

    def _tests(self, study: Study, kind: str) -> dict[str, Any]:
        """What the card of classical tests shows; nothing but paired comparisons has one."""
        specs = tests_of(has_groups(study)) if kind == PAIRS else []
        # what follows a semicolon says how the data are given at the command line
        tests = [(spec.name, in_words(spec.answers.partition(";")[0], spec.options)) for spec in specs]
        state, end = self._runs.state(study, TEST), ended(study, TEST)
        return {"tests": tests, "test": state, "test_end": end, "tested": study.read(TEST).get("name", "")}

    def _state(self, study: Study) -> str:
        if study.read(INTERVIEW):
            return "an interview that is being held"
        state = self._runs.state(study, FIT)
        if state == runs.ENDED and ended(study, FIT)["message"]:
            return "not possible"
        if state == runs.ENDED and not (study.path / FIT / "report.html").exists():
            return _STATES[runs.STOPPED]
        if state == runs.NEVER and study.read("reading").get("problem"):
            return "not read yet"
        return _STATES[state]

    def _model(self, study: Study) -> str:
        name = study.read(FIT).get("model", "")
        return title(model_named(name)[0]) if name else ""

    def _rendered(self, name: str, **context: Any) -> str:
        return printable(self._templates.get_template(name).render(**context))


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
            own = spec.options_of(asked["typed"].get("method", spec.methods[0] if spec.methods else ""))
            found = (option.word for name in end["named"] for option in own if option.name == name)
            self._word = next(found, "")

    def at(self, spec: ModelSpec, shown: list[Field]) -> list[Field]:
        """These fields of a model, the one that the sentence is about with it."""
        at = [field.word == self._word and spec.name == self._model for field in shown]
        self.is_shown = self.is_shown or any(at)
        return [field._replace(fault=self.sentence) if is_it else field for field, is_it in zip(shown, at, strict=True)]


def progress_of(children: Runs, study: Study, name: str) -> dict[str, Any]:
    """How far a run is, as an event."""
    state = children.state(study, name)
    found: dict[str, Any] = {"state": state, "text": f"{_RUNS[name].capitalize()} {_STATES[state]}."}
    if state == runs.ENDED and _is_impossible(study, name):
        found["text"] = f"{_RUNS[name].capitalize()} is not possible; the page says why."
    if state == runs.QUEUED:
        found["text"] = "Waiting until another fit leaves a processor."
    if state == runs.RUNNING:
        progress = None if name in _SHORT else children.progress(study, name)
        preparing = "Preparing; the first fit of a model compiles it, which may take half a minute."
        found["text"] = _SHORT.get(name, preparing)
        if children.is_stopping(study, name):
            found["text"] = "Stopping: what was drawn so far is being written down."
        elif progress is not None:
            found |= {"done": progress.done, "total": progress.total}
            left = "" if progress.left is None else f"; {_duration(progress.left)} left"
            found["text"] = f"{progress.done:,} of {progress.total:,} {progress.unit}{left}."
    return found


def _is_impossible(study: Study, name: str) -> bool:
    """Whether a run ended with a message, as far as that can be read."""
    with suppress(ThaliError):
        return bool(ended(study, name)["message"])
    return False


def _draws_until_agreement(model: str, typed: dict[str, Any]) -> bool:
    """Whether a fit has chains, and nobody said how long they are."""
    spec, _ = model_named(model)
    method = typed.get("method", spec.methods[0] if spec.methods else "")
    words = {option.word for option in spec.options_of(method)}
    return "chains" in words and bool(words & {"tune", "sweeps"}) and not typed.keys() & {"draws", "sweeps"}


def _unrecognised(field: Field) -> Field:
    """A field without its default, which has led to a problem."""
    choices = [("", "choose a column"), *field.choices[1:]] if field.kind == "column" else field.choices
    return field._replace(choices=choices, default="")


def _duration(seconds: float) -> str:
    """A time in words."""
    if seconds < 90:
        return f"about {max(1, round(seconds / 5) * 5)} seconds" if seconds >= 5 else "a few seconds"
    minutes = seconds / 60
    return f"about {minutes:.0f} minutes" if minutes < 90 else f"about {minutes / 60:.1f} hours"


def _why(error: Exception) -> str:
    """Why a study cannot be shown; what nobody expected is printed where the app was started."""
    if isinstance(error, ThaliError):
        return error.render(words_of([]))
    traceback.print_exception(error)
    return "One of its files holds something else than thali wrote; the details are where thali app was started."
