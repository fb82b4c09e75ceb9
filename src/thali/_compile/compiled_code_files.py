"""Storage of compiled code on disk, in folders that only the user can write.

An entry is one file, named by its kernel, the digest of its sources and the types of its arguments.
The name of its folder contains Python, Numba, the operating system and the processor. No name
contains a path or a time: two environments, copies of the sources and later versions of the library
with the same kernel share an entry.

An entry contains machine code and the data that Numba needs to call it, as a compressed pickle.
Reading a pickle can run any code. A file ends in a SHA-256 of its bytes; a file with another hash
is removed and compiled again. This detects damage but does not stop an attacker. A folder is
therefore used only if every user who may write to it could also change the code of the library.
LLVM's bitcode, two thirds of Numba's data, is omitted: it is needed only to compile an entry point
into another function, which never happens.
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

from . import USED, processor_types

_LIBRARY = Path(__file__).parents[1]
_DIGEST = hashlib.sha256().digest_size
# the first bytes of a file, before its title, a line feed and the code
_FORMAT = b"thali kernel 2 "
SUFFIX = ".kernel"


def format_platform_tag() -> str:
    """Return Python, numba, system and machine as a folder name."""
    python_tag = f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"
    return f"{python_tag}-numba-{numba.__version__}-{sys.platform}-{platform.machine().lower()}"


class DamagedCode(Exception):
    """Error for a stored file whose content does not match its name."""


@dataclass(frozen=True)
class KernelFolder:
    """Folder of compiled code for one processor type.

    Parameters
    ----------
    path : Path
        The folder, which need not exist yet.
    target : str
        The processor for which its code was compiled.
    is_writable : bool
        Whether new code is stored there and damaged code is removed.
    """

    path: Path
    target: str
    is_writable: bool

    def file(self, name: str) -> Path:
        """Return the path of the file with this entry's code."""
        return self.path / f"{name}{SUFFIX}"

    def read(self, name: str) -> Any:
        """Read an entry; raise FileNotFoundError or DamagedCode."""
        entry_bytes = self.file(name).read_bytes()
        if find_untrusted_writers(self.file(name)):
            raise DamagedCode(name)
        return decode_entry(entry_bytes, self._format_title(name))

    def write(self, name: str, entry: Any) -> None:
        """Write an entry's file, completely or not at all."""
        self.path.mkdir(parents=True, exist_ok=True)
        descriptor, temporary_path = tempfile.mkstemp(
            prefix=f"{name[:40]}.", suffix=".tmp", dir=self.path
        )
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(encode_entry(entry, self._format_title(name)))
            os.replace(temporary_path, self.file(name))
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary_path)
            raise

    def size(self) -> tuple[int, int]:
        """Return number and bytes of the files."""
        return _measure_files(self.path.glob(f"*{SUFFIX}"))

    def _format_title(self, name: str) -> str:
        """Return "folder/name", which a file repeats to identify itself."""
        return f"{self.path.name}/{name}"


def encode_entry(entry: Any, title: str) -> bytes:
    """Return an entry as file bytes with title and hash."""
    content = _FORMAT + title.encode() + b"\n" + lzma.compress(serialize.dumps(entry), preset=6)
    return content + hashlib.sha256(content).digest()


def decode_entry(entry_bytes: bytes, title: str) -> Any:
    """Return the entry in file bytes; raise DamagedCode if title or hash differ."""
    header = _FORMAT + title.encode() + b"\n"
    entry_bytes, stored_hash = entry_bytes[:-_DIGEST], entry_bytes[-_DIGEST:]
    if not entry_bytes.startswith(header) or hashlib.sha256(entry_bytes).digest() != stored_hash:
        raise DamagedCode(title)
    return pickle.loads(lzma.decompress(entry_bytes[len(header) :]))


