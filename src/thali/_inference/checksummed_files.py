"""Files written completely or not at all, with a checksum at the end."""

import contextlib
import errno
import hashlib
import os
import secrets
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from thali.errors import DataError

# Locks of the operating system on open files; they end with the process that holds them -----------


# the byte that Windows locks; beyond any content, because a locked byte cannot be read
_FAR = 1 << 30


def lock_file(descriptor: int) -> bool:
    """Lock an open file until it is closed; return False if another process holds it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, _FAR, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True
    return True


_SPACE = "free some space, or choose another folder"
_RIGHTS = "choose a folder that you can write to"
_ADVICE = {
    errno.ENOSPC: _SPACE,
    getattr(errno, "EDQUOT", errno.ENOSPC): _SPACE,
    errno.EFBIG: "files of this size are not allowed here; choose another folder",
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
    errno.EROFS: _RIGHTS,
}
_ANOTHER = (
    "Another process wrote to '{folder}' at the same time and created files ({what}); run one of"
    " the two commands again with another folder."
)
_SEAL = b"\nthali %020d bytes, sha256 %s\n"  # the length and the hash of everything before it
_SEAL_SIZE = len(_SEAL % (0, b"0" * 64))


def atomic_write(path: Path, content: bytes | memoryview) -> None:
    """Write content to a file, which is replaced completely or not at all."""
    write_together(path.parent, {path.name: content})


def write_together(folder: Path, file_bytes: Mapping[str, bytes | memoryview]) -> None:
    """Write several files to a folder, all of them or none."""
    for name in file_bytes:
        check_path(folder / name)
    temporary_paths = {
        name: folder / f"{_part_prefix(name)}{secrets.token_hex(8)}.part" for name in file_bytes
    }
    identity_by_name = {}
    path = folder
    try:
        _remove_parts(folder, file_bytes)
        for name, temporary_path in temporary_paths.items():
            path = folder / name
            with open(
                temporary_path, "xb", opener=lambda file, flags: os.open(file, flags, 0o666)
            ) as file:
                file.write(file_bytes[name])
                file.flush()
                os.fsync(file.fileno())
            identity_by_name[name] = _identify_file(temporary_path)
        for name, temporary_path in temporary_paths.items():
            path = folder / name
            os.replace(temporary_path, path)
        _sync_folder(folder)
        # If several processes write at the same time, the last one finds files of the others.
        foreign_names = [
            name
            for name, identity in identity_by_name.items()
            if _identify_file(folder / name) != identity
        ]
    except OSError as error:
        # another process removed it as a leftover
        if isinstance(error, FileNotFoundError) and folder.is_dir():
            raise DataError(_ANOTHER.format(folder=folder, what=f"'{path.name}'")) from error
        raise DataError(describe_write_error(path, error)) from error
    finally:
        for temporary_path in temporary_paths.values():
            with contextlib.suppress(OSError):
                temporary_path.unlink()
    if foreign_names and len(identity_by_name) > 1:  # a single file is complete, from one process
        raise DataError(_ANOTHER.format(folder=folder, what=", ".join(foreign_names)))


def _part_prefix(name: str) -> str:
    """Return the prefix of temporary files for the file `name`."""
    return f".thali-{hashlib.sha256(name.encode()).hexdigest()[:12]}-"


def _remove_parts(folder: Path, names: Iterable[str]) -> None:
    """Delete temporary files for these names that a killed process left."""
    prefixes = tuple(map(_part_prefix, names))
    for file in folder.iterdir():
        if file.name.startswith(prefixes) and file.suffix == ".part":
            with contextlib.suppress(OSError):
                file.unlink()


def describe_write_error(path: Path, error: OSError) -> str:
    """Return a sentence on why a file cannot be written, with advice."""
    reason = error.strerror or str(error)
    return (
        f"Cannot write '{path}': {reason}; {_ADVICE.get(error.errno or 0, 'choose another place')}."
    )


def compute_seal(content: bytes | memoryview) -> bytes:
    """Return the checksum to append to content: its length and hash."""
    return _SEAL % (memoryview(content).nbytes, hashlib.sha256(content).hexdigest().encode())


def is_intact(path: Path) -> bool:
    """Return whether a file ends with the checksum of the rest."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        content_size = n_left = file.seek(0, os.SEEK_END) - _SEAL_SIZE
        file.seek(0)
        while n_left > 0 and (block := file.read(min(n_left, 1 << 20))):
            digest.update(block)
            n_left -= len(block)
        return n_left == 0 and file.read() == _SEAL % (content_size, digest.hexdigest().encode())


def check_path(path: Path) -> None:
    """Raise DataError if a file cannot be written at this path."""
    if path.is_dir():
        raise DataError(f"Cannot write '{path}': it is a folder; give a file name.")
    if path.exists() and not path.is_file():  # a device must not be replaced
        raise DataError(f"Cannot write '{path}': it is not a regular file; give another file name.")
    if not path.parent.is_dir():
        raise DataError(
            f"Cannot write '{path}': the folder '{path.parent}' does not exist; create it first."
        )
    if not os.access(path.parent, os.W_OK):
        raise DataError(
            f"Cannot write '{path}': no permission for the folder '{path.parent}'; choose another."
        )


def _identify_file(path: Path) -> tuple[int, int, int]:
    """Return device, inode and modification time of a file."""
    file_status = path.stat()
    return file_status.st_dev, file_status.st_ino, file_status.st_mtime_ns


def _sync_folder(folder: Path) -> None:
    """Flush a folder's entries to disk, where the system can."""
    with contextlib.suppress(OSError):  # not possible on Windows and on some file systems
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
