"""The posterior as an ArviZ tree: put together, written to a file, read back."""

import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import DataError
from thali.inference.files import atomic_write, is_intact, seal

from .file_contents import check_contents

if TYPE_CHECKING:
    import xarray


# Raised when a stored tree changes so that an older thali could not read it.
SCHEMA = 5
_BULKY = {"features", "owners", "feature_size", "weights"}  # variables that are compressed


def tree_of(groups: Mapping[str, "xarray.Dataset"], attrs: Mapping[Any, Any]) -> "xarray.DataTree":
    """The groups as one tree, with 1 and 0 (int8) for what is true and false: ArviZ computes with all that it finds."""
    import xarray as xr

    def as_numbers(group: "xarray.Dataset") -> "xarray.Dataset":
        return group.assign({name: each.astype(np.int8) for name, each in group.items() if each.dtype == bool})

    tree = xr.DataTree.from_dict({name: as_numbers(group) for name, group in groups.items()})
    tree.attrs = dict(attrs)
    return tree


def save(tree: "xarray.DataTree", path: str | os.PathLike[str]) -> None:
    """Write a posterior to one netCDF file, whole or not at all.

    Parameters
    ----------
    tree : xarray.DataTree
        As `to_datatree` makes it.
    path : str or path
        The file; one that exists is replaced.

    Raises
    ------
    DataError
        The path is a folder, or cannot be written.

    Examples
    --------
    >>> import tempfile, pathlib, thali as th
    >>> model = th.EliminationByAspects("unique").fit(
    ...     th.datasets.celebrities(), draws=500, tune=500, random_seed=1, progressbar=False
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model.posterior_, pathlib.Path(folder) / "posterior.nc")
    ...     tree = load(pathlib.Path(folder) / "posterior.nc")
    >>> tree["posterior"].sizes["draw"]
    500
    """
    atomic_write(Path(path), to_netcdf(tree))


def to_netcdf(tree: "xarray.DataTree") -> memoryview:
    """What `save` writes: a netCDF file, and after its end, where its readers do not look, a seal.

    Parameters
    ----------
    tree : xarray.DataTree
        As `to_datatree` makes it.

    Returns
    -------
    memoryview
    """
    import h5netcdf
    from xarray.backends import H5NetCDFStore

    compress = {"zlib": True, "complevel": 1, "shuffle": True}
    # HDF5 gets to see memory only: on a full disk it leaves a file behind that it can neither finish nor drop.
    buffer = io.BytesIO()
    with h5netcdf.File(buffer, "w") as file:
        file.attrs.update(tree.attrs)
        for name, node in tree.children.items():
            dataset = node.to_dataset()
            bulky = {name: compress for name in _BULKY & set(dataset)} if name == "posterior" else {}
            dataset.dump_to_store(H5NetCDFStore(file.create_group(name)), encoding=bulky)
    buffer.seek(0, os.SEEK_END)
    with buffer.getbuffer() as content:
        end = seal(content)
    buffer.write(end)
    return buffer.getbuffer()


def load(path: str | os.PathLike[str], verify: bool = True) -> "xarray.DataTree":
    """Read a posterior that thali wrote; everything is in memory afterwards and the file is closed.

    Parameters
    ----------
    path : str or path
    verify : bool
        Whether to refuse a file whose hash, which `save` puts at its end, is missing or wrong. A file that is damaged
        can keep the HDF5 library busy for ever, so pass False only for one that another program rewrote.

    Returns
    -------
    xarray.DataTree

    Raises
    ------
    DataError
        The file is absent, is a folder, is damaged, or was not written by `save`.

    Examples
    --------
    >>> load("absent.nc")
    Traceback (most recent call last):
    thali.errors.DataError: there is no file 'absent.nc'; give the name of a netCDF file that thali wrote
    """
    import xarray as xr

    path = Path(path)
    _check_file(path, verify)
    try:
        check_contents(path)
        # One group at a time: the trees of older xarray versions cannot be loaded and closed as a whole.
        with xr.open_datatree(path, engine="h5netcdf") as stored:
            attrs = dict(stored.attrs)
            groups = {name: node.to_dataset().load() for name, node in stored.children.items()}
    except DataError:
        raise
    except Exception as error:  # of foreign parsers, which promise no kind of error
        raise DataError(f"'{path}' is not a posterior that thali wrote: it cannot be read as netCDF") from error
    schema = attrs.get("thali_schema")
    known = isinstance(schema, int | np.integer)
    if not known or attrs.get("creation_library") != "thali" or not groups:
        raise DataError(f"'{path}' is a netCDF file, but not a posterior that thali wrote")
    if schema < SCHEMA:
        raise DataError(f"'{path}' was written by an earlier thali; fit the model again")
    if schema > SCHEMA:
        version = attrs.get("creation_library_version")
        raise DataError(f"'{path}' was written by thali {version}, newer than this one; update thali to read it")
    return tree_of(groups, attrs)


def _check_file(path: Path, verify: bool) -> None:
    """Refuse what is no regular file, and what is not as `save` wrote it."""
    if path.is_dir():
        raise DataError(f"'{path}' is a folder; give the name of a netCDF file that thali wrote")
    if not path.exists():
        raise DataError(f"there is no file '{path}'; give the name of a netCDF file that thali wrote")
    if not path.is_file():
        raise DataError(f"'{path}' is not a regular file; give the name of a netCDF file that thali wrote")
    try:
        intact = not verify or is_intact(path)
    except OSError as error:
        raise DataError(f"'{path}' cannot be read: {error.strerror or error}") from error
    if not intact:
        raise DataError(
            f"'{path}' is damaged, or thali did not write it: its hash is missing or does not fit its content; if "
            "another program rewrote it, th.load(path, verify=False) reads it all the same"
        )


def origin() -> dict[Any, Any]:
    """Attributes that say when, by which version of thali, and with code for which processor a tree was made."""
    from datetime import UTC, datetime

    from thali import __version__
    from thali.compile import USED

    return {
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "creation_library": "thali",
        "creation_library_version": __version__,
        "creation_library_language": "Python",
        "inference_library": "thali",
        "inference_library_version": __version__,
        "thali_schema": SCHEMA,
        **({"compiled_for": ", ".join(sorted(USED))} if USED else {}),
    }
