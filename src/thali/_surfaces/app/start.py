"""Start of `thali app`: socket, key, browser."""

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

from .study_folders import find_default_folder

_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"  # letters of passwords, without look-alikes


def run_app(port: int, host: str, browser: bool, folder: Path | None) -> None:
    """Start the app's server and the browser; serve until Ctrl-C.

    Parameters
    ----------
    port : int
        Port of the server; 0 selects a free port.
    host : str
        Address of the server. An address other than this computer requires a password, which is
        printed.
    browser : bool
        Whether to open the app in the browser.
    folder : Path or None
        Folder of the studies; None selects the default folder of the user.

    Raises
    ------
    ArgumentError
        If Starlette and uvicorn are not installed, or the address cannot be served.
    DataError
        If the folder cannot be created.
    """
    with _require_packages():
        from .request_guard import LOCAL
        from .server import build_app

    is_open = host not in LOCAL
    study_folder = folder or find_default_folder()
    access_key = secrets.token_urlsafe(32)
    allowed_hosts = LOCAL
    if is_open:
        host_names = (socket.gethostname().lower(), socket.getfqdn().lower())
        access_key = make_password()
        allowed_hosts = (*LOCAL, host, *host_names)
    app = build_app(study_folder.absolute(), access_key, allowed_hosts, any_address=is_open)
    os.environ["PYTHONUNBUFFERED"] = "1"  # the output of children is read while they run
    with _open_socket(host, port) as server_socket, ExitStack() as stack:
        port = server_socket.getsockname()[1]
        _print_address(host, port, access_key, study_folder, is_open)
        if browser and not is_open:
            stack.enter_context(_open_browser(_format_address(host, port, access_key)))
        _serve(app, server_socket)


@contextmanager
def _open_browser(address: str) -> Iterator[None]:
    """Open the app in the browser half a second later, via a private start page."""
    with TemporaryDirectory(prefix="thali-", ignore_cleanup_errors=True) as private_folder:
        start_page = write_start_page(address, Path(private_folder))
        threading.Timer(0.5, webbrowser.open, [start_page]).start()
        yield


@contextmanager
def _require_packages() -> Iterator[None]:
    """Turn an ImportError within this block into a message that names the package."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing_package = str(error.name).partition(".")[0]
        raise ArgumentError(
            f"The app requires {missing_package}; run pip install 'thali[app]'."
        ) from None


def _serve(app: Any, server_socket: socket.socket) -> None:
    """Run uvicorn on an open socket until Ctrl-C."""
    import uvicorn

    from .request_guard import MAX_WAITING, Connection

    server_config = uvicorn.Config(
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
        uvicorn.Server(server_config).run(sockets=[server_socket])


def _open_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens at host and port."""
    address_family = socket.AF_INET
    if ":" in host:
        address_family = socket.AF_INET6
    server_socket = socket.socket(address_family)
    try:
        if sys.platform != "win32":
            server_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server_socket.bind((host, port))
        server_socket.listen()  # requests wait from here
    except OSError as error:
        server_socket.close()
        raise DataError(
            f"Cannot serve the app at {host}, port {port} ({error.strerror}); choose another port"
            " or host."
        ) from None
    return server_socket


def _format_address(host: str, port: int, key: str = "") -> str:
    """Return the URL of the app, with the secret key if given."""
    if ":" in host:
        host = f"[{host}]"
    address = f"http://{host}:{port}/"
    if key:
        address += f"#key={key}"
    return address


def write_start_page(address: str, folder: Path) -> str:
    """Write an HTML page that redirects to the app; return its file URI.

    The address contains the key. Other users can see the arguments of programs, so the browser
    opens this private file instead.
    """
    page = folder / "open.html"
    page.touch(mode=0o600)
    page.write_text(
        f'<!doctype html><title>thali</title><meta http-equiv="refresh" content="0; url={address}">'
        f'<a href="{address}">Open thali</a>\n'
    )
    return page.as_uri()


def _print_address(host: str, port: int, key: str, folder: Path, is_open: bool) -> None:
    """Print the URL of the app and the folder of the studies."""
    if is_open:
        print(
            f"WARNING: anyone who can reach {host} over the network and knows the password can use"
            " this app, and\ntraffic is not encrypted; use this only in networks you trust.",
            flush=True,
        )
        print(f"thali app: {_format_address(host, port)}\npassword: {key}")
    else:
        print(f"thali app: {_format_address(host, port, key)}")
    print(
        f"Studies are stored in {folder}. Press Ctrl-C to close the app; running fits continue and"
        " are shown when you open the app again."
    )
    sys.stdout.flush()


def make_password() -> str:
    """Return a random password of 80 bits that is easy to type."""
    letters = [secrets.choice(_ALPHABET) for _ in range(16)]
    return "-".join("".join(letters[start : start + 4]) for start in range(0, 16, 4))
