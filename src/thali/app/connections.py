"""Connections that send no whole request are closed, whoever holds them."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_SECONDS = 20.0  # between two looks


class Connection(H11Protocol):
    """A connection of uvicorn that ends where nothing is answered and no request comes, whatever else is sent."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Look at it now and then."""
        super().connection_made(transport)
        self.loop.call_later(MOST_SECONDS, self._look, None)

    def _look(self, before: Any) -> None:
        """Close it if the request that it answered last is the one of the look before."""
        if self.transport.is_closing():
            return
        if self.cycle is before and (self.cycle is None or self.cycle.response_complete):
            self.transport.close()
        else:
            self.loop.call_later(MOST_SECONDS, self._look, self.cycle)
