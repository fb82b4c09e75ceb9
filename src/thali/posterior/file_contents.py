"""What a file must hold before xarray may read it: plain arrays in groups, all of them in the file itself."""

from pathlib import Path
from typing import TYPE_CHECKING

from thali.errors import DataError

if TYPE_CHECKING:
    import h5py

_MAX_PACKED = 1_100  # bytes of an array to a byte of the file; zlib cannot pack more
_SMALL = 1 << 20  # bytes that any file may ask for


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
        If there are links, arrays that lie in other files, types other than numbers and text, groups in groups, or
        arrays that are too large for the file.
    """
    import h5py

    asked = 0
    with h5py.File(path, "r") as file:
        for name in map(str, file):
            group = _own(file, name, path)
            if not isinstance(group, h5py.Group):
                raise _refusal(path, f"'{name}' is not a group")
            for inner in map(str, group):
                asked += _bytes_of(_own(group, inner, path), path, f"{name}/{inner}")
    if asked > max(_SMALL, _MAX_PACKED * path.stat().st_size):
        raise _refusal(path, f"it asks for {asked:,} bytes, more than can be in it")


def _own(group: "h5py.Group", name: str, path: Path) -> object:
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
    return member.size * member.dtype.itemsize if member.shape is not None else 0


def _refusal(path: Path, why: str) -> DataError:
    return DataError(f"'{path}' is not a posterior that thali wrote: {why}")
