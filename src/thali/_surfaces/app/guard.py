"""What every request meets first: who may ask, from where, and how much may be sent.

Loopback alone is no boundary, since any page in the browser can send requests to it. So each
request must name a host of ours (against DNS rebinding), none may come from another origin, and
whatever shows or changes anything needs the key, which stands in the fragment of the address and
comes back as a header; so it is in no log.
"""

import asyncio
import hmac
import json
import math
from collections.abc import Awaitable, Callable, MutableMapping
from ipaddress import ip_address
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from uvicorn.protocols.http.h11_impl import H11Protocol

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

KEY = "x-thali-key"
MAX_UPLOAD = 200 << 20  # bytes of a file
MAX_FORM = 1 << 20  # bytes of anything else
LOCAL = ("127.0.0.1", "localhost", "::1")
_PAUSE = 1.0  # seconds after a wrong key
MAX_SECONDS_OF_BODY = 600.0

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src"
    " 'self'; frame-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
# A report brings a policy of its own, which allows its scripts by their hashes; here it may not
# reach the app.
REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads allow-modals; connect-src 'none'; form-action 'none';"
    " base-uri 'none'; frame-ancestors 'self'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def _is_page(path: str) -> bool:
    """Whether a path is a page of the app, which shows nothing without the key."""
    return path == "/" or path.startswith("/study/")


class Guard:
    """An ASGI application that lets through what is allowed.

    Parameters
    ----------
    app : ASGI application
    key : str
        What requests below /api must bring.
    hosts : tuple of str
        The names by which this server may be called.
    any_address : bool
        Whether it may be called by any number of an address, too: a page elsewhere can only send
        names.
    """

    def __init__(
        self, app: Any, key: str, hosts: tuple[str, ...] = LOCAL, any_address: bool = False
    ) -> None:
        self.app, self._key, self._hosts, self._any_address = app, key, hosts, any_address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no websockets here
        headers, path = Headers(scope=scope), scope["path"]

        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start":
                _complete(MutableHeaders(scope=message))
            await send(message)

        most = MAX_UPLOAD if path == "/api/upload" or "/file/" in path else MAX_FORM
        refusal = self._refusal(scope["method"], path, headers, most)
        key = headers.get(KEY, "").encode()
        if (
            refusal is None
            and path.startswith("/api/")
            and not hmac.compare_digest(key, self._key.encode())
        ):
            await asyncio.sleep(_PAUSE)
            refusal = 401, "The key is missing or wrong; open the address that thali app printed."
        if refusal is not None:
            status, sentence = refusal
            await JSONResponse({"problem": sentence}, status)(scope, receive, sending)
        else:
            await self.app(scope, _counted(receive, most), sending)

    def _refusal(
        self, method: str, path: str, headers: Headers, most: int
    ) -> tuple[int, str] | None:
        """Why the request is refused, whoever sends it."""
        host = headers.get("host", "")
        if not self._is_ours(host):
            return 421, "This server does not have that name."
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return 403, "Requests from other pages are refused."
        if not _is_page(path):
            if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                return 403, "Requests from other pages are refused."
        declared = headers.get("content-length", "0")
        if not declared.isdecimal() or int(declared) > most:
            return 413, _limit(most)
        return None

    def _is_ours(self, host: str) -> bool:
        name = host.rpartition(":")[0] if ":" in host.rpartition("]")[2] else host
        name = name.strip("[]").lower()
        if name in self._hosts:
            return True
        try:
            return self._any_address and bool(ip_address(name))
        except ValueError:
            return False


def _complete(headers: MutableHeaders) -> None:
    """Add to a response what browsers may do with it."""
    for name, value in _HEADERS.items():
        headers[name] = value
    if "content-security-policy" not in headers:
        headers["Content-Security-Policy"] = PAGE_POLICY
        headers["X-Frame-Options"] = "DENY"


def _counted(receive: Receive, most: int) -> Receive:
    """The same stream, which breaks off where more comes than is allowed, whatever was declared."""
    read, end = 0, asyncio.get_running_loop().time() + MAX_SECONDS_OF_BODY

    async def counting() -> Any:
        nonlocal read, end
        try:
            async with asyncio.timeout_at(end):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, "The request took too long; send it again.") from None
        if not message.get("more_body"):
            end = math.inf  # what follows is the end of the connection
        read += len(message.get("body", b""))
        if read > most:
            raise HTTPException(413, _limit(most))
        return message

    return counting


def _limit(most: int) -> str:
    return f"The upload is larger than {most >> 20} MB; remove columns that the model does not use."


# Connections that send no whole request are closed, whoever holds them, and there are only so many
# at once


MAX_SECONDS = 20.0  # between two looks
# at once: 20 browsers open 6 each; a process of macOS may have 256 files and connections
MAX_CONNECTIONS = 128
MAX_WAITING = 64  # taken in one go, before the first of them is counted
_BODY = json.dumps({"problem": "Too many connections; try again in a minute."}).encode()
_TOO_MANY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
    b"Retry-After: 60\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(_BODY), _BODY)
)


class Connection(H11Protocol):
    """A connection of uvicorn that ends where nothing is answered and no request comes, whatever
    else is sent."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Look at it now and then; close it at once if there are too many."""
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.write(_TOO_MANY)
            transport.close()
            return
        self.loop.call_later(MAX_SECONDS, self._look, None)

    def _look(self, before: Any) -> None:
        """Close it if the request that it answered last is the one of the look before."""
        if self.transport.is_closing():
            return
        if self.cycle is before and (self.cycle is None or self.cycle.response_complete):
            self.transport.close()
        else:
            self.loop.call_later(MAX_SECONDS, self._look, self.cycle)
