"""Connections that send no whole request are closed, whoever holds them, and there are only so many at once."""

import asyncio
import json
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_SECONDS = 20.0  # between two looks
MAX_CONNECTIONS = 128  # at once: 20 browsers open 6 each; a process of macOS may have 256 files and connections
MAX_WAITING = 64  # taken in one go, before the first of them is counted
_BODY = json.dumps({"problem": "Too many connections; try again in a minute."}).encode()
_TOO_MANY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 60\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(_BODY), _BODY)
)


class Connection(H11Protocol):
    """A connection of uvicorn that ends where nothing is answered and no request comes, whatever else is sent."""

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
