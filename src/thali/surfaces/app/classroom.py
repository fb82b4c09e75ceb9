"""A questionnaire for a class: pages behind a code, answers one at a time, and what is known while they arrive.

Whoever has the code may take part and see nothing of others. What the answers say is for the one with the key, which
the guard asks for below /api.
"""

import asyncio
import contextlib
import hmac
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from thali.errors import DataError
from thali.field.live import FILE, ODD, Live, NoRoom, sent_of
from thali.field.questionnaire import Planned, page_to_ask

from .guard import Guard
from .pages import rendered
from .server import beside, icon, static
from .words import speech_in

_TICK = 0.5  # seconds between two looks for new answers
_PAUSE = 1.0  # seconds after a wrong code
# The questionnaire brings a policy of its own, which allows its script by a hash; here nobody may frame it.
_QUESTIONNAIRE_POLICY = "frame-ancestors 'none'"
_JOIN_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


class Classroom:
    """What the addresses do."""

    live: Live
    trouble: str

    def __init__(self, planned: Planned, folder: Path, code: str, address: str) -> None:
        self.live = Live(planned, folder)
        self.trouble = ""
        self._code, self._address, self._folder = code, address, folder
        self._speech = speech_in(planned.study.language)
        self._page = page_to_ask(planned)

    # ---- those who answer

    async def join(self, request: Request) -> Response:
        """Where the code is typed."""
        typed = request.query_params.get("code")
        if typed is not None and self._is_code(typed):
            return RedirectResponse(f"/{self._code}", 303)
        if typed is not None:
            await asyncio.sleep(_PAUSE)
        page = rendered("join.html", self._speech, wrong=typed is not None, title=self.live.planned.data["title"])
        status = 404 if typed is not None else 200
        return HTMLResponse(page, status, {"Content-Security-Policy": _JOIN_POLICY})

    async def questionnaire(self, request: Request) -> Response:
        """The page that asks."""
        if not self._is_code(request.path_params["code"]):
            await asyncio.sleep(_PAUSE)
            return RedirectResponse("/?code=", 303)
        return HTMLResponse(self._page, headers={"Content-Security-Policy": _QUESTIONNAIRE_POLICY})

    async def answers(self, request: Request) -> Response:
        """Keep answers, and choose the next questions."""
        if not self._is_code(request.path_params["code"]):
            await asyncio.sleep(_PAUSE)
            raise HTTPException(404)
        try:
            message = json.loads(await request.body())
        except (ValueError, RecursionError):
            raise HTTPException(400) from None
        sent = sent_of(message, self.live)
        address = "" if request.client is None else request.client.host
        return JSONResponse(await asyncio.to_thread(self.live.take, sent, address))

    def _is_code(self, typed: str) -> bool:
        return hmac.compare_digest(typed.strip().lower().encode(), self._code.encode())

    # ---- the one with the key

    def teacher(self, request: Request) -> Response:
        """The page around what is known; it shows nothing without the key."""
        return HTMLResponse(rendered("classroom.html", self._speech))

    def standing(self, request: Request) -> Response:
        """How many answers there are, and what they say."""
        live, standing = self.live, self.live.standing
        return JSONResponse(
            {
                "title": live.planned.data["title"],
                "question": live.planned.data["words"]["question"],
                "address": self._address,
                "code": self._code,
                "each": live.each,
                **live.counts(),
                "seen": standing.answers,
                "least": len(live.labels),
                "is_ranking": live.kind != ODD,
                "rows": [row._asdict() for row in standing.rows],
                "trouble": self.trouble,
            }
        )

    def file(self, request: Request) -> Response:
        """The answers as a table."""
        path = self._folder / FILE
        if not path.exists():
            raise HTTPException(404)
        return FileResponse(path, media_type="text/csv", filename=FILE)

    # ---- while it runs

    @contextlib.asynccontextmanager
    async def fitting(self, app: Starlette) -> AsyncIterator[None]:
        """While the server runs, questions follow from answers; nobody waits for it."""

        async def fit() -> None:
            while True:
                try:
                    await asyncio.to_thread(self.live.fit)
                    self.trouble = ""
                except Exception as error:  # questions are drawn by chance until a fit succeeds
                    self.trouble = f"{type(error).__name__}: {error}"
                await asyncio.sleep(_TICK)

        async with beside(fit):
            yield


def classroom(
    planned: Planned, folder: Path, code: str, key: str, hosts: tuple[str, ...], any_address: bool, address: str
) -> Guard:
    """The questionnaire as ASGI; answers lie in the folder."""
    room = Classroom(planned, folder, code, address)
    routes = [
        Route("/", room.join),
        Route("/teacher", room.teacher),
        Route("/static/{name}", static),
        Route("/favicon.ico", icon),
        Route("/api/standing", room.standing),
        Route("/api/answers.csv", room.file),
        Route("/{code}", room.questionnaire),
        Route("/{code}/answers", room.answers, methods=["POST"]),
    ]
    handlers: Any = {
        HTTPException: lambda request, error: _problem(error.detail, error.status_code),
        NoRoom: lambda request, error: _problem(str(error), 429),
        DataError: lambda request, error: _problem(str(error)),
        OSError: lambda request, error: _problem(f"{error.strerror or error}.", 507),
        500: lambda request, error: _problem("The server has an error.", 500),
        ClientDisconnect: lambda request, error: _problem("The connection broke off."),
    }
    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=room.fitting)
    return Guard(
        app,
        key,
        hosts,
        any_address,
        is_page=lambda path: path.count("/") == 1 and path != "/favicon.ico",
        where="the address that thali field serve printed for you alone",
        keeps=False,
    )


def _problem(sentence: str, status: int = 400) -> Response:
    return JSONResponse({"problem": sentence}, status)
