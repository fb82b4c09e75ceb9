"""The posterior as an ArviZ tree: put together, written to a file, read back."""

import io
import math
import os
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.files import atomic_write, compute_seal, is_intact
from thali.errors import ArgumentError, DataError

if TYPE_CHECKING:
    import h5py
    import xarray


# What a file must hold before xarray may read it: plain arrays in groups, all of them in the file
# itself


_MAX_PACKED = 1_100  # bytes of an array to a byte of the file; zlib cannot pack more
_SMALL = 1 << 20  # bytes that any file may ask for
_AT_ONCE = 1 << 26  # bytes of text that are looked at together
_MAX_TEXTS = 64  # of an attribute, which is read as a whole
# an array without numbers, which nobody reads
_NO_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"


def check_contents(path: Path) -> None:
    """Refuse an HDF5 file that is no posterior, before anything is read of its arrays.

    HDF5 can link to other files, and can state arrays of any size that take no room in the file;
    whoever opens a file of somebody else should get neither.
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
                    raise _refusal(
                        path, f"its text values up to '{name}/{inner}' are longer than the file"
                    )
    if asked > max(_SMALL, _MAX_PACKED * size):
        raise _refusal(path, f"it requests {asked:,} bytes, more than the file can contain")


def _own(group: "h5py.Group", name: str, path: Path) -> Any:
    """A member of the group, if it is in this very file."""
    import h5py

    if not isinstance(group.get(name, getlink=True), h5py.HardLink):
        raise _refusal(path, f"'{name}' is a link")
    return group[name]


def _bytes_of(member: object, path: Path, name: str) -> int:
    """The memory that an array takes, if it is one of numbers or of text that lies in this file."""
    import h5py

    if not isinstance(member, h5py.Dataset):
        raise _refusal(path, f"'{name}' is not an array")
    if member.is_virtual or member.external:
        raise _refusal(path, f"'{name}' is stored in other files")
    if member.dtype.kind not in "biuf" and h5py.check_string_dtype(member.dtype) is None:
        raise _refusal(path, f"'{name}' contains neither numbers nor text")
    if member.shape is None:
        return 0
    asked = member.size * member.dtype.itemsize
    is_written = member.id.get_storage_size() >= asked
    if member.chunks:  # each is unpacked as a whole
        chunks = math.prod(
            -(-n // of_chunk) for n, of_chunk in zip(member.shape, member.chunks, strict=True)
        )
        asked = chunks * math.prod(member.chunks) * member.dtype.itemsize
        is_written = member.id.get_num_chunks() >= chunks
    if not is_written and _NO_VARIABLE not in bytes(member.attrs.get("NAME", b"")):
        raise _refusal(path, f"'{name}' was never written")
    return asked


def _text_of(member: "h5py.Group | h5py.Dataset", path: Path, name: str, size: int) -> int:
    """The characters of the texts of a member and of its attributes; a file of that size holds each
    once."""
    import h5py

    found = 0
    for attribute in map(str, member.attrs):
        stored = member.attrs.get_id(attribute)
        if stored.dtype.kind == "O" and math.prod(stored.shape) > _MAX_TEXTS:
            raise _refusal(
                path,
                f"the attribute '{attribute}' of '{name}' has {math.prod(stored.shape):,} parts",
            )
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
    return DataError(f"'{path}' is not a posterior written by thali: {why}")


# Raised when a stored tree changes so that an older thali could not read it.
SCHEMA = 7
# variables that are compressed
_BULKY = {"features", "owners", "feature_size", "weights", "covariance"}
# attribute of a variable of which files hold single precision, with so many bits of a mantissa
BITS = "bits_in_files"
_MANTISSA = 23  # bits of one in single precision


def tree_of(groups: Mapping[str, "xarray.Dataset"], attrs: Mapping[Any, Any]) -> "xarray.DataTree":
    """The groups as one tree, with 1 and 0 (int8) for what is true and false: ArviZ computes with
    all that it finds."""
    import xarray as xr

    def as_numbers(group: "xarray.Dataset") -> "xarray.Dataset":
        return group.assign(
            {name: each.astype(np.int8) for name, each in group.items() if each.dtype == bool}
        )

    tree = xr.DataTree.from_dict({name: as_numbers(group) for name, group in groups.items()})
    tree.attrs = dict(attrs)
    return tree


def described_draws(
    variables: Mapping[str, Any],
    coordinates: Mapping[str, Any],
    shape: tuple[int, ...],
    descriptions: Mapping[str, str],
) -> "xarray.Dataset":
    """Variables (chain, draw, ...) of as many chains and draws as a group of a tree, each with its
    description."""
    import xarray as xr

    numbered = {"chain": np.arange(shape[0]), "draw": np.arange(shape[1])}
    group = xr.Dataset(variables, {**numbered, **coordinates})
    for name, variable in group.data_vars.items():
        variable.attrs["description"] = descriptions[str(name)]
    return group


def save(tree: "xarray.DataTree", path: str | os.PathLike[str]) -> None:
    """Write a posterior to one netCDF file, whole or not at all.

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
    """What `save` writes: a netCDF file, and after its end, where its readers do not look, a
    seal."""
    import h5netcdf
    from xarray.backends import H5NetCDFStore

    compress = {"zlib": True, "complevel": 1, "shuffle": True}
    # HDF5 gets to see memory only: on a full disk it leaves a file behind that it can neither
    # finish nor drop.
    buffer = io.BytesIO()
    with h5netcdf.File(buffer, "w") as file:
        file.attrs.update(tree.attrs)
        for name, node in tree.children.items():
            dataset = node.to_dataset()
            rounded = [each for each, variable in dataset.items() if BITS in variable.attrs]
            dataset = dataset.assign({each: _rounded(dataset[each]) for each in rounded})
            bulky = (
                {each: compress for each in {*rounded, *_BULKY} & set(dataset)}
                if name == "posterior"
                else {}
            )
            dataset.dump_to_store(H5NetCDFStore(file.create_group(name)), encoding=bulky)
    buffer.seek(0, os.SEEK_END)
    with buffer.getbuffer() as content:
        end = compute_seal(content)
    buffer.write(end)
    return buffer.getbuffer()


