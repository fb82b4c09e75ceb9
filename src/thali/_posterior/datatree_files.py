"""Posterior DataTrees: building, netCDF files, appending draws."""

import io
import math
import os
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.checksummed_files import atomic_write, compute_seal, is_intact
from thali._inference.index_arithmetic import iterate_slices
from thali._inference.replaced_files import check_replaced
from thali.errors import ArgumentError, DataError, InPython

if TYPE_CHECKING:
    import h5py
    import xarray


# Requirements for files before xarray reads them: plain arrays in groups, stored in the file itself


_MAX_COMPRESSION = 1_100  # bytes of an array per byte of the file; zlib cannot compress more
_MIN_REQUEST = 1 << 20  # bytes that any file may request
_TEXT_BLOCK = 1 << 26  # bytes of text per block
_MAX_TEXTS = 64  # maximum of an attribute, which is read completely
# an array without numbers, which is never read
_NO_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"


def check_structure_and_sizes(path: Path) -> None:
    """Raise DataError unless an HDF5 file has a posterior's structure and plausible array sizes.

    HDF5 files can link to other files, and can declare arrays of any size without storing them;
    both are refused.
    """
    import h5py

    file_size = path.stat().st_size
    with h5py.File(path, "r") as file:
        n_requested_bytes = 0
        n_characters = _count_characters(file, path, "/", file_size)
        for name in map(str, file):
            group = _get_member(file, name, path)
            if not isinstance(group, h5py.Group):
                raise _invalid_file_error(path, f"'{name}' is not a group")
            n_characters += _count_characters(group, path, name, file_size)
            for member_name in map(str, group):
                member = _get_member(group, member_name, path)
                member_path = f"{name}/{member_name}"
                n_requested_bytes += _count_bytes(member, path, member_path)
                n_characters += _count_characters(member, path, member_path, file_size)
                if n_characters > file_size:
                    raise _invalid_file_error(
                        path, f"its text values up to '{member_path}' are longer than the file"
                    )
    if n_requested_bytes > max(_MIN_REQUEST, _MAX_COMPRESSION * file_size):
        raise _invalid_file_error(
            path, f"it requests {n_requested_bytes:,} bytes, more than the file can contain"
        )


def _get_member(group: "h5py.Group", name: str, path: Path) -> Any:
    """Return a member of an HDF5 group; raise DataError if it is a link."""
    import h5py

    if not isinstance(group.get(name, getlink=True), h5py.HardLink):
        raise _invalid_file_error(path, f"'{name}' is a link")
    return group[name]


