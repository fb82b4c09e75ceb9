"""Fitted models as files, and back: the posterior, the parameters, and whatever else a fit has
left."""

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.observed import Observed
from thali._inference.seeds import decode_seed, encode_seed
from thali._trees.tree import Tree
from thali.errors import ArgumentError, DataError, ThaliError

from .class_names import class_name_in_file, load_class
from .registry import model_named

if TYPE_CHECKING:
    import xarray

    from .base import Model

# what `thali fit --out` calls a model that has draws, and one without
IN_FOLDER = ("posterior.nc", "model.nc")
BOARD = "leaderboard.nc"  # what `thali leaderboard --out` calls a leaderboard
FITTED = "fitted"  # group of the file that holds the fitted attributes but the posterior
_MAX_TEXT = 1 << 24  # characters of an array of text that any file may ask for
_ANSWER = "thali_answer"  # attribute of a file that holds no model
_TEXT = "attributes"  # variable of that group: JSON, whose arrays are the other variables
_LIBRARY = __name__.partition(".")[0] + "."


@dataclasses.dataclass(frozen=True)
class NotSaved:
    """Replaces a function in a loaded model: files do not hold functions."""

    __name__: str


def describe(model: "Model") -> dict[Any, Any]:
    """The class and the parameters of a model, as far as JSON can hold them."""
    parameters = {name: encoded(value, None) for name, value in model.get_params().items()}
    return {"class": type(model).__name__, "parameters": parameters}


def digest_of(value: Any) -> str:
    """A hash of data or parameters."""
    arrays: dict[str, np.ndarray] = {}
    digest = hashlib.sha256(json.dumps(encoded(value, arrays)).encode())
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def tree_of_model(model: "Model") -> "xarray.DataTree":
    """What `save` writes: the groups of the posterior, if there is one, and the fitted
    attributes."""
    import xarray as xr

    from thali._posterior.store import origin, tree_of

    found = model._attributes_for_file()
    posterior = found.pop("posterior_", None)
    groups = (
        {}
        if posterior is None
        else {name: node.to_dataset() for name, node in posterior.children.items()}
    )
    arrays: dict[str, np.ndarray] = {}
    text = json.dumps({name: encoded(value, arrays) for name, value in found.items()})
    arrays[_TEXT] = np.frombuffer(text.encode(), np.uint8)
    groups[FITTED] = xr.Dataset(_variables(arrays))
    attrs = origin() if posterior is None else posterior.attrs
    return tree_of(groups, {**attrs, "thali_model": json.dumps(describe(model))})


def save(model: "Model", path: Any) -> None:
    """Write a fitted model to one netCDF file, whole or not at all."""
    from thali._posterior import store

    store.save(tree_of_model(model), path)


def answer_as_netcdf(answer: Any) -> memoryview:
    """An answer that is no model, such as a leaderboard, as a file that `load` reads."""
    import xarray as xr

    from thali._posterior.store import origin, to_netcdf, tree_of

    return to_netcdf(
        tree_of({FITTED: xr.Dataset(_variables(packed(answer)))}, {**origin(), _ANSWER: 1})
    )


