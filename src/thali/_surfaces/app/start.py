"""`thali app`: a free port, a key, the browser."""

import os
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from thali.errors import ArgumentError, DataError

from .studies import default_folder

_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"  # of a password that people type


def run_app(port: int, host: str, browser: bool, folder: Path | None) -> None:
    """Serve the app until Ctrl-C.

    Parameters
    ----------
    port : int
        0: a free one.
    host : str
        The address to serve; any other than that of this computer itself needs a password, which is
        printed.
    browser : bool
        Whether to open it.
    folder : Path or None
        Where studies lie; None: that of the user.

    Raises
    ------
    ArgumentError
        If Starlette and uvicorn are not installed, or the address cannot be served.
    DataError
        If the folder cannot be made.
    """
    with _needed():
        from .guard import LOCAL
        from .server import application

    is_open = host not in LOCAL
    key = make_password() if is_open else secrets.token_urlsafe(32)
    place = folder if folder is not None else default_folder()
    hosts = (*LOCAL, host, *_own_names()) if is_open else LOCAL
    app = application(place.absolute(), key, hosts, any_address=is_open)
    os.environ["PYTHONUNBUFFERED"] = "1"  # of children: what they say is read while they run
    with _listening(host, port) as listening, ExitStack() as stack:
        port = listening.getsockname()[1]
        _greet(host, port, key, place, is_open)
        if browser and not is_open:
            stack.enter_context(_opened(_address(host, port, key)))
        _serve(app, listening)


@contextmanager
def _opened(address: str) -> Iterator[None]:
    """An address in the browser, half a second from now, by a private page that leads there."""
    with TemporaryDirectory(prefix="thali-", ignore_cleanup_errors=True) as private:
        page = write_start_page(address, Path(private))
        threading.Timer(0.5, webbrowser.open, [page]).start()
        yield


@contextmanager
def _needed() -> Iterator[None]:
    """What is not installed is named."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = str(error.name).partition(".")[0]
        raise ArgumentError(f"The app requires {missing}; run pip install 'thali[app]'.") from None


def _serve(app: Any, listening: socket.socket) -> None:
    """Answer requests until Ctrl-C."""
    import uvicorn

    from .guard import MAX_WAITING, Connection

    settings = uvicorn.Config(
        app,
        http=Connection,
        backlog=MAX_WAITING,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=1,
    )
    with suppress(KeyboardInterrupt):
        uvicorn.Server(settings).run(sockets=[listening])


def _listening(host: str, port: int) -> socket.socket:
    """A socket at the address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family)
    try:
        if sys.platform != "win32":
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        found.listen()  # from now on requests wait
    except OSError as error:
        found.close()
        raise DataError(
            f"Cannot serve the app at {host}, port {port} ({error.strerror}); choose another port"
            " or host."
        ) from None
    return found


def _address(host: str, port: int, key: str = "") -> str:
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/{f'#key={key}' if key else ''}"


def write_start_page(address: str, folder: Path) -> str:
    """A page for the browser, which alone holds the address: all users of the computer see
    arguments of programs."""
    page = folder / "open.html"
    page.touch(mode=0o600)
    page.write_text(
        f'<!doctype html><title>thali</title><meta http-equiv="refresh" content="0; url={address}">'
        f'<a href="{address}">Open thali</a>\n'
    )
    return page.as_uri()


def _greet(host: str, port: int, key: str, folder: Path, is_open: bool) -> None:
    """Say where the app is."""
    if is_open:
        print(
            f"WARNING: anyone who can reach {host} over the network and knows the password can use"
            " this app, and\ntraffic is not encrypted; use this only in networks you trust.",
            flush=True,
        )
        print(f"thali app: {_address(host, port)}\npassword: {key}")
    else:
        print(f"thali app: {_address(host, port, key)}")
    print(
        f"Studies are stored in {folder}. Press Ctrl-C to close the app; running fits continue and"
        " are shown when you open the app again."
    )
    sys.stdout.flush()


def make_password() -> str:
    """A password of 80 bits that can be typed."""
    return "-".join(_letters(4) for _ in range(4))


def _letters(number: int) -> str:
    """So many letters and digits that can be typed."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(number))


def _own_names() -> tuple[str, ...]:
    """The names of this computer."""
    return socket.gethostname().lower(), socket.getfqdn().lower()
