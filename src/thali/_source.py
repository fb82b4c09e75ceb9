"""The bytes of a file, read once: regular files, pipes and standard input, never a device."""

import difflib
import os
import stat
import sys
from pathlib import Path
from typing import BinaryIO, NamedTuple

from .errors import DataError

MAX_PIPED = 1 << 30  # bytes of a pipe, which may have no end
STANDARD_INPUT = "standard input"


class Source(NamedTuple):
    """What a file held when it was read, and what errors call it."""

    name: str
    content: bytes


def read_source(path: str | Path | Source) -> Source:
    """The bytes of a file or a pipe.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tea.csv"
    >>> _ = path.write_text("winner,loser")
    >>> read_source(path)
    Source(name='tea.csv', content=b'winner,loser')
    """
    if isinstance(path, Source):
        return path
    path = _expanded(Path(path))
    try:
        kind = os.stat(path).st_mode
    except (OSError, ValueError) as error:  # ValueError: a name that holds the character 0
        raise DataError(_absent(path, error)) from None
    if stat.S_ISDIR(kind):
        raise DataError(f"{str(path)!r} is a folder; give the path of a file.")
    if not (stat.S_ISREG(kind) or stat.S_ISFIFO(kind)):
        raise DataError(f"{str(path)!r} is a device; give a file or a pipe.")
    try:
        with open(path, "rb") as file:
            content = file.read() if stat.S_ISREG(kind) else _piped(file, path.name)
    except OSError as error:
        raise DataError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    except MemoryError:
        raise DataError(
            f"{path.name} does not fit into memory; remove rows or columns that the model does not"
            " use."
        ) from None
    return _filled(path.name, content)


def read_standard_input() -> Source:
    """The bytes that are piped into the program, or redirected to it from a file."""
    stream = sys.stdin
    if stream is None or stream.isatty():
        raise DataError(
            "`-` reads standard input, but nothing is piped into thali; give a file instead."
        )
    try:
        return _filled(STANDARD_INPUT, _piped(stream.buffer, STANDARD_INPUT))
    except OSError as error:
        raise DataError(f"{STANDARD_INPUT} cannot be read: {error.strerror}.") from None


def _piped(file: BinaryIO, name: str) -> bytes:
    content = file.read(MAX_PIPED + 1)
    if len(content) > MAX_PIPED:
        raise DataError(
            f"{name} exceeds {MAX_PIPED >> 30} GiB and may never end; save the table as a file."
        )
    return content


def _filled(name: str, content: bytes) -> Source:
    if not content.strip():
        raise DataError(f"{name}: The file is empty.")
    return Source(name, content)


def _expanded(path: Path) -> Path:
    """The path with the folder of a user in place of ~, where there is such a user."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def _absent(path: Path, error: OSError | ValueError) -> str:
    try:
        if path.is_symlink():
            return (
                f"{str(path)!r} is a link to {os.readlink(path)!r}, which does not exist or"
                " cannot be reached."
            )
        beside = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
    except (OSError, ValueError):
        beside = []
    if isinstance(error, OSError) and not isinstance(error, FileNotFoundError | NotADirectoryError):
        return f"{str(path)!r} cannot be read: {error.strerror}."
    return f"There is no file {str(path)!r}.{_nearest(path, beside)}"


def _nearest(path: Path, beside: list[str]) -> str:
    """A file whose name without its ending is nearly this one: endings are alike among files that
    are not."""
    stems: dict[str, str] = {}
    for name in sorted(beside):
        stems.setdefault(Path(name).stem.casefold(), name)
    near = difflib.get_close_matches(path.stem.casefold(), stems, n=1, cutoff=0.75)
    return f" Did you mean {stems[near[0]]!r}?" if near else ""
