"""Models as text, and back: what a saved posterior says about the model that made it."""

import dataclasses
import json
from typing import Any

import numpy as np

from thali.errors import ArgumentError, DataError, ThaliError
from thali.tree import Tree


def describe(model) -> dict:
    """The class and the parameters of a model, as far as JSON can hold them."""
    return {"class": type(model).__name__, "parameters": {name: _plain(v) for name, v in model.get_params().items()}}


def _plain(value):
    if isinstance(value, np.ndarray):
        return value.tolist()
    if hasattr(value, "to_numpy"):  # a data frame of aspects
        named = {"index": [str(x) for x in value.index], "columns": [str(x) for x in value.columns]}
        return {"table": value.to_numpy().tolist(), **named}
    if isinstance(value, np.generic):
        return value.item()
    if dataclasses.is_dataclass(value) and type(value).__module__.startswith("thali."):
        fields = {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"part": type(value).__name__, "fields": fields}
    if isinstance(value, Tree):
        return {"newick": value.to_newick()}
    if isinstance(value, dict):
        return {"mapping": [[str(k), _plain(v)] for k, v in value.items()]}
    if isinstance(value, tuple):
        return {"tuple": [_plain(v) for v in value]}
    if isinstance(value, set | frozenset):
        return [_plain(v) for v in sorted(value, key=str)]
    if isinstance(value, list):
        return [_plain(v) for v in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if callable(value) and hasattr(value, "__name__"):
        return {"function": value.__name__}
    return {"unknown": repr(value)}


def _parsed(value) -> Any:
    import thali

    if isinstance(value, list):
        return [_parsed(v) for v in value]
    if not isinstance(value, dict):
        return value
    if "function" in value:
        from thali.likelihoods.custom import NotSaved

        return NotSaved(value["function"])
    if "newick" in value:
        return Tree.from_newick(value["newick"])
    if "tuple" in value:
        return tuple(_parsed(v) for v in value["tuple"])
    if "mapping" in value:
        return {k: _parsed(v) for k, v in value["mapping"]}
    if "table" in value:
        import pandas as pd

        return pd.DataFrame(value["table"], index=value["index"], columns=value.get("columns"))
    if "part" in value:
        home = thali.priors if value["part"] in thali.priors.__all__ else thali.likelihoods
        return getattr(home, value["part"])(**{k: _parsed(v) for k, v in value["fields"].items()})
    raise ArgumentError(
        f"The file was written by a model with {value.get('unknown')}, which is not part of thali; "
        "open its draws with xarray.open_datatree instead."
    )


def load(path, verify: bool = True):
    """Read a fitted model that `save` wrote.

    Parameters
    ----------
    path : str or path
    verify : bool
        Whether to refuse a file whose hash, which `save` puts at its end, is missing or wrong. A file that is damaged
        can keep the HDF5 library busy for ever, so pass False only for one that another program rewrote.

    Returns
    -------
    A fitted model of the class that was saved. The functions of a likelihood of your own are not in the file: the model
    answers as before, but `fit` needs them anew, set_params(likelihood=...).

    Raises
    ------
    DataError
        If the file is absent, is damaged, or is not such a file.

    Examples
    --------
    >>> import tempfile, pathlib, thali as th
    >>> model = th.EliminationByAspects(aspects="unique")
    >>> model = model.fit(th.datasets.celebrities(), draws=200, tune=200, random_seed=1, progressbar=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(pathlib.Path(folder) / "celebrities.nc")
    ...     again = th.load(pathlib.Path(folder) / "celebrities.nc")
    >>> again
    EliminationByAspects(aspects='unique')
    """
    from thali.models.additive_clustering import AdditiveClustering
    from thali.models.elimination_by_aspects import EliminationByAspects
    from thali.models.latent_feature_model import LatentFeatureModel
    from thali.models.product_classes import ProductClasses
    from thali.posterior import store

    tree = store.load(path, verify)
    classes = {c.__name__: c for c in (AdditiveClustering, EliminationByAspects, LatentFeatureModel, ProductClasses)}
    if "thali_model" not in tree.attrs:
        raise DataError(
            f"{path} holds draws without a model, as `thali fit` writes them for classifiers; open it with "
            "xarray.open_datatree, and keep classifiers with pickle or joblib, as those of scikit-learn."
        )
    try:
        saved = json.loads(tree.attrs["thali_model"])
        name, parameters = str(saved["class"]), dict(saved["parameters"])
        if name in classes:
            model = classes[name](**{key: _parsed(value) for key, value in parameters.items()})
            _give(model, tree, path)
            return model
    except ThaliError:
        raise
    except Exception as error:  # a file may hold anything where thali wrote the model
        raise DataError(f"'{path}' does not hold a model as thali writes it.") from error
    raise DataError(f"{path} holds a {name}, which this version of thali does not know; update thali.")


def _give(model, tree, path) -> None:
    """Make a model that was fitted out of one that was not."""
    from thali.models.product_classes import ProductClasses
    from thali.posterior.layout import check_layout

    if isinstance(model, ProductClasses):
        model._restore(tree)
        return
    check_layout(tree, path)
    model.posterior_ = tree
    model.interrupted_ = False