class KernelCache(NullCache):
    """Numba cache of one function, in thali's folders."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def cache_path(self) -> Any:
        """Folder to which new code is written; None if unusable."""
        folder = prepare_native_folder()
        if folder is None:
            return None
        return str(folder.path)

    def is_stored(self) -> bool:
        """Return whether code of the function is on disk."""
        return any(
            next(folder.path.glob(f"{self._name}.*{SUFFIX}"), None) for folder in folders_to_read()
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the code for these argument types; None if not stored."""
        entry_name = self._name_entry(sig)
        for folder in folders_to_read():
            try:
                external_names, *result_parts = folder.read(entry_name)
                # The engine already has most names. Refreshing the context, as Numba does, takes
                # 0.2 s, so it is done only if a name is missing.
                rtsys.initialize(target_context)
                if not all(map(llvmlite.binding.address_of_symbol, external_names)):
                    target_context.refresh()
                compile_result = CompileResult._rebuild(target_context, *result_parts)
            except FileNotFoundError:
                continue
            except OSError as error:
                warn_once(
                    f"Cannot read compiled code in '{folder.path}': {error.strerror}. Compiling"
                    " again."
                )
                continue
            except Exception:  # a damaged pickle can fail in any way
                self._discard(folder, entry_name)
                continue
            compile_result.library._get_module_for_linking = _refuse_linking
            USED.add(folder.target)
            return compile_result
        reason = find_shipped().reason
        if reason:
            warn_once(
                f"The compiled code shipped with thali is not used, because {reason};"
                " compiling here."
            )
        return None

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Store compiled code in the user's folder; warn if that fails."""
        USED.add(processor_types.find_native_tag())
        folder = prepare_native_folder()
        if folder is None or cres.library.has_dynamic_globals:
            return
        if any(not loop.can_cache for loop in cres.lifted):
            return
        try:
            folder.write(self._name_entry(sig), strip_bitcode(cres))
        except OSError as error:
            warn_once(
                f"Cannot save compiled code in '{folder.path}': {error.strerror}. Each process"
                " will compile again; free some space, or set NUMBA_CACHE_DIR to another folder."
            )

    def _name_entry(self, sig: Any) -> str:
        """Return the file name of the code for these argument types."""
        return f"{self._name}.{hashlib.sha256(format_types(sig).encode()).hexdigest()[:16]}"

    def _discard(self, folder: KernelFolder, name: str) -> None:
        """Warn that a stored file is ignored; delete it if possible."""
        if not folder.is_writable:
            warn_once(
                f"The compiled code shipped with thali in '{folder.path}' is damaged; compiling"
                " again."
            )
            return
        with suppress(OSError):
            folder.file(name).unlink()
        warn_once(f"Removed damaged compiled code in '{folder.path}'; compiling again.")


def format_types(types: Any) -> str:
    """Return argument types as text, with names of fields."""
    inner_types = [
        f"{getattr(inner, 'fields', ())!r} {format_types(inner)}"
        for inner in types
        if isinstance(inner, BaseTuple)
    ]
    if not inner_types:
        return repr(types)
    return f"{types!r} {inner_types}"


def strip_bitcode(code: Any) -> Any:
    """Return numba's serialised code without LLVM bitcode, and external names.

    A stub with the names of its functions replaces the bitcode.
    """
    (library_name, library_kind, (machine_code, bitcode)), *other_parts = code._reduce()
    module = llvmlite.binding.parse_bitcode(bitcode)
    symbols = [*module.functions, *module.global_variables]
    external_names = [
        symbol.name
        for symbol in symbols
        if symbol.is_declaration and not symbol.name.startswith("llvm.")
    ]
    defined_names = [function.name for function in module.functions if not function.is_declaration]
    stub_text = "".join(f'define void @"{name}"() {{ ret void }}\n' for name in defined_names)
    stub = llvmlite.binding.parse_assembly(f'target triple = "{module.triple}"\n{stub_text}')
    return (
        external_names,
        (library_name, library_kind, (machine_code, stub.as_bitcode())),
        *other_parts,
    )


