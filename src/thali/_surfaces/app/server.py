"""The server: its addresses, and what happens at each."""

import asyncio
import contextlib
import json
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
from thali._model.spec import Option
from thali.errors import ArgumentError, ThaliError

from ..cli.models import model_named
from ..cli.options import by_word
from . import english, runs
from .comparisons import asked_to_compare, has_evidence, has_groups
from .english import AppWords, sentence_and_names
from .export import Tickets, file_of, folder_of
from .fields import (
    NO,
    QUESTIONS,
    WHO,
    YES,
    data_options,
    entered,
    given_of_data,
    kinds,
    shown_of_data,
    tests_of,
)
from .guard import LOCAL, Guard
from .pages import ABOUT, ASK, COVERED, SCREEN_OF, SCREENS, Pages, is_open, progress_of
from .reading import nothing_read, reading_of
from .runs import Runs
from .studies import (
    COMPARE,
    COVER,
    EVIDENCE,
    FIT,
    LOOK,
    QUEUED_RUNS,
    READ,
    RUNS,
    TEST,
    TOOK,
    TOOK_TO_COMPARE,
    Studies,
    StudyFolder,
    ending_of,
)

_TICK = 0.4  # seconds between two looks at a run
_REFUSALS = {404: "no_page", 400: "no_sense"}
_STATIC = {
    "app.js": "text/javascript",
    "app.css": "text/css",
    "favicon.svg": "image/svg+xml",
}


def static(request: Request) -> Response:
    """Scripts, style and picture of the app."""
    name = request.path_params["name"]
    if name not in _STATIC:
        raise HTTPException(404)
    content = (files("thali._surfaces.app") / "static" / name).read_bytes()
    if name == "app.css":  # one look for the app and the reports
        content = (files("thali._surfaces") / "page" / "style.css").read_bytes() + content
    return Response(content, media_type=_STATIC[name])


def icon(request: Request) -> Response:
    """The picture where browsers look for it."""
    return RedirectResponse("/static/favicon.svg")


