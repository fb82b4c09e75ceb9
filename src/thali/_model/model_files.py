"""Writing and reading netCDF files of fitted models."""

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.custom_data import Observed
from thali._inference.seeds import decode_seed, encode_seed
from thali._trees.tree import Tree
from thali.errors import ArgumentError, DataError, ThaliError

from .class_names import class_name_in_file, load_class
from .registry import build_model

if TYPE_CHECKING:
    import xarray

    from .base import Model

# names in `thali fit --out`: a model with draws, a model without
MODEL_FILES = ("posterior.nc", "model.nc")
LEADERBOARD_FILE = "leaderboard.nc"  # name of a leaderboard in `thali leaderboard --out`
FITTED = "fitted"  # group with the fitted attributes, without the posterior
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
    digest = hashlib.sha256(json.dumps(encode_object(data, arrays)).encode())
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def build_model_tree(model: "Model") -> "xarray.DataTree":
    """Build the DataTree that `save` writes: posterior groups and fitted attributes."""
    import xarray as xr

    from thali._posterior.store import build_tree, describe_origin, get_groups

    attributes = model._select_storable_attributes()
    posterior = attributes.pop("posterior_", None)
    groups = {}
    attrs = describe_origin()
    if posterior is not None:
        groups = get_groups(posterior)
        attrs = posterior.attrs
    arrays: dict[str, np.ndarray] = {}
    text = json.dumps({name: encode_object(value, arrays) for name, value in attributes.items()})
    arrays[_JSON_VARIABLE] = np.frombuffer(text.encode(), np.uint8)
    groups[FITTED] = xr.Dataset(_array_variables(arrays))
    return build_tree(groups, {**attrs, "thali_model": json.dumps(describe_model(model))})


def save(model: "Model", path: Any) -> None:
    """Write a fitted model to one netCDF file, completely or not at all."""
    from thali._posterior import store

    store.save(build_model_tree(model), path)


def encode_result(result_object: Any) -> memoryview:
    """Return the bytes of a netCDF file of a result such as a leaderboard."""
    import xarray as xr

    from thali._posterior.store import build_tree, describe_origin, to_netcdf

    return to_netcdf(
        build_tree(
            {FITTED: xr.Dataset(_array_variables(encode_arrays(result_object)))},
            {**describe_origin(), _RESULT_ATTRIBUTE: 1},
        )
    )


