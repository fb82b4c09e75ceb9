"""HTTP server of the app: addresses and their handlers."""

import asyncio
import contextlib
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from thali._data.kinds import PAIRS
from thali._model.default_models import excludes_individuals
from thali._model.model_spec import Option
from thali.errors import ThaliError

from ..cli.model_lookup import find_model
from ..cli.model_options import index_options
from . import background_runs, english_texts
from .background_runs import Runs
from .comparison_candidates import build_comparison_request, has_evidence
from .data_description import build_empty_reading, find_reading
from .downloads import Tickets, find_file, zip_study
from .english_texts import AppWords, render_error
from .form_fields import (
    BY,
    COVARIATES,
    GROUP,
    NO,
    RESPONDENT,
    YES,
    list_data_kinds,
    list_data_options,
    list_shown_options,
    list_tests,
    parse_form,
    translate_typed_options,
)
from .pages import (
    ASK,
    COVER_FIELDS,
    SCREEN_OF,
    SCREENS,
    Pages,
    build_progress_event,
    is_open,
)
from .request_guard import LOCAL, Guard
from .study_folders import (
    COMPARE,
    COVER,
    EVIDENCE,
    FIT,
    QUEUED_RUNS,
    READ,
    RUNS,
    TEST,
    Studies,
    StudyFolder,
    choose_suffix,
)

_TICK = 0.4  # seconds between two checks of a run
_REFUSALS = {404: "no_page", 400: "no_sense"}
_STATIC = {
    "app.js": "text/javascript",
    "app.css": "text/css",
    "favicon.svg": "image/svg+xml",
}


def serve_static(request: Request) -> Response:
    """Return a script, style sheet or picture of the app."""
    file_name = request.path_params["name"]
    if file_name not in _STATIC:
        raise HTTPException(404)
    file_bytes = (files("thali._surfaces.app") / "static" / file_name).read_bytes()
    if file_name == "app.css":  # one look for the app and the reports
        file_bytes = (files("thali._surfaces") / "page" / "style.css").read_bytes() + file_bytes
    return Response(file_bytes, media_type=_STATIC[file_name])


def redirect_icon(request: Request) -> Response:
    """Redirect /favicon.ico to the app's icon."""
    return RedirectResponse("/static/favicon.svg")