class Server:
    """What the addresses do with the studies in a folder."""

    studies: Studies
    runs: Runs
    pages: Pages

    def __init__(self, folder: Path) -> None:
        self.studies = Studies(folder)
        self.runs = Runs(self.studies)
        self.pages = Pages(self.studies, self.runs)
        self._tickets = Tickets()

    # pages ----------------------------------------------------------------------------------------

    def shell(self, request: Request) -> Response:
        """The page around all others; it shows nothing without the key."""
        return HTMLResponse(self.pages.shell())

    def home(self, request: Request) -> Response:
        """The start."""
        return HTMLResponse(self.pages.home())

    def study(self, request: Request) -> Response:
        """A screen of a study, in whatever state it is."""
        screen = request.path_params.get("screen", "")
        if screen not in ("", *SCREENS):
            raise HTTPException(404)
        return HTMLResponse(self.pages.study(self._study(request), screen))

    # data -----------------------------------------------------------------------------------------

    async def upload(self, request: Request) -> Response:
        """A file as the body of the request; its name is only shown."""
        title = unquote(request.headers.get("x-name", "data"))
        study = self.studies.new(title, file=f"data{ending_of(title)}")
        await self._received(request, study.path / study.data_name)
        return await self._read(study, {})

    async def dataset(self, request: Request) -> Response:
        """A bundled data set."""
        from thali.datasets import catalogue

        name = (await _form(request)).get("name")
        if name not in [record.name for record in catalogue()]:
            raise HTTPException(404)
        return await self._read(self.studies.new(name, dataset=name), {})

    async def read(self, request: Request) -> Response:
        """Read the table again, with what was typed about its columns."""
        study, form = await self._study_and_form(request)
        if not is_open(self.runs, study):
            return _problem(english.texts.refused.fitted, 409)
        kind = form.get("kind", "")
        if kind not in ("", *kinds()):
            raise HTTPException(400)
        own = data_options(kind)
        questions, _ = _questions(study.typed, own)
        typed = {word: value for word, value in questions.items() if word not in form} | _given(
            form, own
        )
        # who did not answer
        others = {key: value for key, value in study.read(READ).items() if key == "others"}
        return await self._read(study, {"kind": kind, "typed": typed, **others})

    async def who(self, request: Request) -> Response:
        """Read the table again, once it is known whether a column says who answered."""
        study, form = await self._study_and_form(request)
        reading, asked = reading_of(study), study.read(READ)
        if not is_open(self.runs, study):
            return _problem(english.texts.refused.fitted, 409)
        column, *_ = reading["who"] or [""]
        if not column or form.get("column") != column or form.get("answer") not in (YES, NO):
            raise HTTPException(400)
        if form["answer"] == NO:
            return await self._read(study, {**asked, "others": [*asked.get("others", []), column]})
        word = next(option.word for option in shown_of_data(reading["kind"]) if option.name == WHO)
        return await self._read(study, {**asked, "typed": {**asked.get("typed", {}), word: column}})

    async def option_file(self, request: Request) -> Response:
        """A file for an option, such as a tree."""
        study, word = self._study(request), request.path_params["word"]
        if word not in by_word():
            raise HTTPException(404)
        ending = ending_of(unquote(request.headers.get("x-name", "")))
        study.remove(*(file.name for file in study.path.glob(f"for-{word}.*")))
        await self._received(request, study.path / f"for-{word}{ending}")
        return JSONResponse({})

    async def _received(self, request: Request, file: Path) -> None:
        """Write the body to a file; one that breaks off is removed."""
        try:
            with open(file, "xb") as out:
                async for chunk in request.stream():
                    out.write(chunk)
        except BaseException:
            file.unlink(missing_ok=True)
            if file.stem == "data":
                self.studies.delete(StudyFolder(file.parent))
            raise

    async def _read(self, study: StudyFolder, asked: dict[str, Any]) -> Response:
        study.write(READ, asked)
        await asyncio.to_thread(self.runs.read, study)
        if not study.read("reading"):
            message = runs.ended(study, READ)["message"] or runs.why_it_died(study)
            study.write("reading", nothing_read(message))
        return _go(study)

    # runs -----------------------------------------------------------------------------------------

    async def fit(self, request: Request) -> Response:
        """Fit a model."""
        study, form = await self._study_and_form(request)
        if not is_open(self.runs, study):
            return _problem(english.texts.refused.fitted, 409)
        reading = study.read("reading")
        model = form.get("model", "")
        if model not in reading.get("models", ()):
            return _problem(english.texts.refused.choose_model)
        spec, _ = model_named(model)
        if (
            "asked" in form
            and (problem := await self._asked_of_data(request, study, form)) is not None
        ):
            return problem
        given = given_of_data(study.typed, spec.options)
        try:
            typed = given | entered(spec, form, study.files())
        except ThaliError as error:
            sentence, named = sentence_and_names(error, AppWords(spec.options))
            return _problem(
                sentence,
                fields=[each.word for name in named for each in spec.options if each.name == name],
            )
        read = study.read("reading")  # once more if groups were chosen
        if model == read["models"][0]:
            usual = dict(read["settings"])
            if excludes_individuals(typed):
                usual.pop("people", None)
            typed = usual | typed
        method = spec.choose_method(typed)
        paths = [word for word, value in typed.items() if isinstance(value, Path)]
        asked = {
            "model": model,
            "typed": {
                word: str(value) if word in paths else value for word, value in typed.items()
            },
            "paths": paths,
            COVER: {
                word: text for word in COVERED if (text := form.get(f"cover-{word}", "").strip())
            },
            "has_cores": any(option.word == "cores" for option in spec.select_options(method)),
        }
        study.clear(FIT)
        study.remove(f"{TOOK}.json")
        study.write(FIT, asked)
        self.runs.queue(study, FIT)
        return _go(study)

    async def _asked_of_data(
        self, request: Request, study: StudyFolder, form: dict[str, str]
    ) -> Response | None:
        """Read the table again if groups or covariates were chosen; what they cannot be, and all is
        as before."""
        asked, reading = study.read(READ), study.read("reading")
        options = data_options(reading["kind"])
        questions, others = _questions(asked.get("typed", {}), options)
        wanted = _given(form, [option for option in options if option.name in QUESTIONS])
        if wanted == questions:
            return None
        await self._read(study, {**asked, "typed": others | wanted})
        problem = study.read("reading")["problem"]
        if problem:
            study.write(READ, asked)
            study.write("reading", reading)
            return _problem(problem, fields=list(wanted))
        return None

    async def more(self, request: Request) -> Response:
        """Go on with a fit, to more draws of each chain."""
        study, form = await self._study_and_form(request)
        asked, draws, texts = study.read(FIT), form.get("draws", "").strip(), english.texts.refused
        had = self.runs.draws(study, FIT)
        if had is None or self.runs.state(study, FIT) in (runs.RUNNING, runs.QUEUED):
            return _problem(texts.nothing_to_go_on_with, 409)
        spec, _ = model_named(asked["model"])
        word = next(option.word for option in spec.options if option.name == "draws")
        least = had.made if word in asked["typed"] else had.aimed_at
        if not draws.isdecimal() or not least < int(draws) < 10**9:
            return _problem(texts.draws.format(least=f"{least:,}", text=repr(draws)))
        study.write(FIT, {**asked, "typed": {**asked["typed"], word: int(draws)}})
        self.runs.queue(study, FIT)
        return _go(study)

    def go_on(self, request: Request) -> Response:
        """Go on with a run that was stopped or killed."""
        study, name = self._study(request), self._run(request)
        if name not in QUEUED_RUNS or not study.read(name):
            raise HTTPException(404)
        self.runs.queue(study, name)
        return _go(study, SCREEN_OF.get(name, ""))

    def stop(self, request: Request) -> Response:
        """Stop a run and keep what it has; the second time, end it at once."""
        study, name = self._study(request), self._run(request)
        self.runs.stop(study, name)
        return _go(study, SCREEN_OF.get(name, ""))

    async def compare(self, request: Request) -> Response:
        """Compare models by what they predict of data left out."""
        study, form = await self._study_and_form(request)
        return self._compared(study, COMPARE, form)

    async def evidence(self, request: Request) -> Response:
        """Compare models by their evidence."""
        study, form = await self._study_and_form(request)
        if not has_evidence(study):
            raise HTTPException(404)
        return self._compared(study, EVIDENCE, form)

    def _compared(self, study: StudyFolder, name: str, form: dict[str, str]) -> Response:
        """Begin a comparison of the models that are ticked unless one runs; an earlier one gives
        way."""
        try:
            asked = asked_to_compare(
                study, name, form.get("models", "").splitlines(), "sensitivity" in form
            )
        except ThaliError as error:
            sentence, fields = sentence_and_names(error, AppWords([]))
            return _problem(sentence, fields=fields)
        if self.runs.state(study, name) not in (runs.RUNNING, runs.QUEUED):
            study.clear(name)
            study.remove(f"{TOOK_TO_COMPARE}.json")
            study.write(name, asked)
            self.runs.queue(study, name)
        return _go(study, SCREEN_OF[name])

    async def test(self, request: Request) -> Response:
        """Carry out a classical test."""
        study, name = self._study(request), (await _form(request)).get("test", "")
        spec = next((spec for spec in tests_of(has_groups(study)) if spec.name == name), None)
        if spec is None or study.read("reading").get("kind") != PAIRS:
            raise HTTPException(404)
        typed = study.typed
        study.write(TEST, {"name": name, "typed": given_of_data(typed, spec.options), "paths": []})
        self.runs.begin(study, TEST)
        return _go(study, SCREEN_OF[TEST])

    def look(self, request: Request) -> Response:
        """Show what a fit has drawn so far."""
        study = self._study(request)
        draws = self.runs.draws(study, FIT)
        if draws is not None and not draws.made:
            return _problem(english.texts.refused.nothing_drawn, 409)
        study.write(LOOK, {})
        self.runs.begin(study, LOOK)
        return _go(study)

    def again(self, request: Request) -> Response:
        """Another study of the same data."""
        study = self._study(request)
        other = self.studies.again(study)
        if fitted := study.read(FIT):
            other.write("draft", fitted)
        return _go(other, ASK)

    def delete(self, request: Request) -> Response:
        """Remove a study."""
        study = self._study(request)
        if runs.RUNNING in (self.runs.state(study, name) for name in RUNS):
            return _problem(english.texts.refused.is_running, 409)
        self.studies.delete(study)
        return JSONResponse({"go": "/"})

    async def rename(self, request: Request) -> Response:
        """Call a study something else."""
        study, form = await self._study_and_form(request)
        try:
            self.studies.rename(study, form.get("title", ""))
        except ArgumentError as error:
            sentence, fields = sentence_and_names(error, AppWords([]))
            return _problem(sentence, fields=fields)
        return _go(study, ABOUT)

    async def events(self, request: Request) -> Response:
        """How far a run is, whenever that changes, until it ends."""
        study, name = self._study(request), self._run(request)

        async def stream() -> AsyncIterator[str]:
            last = None
            while True:
                found = await asyncio.to_thread(progress_of, self.runs, study, name)
                if found != last:
                    yield f"data: {json.dumps(found)}\n\n"
                    last = found
                if found["state"] not in (runs.RUNNING, runs.QUEUED):
                    return
                await asyncio.sleep(_TICK)

        return StreamingResponse(stream(), media_type="text/event-stream")

    # files ----------------------------------------------------------------------------------------

    async def ticket(self, request: Request) -> Response:
        """An address that gives a file once, within a minute: a frame and a download send no
        header."""
        study, what = self._study(request), (await _form(request)).get("what", "")
        if what == "folder":
            if runs.RUNNING in (self.runs.state(study, name) for name in RUNS):
                return _problem(english.texts.refused.part_is_running, 409)
            response = folder_of(study)
        elif (response := file_of(study, what)) is None:
            raise HTTPException(404)
        return JSONResponse({"address": f"/ticket/{self._tickets.new(response)}"})

    def redeem(self, request: Request) -> Response:
        """The file of a ticket."""
        response = self._tickets.redeemed(request.path_params["ticket"])
        if response is None:
            return PlainTextResponse(english.texts.refused.only_once, 404)
        return response

    # what they share ------------------------------------------------------------------------------

    def _study(self, request: Request) -> StudyFolder:
        study = self.studies.named(request.path_params["study"])
        if study is None:
            raise HTTPException(404)
        return study

    async def _study_and_form(self, request: Request) -> tuple[StudyFolder, dict[str, str]]:
        return self._study(request), await _form(request)

    def _run(self, request: Request) -> str:
        name = request.path_params["run"]
        if name not in RUNS:
            raise HTTPException(404)
        return name

    @contextlib.asynccontextmanager
    async def tending(self, app: Starlette) -> AsyncIterator[None]:
        """While the server runs, what waits is begun."""

        async def tend() -> None:
            while True:
                with self.runs.reporting(self.studies.folder):
                    await asyncio.to_thread(self.runs.tend)
                await asyncio.sleep(_TICK)

        task = asyncio.create_task(tend())
        try:
            yield
        finally:
            task.cancel()