def _count_bytes(member: object, path: Path, member_path: str) -> int:
    """Return the bytes of an HDF5 array; raise unless it is numbers or text in this file."""
    import h5py

    if not isinstance(member, h5py.Dataset):
        raise _invalid_file_error(path, f"'{member_path}' is not an array")
    if member.is_virtual or member.external:
        raise _invalid_file_error(path, f"'{member_path}' is stored in other files")
    if member.dtype.kind not in "biuf" and h5py.check_string_dtype(member.dtype) is None:
        raise _invalid_file_error(path, f"'{member_path}' contains neither numbers nor text")
    if member.shape is None:
        return 0
    n_bytes = member.size * member.dtype.itemsize
    is_written = member.id.get_storage_size() >= n_bytes
    if member.chunks:  # each is unpacked as a whole
        n_chunks = math.prod(
            -(-n // of_chunk) for n, of_chunk in zip(member.shape, member.chunks, strict=True)
        )
        n_bytes = n_chunks * math.prod(member.chunks) * member.dtype.itemsize
        is_written = member.id.get_num_chunks() >= n_chunks
    if not is_written and _NO_VARIABLE not in bytes(member.attrs.get("NAME", b"")):
        raise _invalid_file_error(path, f"'{member_path}' was never written")
    return n_bytes


def _count_characters(
    member: "h5py.Group | h5py.Dataset", path: Path, member_path: str, file_size: int
) -> int:
    """Count the text characters of an HDF5 member and its attributes."""
    import h5py

    n_characters = 0
    for attribute in map(str, member.attrs):
        attribute_id = member.attrs.get_id(attribute)
        if attribute_id.dtype.kind == "O" and math.prod(attribute_id.shape) > _MAX_TEXTS:
            raise _invalid_file_error(
                path,
                f"the attribute '{attribute}' of '{member_path}' has"
                f" {math.prod(attribute_id.shape):,} parts",
            )
        if h5py.check_string_dtype(attribute_id.dtype) is not None:
            texts: Any = member.attrs[attribute]
            n_characters += sum(map(len, np.atleast_1d(texts)))
    if isinstance(member, h5py.Dataset) and member.dtype.kind == "O" and member.shape:
        row_size = file_size * math.prod(member.shape[1:])
        for rows in iterate_slices(len(member), row_size, _TEXT_BLOCK):
            n_characters += sum(map(len, member[rows].ravel()))
            if n_characters > file_size:
                break
    return n_characters


def _invalid_file_error(path: Path, reason: str) -> DataError:
    """Return the error that a file is not a posterior written by thali."""
    return DataError(f"'{path}' is not a posterior written by thali: {reason}")


# Increased by changes of stored trees that older versions cannot read.
SCHEMA = 7
# variables that are compressed
_BULKY = {"features", "owners", "feature_size", "weights", "covariance"}
# attribute of variables stored in single precision: number of bits of the mantissa
BITS = "bits_in_files"
_MANTISSA = 23  # bits in single precision


def build_tree(
    groups: Mapping[str, "xarray.Dataset"], attrs: Mapping[Any, Any]
) -> "xarray.DataTree":
    """Build a DataTree from datasets by group name; booleans become int8."""
    import xarray as xr

    groups = dict(groups)
    for group_name, dataset in groups.items():
        names = [name for name, dtype in dataset.dtypes.items() if dtype.kind == "b"]
        if names:  # most groups have none
            groups[group_name] = dataset.assign(dataset[names].astype(np.int8))
    tree = xr.DataTree.from_dict(groups)
    tree.attrs = dict(attrs)
    return tree


def get_groups(tree: "xarray.DataTree") -> "dict[str, xarray.Dataset]":
    """Return the datasets of a DataTree by group name."""
    return {name: node.to_dataset() for name, node in tree.children.items()}


def save(tree: "xarray.DataTree", path: str | os.PathLike[str]) -> None:
    """Write a posterior to one netCDF file, completely or not at all.

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
    check_replaced(Path(path), is_own=is_intact)
    atomic_write(Path(path), to_netcdf(tree))


def to_netcdf(tree: "xarray.DataTree") -> memoryview:
    """Encode a DataTree as netCDF bytes, followed by a checksum."""
    import h5netcdf
    from xarray.backends import H5NetCDFStore

    compression = {"zlib": True, "complevel": 1, "shuffle": True}
    # HDF5 writes to memory: on a full disk it would leave a file that it can neither finish nor
    # delete.
    buffer = io.BytesIO()
    with h5netcdf.File(buffer, "w") as file:
        file.attrs.update(tree.attrs)
        for name, dataset in get_groups(tree).items():
            variable_encodings = {}
            for variable_name, variable in dict(dataset).items():
                is_rounded = BITS in variable.attrs
                if is_rounded:
                    dataset[variable_name] = _round_mantissa(variable)
                if name == "posterior" and (is_rounded or variable_name in _BULKY):
                    variable_encodings[variable_name] = compression
            dataset.dump_to_store(
                H5NetCDFStore(file.create_group(name)), encoding=variable_encodings
            )
    buffer.seek(0, os.SEEK_END)
    with buffer.getbuffer() as file_bytes:
        checksum = compute_seal(file_bytes)
    buffer.write(checksum)
    return buffer.getbuffer()


def _round_mantissa(variable: "xarray.DataArray") -> "xarray.DataArray":
    """Round floats to a few bits, so that they compress well (Klöwer 2021)."""
    n_dropped = _MANTISSA - int(variable.attrs[BITS])
    bits = variable.values.astype(np.float32).view(np.uint32)
    # ties to even
    rounding_offset = np.uint32((1 << (n_dropped - 1)) - 1) + (
        (bits >> np.uint32(n_dropped)) & np.uint32(1)
    )
    rounded_bits = (bits + rounding_offset) & np.uint32(0xFFFFFFFF >> n_dropped << n_dropped)
    return variable.copy(data=rounded_bits.view(np.float32))


def _restore_precision(dataset: "xarray.Dataset") -> "xarray.Dataset":
    """Convert variables stored in single precision back to double."""
    return dataset.assign(
        dataset[[name for name, each in dataset.items() if BITS in each.attrs]].astype(np.float64)
    )


def load(path: str | os.PathLike[str], verify: bool = True) -> "xarray.DataTree":
    """Read a posterior from a netCDF file into memory.

    Parameters
    ----------
    path : str or path
    verify : bool
        Whether to refuse a file whose hash, which `save` appends, is missing or wrong. A damaged
        file can keep the HDF5 library busy for ever, so pass False only for a file that another
        program rewrote.

    Returns
    -------
    xarray.DataTree

    Raises
    ------
    DataError
        If the file is absent, a folder, damaged, or not written by `save`.

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
        check_structure_and_sizes(path)
        # one group at a time: older versions of xarray cannot load and close a complete tree
        with xr.open_datatree(path, engine="h5netcdf") as open_tree:
            attrs = dict(open_tree.attrs)
            dataset_by_group = {
                name: _restore_precision(node.to_dataset().load())
                for name, node in open_tree.children.items()
            }
    except DataError:
        raise
    except Exception as error:  # other libraries may raise any error
        raise DataError(
            f"'{path}' is not a posterior written by thali: it cannot be read as netCDF"
        ) from error
    schema = attrs.get("thali_schema")
    has_schema = isinstance(schema, int | np.integer)
    if not has_schema or attrs.get("creation_library") != "thali" or not dataset_by_group:
        raise DataError(f"'{path}' is a netCDF file, but not a posterior written by thali")
    if schema < SCHEMA:
        raise DataError(f"'{path}' was written by an earlier version of thali; fit the model again")
    if schema > SCHEMA:
        version = attrs.get("creation_library_version")
        raise DataError(
            f"'{path}' was written by thali {version}, a newer version; update thali to read it"
        )
    return build_tree(dataset_by_group, attrs)


def _check_file(path: Path, verify: bool) -> None:
    """Raise DataError unless the path is a regular file with a valid checksum."""
    if not path.exists():
        raise DataError(f"There is no file '{path}'; give a netCDF file written by thali.")
    if not path.is_file():
        raise DataError(f"'{path}' is a folder or a device; give a netCDF file written by thali.")
    try:
        is_unaltered = not verify or is_intact(path)
    except OSError as error:
        raise DataError(f"'{path}' cannot be read: {error.strerror or error}") from error
    if not is_unaltered:
        raise DataError(
            f"'{path}' was not written by thali, or was changed or damaged afterwards (its hash is"
            " missing or wrong)",
            InPython("; to read it anyway, use th.load(path, verify=False)"),
            ".",
        )


def describe_origin() -> dict[Any, Any]:
    """Return attributes that a tree stores: time, versions, processor."""
    from datetime import UTC, datetime

    from thali import __version__
    from thali._compile import USED

    attributes: dict[Any, Any] = {
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "creation_library": "thali",
        "creation_library_version": __version__,
        "creation_library_language": "Python",
        "inference_library": "thali",
        "inference_library_version": __version__,
        "thali_schema": SCHEMA,
    }
    if USED:
        attributes["compiled_for"] = ", ".join(sorted(USED))
    return attributes


# Appending later draws of the same chains ---------------------------------------------------------


# padding of ragged draws; 0 for all other variables
_PADDING = {"owners": -1}


def append_draws(earlier: "xarray.DataTree", later: "xarray.DataTree") -> "xarray.DataTree":
    """Append the draws of one tree to another; other variables come from `later`.

    A group of draws that is missing from the earlier tree, as in some files, is dropped.
    """
    groups = {}
    for name, dataset in get_groups(later).items():
        if "draw" not in dataset.dims:
            groups[name] = dataset
        elif name in earlier.children:
            groups[name] = _concatenate_draws(earlier[name].to_dataset(), dataset)
    return build_tree(groups, later.attrs)


def select_first_draws(tree: "xarray.DataTree", n_draws: int) -> "xarray.DataTree | None":
    """Return a tree with the first `n_draws` draws of each chain; None for 0."""
    if not n_draws:
        return None
    first_draws = {
        name: dataset.isel(draw=slice(0, n_draws), missing_dims="ignore")
        for name, dataset in get_groups(tree).items()
    }
    return build_tree(first_draws, tree.attrs)


def _concatenate_draws(earlier: "xarray.Dataset", later: "xarray.Dataset") -> "xarray.Dataset":
    """Concatenate two datasets along the draws; pad ragged dimensions."""
    ragged_dims = [
        dim for dim in later.dims if dim != "draw" and earlier.sizes[dim] != later.sizes[dim]
    ]
    padded_sizes = {dim: max(earlier.sizes[dim], later.sizes[dim]) for dim in ragged_dims}
    variables: dict[Any, Any] = dict(later.data_vars)
    for name, variable in later.data_vars.items():
        if "draw" in variable.dims:
            arrays = [_pad_ragged(dataset[name], padded_sizes) for dataset in (earlier, later)]
            joined_draws = np.concatenate(arrays, variable.dims.index("draw"))
            variables[name] = variable.dims, joined_draws, variable.attrs
    draws = np.arange(earlier.sizes["draw"] + later.sizes["draw"])
    return type(later)(variables, dict(later.coords) | {"draw": draws}, later.attrs)


def _pad_ragged(variable: "xarray.DataArray", padded_sizes: dict[Hashable, int]) -> np.ndarray:
    """Pad a variable to these sizes of its ragged dimensions."""
    pad_widths = [(0, padded_sizes.get(dim, size) - size) for dim, size in variable.sizes.items()]
    fill_value = _PADDING.get(str(variable.name), 0)
    if any(w for _, w in pad_widths):
        return np.pad(variable.values, pad_widths, constant_values=fill_value)
    return variable.values


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
    """Convert a DataTree to an `arviz.InferenceData`."""
    try:
        import arviz  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ArgumentError(
            "to_inference_data requires ArviZ before 1.0; run pip install 'arviz<1'."
        ) from error
    inference_data_class: Any = getattr(arviz, "InferenceData", None)
    if inference_data_class is None:
        raise ArgumentError(
            f"ArviZ {arviz.__version__} has no InferenceData; pass posterior_ to its functions"
            " instead."
        )
    dataset_by_group = {
        name: _drop_empty(tree[name].to_dataset()) for name in _GROUPS if name in tree.children
    }
    return inference_data_class(attrs=dict(tree.attrs), **dataset_by_group)


def _drop_empty(dataset: "xarray.Dataset") -> "xarray.Dataset":
    """Drop variables without elements, and draws that do not vary: ArviZ cannot use them."""
    return dataset.drop_vars(
        [
            name
            for name, variable in dataset.variables.items()
            if variable.size == 0 or _is_constant(variable)
        ]
    )


def _is_constant(variable: "xarray.Variable") -> bool:
    """Return whether a number per draw is the same, or NaN, in all of several draws."""
    if variable.dims != ("chain", "draw") or variable.size == 1 or variable.dtype.kind not in "fiu":
        return False
    values = variable.values
    return bool((values == values.flat[0]).all() or np.isnan(values).all())


# Groups with one number per observation and draw -------------------------------------------------


MAX_POINTWISE = 20_000_000  # maximum of a group with one number per observation and draw


def can_store_pointwise(n_observations: int, n_draws: int) -> bool:
    """Return whether one log-likelihood per observation and draw is small enough to store."""
    return n_observations * n_draws <= MAX_POINTWISE


def check_predictive_size(n_observations: int, n_draws: int) -> None:
    """Raise DataError if simulated data would not fit in memory."""
    if not can_store_pointwise(n_observations, n_draws):
        raise DataError(
            f"posterior_predictive would contain {n_observations * n_draws:,} numbers"
            f" ({n_observations:,} observations and {n_draws:,} draws); the limit is"
            f" {MAX_POINTWISE:,}. Fit with fewer draws."
        )


def get_draw_coordinates(posterior: "xarray.Dataset") -> "dict[str, xarray.DataArray]":
    """Return the coordinates chain and draw of a dataset of draws."""
    return {name: posterior[name] for name in ("chain", "draw")}