def _variables(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Arrays as a dataset takes them, each with dimensions of its own."""
    return {
        name: (tuple(f"{name}_{axis}" for axis in range(array.ndim)), array)
        for name, array in arrays.items()
    }


def load(path: Any, verify: bool = True) -> Any:
    """Read a fitted model, or a leaderboard, that `save` wrote.

    Parameters
    ----------
    path : str or path
        The file, or the folder of `thali fit --out`, or `thali leaderboard --out`, that it stands
        in.
    verify : bool
        Whether to refuse a file whose hash, which `save` puts at its end, is missing or wrong. A
        file that is damaged can keep the HDF5 library busy for ever, so pass False only for one
        that another program rewrote.

    Returns
    -------
    A fitted model of the class that was saved, or a `Leaderboard`. Functions, such as those of a
    likelihood of your own, are not in the file: the model answers as before, but `fit` needs them
    again, set_params(likelihood=...).

    Raises
    ------
    DataError
        If the file is absent, is damaged, or is not such a file.

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

    path = model_in(path) or path
    tree = store.load(path, verify)
    if _ANSWER in tree.attrs and FITTED in tree.children:
        return _answer(tree, path)
    if "thali_model" not in tree.attrs or FITTED not in tree.children:
        raise DataError(
            f"'{path}' contains draws without a model; open it with xarray.open_datatree."
        )
    try:
        saved = json.loads(tree.attrs["thali_model"])
        name, parameters = str(saved["class"]), dict(saved["parameters"])
        model = model_named(name, {key: decoded(value, {}) for key, value in parameters.items()})
        if model is not None:
            model._restore(_found(tree), path)
            return model
    except ThaliError:
        raise
    except Exception as error:  # a file may hold anything where thali wrote the model
        raise DataError(f"'{path}' is not a model file written by thali.") from error
    raise DataError(
        f"{path} contains a {name}, which this version of thali does not support; update thali."
    )


def _answer(tree: "xarray.DataTree", path: Any) -> Any:
    """The answer that a file holds."""
    group = tree[FITTED].to_dataset()
    try:
        return unpacked({str(name): group[name].values for name in group.data_vars})
    except ThaliError:
        raise
    except Exception as error:  # a file may hold anything where thali wrote the answer
        raise DataError(f"'{path}' is not a result file written by thali.") from error


def model_in(folder: Any) -> Path | None:
    """The file of the model, or leaderboard, in a folder that `--out` named; None if there is
    none."""
    return next(
        (file for name in (*IN_FOLDER, BOARD) if (file := Path(folder) / name).is_file()), None
    )


def _found(tree: "xarray.DataTree") -> dict[str, Any]:
    """The fitted attributes of a file."""
    from thali._posterior.store import tree_of

    group = tree[FITTED].to_dataset()
    arrays = {str(name): group[name].values for name in group.data_vars}
    text = json.loads(arrays.pop(_TEXT).tobytes().decode())
    found = {name: decoded(value, arrays) for name, value in text.items()}
    if "posterior" in tree.children:
        found["posterior_"] = tree_of(
            {n: node.to_dataset() for n, node in tree.children.items() if n != FITTED}, tree.attrs
        )
    return found


# values as JSON and arrays ------------------------------------------------------------------------


def encoded(value: Any, arrays: dict[str, np.ndarray] | None) -> Any:
    """A value as JSON; numeric arrays go into `arrays`, or into lists where that is None."""
    if isinstance(value, np.ndarray):
        return _encoded_array(value, arrays)
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, range):
        return {"range": [value.start, value.stop, value.step]}
    if isinstance(value, Tree):
        return {"newick": value.to_newick()}
    if isinstance(value, np.random.SeedSequence):
        return {"seed": encode_seed(value)}
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return {"tuple": [encoded(v, arrays) for v in value]}
    if isinstance(value, dict):
        return {"mapping": [[encoded(k, arrays), encoded(v, arrays)] for k, v in value.items()]}
    if isinstance(value, set | frozenset):
        return [encoded(v, arrays) for v in sorted(value, key=str)]
    if isinstance(value, list):
        return [encoded(v, arrays) for v in value]
    if type(value).__module__.startswith(_LIBRARY) and not _is_table(value):
        fields = {name: encoded(each, arrays) for name, each in _fields(value).items()}
        return {"object": class_name_in_file(type(value)), "fields": fields}
    if callable(value):
        from thali._compile.jit import code_digest

        return {"function": getattr(value, "__name__", repr(value)), "code": code_digest(value)}
    return _encoded_foreign(value, arrays)


def _is_table(value: Any) -> bool:
    """Whether it is a table of results of thali, which a file holds as a frame."""
    from thali._tables import Table

    return isinstance(value, Table)


def _encoded_array(value: np.ndarray, arrays: dict[str, np.ndarray] | None) -> Any:
    if arrays is not None and value.dtype.kind in "biuf":
        name = f"array_{len(arrays)}"
        arrays[name] = value
        return {"array": name, "dtype": value.dtype.str}
    return {"list": value.tolist(), "dtype": "object" if value.dtype == object else value.dtype.str}


def _encoded_foreign(value: Any, arrays: dict[str, np.ndarray] | None) -> Any:
    """Frames, series, indices and sparse matrices; of anything else what it looks like."""
    import pandas as pd
    from scipy import sparse

    if isinstance(value, pd.DataFrame):
        index, columns = encoded(value.index, arrays), encoded(value.columns, arrays)
        return {
            "frame": [encoded(value[name].to_numpy(), arrays) for name in value],
            "index": index,
            "columns": columns,
        }
    if isinstance(value, pd.Series):
        parts = {"values": encoded(value.to_numpy(), arrays), "index": encoded(value.index, arrays)}
        return {"series": encoded(value.name, arrays), **parts}
    if isinstance(value, pd.Index):
        return {"labels": encoded(value.to_numpy(), arrays), "name": value.name}
    if sparse.issparse(value):
        rows: Any = sparse.csr_array(value)
        parts = [encoded(each, arrays) for each in (rows.data, rows.indices, rows.indptr)]
        return {"sparse": parts, "shape": list(map(int, rows.shape))}
    if isinstance(value, tuple):  # data of the user's own
        return {"unknown": repr(value), "fields": [encoded(v, arrays) for v in value]}
    return {"unknown": repr(value)}


def packed(value: Any) -> dict[str, np.ndarray]:
    """A value as arrays."""
    arrays: dict[str, np.ndarray] = {}
    text = json.dumps(encoded(value, arrays))
    return arrays | {_TEXT: np.frombuffer(text.encode(), np.uint8)}