def _array_variables(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Convert arrays to xarray variables that share no dimensions."""
    return {
        name: (tuple(f"{name}_{axis}" for axis in range(array.ndim)), array)
        for name, array in arrays.items()
    }


def load(path: Any, verify: bool = True) -> Any:
    """Read a fitted model or leaderboard from a netCDF file that `save` wrote.

    Parameters
    ----------
    path : str or path
        The file, or the folder of `thali fit --out` or `thali leaderboard --out`.
    verify : bool
        Whether to refuse a file whose hash, which `save` appends, is missing or wrong. A damaged
        file can keep the HDF5 library busy for ever, so pass False only for a file that another
        program rewrote.

    Returns
    -------
    A fitted model of the class that was saved, or a `Leaderboard`. Functions, such as those of a
    custom likelihood, are not in the file: results are available as before, but `fit` requires
    the functions, set_params(likelihood=...).

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
    from thali._posterior import store

    path = find_model_file(path) or path
    tree = store.load(path, verify)
    if _RESULT_ATTRIBUTE in tree.attrs and FITTED in tree.children:
        return _load_result(tree, path)
    if "thali_model" not in tree.attrs or FITTED not in tree.children:
        raise DataError(
            f"'{path}' contains draws without a model; open it with xarray.open_datatree."
        )
    try:
        saved = json.loads(tree.attrs["thali_model"])
        name = str(saved["class"])
        model = build_model(
            name,
            {key: decode_object(parameter, {}) for key, parameter in saved["parameters"].items()},
        )
        if model is not None:
            model._restore(_load_attributes(tree), path)
            return model
    except ThaliError:
        raise
    except Exception as error:  # a damaged file may contain anything
        raise DataError(f"'{path}' is not a model file written by thali.") from error
    raise DataError(
        f"{path} contains a {name}, which this version of thali does not support; update thali."
    )


def _load_result(tree: "xarray.DataTree", path: Any) -> Any:
    """Rebuild a result such as a leaderboard from the tree of its file."""
    group = tree[FITTED].to_dataset()
    try:
        return decode_arrays({str(name): group[name].values for name in group.data_vars})
    except ThaliError:
        raise
    except Exception as error:  # a damaged file may contain anything else
        raise DataError(f"'{path}' is not a result file written by thali.") from error


def find_model_file(folder: Any) -> Path | None:
    """Return the path of the netCDF file in an `--out` folder; None if there is none."""
    for name in (*MODEL_FILES, LEADERBOARD_FILE):
        file = Path(folder) / name
        if file.is_file():
            return file
    return None


def _load_attributes(tree: "xarray.DataTree") -> dict[str, Any]:
    """Return the fitted attributes in the tree of a model file, by name."""
    from thali._posterior.store import build_tree, get_groups

    groups = get_groups(tree)
    group = groups.pop(FITTED)
    arrays = {str(name): group[name].values for name in group.data_vars}
    text = json.loads(arrays.pop(_JSON_VARIABLE).tobytes().decode())
    attributes = {name: decode_object(json_value, arrays) for name, json_value in text.items()}
    if "posterior" in groups:
        attributes["posterior_"] = build_tree(groups, tree.attrs)
    return attributes


# Objects as JSON and arrays -----------------------------------------------------------------------


def encode_object(part: Any, arrays: dict[str, np.ndarray] | None) -> Any:
    """Encode an object as JSON types; numeric arrays are added to the dict `arrays`.

    Without `arrays`, they become lists.
    """
    if isinstance(part, np.ndarray):
        return _encode_array(part, arrays)
    if isinstance(part, np.generic):
        return part.item()
    if part is None or isinstance(part, str | int | float | bool):
        return part
    if isinstance(part, range):
        return {"range": [part.start, part.stop, part.step]}
    if isinstance(part, Tree):
        return {"newick": part.to_newick()}
    if isinstance(part, np.random.SeedSequence):
        return {"seed": encode_seed(part)}
    if isinstance(part, tuple) and not hasattr(part, "_fields"):
        return {"tuple": [encode_object(v, arrays) for v in part]}
    if isinstance(part, dict):
        return {
            "mapping": [
                [encode_object(k, arrays), encode_object(v, arrays)] for k, v in part.items()
            ]
        }
    if isinstance(part, set | frozenset):
        return [encode_object(v, arrays) for v in sorted(part, key=str)]
    if isinstance(part, list):
        return [encode_object(v, arrays) for v in part]
    if type(part).__module__.startswith(_LIBRARY) and not _is_table(part):
        fields = _object_fields(part).items()
        return {
            "object": class_name_in_file(type(part)),
            "fields": {name: encode_object(field_object, arrays) for name, field_object in fields},
        }
    if callable(part):
        from thali._compile.jit import code_digest

        return {"function": getattr(part, "__name__", repr(part)), "code": code_digest(part)}
    return _encode_foreign(part, arrays)


def _is_table(value: Any) -> bool:
    """Return whether the object is a results table, stored like a data frame."""
    from thali._exportable_table import Table

    return isinstance(value, Table)


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


def _encode_foreign(part: Any, arrays: dict[str, np.ndarray] | None) -> Any:
    """Encode an object of pandas or scipy as JSON; others become their repr."""
    import pandas as pd
    from scipy import sparse

    if isinstance(part, pd.DataFrame):
        index = encode_object(part.index, arrays)
        columns = encode_object(part.columns, arrays)
        return {
            "frame": [encode_object(part[name].to_numpy(), arrays) for name in part],
            "index": index,
            "columns": columns,
        }
    if isinstance(part, pd.Series):
        parts = {
            "values": encode_object(part.to_numpy(), arrays),
            "index": encode_object(part.index, arrays),
        }
        return {"series": encode_object(part.name, arrays), **parts}
    if isinstance(part, pd.Index):
        return {"labels": encode_object(part.to_numpy(), arrays), "name": part.name}
    if sparse.issparse(part):
        rows: Any = sparse.csr_array(part)
        parts = [encode_object(array, arrays) for array in (rows.data, rows.indices, rows.indptr)]
        return {"sparse": parts, "shape": list(map(int, rows.shape))}
    if isinstance(part, tuple):  # data of the user
        return {"unknown": repr(part), "fields": [encode_object(v, arrays) for v in part]}
    return {"unknown": repr(part)}


def encode_arrays(part: Any) -> dict[str, np.ndarray]:
    """Encode an object as numeric arrays by name; `unpack` decodes them."""
    arrays: dict[str, np.ndarray] = {}
    text = json.dumps(encode_object(part, arrays))
    return arrays | {_JSON_VARIABLE: np.frombuffer(text.encode(), np.uint8)}


def decode_arrays(arrays: dict[str, np.ndarray]) -> Any:
    """Decode the object that `pack` encoded as arrays."""
    return decode_object(json.loads(arrays[_JSON_VARIABLE].tobytes().decode()), arrays)


def can_store(part: Any) -> bool:
    """Return whether `save` and `load` reproduce the object exactly."""
    return _is_storable(encode_object(part, {}))


def _is_storable(encoded_part: Any) -> bool:
    """Return whether encoded JSON is free of functions and unknown objects."""
    if isinstance(encoded_part, list):
        return all(map(_is_storable, encoded_part))
    if not isinstance(encoded_part, dict):
        return True
    return not {"unknown", "function"} & {next(iter(encoded_part), "")} and all(
        map(_is_storable, encoded_part.values())
    )


def _object_fields(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass, NamedTuple or other thali object, by name."""
    if isinstance(value, Observed):
        return {"data": value.original}
    if isinstance(value, tuple):
        return value._asdict()  # type: ignore[attr-defined]
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return vars(value)


def decode_object(encoded_part: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Rebuild the object that `encode` turned into JSON and arrays.

    Raises
    ------
    ArgumentError
        If it contains an object that files do not support.
    """
    if isinstance(encoded_part, list):
        return [decode_object(v, arrays) for v in encoded_part]
    if not isinstance(encoded_part, dict):
        return encoded_part
    encoding = next(iter(encoded_part))
    if encoding not in _DECODERS:
        raise ArgumentError(
            f"The file was written by a model with {encoded_part.get('unknown')}, which is not part"
            " of thali; open its draws with xarray.open_datatree."
        )
    return _DECODERS[encoding](encoded_part, arrays)


def _decode_object(encoded_part: dict[Any, Any], arrays: dict[str, np.ndarray]) -> Any:
    """Rebuild an object of a thali class from its encoded fields."""
    cls: Any = load_class(str(encoded_part["object"]))
    fields = {
        key: decode_object(field_json, arrays) for key, field_json in encoded_part["fields"].items()
    }
    if hasattr(cls, "__dataclass_fields__") or hasattr(cls, "_fields") or cls is Observed:
        return cls(**fields)
    decoded_object: Any = object.__new__(cls)
    vars(decoded_object).update(fields)
    return decoded_object


def _decode_frame(encoded_part: dict[Any, Any], arrays: dict[str, np.ndarray]) -> Any:
    """Rebuild a data frame from its stored columns, index and cells."""
    import pandas as pd

    columns = decode_object(encoded_part["columns"], arrays)
    index = decode_object(encoded_part["index"], arrays)
    columns_by_position = {
        position: decode_object(column_json, arrays)
        for position, column_json in enumerate(encoded_part["frame"])
    }
    return pd.DataFrame(columns_by_position, index=index).set_axis(columns, axis=1)


def _decode_series(encoded_part: dict[Any, Any], arrays: dict[str, np.ndarray]) -> Any:
    """Rebuild a pandas series from its encoded values and index."""
    import pandas as pd

    parts = (
        decode_object(encoded_part["values"], arrays),
        decode_object(encoded_part["index"], arrays),
    )
    return pd.Series(*parts, name=decode_object(encoded_part["series"], arrays))


def _decode_labels(encoded_part: dict[Any, Any], arrays: dict[str, np.ndarray]) -> Any:
    """Rebuild a pandas index from its encoded labels."""
    import pandas as pd

    return pd.Index(decode_object(encoded_part["labels"], arrays), name=encoded_part["name"])


def _decode_sparse(encoded_part: dict[Any, Any], arrays: dict[str, np.ndarray]) -> Any:
    """Rebuild a scipy sparse matrix from its encoded arrays."""
    from scipy import sparse

    return sparse.csr_array(
        tuple(decode_object(array_json, arrays) for array_json in encoded_part["sparse"]),
        shape=tuple(encoded_part["shape"]),
    )


def _decode_dtype(encoded_part: dict[Any, Any]) -> np.dtype:
    """Return the numpy dtype of an encoded array."""
    # Text gets the width of its longest cell.
    dtype = np.dtype(encoded_part["dtype"])
    if dtype.kind not in "USV":
        return dtype
    return np.dtype(dtype.kind)


def _decode_list(encoded_part: dict[Any, Any], arrays: dict[str, np.ndarray]) -> Any:
    """Rebuild an array that was stored as a JSON list."""
    # All texts take the width of the longest.
    dtype = _decode_dtype(encoded_part)
    lengths = []
    if dtype.kind == "U":
        lengths = [len(text) for text in np.array(encoded_part["list"], dtype=object).flat]
    if len(lengths) * max(lengths, default=0) > max(_MAX_TEXT, 100 * sum(lengths)):
        raise DataError(
            "The file contains a string that is too long to load into memory; the file may be"
            " damaged."
        )
    return np.array(encoded_part["list"], dtype=dtype)


_DECODERS = {
    "array": lambda value, arrays: arrays[value["array"]].astype(_decode_dtype(value)),
    "list": _decode_list,
    "range": lambda value, arrays: range(*value["range"]),
    "newick": lambda value, arrays: Tree.from_newick(value["newick"]),
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