def _rounded(variable: "xarray.DataArray") -> "xarray.DataArray":
    """The nearest numbers of a few bits, whose other bytes are zeros, which compress (bit rounding:
    Klöwer 2021)."""
    drop = _MANTISSA - int(variable.attrs[BITS])
    bits = variable.values.astype(np.float32).view(np.uint32)
    # ties to even
    half = np.uint32((1 << (drop - 1)) - 1) + ((bits >> np.uint32(drop)) & np.uint32(1))
    kept = (bits + half) & np.uint32(0xFFFFFFFF >> drop << drop)
    return variable.copy(data=kept.view(np.float32))


def _as_drawn(dataset: "xarray.Dataset") -> "xarray.Dataset":
    """The dataset with what was rounded in double precision, as after a fit."""
    rounded = [name for name, variable in dataset.items() if BITS in variable.attrs]
    return dataset.assign({name: dataset[name].astype(np.float64) for name in rounded})


def load(path: str | os.PathLike[str], verify: bool = True) -> "xarray.DataTree":
    """Read a posterior that thali wrote; everything is in memory afterwards and the file is closed.

    Parameters
    ----------
    path : str or path
    verify : bool
        Whether to refuse a file whose hash, which `save` puts at its end, is missing or wrong. A
        file that is damaged can keep the HDF5 library busy for ever, so pass False only for one
        that another program rewrote.

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
    thali.errors.DataError: There is no file 'absent.nc'; give a netCDF file written by thali.
    """
    import xarray as xr

    path = Path(path)
    _check_file(path, verify)
    try:
        check_contents(path)
        # One group at a time: the trees of older xarray versions cannot be loaded and closed as a
        # whole.
        with xr.open_datatree(path, engine="h5netcdf") as stored:
            attrs = dict(stored.attrs)
            groups = {
                name: _as_drawn(node.to_dataset().load()) for name, node in stored.children.items()
            }
    except DataError:
        raise
    except Exception as error:  # of foreign parsers, which promise no kind of error
        raise DataError(
            f"'{path}' is not a posterior written by thali: it cannot be read as netCDF"
        ) from error
    schema = attrs.get("thali_schema")
    known = isinstance(schema, int | np.integer)
    if not known or attrs.get("creation_library") != "thali" or not groups:
        raise DataError(f"'{path}' is a netCDF file, but not a posterior written by thali")
    if schema < SCHEMA:
        raise DataError(f"'{path}' was written by an earlier version of thali; fit the model again")
    if schema > SCHEMA:
        version = attrs.get("creation_library_version")
        raise DataError(
            f"'{path}' was written by thali {version}, a newer version; update thali to read it"
        )
    return tree_of(groups, attrs)


