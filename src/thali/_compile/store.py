"""Compiled code on disk, named by what it is made of, and read only if nobody else could have
written it.

An entry is one file, named by its kernel, the digest of all that it was compiled from and the types
of its arguments. It lies in a folder named by Python, Numba, the operating system and the
processor. No name holds a path or a time: two environments, a copy of the sources, a later version
of the library that leaves a kernel alone find the same entry.

An entry holds machine code and what Numba needs to call it, as a pickle, compressed. To read a
pickle can run any code. Therefore a file ends in a SHA-256 of its bytes: one that does not fit is
removed, and what it held is compiled again. That finds damage but stops no attacker: so a folder is
used only if nobody may write to it who could not change the library's own code as well. LLVM's
bitcode, two thirds of what Numba keeps, is left out: it would serve to compile an entry point into
another function, which nothing does.
"""

import functools
import hashlib
import lzma
import os
import pickle
import platform
import stat
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
from numba.core import config, serialize
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.runtime.nrt import rtsys
from numba.core.types import BaseTuple
from numba.misc.appdirs import AppDirs

from thali.errors import IncompleteWarning

from . import USED, targets

_LIBRARY = Path(__file__).parents[1]
_DIGEST = hashlib.sha256().digest_size
# the first bytes of a file; then what it is the code of, a line feed, and the code
_FORMAT = b"thali kernel 2 "
SUFFIX = ".kernel"


def platform_tag() -> str:
    """What compiled code depends on besides the processor: Python, Numba and the operating
    system."""
    python = f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"
    return f"{python}-numba-{numba.__version__}-{sys.platform}-{platform.machine().lower()}"


class Damaged(Exception):
    """A file that is not what its name says."""


@dataclass(frozen=True)
class Folder:
    """A folder with the code for one processor.

    Parameters
    ----------
    path : Path
        Which need not exist yet.
    target : str
        The processor for which its code was compiled, and where that came from.
    is_ours : bool
        Whether new code is kept there, and damaged code removed.
    """

    path: Path
    target: str
    is_ours: bool

    def file(self, name: str) -> Path:
        """The file of an entry."""
        return self.path / f"{name}{SUFFIX}"

    def read(self, name: str) -> Any:
        """The entry of that name; FileNotFoundError if there is none, Damaged if its file holds
        anything else."""
        content = self.file(name).read_bytes()
        if strangers(self.file(name)):
            raise Damaged(name)
        return unpacked(content, self._title(name))

    def write(self, name: str, entry: Any) -> None:
        """Keep an entry, whole or not at all; raises OSError if that cannot be done."""
        self.path.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(
            prefix=f"{name[:40]}.", suffix=".tmp", dir=self.path
        )
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(packed(entry, self._title(name)))
            os.replace(temporary, self.file(name))
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise

    def size(self) -> tuple[int, int]:
        """How many entries it has, and their bytes."""
        return _size_of(self.path.glob(f"*{SUFFIX}"))

    def _title(self, name: str) -> str:
        """What is written at the beginning of a file: one that was copied to another place is no
        entry there."""
        return f"{self.path.name}/{name}"


def packed(entry: Any, title: str) -> bytes:
    """The bytes of a file."""
    content = _FORMAT + title.encode() + b"\n" + lzma.compress(serialize.dumps(entry), preset=6)
    return content + hashlib.sha256(content).digest()


def unpacked(content: bytes, title: str) -> Any:
    """What the bytes of a file hold; Damaged if they are not those of a file with that title."""
    start = _FORMAT + title.encode() + b"\n"
    content, digest = content[:-_DIGEST], content[-_DIGEST:]
    if not content.startswith(start) or hashlib.sha256(content).digest() != digest:
        raise Damaged(title)
    return pickle.loads(lzma.decompress(content[len(start) :]))