class Server:
    """HTTP handlers for the studies in a folder."""

    studies: Studies
    background_runs: Runs
    pages: Pages

    def __init__(self, folder: Path) -> None:
        self.studies = Studies(folder)
        self.runs = Runs(self.studies)
        self.pages = Pages(self.studies, self.runs)
        self._tickets = Tickets()
        self._table_locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    # pages ----------------------------------------------------------------------------------------

    def serve_shell(self, request: Request) -> Response:
        """Return the outer page, which contains no data."""
        return HTMLResponse(self.pages.render_shell())

    def serve_home(self, request: Request) -> Response:
        """Return the start page."""
        return HTMLResponse(self.pages.render_home())

    def serve_study(self, request: Request) -> Response:
        """Return a screen of a study."""
        screen = request.path_params.get("screen", "")
        if screen not in ("", *SCREENS):
            raise HTTPException(404)
        return HTMLResponse(self.pages.render_study(self._find_study(request), screen))

    # data -----------------------------------------------------------------------------------------

    async def upload(self, request: Request) -> Response:
        """Create a study from an uploaded table and read it."""
        title = unquote(request.headers.get("x-name", "data"))
        study = self.studies.create(title, file=f"data{choose_suffix(title)}")
        await self._save_body(request, study.path / study.data_name)
        return await self._read_table(study, {})

    async def create_from_dataset(self, request: Request) -> Response:
        """Create a study from a bundled data set."""
        from thali.datasets import catalogue

        dataset_name = (await _read_form(request)).get("name")
        if dataset_name not in [record.name for record in catalogue()]:
            raise HTTPException(404)
        return await self._read_table(self.studies.create(dataset_name, dataset=dataset_name), {})

    async def read(self, request: Request) -> Response:
        """Read the study's table again with new column options."""
        study, form = await self._read_open_study_and_form(request)
        data_kind = form.get("kind", "")
        if data_kind not in ("", *list_data_kinds()):
            raise HTTPException(400)
        options = list_data_options(data_kind)
        question_options, _ = _split_questions(study.typed, options)
        typed_options = {
            word: typed_value for word, typed_value in question_options.items() if word not in form
        } | _read_form_options(form, options)
        # columns that do not identify respondents
        other_columns = {key: names for key, names in study.read(READ).items() if key == "others"}
        return await self._read_table(
            study, {"kind": data_kind, "typed": typed_options, **other_columns}
        )

    async def set_respondent(self, request: Request) -> Response:
        """Read the table again with the user's answer on which column is the respondent."""
        study, form = await self._read_open_study_and_form(request)
        reading = find_reading(study)
        request_before = study.read(READ)
        respondent_column, *_ = reading["who"] or [""]
        if (
            not respondent_column
            or form.get("column") != respondent_column
            or form.get("answer") not in (YES, NO)
        ):
            raise HTTPException(400)
        if form["answer"] == NO:
            answer = {"others": [*request_before.get("others", []), respondent_column]}
        else:
            respondent_word = next(
                option.word
                for option in list_shown_options(reading["kind"])
                if option.name == RESPONDENT
            )
            answer = {"typed": {**study.typed, respondent_word: respondent_column}}
        return await self._read_table(study, request_before | answer)

    async def upload_option_file(self, request: Request) -> Response:
        """Save an uploaded file for an option, such as a tree."""
        study = self._find_study(request)
        word = request.path_params["word"]
        if word not in index_options():
            raise HTTPException(404)
        suffix = choose_suffix(unquote(request.headers.get("x-name", "")))
        study.remove(*(file.name for file in study.path.glob(f"for-{word}.*")))
        await self._save_body(request, study.path / f"for-{word}{suffix}")
        return JSONResponse({})

    async def _save_body(self, request: Request, file: Path) -> None:
        """Write the request body to a file; delete the file if the upload breaks off."""
        try:
            with open(file, "xb") as target_file:
                async for chunk in request.stream():
                    target_file.write(chunk)
        except BaseException:
            file.unlink(missing_ok=True)
            if file.stem == "data":
                self.studies.delete(StudyFolder(file.parent))
            raise

    async def _read_table(self, study: StudyFolder, read_request: dict[str, Any]) -> Response:
        """Read the study's table in a child process; redirect to its screen."""
        async with self._table_locks[study.name]:
            self._check_open(study)  # another request may have fitted it
            study.write(READ, read_request)
            await asyncio.to_thread(self.runs.read_data, study)
            if not study.read("reading"):
                message = background_runs.read_end(study, READ)[
                    "message"
                ] or background_runs.explain_failed_read(study)
                study.write("reading", build_empty_reading(message))
        return _redirect(study)

    # runs -----------------------------------------------------------------------------------------

    async def fit(self, request: Request) -> Response:
        """Queue the fit of a model with the submitted options."""
        study, form = await self._read_open_study_and_form(request)
        reading = await self._find_reading(study)
        model = form.get("model", "")
        if model not in reading.get("models", ()):
            return _build_problem(english_texts.texts.refused.choose_model)
        spec, _ = find_model(model)
        if (
            "asked" in form
            and (problem_response := await self._read_again(request, study, form)) is not None
        ):
            return problem_response
        table_options = translate_typed_options(study.typed, spec.options)
        try:
            typed_options = table_options | parse_form(spec, form, study.list_option_files())
        except ThaliError as error:
            error_sentence, argument_names = render_error(error, AppWords(spec.options))
            return _build_problem(
                error_sentence,
                fields=[
                    option.word
                    for name in argument_names
                    for option in spec.options
                    if option.name == name
                ],
            )
        # again, because groups may have been chosen
        new_reading = await self._find_reading(study)
        if model == new_reading["models"][0]:
            default_settings = dict(new_reading["settings"])
            if excludes_individuals(typed_options):
                default_settings.pop("people", None)
            typed_options = default_settings | typed_options
        method = spec.choose_method(typed_options)
        path_words = [
            word for word, typed_value in typed_options.items() if isinstance(typed_value, Path)
        ]
        fit_request = {
            "model": model,
            "typed": typed_options | {word: str(typed_options[word]) for word in path_words},
            "paths": path_words,
            COVER: {
                word: text
                for word in COVER_FIELDS
                if (text := form.get(f"cover-{word}", "").strip())
            },
            "has_cores": any(option.word == "cores" for option in spec.select_options(method)),
        }
        self._check_open(study)
        study.clear(FIT)
        study.write(FIT, fit_request)
        self.runs.queue(study, FIT)
        return _redirect(study)

    async def _find_reading(self, study: StudyFolder) -> dict[str, Any]:
        """Return what the table was read as, once no request reads it any more."""
        async with self._table_locks[study.name]:
            return study.read("reading")

    async def _read_again(
        self, request: Request, study: StudyFolder, form: dict[str, str]
    ) -> Response | None:
        """Read the table again if the form changes covariates; else None.

        If they cannot be used, the table remains unchanged and a problem is returned.
        """
        read_request = study.read(READ)
        reading = study.read("reading")
        options = list_data_options(reading["kind"])
        old_questions, other_options = _split_questions(study.typed, options)
        new_questions = _read_form_options(
            form, [option for option in options if option.name == COVARIATES]
        )
        if new_questions == old_questions:
            return None
        await self._read_table(study, {**read_request, "typed": other_options | new_questions})
        problem = study.read("reading")["problem"]
        if problem:
            study.write(READ, read_request)
            study.write("reading", reading)
            return _build_problem(problem, fields=list(new_questions))
        return None

    async def add_draws(self, request: Request) -> Response:
        """Queue the fit again, with more draws per chain."""
        study, form = await self._read_study_and_form(request)
        fit_request = study.read(FIT)
        refusal_texts = english_texts.texts.refused
        draws_text = form.get("draws", "").strip()
        draw_counts = self.runs.count_draws(study, FIT)
        if draw_counts is None or self.runs.find_state(study, FIT) in (
            background_runs.RUNNING,
            background_runs.QUEUED,
        ):
            return _build_problem(refusal_texts.nothing_to_go_on_with, 409)
        spec, _ = find_model(fit_request["model"])
        draws_word = next(option.word for option in spec.options if option.name == "draws")
        min_draws = draw_counts.target
        if draws_word in fit_request["typed"]:
            min_draws = draw_counts.recorded
        if not draws_text.isdecimal() or not min_draws < int(draws_text) < 10**9:
            return _build_problem(
                refusal_texts.draws.format(least=f"{min_draws:,}", text=repr(draws_text))
            )
        study.write(
            FIT, {**fit_request, "typed": {**fit_request["typed"], draws_word: int(draws_text)}}
        )
        self.runs.queue(study, FIT)
        return _redirect(study)

    def resume(self, request: Request) -> Response:
        """Queue a run that was stopped or killed; redirect to its page."""
        study = self._find_study(request)
        run_name = self._get_run_name(request)
        if run_name not in QUEUED_RUNS or not study.read(run_name):
            raise HTTPException(404)
        self.runs.queue(study, run_name)
        return _redirect(study, SCREEN_OF.get(run_name, ""))

    def stop(self, request: Request) -> Response:
        """Stop a run and keep its results; kill it at the second request. Redirect to its page."""
        study = self._find_study(request)
        run_name = self._get_run_name(request)
        self.runs.stop(study, run_name)
        return _redirect(study, SCREEN_OF.get(run_name, ""))

    async def compare(self, request: Request) -> Response:
        """Queue a comparison of the ticked models by prediction."""
        study, form = await self._read_study_and_form(request)
        return self._start_comparison(study, COMPARE, form)

    async def compare_evidence(self, request: Request) -> Response:
        """Queue a comparison of the ticked models by log evidence."""
        study, form = await self._read_study_and_form(request)
        if not has_evidence(study):
            raise HTTPException(404)
        return self._start_comparison(study, EVIDENCE, form)

    def _start_comparison(
        self, study: StudyFolder, run_name: str, form: dict[str, str]
    ) -> Response:
        """Queue the comparison of the ticked models, unless one runs; redirect to its page."""
        # An earlier comparison is replaced.
        compare_request = build_comparison_request(
            study, run_name, form.get("models", "").splitlines(), "sensitivity" in form
        )
        if self.runs.find_state(study, run_name) not in (
            background_runs.RUNNING,
            background_runs.QUEUED,
        ):
            study.clear(run_name)
            study.write(run_name, compare_request)
            self.runs.queue(study, run_name)
        return _redirect(study, SCREEN_OF[run_name])

    async def test(self, request: Request) -> Response:
        """Start a classical test with the submitted options."""
        study = self._find_study(request)
        form = await _read_form(request)
        test_name = form.get("test", "")
        reading = study.read("reading")
        group_columns = reading.get("offered", {}).get(BY, [])
        spec = next(
            (spec for spec in list_tests(bool(group_columns)) if spec.name == test_name), None
        )
        if spec is None or reading.get("kind") != PAIRS:
            raise HTTPException(404)
        typed_options = translate_typed_options(study.typed, spec.options)
        if test_name == GROUP:
            if form.get(GROUP) not in group_columns:
                raise HTTPException(400)
            typed_options[GROUP] = form[GROUP]
        study.write(TEST, {"name": test_name, "typed": typed_options, "paths": []})
        self.runs.start_run(study, TEST)
        return _redirect(study, SCREEN_OF[TEST])

    def copy_study(self, request: Request) -> Response:
        """Create another study with the same data."""
        study = self._find_study(request)
        new_study = self.studies.copy_study(study)
        if fit_request := study.read(FIT):
            new_study.write("draft", fit_request)
        return _redirect(new_study, ASK)

    def delete(self, request: Request) -> Response:
        """Delete a study and its files, unless a run is active; return where to go."""
        study = self._find_study(request)
        if self._has_active_run(study):
            return _build_problem(english_texts.texts.refused.is_running, 409)
        self.studies.delete(study)
        return JSONResponse({"go": "/"})

    async def stream_progress(self, request: Request) -> Response:
        """Stream a run's progress as server-sent events until it ends."""
        study = self._find_study(request)
        run_name = self._get_run_name(request)

        async def stream() -> AsyncIterator[str]:
            """Yield an event whenever the progress changes, until the run ends."""
            last_event = None
            while True:
                event = await asyncio.to_thread(build_progress_event, self.runs, study, run_name)
                if event != last_event:
                    yield f"data: {json.dumps(event)}\n\n"
                    last_event = event
                if event["state"] not in (background_runs.RUNNING, background_runs.QUEUED):
                    return
                await asyncio.sleep(_TICK)

        return StreamingResponse(stream(), media_type="text/event-stream")

    # files ----------------------------------------------------------------------------------------

    async def issue_ticket(self, request: Request) -> Response:
        """Return a one-time address of a file, valid for a minute.

        Frames and downloads cannot send the key in a header.
        """
        study = self._find_study(request)
        file_address = (await _read_form(request)).get("what", "")
        if file_address == "folder":
            if self._has_active_run(study):
                return _build_problem(english_texts.texts.refused.part_is_running, 409)
            response = zip_study(study)
        elif (response := find_file(study, file_address)) is None:
            raise HTTPException(404)
        return JSONResponse({"address": f"/ticket/{self._tickets.issue(response)}"})

    def redeem(self, request: Request) -> Response:
        """Return the file of a one-time address."""
        response = self._tickets.redeem(request.path_params["ticket"])
        if response is None:
            return PlainTextResponse(english_texts.texts.refused.only_once, 404)
        return response

    # shared methods -------------------------------------------------------------------------------

    def _find_study(self, request: Request) -> StudyFolder:
        """Return the study named in the address; raise HTTP 404 if unknown."""
        study = self.studies.find_study(request.path_params["study"])
        if study is None:
            raise HTTPException(404)
        return study

    async def _read_study_and_form(self, request: Request) -> tuple[StudyFolder, dict[str, str]]:
        """Return the study in the address and the submitted form."""
        return self._find_study(request), await _read_form(request)

    async def _read_open_study_and_form(
        self, request: Request
    ) -> tuple[StudyFolder, dict[str, str]]:
        """Return the study and the submitted form; raise HTTP 409 if it was fitted."""
        study, form = await self._read_study_and_form(request)
        self._check_open(study)
        return study, form

    def _check_open(self, study: StudyFolder) -> None:
        """Raise HTTP 409 if the study was fitted."""
        if not is_open(self.runs, study):
            raise HTTPException(409, english_texts.texts.refused.fitted)

    def _has_active_run(self, study: StudyFolder) -> bool:
        """Return whether a run of the study is active."""
        return background_runs.RUNNING in (self.runs.find_state(study, name) for name in RUNS)

    def _get_run_name(self, request: Request) -> str:
        """Return the name of the run in the address; raise HTTP 404 if unknown."""
        run_name = request.path_params["run"]
        if run_name not in RUNS:
            raise HTTPException(404)
        return run_name

    @contextlib.asynccontextmanager
    async def start_runs_in_background(self, app: Starlette) -> AsyncIterator[None]:
        """Start queued runs repeatedly while the server runs."""

        async def start_runs() -> None:
            """Start queued runs repeatedly, until cancelled."""
            while True:
                with self.runs.report_errors(self.studies.folder):
                    await asyncio.to_thread(self.runs.start_queued_runs)
                await asyncio.sleep(_TICK)

        task = asyncio.create_task(start_runs())
        try:
            yield
        finally:
            task.cancel()


