"""Writing and reading netCDF files of fitted models."""

import dataclasses
import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.custom_data import Observed
from thali._inference.random_seeds import decode_seed, encode_seed
from thali.errors import ArgumentError, DataError, ThaliError

from .class_names import RETIRED, build_retired_error, class_name_in_file, load_class
from .registry import build_model

if TYPE_CHECKING:
    import xarray

    from .base import Model

# names in `thali fit --out`: a model with draws, a model without
MODEL_FILES = ("posterior.nc", "model.nc")
LEADERBOARD_FILE = "leaderboard.nc"  # name of a leaderboard in `thali leaderboard --out`
FITTED = "fitted"  # group with the fitted attributes, without the posterior
AMCE_FILE = "amce.nc"  # name of the estimates in `thali amce --out`
RESULT_FILES = (*MODEL_FILES, LEADERBOARD_FILE, AMCE_FILE)
_MAX_TEXT = 1 << 24  # maximum characters of an array of text
_RESULT_ATTRIBUTE = "thali_answer"  # attribute of a file with another result
_JSON_VARIABLE = "attributes"  # variable of that group: JSON, whose arrays are the other variables
_LIBRARY = __name__.partition(".")[0] + "."


@dataclasses.dataclass(frozen=True)
class UnsavedFunction:
    """Placeholder, in a loaded model, for a function that the file could not contain."""

    __name__: str


def describe_model(model: "Model") -> dict[Any, Any]:
    """Return a dict of the model's class name and parameters, in JSON types."""
    parameters = {
        name: encode_object(parameter, None) for name, parameter in model.get_params().items()
    }
    return {"class": type(model).__name__, "parameters": parameters}


def compute_digest(data: Any) -> str:
    """Return a hash that changes with any value of the data or parameters."""
    arrays: dict[str, np.ndarray] = {}
    sha256 = hashlib.sha256(json.dumps(encode_object(data, arrays)).encode())
    for name, array in arrays.items():
        sha256.update(f"{name} {array.dtype} {array.shape}".encode())
        sha256.update(np.ascontiguousarray(array).data)
    return sha256.hexdigest()


def build_model_tree(model: "Model") -> "xarray.DataTree":
    """Build the DataTree that `save` writes: posterior groups and fitted attributes."""
    import xarray as xr

    from thali._posterior.datatree_files import build_tree, describe_origin, get_groups

    attributes = model._select_storable_attributes()
    posterior = attributes.pop("posterior_", None)
    groups = {}
    attrs = describe_origin()
    if posterior is not None:
        groups = get_groups(posterior)
        attrs = posterior.attrs
    arrays: dict[str, np.ndarray] = {}
    attributes_json = json.dumps(
        {name: encode_object(value, arrays) for name, value in attributes.items()}
    )
    arrays[_JSON_VARIABLE] = np.frombuffer(attributes_json.encode(), np.uint8)
    groups[FITTED] = xr.Dataset(_convert_to_variables(arrays))
    return build_tree(groups, {**attrs, "thali_model": json.dumps(describe_model(model))})


def save(model: "Model", path: str | os.PathLike[str]) -> None:
    """Write a fitted model to one netCDF file, completely or not at all."""
    from thali._posterior import datatree_files

    datatree_files.save(build_model_tree(model), path)


def encode_result(result_object: Any) -> memoryview:
    """Return the bytes of a netCDF file of a result such as a leaderboard."""
    import xarray as xr

    from thali._posterior.datatree_files import build_tree, describe_origin, to_netcdf

    return to_netcdf(
        build_tree(
            {FITTED: xr.Dataset(_convert_to_variables(encode_arrays(result_object)))},
            {**describe_origin(), _RESULT_ATTRIBUTE: 1},
        )
    )


