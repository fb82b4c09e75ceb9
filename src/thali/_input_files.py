"""Files as bytes, read once: regular files, pipes and standard input."""

import difflib
import os
import stat
import sys
from pathlib import Path
from typing import BinaryIO, NamedTuple

from .errors import DataError

MAX_PIPED = 1 << 30  # maximum bytes of a pipe, which may never end
STANDARD_INPUT = "standard input"
JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
PREFLIB_SUFFIXES = (".soc", ".soi", ".toc", ".toi")
TABLE_SUFFIXES = (
    ".csv",
    ".tsv",
    ".txt",
    ".xlsx",
    ".xlsm",
    ".parquet",
    ".dta",
    ".gz",
    ".zip",
    *JSON_SUFFIXES,
    *PREFLIB_SUFFIXES,
)


class Source(NamedTuple):
    """A file's content in bytes, with its name for error messages."""

    name: str
    content: bytes


def read_source(path: str | Path | Source) -> Source:
    """Return a file or pipe as a `Source` (name and bytes).

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
    path = _expand_home(Path(path))
    try:
        file_mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:  # ValueError: a name that contains the character 0
        raise DataError(_explain_absence(path, error)) from None
    if stat.S_ISDIR(file_mode):
        raise DataError(f"{str(path)!r} is a folder; give the path of a file.")
    if not (stat.S_ISREG(file_mode) or stat.S_ISFIFO(file_mode)):
        raise DataError(f"{str(path)!r} is a device; give a file or a pipe.")
    try:
        with open(path, "rb") as file:
            if stat.S_ISREG(file_mode):
                content = file.read()
            else:
                content = _read_pipe(file, path.name)
    except OSError as error:
        raise DataError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    except MemoryError:
        raise DataError(
            f"{path.name} does not fit into memory; remove rows or columns that the model does not"
            " use."
        ) from None
    return _build_source(path.name, content)


def read_standard_input() -> Source:
    """Return standard input as a `Source` (name and bytes)."""
    stream = sys.stdin
    if stream is None or stream.isatty():
        raise DataError(
            "`-` reads standard input, but nothing is piped into thali; give a file instead."
        )
    try:
        return _build_source(STANDARD_INPUT, _read_pipe(stream.buffer, STANDARD_INPUT))
    except OSError as error:
        raise DataError(f"{STANDARD_INPUT} cannot be read: {error.strerror}.") from None


def _read_pipe(file: BinaryIO, name: str) -> bytes:
    """Return the bytes of a pipe; raise DataError above a maximum size."""
    content = file.read(MAX_PIPED + 1)
    if len(content) > MAX_PIPED:
        raise DataError(
            f"Input from {name} has passed the {MAX_PIPED >> 30} GiB limit and may never end; save"
            " the table to a file and read that instead."
        )
    return content


def _build_source(name: str, content: bytes) -> Source:
    """Return name and bytes as a `Source`; raise DataError if empty."""
    if not content.strip():
        raise DataError(f"{name}: The file is empty.")
    return Source(name, content)


def _expand_home(path: Path) -> Path:
    """Return a path with ~ replaced by the user's home, if that exists."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def _explain_absence(path: Path, error: OSError | ValueError) -> str:
    """Return why a file cannot be found, for an error message."""
    try:
        if path.is_symlink():
            return (
                f"{str(path)!r} is a link to {os.readlink(path)!r}, which does not exist or"
                " cannot be reached."
            )
        neighbour_names = [file.name for file in path.parent.iterdir()]
    except (OSError, ValueError):
        neighbour_names = []
    if isinstance(error, OSError) and not isinstance(error, FileNotFoundError | NotADirectoryError):
        return f"{str(path)!r} cannot be read: {error.strerror}."
    return f"There is no file {str(path)!r}.{_suggest_file(path, neighbour_names)}"


def _suggest_file(path: Path, neighbour_names: list[str]) -> str:
    """Return the suggestion of a similar file name, or ""."""
    name_by_stem: dict[str, str] = {}
    for name in sorted(neighbour_names):
        name_by_stem.setdefault(Path(name).stem.casefold(), name)
    similar_stems = difflib.get_close_matches(path.stem.casefold(), name_by_stem, n=1, cutoff=0.75)
    if similar_stems:
        return f" Did you mean {name_by_stem[similar_stems[0]]!r}?"
    return ""