def build_app(
    folder: Path, key: str, hosts: tuple[str, ...] = LOCAL, any_address: bool = False
) -> Guard:
    """Build the ASGI application for the studies in `folder`."""
    server = Server(folder)
    page_by_address: dict[str, Any] = {
        "/": server.serve_shell,
        "/study/{study}": server.serve_shell,
        "/study/{study}/{screen}": server.serve_shell,
        "/static/{name}": serve_static,
        "/favicon.ico": redirect_icon,
        "/ticket/{ticket}": server.redeem,
        "/api/home": server.serve_home,
        "/api/study/{study}": server.serve_study,
        "/api/study/{study}/{run}/events": server.stream_progress,
        "/api/study/{study}/{screen}": server.serve_study,
    }
    action_by_address: dict[str, Any] = {
        "/api/upload": server.upload,
        "/api/dataset": server.create_from_dataset,
        "/api/study/{study}/read": server.read,
        "/api/study/{study}/who": server.set_respondent,
        "/api/study/{study}/file/{word}": server.upload_option_file,
        "/api/study/{study}/fit": server.fit,
        "/api/study/{study}/more": server.add_draws,
        "/api/study/{study}/compare": server.compare,
        "/api/study/{study}/evidence": server.compare_evidence,
        "/api/study/{study}/test": server.test,
        "/api/study/{study}/again": server.copy_study,
        "/api/study/{study}/delete": server.delete,
        "/api/study/{study}/ticket": server.issue_ticket,
        "/api/study/{study}/{run}/go-on": server.resume,
        "/api/study/{study}/{run}/stop": server.stop,
    }
    routes = [
        Route(address, action, methods=["POST"]) for address, action in action_by_address.items()
    ]
    routes += [Route(address, page) for address, page in page_by_address.items()]
    handler_by_error: Any = {
        HTTPException: _render_http_error,
        ThaliError: _render_thali_error,
        OSError: lambda request, error: _build_problem(
            f"{error.filename or 'The folder'}: {error.strerror or error}.", 409
        ),
        500: lambda request, error: _build_problem(english_texts.texts.refused.error, 500),
        ClientDisconnect: lambda request, error: _build_problem(
            english_texts.texts.refused.broken_off
        ),
    }
    app = Starlette(
        routes=routes, exception_handlers=handler_by_error, lifespan=server.start_runs_in_background
    )
    return Guard(app, key, hosts, any_address)