def _convert_to_variables(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Convert arrays to xarray variables that share no dimensions."""
    return {
        name: (tuple(f"{name}_{axis}" for axis in range(array.ndim)), array)
        for name, array in arrays.items()
    }


def load(path: str | os.PathLike[str], verify: bool = True) -> Any:
    """Read a fitted model, leaderboard or estimates from a netCDF file that `save` wrote.

    Parameters
    ----------
    path : str or path
        The file, or the folder of `thali fit --out`, `thali leaderboard --out` or
        `thali amce --out`.
    verify : bool
        Whether to refuse a file whose hash, which `save` appends, is missing or wrong. A damaged
        file can keep the HDF5 library busy for ever, so pass False only for a file that another
        program rewrote.

    Returns
    -------
    A fitted model of the class that was saved, a `Leaderboard` or a `ConjointResult`. Functions,
    such as those of a custom likelihood, are not in the file: results are available as before, but
    `fit` requires the functions, set_params(likelihood=...).

    Raises
    ------
    DataError
        If the file is absent, damaged, or not written by `save`.

    Examples
    --------
    >>> import tempfile, pathlib, thali as th
    >>> model = th.EliminationByAspects(aspects="unique")
    >>> model = model.fit(
    ...     th.datasets.celebrities(), draws=200, tune=200, random_seed=1, progressbar=False
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(pathlib.Path(folder) / "celebrities.nc")
    ...     again = th.load(pathlib.Path(folder) / "celebrities.nc")
    >>> again
    <EliminationByAspects(aspects='unique') fitted to 9 options, 36 pairs, 8,424 comparisons>
    """
    from thali._posterior import datatree_files

    path = find_model_file(path) or path
    tree = datatree_files.load(path, verify)
    if _RESULT_ATTRIBUTE in tree.attrs and FITTED in tree.children:
        return _load_result(tree, path)
    if "thali_model" not in tree.attrs or FITTED not in tree.children:
        raise DataError(
            f"'{path}' contains draws without a model; open it with xarray.open_datatree."
        )
    try:
        model_record = json.loads(tree.attrs["thali_model"])
        class_name = str(model_record["class"])
        model = _build_saved_model(class_name, model_record["parameters"])
        if model is not None:
            model._restore(_load_attributes(tree), path)
            model._check_restored()
            return model
    except ThaliError:
        raise
    except Exception as error:  # a damaged file may contain anything
        raise DataError(f"'{path}' is not a model file written by thali.") from error
    raise DataError(
        f"{path} contains a {class_name}, which this version of thali does not support; update"
        " thali."
    )


def _build_saved_model(class_name: str, encoded_parameters: dict[str, Any]) -> Any | None:
    """Construct the model that a file describes; None if its class is unknown."""
    parameters = {name: decode_object(encoded, {}) for name, encoded in encoded_parameters.items()}
    try:
        return build_model(class_name, parameters)
    except TypeError as error:  # a parameter is unknown
        for name in RETIRED.keys() & parameters.keys():
            raise build_retired_error(name) from error
        raise


def _load_result(tree: "xarray.DataTree", path: str | os.PathLike[str]) -> Any:
    """Rebuild a result such as a leaderboard from the tree of its file."""
    fitted_group = tree[FITTED].to_dataset()
    try:
        return decode_arrays(
            {str(name): fitted_group[name].values for name in fitted_group.data_vars}
        )
    except ThaliError:
        raise
    except Exception as error:  # a damaged file may contain anything else
        raise DataError(f"'{path}' is not a result file written by thali.") from error


def find_model_file(folder: str | os.PathLike[str]) -> Path | None:
    """Return the path of the netCDF file in an `--out` folder; None if there is none."""
    for name in RESULT_FILES:
        path = Path(folder) / name
        if path.is_file():
            return path
    return None


def _load_attributes(tree: "xarray.DataTree") -> dict[str, Any]:
    """Return the fitted attributes in the tree of a model file, by name."""
    from thali._posterior.datatree_files import build_tree, get_groups

    groups = get_groups(tree)
    fitted_group = groups.pop(FITTED)
    arrays = {str(name): fitted_group[name].values for name in fitted_group.data_vars}
    encoded_attributes = json.loads(arrays.pop(_JSON_VARIABLE).tobytes().decode())
    attributes = {
        name: decode_object(json_value, arrays) for name, json_value in encoded_attributes.items()
    }
    if "posterior" in groups:
        attributes["posterior_"] = build_tree(groups, tree.attrs)
    return attributes


# Objects as JSON and arrays -----------------------------------------------------------------------


def encode_object(stored_object: Any, arrays: dict[str, np.ndarray] | None) -> Any:
    """Encode an object as JSON types; numeric arrays are added to the dict `arrays`.

    Without `arrays`, they become lists.
    """
    if isinstance(stored_object, np.ndarray):
        return _encode_array(stored_object, arrays)
    if isinstance(stored_object, np.generic):
        return stored_object.item()
    if stored_object is None or isinstance(stored_object, str | int | float | bool):
        return stored_object
    if isinstance(stored_object, range):
        return {"range": [stored_object.start, stored_object.stop, stored_object.step]}
    if isinstance(stored_object, np.random.SeedSequence):
        return {"seed": encode_seed(stored_object)}
    if isinstance(stored_object, tuple) and not hasattr(stored_object, "_fields"):
        return {"tuple": [encode_object(v, arrays) for v in stored_object]}
    if isinstance(stored_object, dict):
        return {
            "mapping": [
                [encode_object(k, arrays), encode_object(v, arrays)]
                for k, v in stored_object.items()
            ]
        }
    if isinstance(stored_object, set | frozenset):
        return [encode_object(v, arrays) for v in sorted(stored_object, key=str)]
    if isinstance(stored_object, list):
        return [encode_object(v, arrays) for v in stored_object]
    if type(stored_object).__module__.startswith(_LIBRARY) and not _is_table(stored_object):
        fields = _list_object_fields(stored_object).items()
        return {
            "object": class_name_in_file(type(stored_object)),
            "fields": {name: encode_object(field_object, arrays) for name, field_object in fields},
        }
    if callable(stored_object):
        from thali._compile.jit import code_digest

        return {
            "function": getattr(stored_object, "__name__", repr(stored_object)),
            "code": code_digest(stored_object),
        }
    return _encode_foreign(stored_object, arrays)


def _is_table(stored_object: Any) -> bool:
    """Return whether the object is a results table, stored like a data frame."""
    from thali._exportable_table import Table

    return isinstance(stored_object, Table)


def _encode_array(array: np.ndarray, arrays: dict[str, np.ndarray] | None) -> Any:
    """Encode an array as a name in `arrays` if it is numeric, else as a list."""
    if arrays is not None and array.dtype.kind in "biuf":
        name = f"array_{len(arrays)}"
        arrays[name] = array
        return {"array": name, "dtype": array.dtype.str}
    dtype = array.dtype.str
    if array.dtype == object:
        dtype = "object"
    return {"list": array.tolist(), "dtype": dtype}


def _encode_foreign(stored_object: Any, arrays: dict[str, np.ndarray] | None) -> Any:
    """Encode an object of pandas or scipy as JSON; others become their repr."""
    import pandas as pd
    from scipy import sparse

    if isinstance(stored_object, pd.DataFrame):
        index = encode_object(stored_object.index, arrays)
        columns = encode_object(stored_object.columns, arrays)
        return {
            "frame": [
                encode_object(stored_object[name].to_numpy(), arrays) for name in stored_object
            ],
            "index": index,
            "columns": columns,
        }
    if isinstance(stored_object, pd.Series):
        encoded_parts = {
            "values": encode_object(stored_object.to_numpy(), arrays),
            "index": encode_object(stored_object.index, arrays),
        }
        return {"series": encode_object(stored_object.name, arrays), **encoded_parts}
    if isinstance(stored_object, pd.Index):
        return {
            "labels": encode_object(stored_object.to_numpy(), arrays),
            "name": stored_object.name,
        }
    if sparse.issparse(stored_object):
        csr_matrix: Any = sparse.csr_array(stored_object)
        encoded_parts = [
            encode_object(array, arrays)
            for array in (csr_matrix.data, csr_matrix.indices, csr_matrix.indptr)
        ]
        return {"sparse": encoded_parts, "shape": list(map(int, csr_matrix.shape))}
    if isinstance(stored_object, tuple):  # data of the user
        return {
            "unknown": repr(stored_object),
            "fields": [encode_object(v, arrays) for v in stored_object],
        }
    return {"unknown": repr(stored_object)}


def encode_arrays(stored_object: Any) -> dict[str, np.ndarray]:
    """Encode an object as numeric arrays by name; `decode_arrays` decodes them."""
    arrays: dict[str, np.ndarray] = {}
    object_json = json.dumps(encode_object(stored_object, arrays))
    return arrays | {_JSON_VARIABLE: np.frombuffer(object_json.encode(), np.uint8)}


def decode_arrays(arrays: dict[str, np.ndarray]) -> Any:
    """Decode the object that `encode_arrays` encoded."""
    return decode_object(json.loads(arrays[_JSON_VARIABLE].tobytes().decode()), arrays)


def can_store(stored_object: Any) -> bool:
    """Return whether `save` and `load` reproduce the object exactly."""
    return _is_storable(encode_object(stored_object, {}))


def _is_storable(encoded: Any) -> bool:
    """Return whether encoded JSON is free of functions and unknown objects."""
    if isinstance(encoded, list):
        return all(map(_is_storable, encoded))
    if not isinstance(encoded, dict):
        return True
    return not {"unknown", "function"} & {next(iter(encoded), "")} and all(
        map(_is_storable, encoded.values())
    )


def _list_object_fields(stored_object: Any) -> dict[str, Any]:
    """Return the fields of a dataclass, NamedTuple or other thali object, by name."""
    if isinstance(stored_object, Observed):
        return {"data": stored_object.original}
    if isinstance(stored_object, tuple):
        return stored_object._asdict()  # type: ignore[attr-defined]
    if dataclasses.is_dataclass(stored_object):
        return {
            field.name: getattr(stored_object, field.name)
            for field in dataclasses.fields(stored_object)
        }
    return vars(stored_object)


def decode_object(encoded: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Rebuild the object that `encode` turned into JSON and arrays.

    Raises
    ------
    ArgumentError
        If it contains an object that files do not support.
    """
    if isinstance(encoded, list):
        return [decode_object(v, arrays) for v in encoded]
    if not isinstance(encoded, dict):
        return encoded
    encoding = next(iter(encoded))
    if encoding not in _DECODERS:
        raise ArgumentError(
            f"The file was written by a model with {encoded.get('unknown')}, which is not part"
            " of thali; open its draws with xarray.open_datatree."
        )
    return _DECODERS[encoding](encoded, arrays)


def _decode_object(encoded: dict[Any, Any], arrays: dict[str, np.ndarray]) -> Any:
    """Rebuild an object of a thali class from its encoded fields."""
    cls: Any = load_class(str(encoded["object"]))
    fields = {
        key: decode_object(field_json, arrays) for key, field_json in encoded["fields"].items()
    }
    if hasattr(cls, "__dataclass_fields__") or hasattr(cls, "_fields") or cls is Observed:
        return cls(**fields)
    decoded_object: Any = object.__new__(cls)
    vars(decoded_object).update(fields)
    return decoded_object


def _decode_frame(encoded: dict[Any, Any], arrays: dict[str, np.ndarray]) -> Any:
    """Rebuild a data frame from its stored columns, index and cells."""
    import pandas as pd

    columns = decode_object(encoded["columns"], arrays)
    index = decode_object(encoded["index"], arrays)
    columns_by_position = {
        position: decode_object(column_json, arrays)
        for position, column_json in enumerate(encoded["frame"])
    }
    return pd.DataFrame(columns_by_position, index=index).set_axis(columns, axis=1)


def _decode_series(encoded: dict[Any, Any], arrays: dict[str, np.ndarray]) -> Any:
    """Rebuild a pandas series from its encoded values and index."""
    import pandas as pd

    return pd.Series(
        decode_object(encoded["values"], arrays),
        decode_object(encoded["index"], arrays),
        name=decode_object(encoded["series"], arrays),
    )


def _decode_labels(encoded: dict[Any, Any], arrays: dict[str, np.ndarray]) -> Any:
    """Rebuild a pandas index from its encoded labels."""
    import pandas as pd

    return pd.Index(decode_object(encoded["labels"], arrays), name=encoded["name"])


def _decode_sparse(encoded: dict[Any, Any], arrays: dict[str, np.ndarray]) -> Any:
    """Rebuild a scipy sparse matrix from its encoded arrays."""
    from scipy import sparse

    return sparse.csr_array(
        tuple(decode_object(array_json, arrays) for array_json in encoded["sparse"]),
        shape=tuple(encoded["shape"]),
    )


def _decode_dtype(encoded: dict[Any, Any]) -> np.dtype:
    """Return the numpy dtype of an encoded array."""
    # Text gets the width of its longest cell.
    dtype = np.dtype(encoded["dtype"])
    if dtype.kind not in "USV":
        return dtype
    return np.dtype(dtype.kind)


def _decode_list(encoded: dict[Any, Any], arrays: dict[str, np.ndarray]) -> Any:
    """Rebuild an array that was stored as a JSON list."""
    # All texts take the width of the longest.
    dtype = _decode_dtype(encoded)
    lengths = []
    if dtype.kind == "U":
        lengths = [len(text) for text in np.array(encoded["list"], dtype=object).flat]
    if len(lengths) * max(lengths, default=0) > max(_MAX_TEXT, 100 * sum(lengths)):
        raise DataError(
            "The file contains a string that is too long to load into memory; the file may be"
            " damaged."
        )
    return np.array(encoded["list"], dtype=dtype)


_DECODERS = {
    "array": lambda value, arrays: arrays[value["array"]].astype(_decode_dtype(value)),
    "list": _decode_list,
    "range": lambda value, arrays: range(*value["range"]),
    "seed": lambda value, arrays: decode_seed(value["seed"]),
    "tuple": lambda value, arrays: tuple(decode_object(v, arrays) for v in value["tuple"]),
    "mapping": lambda value, arrays: {
        decode_object(k, arrays): decode_object(v, arrays) for k, v in value["mapping"]
    },
    "object": _decode_object,
    "frame": _decode_frame,
    "series": _decode_series,
    "labels": _decode_labels,
    "sparse": _decode_sparse,
    "function": lambda value, arrays: UnsavedFunction(value["function"]),
}
