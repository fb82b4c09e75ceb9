"""Compiled code on disk, read only if it is undamaged and no other user could have written it.

This is a part of `_jit.py`, which alone imports it. numba keeps an index and machine code as pickles, and to read a
pickle can run any code. Therefore each file ends in a SHA-256 of its bytes: a file that does not fit it is removed, and
what it held is compiled again. That finds damage but stops no attacker: so a folder is used only if nobody may write to
it who could not change the library's own code as well.
"""

import functools
import hashlib
import io
import os
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache

from .errors import IncompleteWarning

_LIBRARY = Path(__file__).parent
_DIGEST = hashlib.sha256().digest_size


class KernelCache(NullCache):
    """Loads and stores the compiled code of one function for numba; if nothing can be stored, each process compiles."""

    def __init__(self, function: Any) -> None:
        self._function = function

    @property
    def cache_path(self) -> Any:
        """The folder; None if nothing is kept."""
        return self._files.cache_path

    @functools.cached_property
    def _files(self) -> Any:
        """numba's own cache, made when it is first needed: that creates the folder."""
        folder = folder_of(self._function)
        if folder is None:
            _warn(
                "There is no folder to keep compiled code in, so each process compiles again; set NUMBA_CACHE_DIR to a "
                "folder of your own."
            )
            return NullCache()
        reason = refusal(folder)
        if reason:
            _warn(
                f"Compiled code is not kept in '{folder}', because {reason} and could make your programs run other "
                "code; each process compiles again until NUMBA_CACHE_DIR is a folder to which only you may write."
            )
            return NullCache()
        files = FunctionCache(self._function)
        locator = files._impl.locator
        files._cache_file = _CheckedFiles(folder, files._impl.filename_base, locator.get_source_stamp())
        return files

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled code for arguments of these types; None if no undamaged code is stored."""
        try:
            return self._files.load_overload(sig, target_context)
        except Exception:  # a damaged pickle can fail in any way
            self._files._cache_file.remove()
            _warn(f"Damaged compiled code in '{self.cache_path}' was removed and is compiled again.")
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store compiled code; the run continues if that fails."""
        try:
            self._files.save_overload(sig, data)
        except OSError as error:
            _warn(
                f"Compiled code cannot be kept in '{self.cache_path}': {error.strerror}. Each process compiles again "
                "until there is room, or until NUMBA_CACHE_DIR is another folder."
            )


class _CheckedFiles(IndexDataCacheFile):
    """The files of one function, each with a digest at its end; a pickle ignores what comes after it."""

    def save(self, key: Any, data: Any) -> None:
        """Store an entry together with its key: two processes may give the same name to files of different keys."""
        super().save(key, (key, data))

    def load(self, key: Any) -> Any:
        """The entry, or None."""
        found = super().load(key)
        return None if found is None or found[0] != key else found[1]

    def remove(self) -> None:
        """Remove the stored code of this function."""
        base = self._index_name.removesuffix("nbi")
        for file in Path(self._cache_path).iterdir():
            if file.name.startswith(base) and file.suffix in (".nbi", ".nbc"):
                with suppress(OSError):
                    file.unlink()

    def _load_index(self) -> Any:
        with suppress(FileNotFoundError):
            _check(self._index_path)
        return super()._load_index()

    def _load_data(self, name: Any) -> Any:
        _check(self._data_path(name))
        return super()._load_data(name)

    @contextmanager
    def _open_for_write(self, filepath: Any) -> Iterator[io.BytesIO]:
        content = io.BytesIO()
        yield content
        with super()._open_for_write(filepath) as file:
            file.write(content.getvalue() + hashlib.sha256(content.getvalue()).digest())


def _check(path: str) -> None:
    """Raise ValueError if a file is damaged, or if another user may have written it."""
    content = Path(path).read_bytes()
    if hashlib.sha256(content[:-_DIGEST]).digest() != content[-_DIGEST:] or _strangers(Path(path)):
        raise ValueError(path)


@functools.cache  # once a process
def _warn(message: str) -> None:
    warnings.warn(message, IncompleteWarning, stacklevel=2)


def folder_of(function: Any) -> str | None:
    """Where numba would keep the compiled code of a function; None if there is no folder that it may write to."""
    try:
        return FunctionCache(function).cache_path
    except (RuntimeError, OSError):
        return None


@functools.cache
def refusal(folder: str) -> str:
    """Why a folder is not used, such as "everybody may write to it"; empty if it is.

    Nobody else may own it, write to it, or put another folder in its place: except root, and whoever may change the
    library's own code anyway. A group counts for nothing if it is the user's private one (that of the same name without
    other members), with which many systems let users create all their files. Windows has no such permissions.
    """
    if os.name != "posix":
        return ""
    path = Path(folder)
    for place, name in ((path, "it"), (path.parent, f"'{path.parent}'")):
        for kind, number in sorted(_strangers(place)):
            who = "everybody" if kind == "everybody" else f"{kind} {number}"
            return f"{who} {'owns' if kind == 'user' else 'may write to'} {name}"
    return ""


def _strangers(place: Path) -> set[tuple[str, int]]:
    """Who may change a file or the contents of a folder, and is neither trusted nor able to change the library."""
    if os.name != "posix":
        return set()
    return _writers(place) - _writers(_LIBRARY) - {("user", os.getuid()), ("user", 0), ("group", 0)}


def _writers(place: Path) -> set[tuple[str, int]]:
    status = place.stat()
    found = {("user", status.st_uid)}
    if stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX:  # as in /tmp: only owners replace files there
        return found
    if status.st_mode & stat.S_IWGRP and not _is_private(status.st_gid):
        found.add(("group", status.st_gid))
    if status.st_mode & stat.S_IWOTH:
        found.add(("everybody", 0))
    return found


@functools.cache
def _is_private(group: int) -> bool:
    """Whether a group has no member but the user, judged by its name and the list of its members."""
    import grp
    import pwd

    try:
        user, known = pwd.getpwuid(os.getuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return group == user.pw_gid and known.gr_name == user.pw_name and set(known.gr_mem) <= {user.pw_name}