def unpacked(arrays: dict[str, np.ndarray]) -> Any:
    """The value that `packed` was given."""
    return decoded(json.loads(arrays[_TEXT].tobytes().decode()), arrays)


def can_hold(value: Any) -> bool:
    """Whether a file can hold a value, so that it is the same after `load`."""
    return _is_known(encoded(value, {}))


def _is_known(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_known, value))
    if not isinstance(value, dict):
        return True
    return not {"unknown", "function"} & {next(iter(value), "")} and all(
        map(_is_known, value.values())
    )


def _fields(value: Any) -> dict[str, Any]:
    """What an object of thali is made of."""
    if isinstance(value, Observed):
        return {"data": value.original}
    if isinstance(value, tuple):
        return value._asdict()  # type: ignore[attr-defined]
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return vars(value)


def decoded(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """What `encoded` made JSON of.

    Raises
    ------
    ArgumentError
        If it holds something that no file can hold.
    """
    if isinstance(value, list):
        return [decoded(v, arrays) for v in value]
    if not isinstance(value, dict):
        return value
    kind = next(iter(value))
    if kind not in _DECODERS:
        raise ArgumentError(
            f"The file was written by a model with {value.get('unknown')}, which is not part of"
            " thali; open its draws with xarray.open_datatree."
        )
    return _DECODERS[kind](value, arrays)


def _decoded_object(value: dict[Any, Any], arrays: dict[str, np.ndarray]) -> Any:
    cls: Any = load_class(str(value["object"]))
    fields = {key: decoded(each, arrays) for key, each in value["fields"].items()}
    if hasattr(cls, "__dataclass_fields__") or hasattr(cls, "_fields") or cls is Observed:
        return cls(**fields)
    made: Any = object.__new__(cls)
    vars(made).update(fields)
    return made


def _decoded_frame(value: dict[Any, Any], arrays: dict[str, np.ndarray]) -> Any:
    import pandas as pd

    columns, index = decoded(value["columns"], arrays), decoded(value["index"], arrays)
    by_place = {place: decoded(each, arrays) for place, each in enumerate(value["frame"])}
    return pd.DataFrame(by_place, index=index).set_axis(columns, axis=1)


def _decoded_series(value: dict[Any, Any], arrays: dict[str, np.ndarray]) -> Any:
    import pandas as pd

    parts = decoded(value["values"], arrays), decoded(value["index"], arrays)
    return pd.Series(*parts, name=decoded(value["series"], arrays))


def _decoded_labels(value: dict[Any, Any], arrays: dict[str, np.ndarray]) -> Any:
    import pandas as pd

    return pd.Index(decoded(value["labels"], arrays), name=value["name"])


def _decoded_sparse(value: dict[Any, Any], arrays: dict[str, np.ndarray]) -> Any:
    from scipy import sparse

    return sparse.csr_array(
        tuple(decoded(each, arrays) for each in value["sparse"]), shape=tuple(value["shape"])
    )


def _dtype(value: dict[Any, Any]) -> np.dtype:
    """The type of an array as a file names it; text is as wide as it is, and not as the file
    says."""
    found = np.dtype(value["dtype"])
    return np.dtype(found.kind) if found.kind in "USV" else found


def _decoded_list(value: dict[Any, Any], arrays: dict[str, np.ndarray]) -> Any:
    """An array that stands in the JSON; each text of it takes as much memory as the longest."""
    dtype = _dtype(value)
    lengths = (
        [len(each) for each in np.array(value["list"], dtype=object).flat]
        if dtype.kind == "U"
        else []
    )
    if len(lengths) * max(lengths, default=0) > max(_MAX_TEXT, 100 * sum(lengths)):
        raise DataError(
            "The file contains a string that is too long to load into memory; the file may be"
            " damaged."
        )
    return np.array(value["list"], dtype=dtype)


def _decoded_function(value: dict[Any, Any], arrays: Any) -> Any:
    return NotSaved(value["function"])


_DECODERS = {
    "array": lambda value, arrays: arrays[value["array"]].astype(_dtype(value)),
    "list": _decoded_list,
    "range": lambda value, arrays: range(*value["range"]),
    "newick": lambda value, arrays: Tree.from_newick(value["newick"]),
    "seed": lambda value, arrays: decode_seed(value["seed"]),
    "tuple": lambda value, arrays: tuple(decoded(v, arrays) for v in value["tuple"]),
    "mapping": lambda value, arrays: {
        decoded(k, arrays): decoded(v, arrays) for k, v in value["mapping"]
    },
    "object": _decoded_object,
    "frame": _decoded_frame,
    "series": _decoded_series,
    "labels": _decoded_labels,
    "sparse": _decoded_sparse,
    "function": _decoded_function,
}