class KernelCache(NullCache):
    """Loads and stores the compiled code of one function for Numba; if nothing can be kept, each
    process compiles."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def cache_path(self) -> Any:
        """The folder in which new code is kept; None if none is."""
        folder = usable_folder()
        return None if folder is None else str(folder.path)

    def is_kept(self) -> bool:
        """Whether code is kept for arguments of some types."""
        return any(
            next(folder.path.glob(f"{self._name}.*{SUFFIX}"), None) for folder in folders_to_read()
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled code for arguments of these types; None if none is kept."""
        name = self._entry_of(sig)
        for folder in folders_to_read():
            try:
                needed, *parts = folder.read(name)
                _make_ready(target_context, needed)
                result = CompileResult._rebuild(target_context, *parts)
            except FileNotFoundError:
                continue
            except OSError as error:
                warn_once(
                    f"Cannot read compiled code in '{folder.path}': {error.strerror}. Compiling"
                    " again."
                )
                continue
            except Exception:  # a damaged pickle can fail in any way
                self._refuse(folder, name)
                continue
            result.library._get_module_for_linking = _refuse_to_be_linked
            USED.add(folder.target)
            return result
        if shipped().reason:
            warn_once(
                f"The compiled code shipped with thali is not used, because {shipped().reason};"
                " compiling here."
            )
        return None

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Store compiled code; the run continues if that fails."""
        USED.add(targets.native().tag)
        folder = usable_folder()
        if (
            folder is None
            or cres.library.has_dynamic_globals
            or any(not each.can_cache for each in cres.lifted)
        ):
            return
        try:
            folder.write(self._entry_of(sig), lean(cres))
        except OSError as error:
            warn_once(
                f"Cannot save compiled code in '{folder.path}': {error.strerror}. Each process"
                " will compile again; free some space, or set NUMBA_CACHE_DIR to another folder."
            )

    def _entry_of(self, sig: Any) -> str:
        return f"{self._name}.{hashlib.sha256(spell_types(sig).encode()).hexdigest()[:16]}"

    def _refuse(self, folder: Folder, name: str) -> None:
        """Say that an entry is not used, and remove it from our own folder."""
        if not folder.is_ours:
            warn_once(
                f"The compiled code shipped with thali in '{folder.path}' is damaged; compiling"
                " again."
            )
            return
        with suppress(OSError):
            folder.file(name).unlink()
        warn_once(f"Removed damaged compiled code in '{folder.path}'; compiling again.")


def spell_types(types: Any) -> str:
    """Types of arguments as text, with the names of fields in their order, which Numba's text of a
    tuple lacks."""
    inside = [
        f"{getattr(each, 'fields', ())!r} {spell_types(each)}"
        for each in types
        if isinstance(each, BaseTuple)
    ]
    return f"{types!r} {inside}" if inside else repr(types)


def lean(result: Any) -> Any:
    """What is kept of compiled code: the names that it takes from elsewhere, then what Numba keeps,
    with the names of its functions in place of their bitcode."""
    (name, kind, (machine_code, bitcode)), *rest = result._reduce()
    module = llvmlite.binding.parse_bitcode(bitcode)
    names = [*module.functions, *module.global_variables]
    needed = [
        each.name for each in names if each.is_declaration and not each.name.startswith("llvm.")
    ]
    defined = [each.name for each in module.functions if not each.is_declaration]
    functions = "".join(f'define void @"{each}"() {{ ret void }}\n' for each in defined)
    stub = llvmlite.binding.parse_assembly(f'target triple = "{module.triple}"\n{functions}')
    return (needed, (name, kind, (machine_code, stub.as_bitcode())), *rest)


def _make_ready(target_context: Any, needed: Iterable[str]) -> None:
    """Give Numba's engine the names that code takes from elsewhere."""
    # Most are there once the engine is. To refresh the context, as Numba does, takes a fifth of a
    # second for all that the compiler knows; that is done if a name is not there yet.
    rtsys.initialize(target_context)
    if not all(map(llvmlite.binding.address_of_symbol, needed)):
        target_context.refresh()


def _refuse_to_be_linked() -> Any:
    raise RuntimeError(
        "Code loaded from disk cannot be compiled into other code; mark the function as `part`,"
        " not as an entry point."
    )


def root() -> Path:
    """The folder that holds everything kept on disk."""
    given = getattr(config, "CACHE_DIR", "")
    return Path(given) if given else Path(AppDirs(appname="thali", appauthor=False).user_cache_dir)


def folder_for(tag: str, parent: Path) -> Folder:
    """The folder for code of a target in another folder; it need not exist."""
    return Folder(parent / f"thali-{platform_tag()}-{tag}", tag, True)


def native_folder() -> Folder:
    """The folder for code that is compiled here."""
    return folder_for(targets.native().tag, root())


def usable_folder() -> Folder | None:
    """The same if it can be used; else None, with one warning that says why."""
    folder = native_folder()
    if not folder.path.is_dir():
        try:
            folder.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            warn_once(
                f"Cannot create the folder '{folder.path}' for compiled code ({error.strerror}),"
                " so each process will compile again; set NUMBA_CACHE_DIR to a folder of your"
                " own."
            )
            return None
    reason = refusal(str(folder.path))
    if reason:
        warn_once(
            f"Compiled code is not saved in '{folder.path}', because {reason} and could make your"
            " programs run other code. Each process will compile again; set NUMBA_CACHE_DIR to a"
            " folder that only you can write to."
        )
        return None
    return folder


def folders_to_read() -> Iterator[Folder]:
    """Where compiled code is looked for: first what came with the library, so that draws do not
    depend on what else was compiled on this machine."""
    came = shipped()
    if came.folder is not None:
        yield came.folder
    own = usable_folder()
    if own is not None:
        yield own


@dataclass(frozen=True)
class Shipped:
    """What came with the library.

    Parameters
    ----------
    folder : Folder, optional
        What is used of it.
    reason : str
        Why nothing of it is used; empty if something is, or if nothing came.
    """

    folder: Folder | None
    reason: str


