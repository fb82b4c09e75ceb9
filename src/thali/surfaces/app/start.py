"""`thali app`: a free port, a key, the browser."""

import json
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

from thali._labels import plural
from thali.errors import ArgumentError, DataError
from thali.inference.files import atomic_write, lock

from .studies import default_folder

_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"  # of a password that people type
_LOCK, _HELD = ".served", ".class.json"  # in the folder of a class
_TRIALS = {"practice": "practice trial", "each": "question"}  # of each person of a class
_NUMBERS = range(2**16)  # of a port, and of trials


def run_app(port: int, host: str, browser: bool, folder: Path | None) -> None:
    """Serve the app until Ctrl-C.

    Parameters
    ----------
    port : int
        0: a free one.
    host : str
        The address to serve; any other than that of this computer itself needs a password, which is printed.
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
    key = _password() if is_open else secrets.token_urlsafe(32)
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


def run_class(planned: Any, port: int | None, host: str, browser: bool, folder: Path) -> None:
    """Serve a questionnaire to a class until Ctrl-C.

    Parameters
    ----------
    planned : Planned
        What is asked, as `thali.field.live.planned_to_serve` makes it.
    port : int or None
        0: a free one; None: that of the folder, if it was served before, else a free one.
    host : str
        The address to serve; any other than that of this computer itself lets others in, who need the code.
    browser : bool
        Whether to open the teacher's page.
    folder : Path
        Where the answers lie; if there are some, they count.

    Raises
    ------
    ArgumentError
        If Starlette and uvicorn are not installed.
    DataError
        If the address cannot be served, the folder cannot be written or is being served already, or holds answers to
        another study.
    """
    from thali.field.live import FILE

    with _needed():
        from .classroom import classroom
        from .guard import LOCAL

    is_open = host not in LOCAL
    hosts = (*LOCAL, host, *_own_names()) if is_open else LOCAL
    with ExitStack() as stack:
        held = stack.enter_context(Held.of(folder))
        listening = stack.enter_context(_listening(host, held.port if port is None else port))
        own: int = listening.getsockname()[1]
        trials = {"practice": len(planned.data["practice"]), "each": planned.data["live"]}
        held.write(own, trials, (folder / FILE).exists())
        reached = _reached(host)
        app = classroom(planned, folder, held.code, held.key, hosts, is_open, _address(reached, own))
        teacher = f"{_address(reached, own)}teacher#key={held.key}"
        print(f"{planned.sentence}\nfor the class: {_address(reached, own)}{held.code}\nfor you alone: {teacher}")
        if is_open:
            print("What is sent is not encrypted; do so in networks that you trust alone.")
        print(f"Answers lie in {folder / FILE}. Ctrl-C ends; the same command goes on.", flush=True)
        if browser:
            stack.enter_context(_opened(teacher))
        _serve(app, listening)


@contextmanager
def _opened(address: str) -> Iterator[None]:
    """An address in the browser, half a second from now, by a private page that leads there."""
    with TemporaryDirectory(prefix="thali-", ignore_cleanup_errors=True) as private:
        page = _page_that_leads_to(address, Path(private))
        threading.Timer(0.5, webbrowser.open, [page]).start()
        yield


@contextmanager
def _needed() -> Iterator[None]:
    """What is not installed is named."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = str(error.name).partition(".")[0]
        raise ArgumentError(f"The app needs {missing}: pip install 'thali[app]'.") from None


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


class Held:
    """What a folder that is served remembers: the code, the key of the teacher, and the port; others wait."""

    def __init__(self, path: Path, found: dict[str, Any]) -> None:
        self._path, self._found = path, found
        self.code: str = found.get("code") or _letters(6)
        self.key: str = found.get("key") or secrets.token_urlsafe(32)
        self.port: int = found.get("port") or 0

    @classmethod
    @contextmanager
    def of(cls, folder: Path) -> "Iterator[Held]":
        """What the folder remembers, which nobody else serves meanwhile."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with open(os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600), "rb") as file:
                if not lock(file.fileno()):
                    raise DataError(f"{folder} is being served already; end that first, or name another folder.")
                path = folder / _HELD
                yield cls(path, _remembered(path))
        except OSError as error:
            raise DataError(f"Cannot use the folder {folder}: {error.strerror or error}.") from None

    def write(self, port: int, trials: dict[str, int], is_begun: bool) -> None:
        """Remember it for the next time; `trials`: how many of a kind each person has, the same once it has begun.

        Raises
        ------
        DataError
            If there are answers of people who had others.
        """
        for name, number in trials.items():
            if is_begun and (before := self._found.get(name, number)) != number:
                raise DataError(
                    f"{self._path.parent} holds answers to another study: it had {plural(before, _TRIALS[name])}, this "
                    f"one has {number}; name another folder, or ask as before."
                )
        held = {"code": self.code, "key": self.key, "port": port, **trials}
        atomic_write(self._path, json.dumps(held).encode(), 0o600)


def _remembered(path: Path) -> dict[str, Any]:
    """What the file holds, but for what is damaged."""
    try:
        found = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError, RecursionError):
        return {}
    held = found if isinstance(found, dict) else {}
    texts = {name: held[name] for name in ("code", "key") if isinstance(held.get(name), str)}
    numbers = {
        name: held[name] for name in ("port", *_TRIALS) if type(held.get(name)) is int and held[name] in _NUMBERS
    }
    return texts | numbers


def _reached(host: str) -> str:
    """The address by which others reach one that stands for all of this computer's."""
    if host not in ("0.0.0.0", "::"):
        return host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect(("192.0.2.1", 9))  # nothing is sent: it shows which of its own addresses is used
        return probe.getsockname()[0]
    return socket.gethostname()


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
        raise DataError(f"Cannot serve {host}, port {port}: {error.strerror}; choose another port or host.") from None
    return found


def _address(host: str, port: int, key: str = "") -> str:
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/{f'#key={key}' if key else ''}"


def _page_that_leads_to(address: str, folder: Path) -> str:
    """A page for the browser, which alone holds the address: all users of the computer see arguments of programs."""
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
            f"WARNING: whoever reaches {host} over the network and knows the password can use this app, and what they\n"
            "send is not encrypted; do so in networks that you trust alone.",
            flush=True,
        )
        print(f"thali app: {_address(host, port)}\npassword: {key}")
    else:
        print(f"thali app: {_address(host, port, key)}")
    print(f"Studies lie in {folder}. Ctrl-C ends the app; fits that run go on, and the next thali app shows them.")
    sys.stdout.flush()


def _password() -> str:
    """A password of 80 bits that can be typed."""
    return "-".join(_letters(4) for _ in range(4))


def _letters(number: int) -> str:
    """So many letters and digits that can be typed."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(number))


def _own_names() -> tuple[str, ...]:
    """The names of this computer."""
    return socket.gethostname().lower(), socket.getfqdn().lower()