def application(
    folder: Path, key: str, hosts: tuple[str, ...] = LOCAL, any_address: bool = False
) -> Guard:
    """The app as ASGI; studies lie in the folder."""
    server = Server(folder)
    one = "/api/study/{study}"
    routes = [
        Route("/", server.shell),
        Route("/study/{study}", server.shell),
        Route("/study/{study}/{screen}", server.shell),
        Route("/static/{name}", static),
        Route("/favicon.ico", icon),
        Route("/ticket/{ticket}", server.redeem),
        Route("/api/home", server.home),
        Route("/api/upload", server.upload, methods=["POST"]),
        Route("/api/dataset", server.dataset, methods=["POST"]),
        Route(one, server.study),
        Route(one + "/read", server.read, methods=["POST"]),
        Route(one + "/who", server.who, methods=["POST"]),
        Route(one + "/file/{word}", server.option_file, methods=["POST"]),
        Route(one + "/fit", server.fit, methods=["POST"]),
        Route(one + "/more", server.more, methods=["POST"]),
        Route(one + "/compare", server.compare, methods=["POST"]),
        Route(one + "/evidence", server.evidence, methods=["POST"]),
        Route(one + "/test", server.test, methods=["POST"]),
        Route(one + "/look", server.look, methods=["POST"]),
        Route(one + "/again", server.again, methods=["POST"]),
        Route(one + "/delete", server.delete, methods=["POST"]),
        Route(one + "/rename", server.rename, methods=["POST"]),
        Route(one + "/ticket", server.ticket, methods=["POST"]),
        Route(one + "/{run}/go-on", server.go_on, methods=["POST"]),
        Route(one + "/{run}/stop", server.stop, methods=["POST"]),
        Route(one + "/{run}/events", server.events),
        Route(one + "/{screen}", server.study),
    ]
    handlers: Any = {
        HTTPException: _http_problem,
        ThaliError: lambda request, error: _problem(error.render(AppWords([]))),
        OSError: lambda request, error: _problem(
            f"{error.filename or 'The folder'}: {error.strerror or error}.", 409
        ),
        500: lambda request, error: _problem(english.texts.refused.error, 500),
        ClientDisconnect: lambda request, error: _problem(english.texts.refused.broken_off),
    }
    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=server.tending)
    return Guard(app, key, hosts, any_address)


