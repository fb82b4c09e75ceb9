"""Security checks of every HTTP request: key, host, origin, size.

The loopback address alone is not a protection, because any page in the browser can send requests to
it. Therefore each request must name an allowed host (against DNS rebinding) and must not come from
another origin. Requests that show or change data need the key. The key is in the fragment of the
address and is sent as a header, so it is in no log.
"""

import asyncio
import hmac
import json
import math
from collections.abc import Awaitable, Callable, MutableMapping
from ipaddress import ip_address
from typing import Any, cast

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
# A report has a separate policy that allows its scripts by their hashes; this policy keeps it away
# from the app.
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
    """Return whether the path is a page that contains no data and needs no key."""
    return path == "/" or path.startswith("/study/")


class Guard:
    """ASGI middleware that refuses requests without key, from other origins, or too large.

    Parameters
    ----------
    app : ASGI application
    key : str
        The key that requests below /api must contain.
    hosts : tuple of str
        The names of this server that requests may use.
    any_address : bool
        Whether requests may also use any IP address. Pages of other servers can only send names.
    """

    def __init__(
        self, app: Any, key: str, hosts: tuple[str, ...] = LOCAL, any_address: bool = False
    ) -> None:
        self.app = app
        self._key = key
        self._hosts = hosts
        self._any_address = any_address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no websockets here
        headers = Headers(scope=scope)
        path = scope["path"]

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                _add_headers(MutableHeaders(scope=message))
            await send(message)

        max_bytes = MAX_FORM
        if path == "/api/upload" or "/file/" in path:
            max_bytes = MAX_UPLOAD
        refusal = self._find_refusal(path, headers, max_bytes)
        request_key = headers.get(KEY, "").encode()
        if (
            refusal is None
            and path.startswith("/api/")
            and not hmac.compare_digest(request_key, self._key.encode())
        ):
            await asyncio.sleep(_PAUSE)
            refusal = 401, "The key is missing or wrong; open the address that thali app printed."
        if refusal is not None:
            status, sentence = refusal
            await JSONResponse({"problem": sentence}, status)(scope, receive, send_with_headers)
        else:
            await self.app(scope, _limit_body(receive, max_bytes), send_with_headers)

    def _find_refusal(self, path: str, headers: Headers, max_bytes: int) -> tuple[int, str] | None:
        """Return (status, reason) if a request is refused; else None."""
        host = headers.get("host", "")
        if not self._is_ours(host):
            return 421, "This server does not have that name."
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return 403, "Requests from other pages are refused."
        request_site = headers.get("sec-fetch-site", "none")
        if not _is_page(path) and request_site not in ("same-origin", "none"):
            return 403, "Requests from other pages are refused."
        declared_length = headers.get("content-length", "0")
        if not declared_length.isdecimal() or int(declared_length) > max_bytes:
            return 413, _format_limit(max_bytes)
        return None

    def _is_ours(self, host: str) -> bool:
        """Return whether the Host header names this server."""
        if ":" in host.rpartition("]")[2]:
            host = host.rpartition(":")[0]
        host_name = host.strip("[]").lower()
        if host_name in self._hosts:
            return True
        try:
            return self._any_address and bool(ip_address(host_name))
        except ValueError:
            return False


def _add_headers(headers: MutableHeaders) -> None:
    """Add security headers (content policy and others) to a response."""
    for name, header_value in _HEADERS.items():
        headers[name] = header_value
    if "content-security-policy" not in headers:
        headers["Content-Security-Policy"] = PAGE_POLICY
        headers["X-Frame-Options"] = "DENY"


def _limit_body(receive: Receive, max_bytes: int) -> Receive:
    """Return `receive` with a limit on the body's bytes and duration."""
    # The declared length is ignored.
    n_bytes = 0
    deadline = asyncio.get_running_loop().time() + MAX_SECONDS_OF_BODY

    async def receive_limited() -> Any:
        """Return the next part of the body; raise above the limits."""
        nonlocal n_bytes, deadline
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, "The request took too long; send it again.") from None
        if not message.get("more_body"):
            deadline = math.inf  # only the end of the connection follows
        n_bytes += len(message.get("body", b""))
        if n_bytes > max_bytes:
            raise HTTPException(413, _format_limit(max_bytes))
        return message

    return receive_limited


def _format_limit(max_bytes: int) -> str:
    """Return the message for an upload above the limit."""
    return (
        f"The upload is larger than {max_bytes >> 20} MB; remove columns that the model does not"
        " use."
    )


# Limits of connections: those that send or read nothing are closed, and the number is limited -----


MAX_SECONDS = 20.0  # between two checks
MAX_SECONDS_UNREAD = 60.0  # in which a client reads 48 kB of a response
# 20 browsers open 6 connections each; a process of macOS may have 256 files and connections
MAX_CONNECTIONS = 128
MAX_WAITING = 64  # accepted before the first of them is counted
_BODY = json.dumps({"problem": "Too many connections; try again in a minute."}).encode()
_TOO_MANY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
    b"Retry-After: 60\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(_BODY), _BODY)
)


class Connection(H11Protocol):
    """Uvicorn connection that is closed if its client neither sends requests nor reads responses.

    Where there are too many connections, the oldest idle one is closed.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the idle timer; if there are too many connections, close an idle one or this."""
        super().connection_made(transport)
        self.opened = self.loop.time()
        if len(self.connections) > MAX_CONNECTIONS:
            connections = cast("set[Connection]", self.connections)
            idle = [each for each in connections if each is not self and each.is_idle]
            if not idle:
                transport.write(_TOO_MANY)
                transport.close()
                return
            min(idle, key=lambda connection: connection.opened).transport.abort()
        self.loop.call_later(MAX_SECONDS, self._close_if_idle, None)

    @property
    def is_idle(self) -> bool:
        """Whether the connection is open and has no request that awaits its response."""
        return not self.transport.is_closing() and (
            self.cycle is None or self.cycle.response_complete
        )

    def _close_if_idle(self, last_cycle: Any) -> None:
        """Close the connection if idle since the last check; else check again later."""
        if self.transport.is_closing():
            # a client that does not read would keep it open
            self.loop.call_later(MAX_SECONDS, self.transport.abort)
        elif self.cycle is last_cycle and self.is_idle:
            self.transport.close()
            self.loop.call_later(MAX_SECONDS, self.transport.abort)
        else:
            self.loop.call_later(MAX_SECONDS, self._close_if_idle, self.cycle)

    def pause_writing(self) -> None:
        """Close the connection if its client does not read the response."""
        super().pause_writing()
        self._unread = self.loop.call_later(MAX_SECONDS_UNREAD, self.transport.abort)

    def resume_writing(self) -> None:
        """Continue to write what the client reads."""
        super().resume_writing()
        self._unread.cancel()