def _read_form_options(form: dict[str, str], options: Sequence[Option]) -> dict[str, Any]:
    """Return the submitted options about a table, by option name."""
    typed_options: dict[str, Any] = {}
    for option in options:
        if field_text := form.get(option.word, "").strip():
            typed_options[option.word] = field_text
            if option.is_repeatable:
                typed_options[option.word] = field_text.splitlines()
    return typed_options


def _split_questions(
    typed: dict[str, Any], options: Sequence[Option]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split typed options into covariates and reading options."""
    question_words = {option.word for option in options if option.name == COVARIATES}
    other_options = dict(typed)
    return {
        word: other_options.pop(word) for word in typed if word in question_words
    }, other_options


async def _read_form(request: Request) -> dict[str, str]:
    """Return the submitted JSON form as {field: text}."""
    try:
        form = json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError):
        raise HTTPException(400) from None
    if not isinstance(form, dict) or not all(isinstance(text, str) for text in form.values()):
        raise HTTPException(400)
    return form


def _render_thali_error(request: Request, error: ThaliError) -> Response:
    """Return a JSON response (400) with the sentence of a ThaliError."""
    sentence, field_names = render_error(error, AppWords([]))
    return _build_problem(sentence, fields=field_names)


def _render_http_error(request: Request, error: HTTPException) -> Response:
    """Return an HTTP error as a JSON response."""
    sentence = error.detail
    if error.status_code in _REFUSALS:
        sentence = getattr(english_texts.texts.refused, _REFUSALS[error.status_code])
    return _build_problem(sentence, error.status_code)


def _redirect(study: StudyFolder, screen: str = "") -> Response:
    """Return a JSON response with the address of the next screen."""
    address = f"/study/{study.name}"
    if screen:
        address += f"/{screen}"
    return JSONResponse({"go": address})


def _build_problem(sentence: str, status: int = 400, fields: Sequence[str] = ()) -> Response:
    """Return a JSON error response with a sentence and the names of fields."""
    return JSONResponse({"problem": sentence, "fields": list(fields)}, status)