def _given(form: dict[str, str], options: Sequence[Option]) -> dict[str, Any]:
    """What a form holds about a table, by the words of the options."""
    given = [(option, text) for option in options if (text := form.get(option.word, "").strip())]
    return {
        option.word: text.splitlines() if option.is_repeatable else text for option, text in given
    }


def _questions(
    typed: dict[str, Any], options: Sequence[Option]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What was typed about a table: what asks something of the data, and what says how they are
    read."""
    words = {option.word for option in options if option.name in QUESTIONS}
    asked = {word: value for word, value in typed.items() if word in words}
    return asked, {word: value for word, value in typed.items() if word not in asked}


async def _form(request: Request) -> dict[str, str]:
    """What a form sent: names and texts, as JSON."""
    try:
        found = json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError):
        raise HTTPException(400) from None
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise HTTPException(400)
    return found


def _http_problem(request: Request, error: HTTPException) -> Response:
    refusal = _REFUSALS.get(error.status_code)
    return _problem(
        getattr(english.texts.refused, refusal) if refusal else error.detail, error.status_code
    )


def _go(study: StudyFolder, screen: str = "") -> Response:
    return JSONResponse({"go": f"/study/{study.name}{f'/{screen}' if screen else ''}"})


def _problem(sentence: str, status: int = 400, fields: Sequence[str] = ()) -> Response:
    """What is wrong, and the fields that it may be about."""
    return JSONResponse({"problem": sentence, "fields": list(fields)}, status)