SHIPPED = _LIBRARY / "kernels"  # in a wheel that was built with it


@functools.cache
def shipped() -> Shipped:
    """The compiled code that came with the library: the most demanding that this processor runs."""
    names = [each.name for each in SHIPPED.iterdir() if each.is_dir()] if SHIPPED.is_dir() else []
    here = f"thali-{platform_tag()}-"
    reason = ""
    for level in targets.LEVELS:
        if here + level not in names:
            continue
        reason = targets.lacking(level)
        if not reason:
            return Shipped(Folder(SHIPPED / (here + level), level, False), "")
    if names and not reason:
        came = ", ".join(sorted(name.removeprefix("thali-") for name in names))
        reason = f"it is for {came}, but this machine is {platform_tag()}"
    return Shipped(None, reason)


@functools.cache  # once a process
def warn_once(message: str) -> None:
    warnings.warn(message, IncompleteWarning, stacklevel=2)


@functools.cache
def refusal(folder: str) -> str:
    """Why a folder is not used, such as "everybody may write to it"; empty if it is.

    Nobody else may own it, write to it, or put another folder in its place: except root, and
    whoever may change the library's own code anyway. A group counts for nothing if it is the user's
    private one (that of the same name without other members), with which many systems let users
    create all their files. Windows has no such permissions.
    """
    if os.name != "posix":
        return ""
    path = Path(folder)
    for place, name in ((path, "it"), (path.parent, f"'{path.parent}'")):
        for kind, number in sorted(strangers(place)):
            who = "every user" if kind == "others" else f"{kind} {number}"
            return f"{who} {'owns' if kind == 'user' else 'may write to'} {name}"
    return ""


def strangers(place: Path) -> set[tuple[str, int]]:
    """Who may change a file or the contents of a folder, and is neither trusted nor able to change
    the library."""
    if os.name != "posix":
        return set()
    return _writers(place) - _writers(_LIBRARY) - {("user", os.getuid()), ("user", 0), ("group", 0)}


def _writers(place: Path) -> set[tuple[str, int]]:
    status = place.stat()
    found = {("user", status.st_uid)}
    # as in /tmp: only owners replace files there
    if stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX:
        return found
    if status.st_mode & stat.S_IWGRP and not _is_private(status.st_gid):
        found.add(("group", status.st_gid))
    if status.st_mode & stat.S_IWOTH:
        found.add(("others", 0))
    return found


@functools.cache
def _is_private(group: int) -> bool:
    """Whether a group has no member but the user, judged by its name and the list of its
    members."""
    import grp
    import pwd

    try:
        user, known = pwd.getpwuid(os.getuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return (
        group == user.pw_gid
        and known.gr_name == user.pw_name
        and set(known.gr_mem) <= {user.pw_name}
    )


@dataclass(frozen=True)
class CacheInfo:
    """Where compiled code lies and how much of it there is.

    Parameters
    ----------
    path : str
        The folder that holds all that is compiled on this machine.
    files, bytes : int
        How many entries it has, of all processors and versions, and how large they are together.
    refused : str
        Why it is not used; empty if it is.
    shipped : str
        What came with the library, and whether it is used.
    """

    path: str
    files: int
    bytes: int
    refused: str = ""
    shipped: str = ""


def _entries() -> list[Path]:
    return sorted(root().glob(f"thali-*/*{SUFFIX}"))


def cache_info() -> CacheInfo:
    """How much compiled code is kept on disk, and where."""
    own = native_folder().path
    refused = refusal(str(own)) if own.is_dir() else ""
    return CacheInfo(str(root()), *_size_of(_entries()), refused, _shipped_in_words())


def _size_of(files: Iterable[Path]) -> tuple[int, int]:
    """How many files there are, and their bytes."""
    sizes = [file.stat().st_size for file in files]
    return len(sizes), sum(sizes)


def in_words(files: int, size: int) -> str:
    """How much compiled code there is, such as "43 files, 1.9 MB"."""
    return f"{files:,} files, {size / 1e6:,.1f} MB"


def _shipped_in_words() -> str:
    came = shipped()
    if came.folder is not None:
        return (
            f"{in_words(*came.folder.size())} shipped with thali, compiled for {came.folder.target}"
        )
    return (
        f"the compiled code shipped with thali is not used, because {came.reason}"
        if came.reason
        else ""
    )


def cache_clear() -> int:
    """Remove every piece of compiled code that thali keeps on disk; returns how many files there
    were."""
    files = _entries()
    for file in (*files, *root().glob("thali-*/*.tmp")):
        file.unlink(missing_ok=True)
    for folder in root().glob("thali-*/"):
        with suppress(OSError):  # not empty: somebody keeps other things there
            folder.rmdir()
    return len(files)
