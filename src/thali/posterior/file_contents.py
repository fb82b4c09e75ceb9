"""What a file must hold before xarray may read it: plain arrays in groups, all of them in the file itself."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import DataError

if TYPE_CHECKING:
    import h5py

_MAX_PACKED = 1_100  # bytes of an array to a byte of the file; zlib cannot pack more
_SMALL = 1 << 20  # bytes that any file may ask for
_AT_ONCE = 1 << 26  # bytes of text that are looked at together
_MOST_TEXTS = 64  # of an attribute, which is read as a whole
_NO_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"  # an array without numbers, which nobody reads


def check_contents(path: Path) -> None:
    """Refuse an HDF5 file that is no posterior, before anything is read of its arrays.

    HDF5 can link to other files, and can state arrays of any size that take no room in the file; whoever opens a file
    of somebody else should get neither.

    Parameters
    ----------
    path : Path

    Raises
    ------
    DataError
        If there are links, arrays that lie in other files, types other than numbers and text, groups in groups,
        arrays that are too large for the file or were never written, or texts that stand in it once and count often.
    """
    import h5py

    size = path.stat().st_size
    with h5py.File(path, "r") as file:
        asked, texts = 0, _text_of(file, path, "/", size)
        for name in map(str, file):
            group = _own(file, name, path)
            if not isinstance(group, h5py.Group):
                raise _refusal(path, f"'{name}' is not a group")
            texts += _text_of(group, path, name, size)
            for inner in map(str, group):
                member = _own(group, inner, path)
                asked += _bytes_of(member, path, f"{name}/{inner}")
                texts += _text_of(member, path, f"{name}/{inner}", size)
                if texts > size:
                    raise _refusal(path, f"its texts are longer than the file, up to '{name}/{inner}'")
    if asked > max(_SMALL, _MAX_PACKED * size):
        raise _refusal(path, f"it asks for {asked:,} bytes, more than can be in it")


def _own(group: "h5py.Group", name: str, path: Path) -> Any:
    """A member of the group, if it is in this very file."""
    import h5py

    if not isinstance(group.get(name, getlink=True), h5py.HardLink):
        raise _refusal(path, f"'{name}' is a link to something else")
    return group[name]


def _bytes_of(member: object, path: Path, name: str) -> int:
    """The memory that an array takes, if it is one of numbers or of text that lies in this file."""
    import h5py

    if not isinstance(member, h5py.Dataset):
        raise _refusal(path, f"'{name}' is not an array")
    if member.is_virtual or member.external:
        raise _refusal(path, f"'{name}' lies in other files")
    if member.dtype.kind not in "biuf" and h5py.check_string_dtype(member.dtype) is None:
        raise _refusal(path, f"'{name}' holds neither numbers nor text")
    if member.shape is None:
        return 0
    asked = member.size * member.dtype.itemsize
    is_written = member.id.get_storage_size() >= asked
    if member.chunks:  # each is unpacked as a whole
        chunks = math.prod(-(-n // of_chunk) for n, of_chunk in zip(member.shape, member.chunks, strict=True))
        asked = chunks * math.prod(member.chunks) * member.dtype.itemsize
        is_written = member.id.get_num_chunks() >= chunks
    if not is_written and _NO_VARIABLE not in bytes(member.attrs.get("NAME", b"")):
        raise _refusal(path, f"'{name}' was never written")
    return asked


def _text_of(member: "h5py.Group | h5py.Dataset", path: Path, name: str, size: int) -> int:
    """The characters of the texts of a member and of its attributes; a file of that size holds each once."""
    import h5py

    found = 0
    for attribute in map(str, member.attrs):
        stored = member.attrs.get_id(attribute)
        if stored.dtype.kind == "O" and math.prod(stored.shape) > _MOST_TEXTS:
            raise _refusal(path, f"the attribute '{attribute}' of '{name}' has {math.prod(stored.shape):,} parts")
        if h5py.check_string_dtype(stored.dtype) is not None:
            texts: Any = member.attrs[attribute]
            found += sum(map(len, np.atleast_1d(texts)))
    if isinstance(member, h5py.Dataset) and member.dtype.kind == "O" and member.shape:
        step = max(1, _AT_ONCE // max(1, size * math.prod(member.shape[1:])))
        for first in range(0, len(member), step):
            found += sum(map(len, member[first : first + step].ravel()))
            if found > size:
                break
    return found


def _refusal(path: Path, why: str) -> DataError:
    return DataError(f"'{path}' is not a posterior that thali wrote: {why}")