def _refuse_linking() -> Any:
    """Raise: code from disk has no bitcode to be linked."""
    raise RuntimeError(
        "Code loaded from disk cannot be compiled into other code; mark the function as `part`,"
        " not as an entry point."
    )


def find_cache_root() -> Path:
    """Return the folder of all files that thali caches."""
    configured_folder = getattr(config, "CACHE_DIR", "")
    if configured_folder:
        return Path(configured_folder)
    folder = Path(AppDirs(appname="thali", appauthor=False).user_cache_dir)
    if not folder.is_absolute():  # XDG_CACHE_HOME is empty or relative: ignored, as specified
        folder = Path.home() / ".cache" / "thali"
    return folder


def build_folder(tag: str, parent: Path) -> KernelFolder:
    """Return the folder for code of a target processor."""
    return KernelFolder(parent / f"thali-{format_platform_tag()}-{tag}", tag, True)


def get_native_folder() -> KernelFolder:
    """Return the folder for code compiled on this machine."""
    return build_folder(processor_types.find_native_tag(), find_cache_root())


def prepare_native_folder() -> KernelFolder | None:
    """Create the folder for compiled code; warn and return None if unusable."""
    folder = get_native_folder()
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
    reason = explain_refusal(str(folder.path))
    if reason:
        warn_once(
            f"Compiled code is not saved in '{folder.path}', because {reason} and could make your"
            " programs run other code. Each process will compile again; set NUMBA_CACHE_DIR to a"
            " folder that only you can write to."
        )
        return None
    return folder


def folders_to_read() -> Iterator[KernelFolder]:
    """Yield the folders from which code is loaded, shipped ones first.

    So draws do not depend on other code compiled on this machine.
    """
    shipped_folder = find_shipped().folder
    if shipped_folder is not None:
        yield shipped_folder
    folder = prepare_native_folder()
    if folder is not None:
        yield folder


@dataclass(frozen=True)
class ShippedCode:
    """Compiled code shipped with the package, for one processor level.

    Parameters
    ----------
    folder : Folder, optional
        The folder in use.
    reason : str
        Why no shipped code is used; empty if some is used, or if none was shipped.
    """

    folder: KernelFolder | None
    reason: str


SHIPPED = _LIBRARY / "kernels"  # in a wheel that was built with it


@functools.cache
def find_shipped() -> ShippedCode:
    """Return the shipped code for the best level that this processor supports."""
    folder_names = []
    if SHIPPED.is_dir():
        folder_names = [folder.name for folder in SHIPPED.iterdir() if folder.is_dir()]
    prefix = f"thali-{format_platform_tag()}-"
    reason = ""
    for level in processor_types.LEVELS:
        if prefix + level not in folder_names:
            continue
        reason = processor_types.explain_incompatibility(level)
        if not reason:
            return ShippedCode(KernelFolder(SHIPPED / (prefix + level), level, False), "")
    if folder_names and not reason:
        shipped_tags = ", ".join(sorted(name.removeprefix("thali-") for name in folder_names))
        reason = f"it is for {shipped_tags}, but this machine is {format_platform_tag()}"
    return ShippedCode(None, reason)


@functools.cache  # once per process
def warn_once(message: str) -> None:
    """Issue a warning once per process."""
    warnings.warn(message, IncompleteWarning, stacklevel=2)


@functools.cache
def explain_refusal(folder: str) -> str:
    """Return why a folder is not trusted, such as "every user may write"; else "".

    No other user may own it, write to it or replace it, except root and users who may change the
    code of the library anyway. A private group of the user (of the same name, without other
    members) is ignored: on many systems it owns all files of the user. Windows has no such
    permissions.
    """
    if os.name != "posix":
        return ""
    path = Path(folder)
    for checked_path, path_text in ((path, "it"), (path.parent, f"'{path.parent}'")):
        for writer_kind, writer_id in sorted(find_untrusted_writers(checked_path)):
            if writer_kind == "user":
                return f"user {writer_id} owns {path_text}"
            if writer_kind == "others":
                return f"every user may write to {path_text}"
            return f"{writer_kind} {writer_id} may write to {path_text}"
    return ""