def _check_file(path: Path, verify: bool) -> None:
    """Refuse what is no regular file, and what is not as `save` wrote it."""
    if path.is_dir():
        raise DataError(f"'{path}' is a folder; give a netCDF file written by thali.")
    if not path.exists():
        raise DataError(f"There is no file '{path}'; give a netCDF file written by thali.")
    if not path.is_file():
        raise DataError(f"'{path}' is not a regular file; give a netCDF file written by thali.")
    try:
        intact = not verify or is_intact(path)
    except OSError as error:
        raise DataError(f"'{path}' cannot be read: {error.strerror or error}") from error
    if not intact:
        raise DataError(
            f"'{path}' was not written by thali, or was changed or damaged afterwards (its hash is"
            " missing or wrong); to read it anyway, use th.load(path, verify=False)."
        )


def origin() -> dict[Any, Any]:
    """Attributes that say when, by which version of thali, and with code for which processor a tree
    was made."""
    from datetime import UTC, datetime

    from thali import __version__
    from thali._compile import USED

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


# The draws of a posterior followed by later ones of the same chains -------------------------------


# what fills up the shorter ones of ragged draws; 0 for all other variables
_PADDING = {"owners": -1}


def appended(earlier: "xarray.DataTree", later: "xarray.DataTree") -> "xarray.DataTree":
    """One tree with the draws of both; what is not of single draws is taken from the later one.

    A group of draws that a file has left out of the earlier one is left out of both.
    """
    groups = {}
    for name, node in later.children.items():
        if "draw" in node.dims and name not in earlier.children:
            continue
        old, new = earlier[name].to_dataset(), node.to_dataset()
        groups[name] = _joined(old, new) if "draw" in new.dims else new
    return tree_of(groups, later.attrs)


def first_draws(tree: "xarray.DataTree", count: int) -> "xarray.DataTree | None":
    """The first so many draws of a tree; None if that is none."""
    groups = {name: node.to_dataset() for name, node in tree.children.items()}
    cut = {
        name: each.isel(draw=slice(0, count)) if "draw" in each.dims else each
        for name, each in groups.items()
    }
    return tree_of(cut, tree.attrs) if count else None


def _joined(old: "xarray.Dataset", new: "xarray.Dataset") -> "xarray.Dataset":
    ragged = [dim for dim in new.dims if dim != "draw" and old.sizes[dim] != new.sizes[dim]]
    sizes = {dim: max(old.sizes[dim], new.sizes[dim]) for dim in ragged}
    variables = {
        name: (
            variable.dims,
            np.concatenate([_padded(each[name], sizes) for each in (old, new)], axis),
            variable.attrs,
        )
        for name, variable in new.data_vars.items()
        for axis in [variable.dims.index("draw") if "draw" in variable.dims else None]
        if axis is not None
    }
    fixed = {
        name: variable for name, variable in new.data_vars.items() if "draw" not in variable.dims
    }
    draws = old.sizes["draw"] + new.sizes["draw"]
    coordinates = {name: value for name, value in new.coords.items() if name != "draw"} | {
        "draw": np.arange(draws)
    }
    joined: Any = {
        name: variables[name] if name in variables else fixed[name] for name in new.data_vars
    }
    return type(new)(joined, coordinates, new.attrs)


def _padded(variable: "xarray.DataArray", sizes: dict[Hashable, int]) -> np.ndarray:
    """The values, with as many entries along each ragged dimension."""
    widths = [(0, sizes.get(dim, size) - size) for dim, size in variable.sizes.items()]
    fill = _PADDING.get(str(variable.name), 0)
    return (
        np.pad(variable.values, widths, constant_values=fill)
        if any(w for _, w in widths)
        else variable.values
    )


# The posterior for ArviZ before 1.0, which does not compute with trees ----------------------------


_GROUPS = (
    "posterior",
    "posterior_predictive",
    "log_likelihood",
    "log_prior",
    "sample_stats",
    "prior",
    "prior_predictive",
    "observed_data",
    "constant_data",
)


def to_inference_data(tree: "xarray.DataTree") -> Any:
    """An `arviz.InferenceData` of the groups that ArviZ knows, without empty arrays, which it
    cannot draw."""
    try:
        import arviz  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ArgumentError(
            "to_inference_data requires ArviZ before 1.0; run pip install 'arviz<1'."
        ) from error
    made: Any = getattr(arviz, "InferenceData", None)
    if made is None:
        raise ArgumentError(
            f"ArviZ {arviz.__version__} has no InferenceData; pass posterior_ to its functions"
            " instead."
        )
    groups = {
        name: _without_empty(tree[name].to_dataset()) for name in _GROUPS if name in tree.children
    }
    return made(attrs=dict(tree.attrs), **groups)


def _without_empty(group: "xarray.Dataset") -> "xarray.Dataset":
    return group.drop_vars([name for name, values in group.variables.items() if values.size == 0])