def find_untrusted_writers(path: Path) -> set[tuple[str, int]]:
    """Return users and groups that may write to the path, but not to the installed library.

    The user of this process and the administrator (root) are excluded.
    """
    if os.name != "posix":
        return set()
    return (
        _find_writers(path)
        - _find_writers(_LIBRARY)
        - {("user", os.getuid()), ("user", 0), ("group", 0)}
    )


def _find_writers(path: Path) -> set[tuple[str, int]]:
    """Return the users and groups with write permission for a path."""
    path_status = path.stat()
    writers = {("user", path_status.st_uid)}
    # a folder like /tmp: only owners may replace files
    if stat.S_ISDIR(path_status.st_mode) and path_status.st_mode & stat.S_ISVTX:
        return writers
    if path_status.st_mode & stat.S_IWGRP and not _is_private_group(path_status.st_gid):
        writers.add(("group", path_status.st_gid))
    if path_status.st_mode & stat.S_IWOTH:
        writers.add(("others", 0))
    return writers


@functools.cache
def _is_private_group(group_id: int) -> bool:
    """Return whether a group has only the user as member."""
    import grp
    import pwd

    try:
        user = pwd.getpwuid(os.getuid())
        group_entry = grp.getgrgid(group_id)
    except KeyError:
        return False
    return (
        group_id == user.pw_gid
        and group_entry.gr_name == user.pw_name
        and set(group_entry.gr_mem) <= {user.pw_name}
    )


@dataclass(frozen=True)
class CacheInfo:
    """Folder and size of the compiled code on disk.

    Parameters
    ----------
    path : str
        The folder with all code that was compiled on this machine.
    files, bytes : int
        The number and total size of entries, for all processors and versions.
    refused : str
        Why the folder is not used; empty if it is used.
    shipped : str
        A description of the shipped code, and whether it is used.
    """

    path: str
    files: int
    bytes: int
    refused: str = ""
    shipped: str = ""


def _list_kernel_files() -> list[Path]:
    """Return all files of compiled code, for all processors."""
    return sorted(find_cache_root().glob(f"thali-*/*{SUFFIX}"))


def cache_info() -> CacheInfo:
    """Return folder and size of the compiled code on disk."""
    folder = get_native_folder().path
    refused = ""
    if folder.is_dir():
        refused = explain_refusal(str(folder))
    return CacheInfo(
        str(find_cache_root()), *_measure_files(_list_kernel_files()), refused, _describe_shipped()
    )


def _measure_files(files: Iterable[Path]) -> tuple[int, int]:
    """Return number and total bytes of files."""
    file_sizes = [file.stat().st_size for file in files]
    return len(file_sizes), sum(file_sizes)


def format_cache_size(n_files: int, n_bytes: int) -> str:
    """Format as "43 files, 1.9 MB"."""
    return f"{n_files:,} files, {n_bytes / 1e6:,.1f} MB"


def _describe_shipped() -> str:
    """Return a sentence on shipped code; "" if there is none."""
    folder = find_shipped().folder
    reason = find_shipped().reason
    if folder is not None:
        return (
            f"{format_cache_size(*folder.size())} shipped with thali, compiled for {folder.target}"
        )
    if not reason:
        return ""
    return f"the compiled code shipped with thali is not used, because {reason}"


def cache_clear() -> int:
    """Delete all compiled code on disk; return the number of files."""
    files = _list_kernel_files()
    for file in (*files, *find_cache_root().glob("thali-*/*.tmp")):
        file.unlink(missing_ok=True)
    for folder in find_cache_root().glob("thali-*/"):
        with suppress(OSError):  # the folder contains other files
            folder.rmdir()
    return len(files)
