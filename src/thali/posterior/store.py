"""The posterior as an ArviZ tree: made from the draws of the chains, written to a file, read back."""

import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._files import atomic_write, is_intact, seal
from thali._threads import rectangle
from thali.errors import DataError
from thali.posterior.columns import Columns, columns_of_chains
from thali.posterior.contents import check_contents

if TYPE_CHECKING:
    import xarray

    from thali.data.choices import Choices
    from thali.data.pairs import PairedComparisons
    from thali.data.similarity import Similarities
    from thali.mcmc.draws import ChainDraws

# With more pairs of options than this, neither dense features nor anything of each pair and draw is kept.
MOST_PAIRS = 2_000
# Raised when a stored tree changes so that an older thali could not read it.
SCHEMA = 2
_BULKY = {"features", "owners", "feature_size", "weights"}  # variables that are compressed

_DESCRIPTIONS = {
    "n_features": "columns with at least one owner; the fixed unique ones are not counted",
    "alpha": "concentration of the prior over features",
    "log_likelihood": "whole data set, natural logarithm, no constant left out (binomial coefficients included)",
    "features": "1 if an option owns a feature, else 0; padded with 0",
    "feature_size": "owners of a feature; padded with 0",
    "owners": "option indices, feature after feature, feature_size of them each; padded with -1",
    "weights": "weight of a feature; padded with 0; those of elimination are comparable within a fit only",
    "unique_weights": "weight of the aspect that an option has alone; 0 where the model has none",
}


@dataclass(frozen=True)
class DataPart:
    """What draws say about data of one kind, as a likelihood's `posterior_part` returns it.

    The datasets of the groups are given as `xarray.Dataset` takes them: variables, coordinates.
    """

    log_constant: float  # what the samplers leave out of the log-likelihood of the whole data
    descriptions: dict[str, str]  # of the variables
    variables: dict = field(default_factory=dict)  # further ones of the group posterior, and their coordinates
    coordinates: dict = field(default_factory=dict)
    observed: dict = field(default_factory=dict)  # group observed_data
    constants: dict = field(default_factory=dict)  # group constant_data
    pointwise: dict = field(default_factory=dict)  # group log_likelihood; empty above 2,000 pairs
    observed_coordinates: dict = field(default_factory=dict)  # of these three groups


def to_datatree(
    chains: Sequence["ChainDraws"],
    data: "PairedComparisons | Choices | Similarities",
    likelihood: Any,
    *,
    learned_alpha: bool,
    attrs: Mapping[str, object] | None = None,
) -> "xarray.DataTree":
    """The draws of all chains as one tree in the ArviZ schema, with labels as coordinates.

    Chains that were interrupted at different lengths are cut to the rectangle (chains × draws) that keeps the
    most draws.

    Parameters
    ----------
    chains : sequence of ChainDraws
    data : PairedComparisons, Choices or Similarities
    likelihood : one of `thali.likelihoods`
        Its `posterior_part` adds what draws say about the data.
    learned_alpha : bool
        Whether `alpha` was learned; only then is it summarised.
    attrs : mapping of strings and numbers, optional
        Added to the attributes of the tree; `thali_model` is the JSON text that rebuilds the model.

    Returns
    -------
    xarray.DataTree
        Groups `posterior`, `log_likelihood` (of each pair or set), `observed_data`, `constant_data` and `sample_stats`.
        Above 2,000 pairs of options there is no group `log_likelihood` and nothing of each pair and draw, and the
        owners of features are kept as index lists (`feature_size`, `owners`) instead of `features`.

    Raises
    ------
    DataError
        No chain holds a draw.

    Example
    -------
    >>> import numpy as np
    >>> import thali as th
    >>> from thali.mcmc.draws import ChainDraws
    >>> two_draws = ChainDraws(
    ...     alpha=np.ones(2),
    ...     log_likelihood=np.array([-2.1, -2.2]),
    ...     unique_weights=np.ones((2, 2)),
    ...     n_features=np.array([1, 0]),  # one feature in the first draw,
    ...     weights=np.array([0.5]),
    ...     sizes=np.array([1]),
    ...     owners=np.array([0]),  # owned by tea
    ... )
    >>> data = th.PairedComparisons([[0, 2], [1, 0]], labels=["tea", "coffee"])
    >>> tree = to_datatree([two_draws], data, th.likelihoods.Elimination(lapse=0.0), learned_alpha=False)
    >>> tree["posterior"]["choice_probability"].values.tolist()
    [[[0.6], [0.5]]]
    """
    import xarray as xr

    numbers, draws = rectangle([len(chain.alpha) for chain in chains])
    if draws == 0:
        raise DataError("no draw was kept, so there is no posterior; let the fit run longer before stopping it")
    kept = [chains[number] for number in numbers]
    columns = columns_of_chains(kept, draws)
    shape = (len(kept), draws)
    labels = np.asarray(data.labels, dtype=str)
    dense = data.n_options * (data.n_options - 1) // 2 <= MOST_PAIRS
    sampled = {"chain": np.arange(shape[0]), "draw": np.arange(draws)}

    def over_draws(values):
        return ("chain", "draw"), np.stack([np.asarray(value)[:draws] for value in values])

    extra = {name: over_draws([chain.extra[name] for chain in kept]) for name in kept[0].extra}
    flat = {name: values.ravel() for name, (_, values) in extra.items()}
    part = likelihood.posterior_part(columns, flat, data, shape, dense)
    variables = {
        "n_features": over_draws([chain.n_features for chain in kept]),
        "alpha": over_draws([chain.alpha for chain in kept]),
        "log_likelihood": over_draws([chain.log_likelihood + part.log_constant for chain in kept]),
        **extra,
        **(_dense_features(columns, shape) if dense else _listed_features(columns, shape)),
        **part.variables,
    }
    posterior = xr.Dataset(variables, {**sampled, "option": labels, **part.coordinates})
    for name, variable in posterior.data_vars.items():
        variable.attrs["description"] = (_DESCRIPTIONS | part.descriptions)[str(name)]
    groups = {"posterior": posterior}
    if part.pointwise:
        # ArviZ looks for the log-likelihood of an observed variable under that variable's name.
        groups["log_likelihood"] = xr.Dataset(part.pointwise, {**sampled, **part.observed_coordinates})
    groups["observed_data"] = xr.Dataset(part.observed, part.observed_coordinates)
    groups["constant_data"] = xr.Dataset(
        {**part.constants, "learned_alpha": bool(learned_alpha)}, {**part.observed_coordinates, "option": labels}
    )
    groups["sample_stats"] = xr.Dataset(_stats([chain.stats for chain in kept]), {"chain": sampled["chain"]})
    return tree_of(groups, {**origin(), **(attrs or {})})


def tree_of(groups: Mapping[str, "xarray.Dataset"], attrs: Mapping[Any, Any]) -> "xarray.DataTree":
    """The groups as one tree, with 1 and 0 (int8) for what is true and false: ArviZ computes with all that it finds."""
    import xarray as xr

    def as_numbers(group: "xarray.Dataset") -> "xarray.Dataset":
        return group.assign({name: each.astype(np.int8) for name, each in group.items() if each.dtype == bool})

    tree = xr.DataTree.from_dict({name: as_numbers(group) for name, group in groups.items()})
    tree.attrs = dict(attrs)
    return tree


def _stats(stats: list[dict]) -> dict:
    """Statistics of whole chains; arrays, which may differ in length, are padded with NaN along a dimension `rung`."""
    variables = {}
    for name in stats[0]:
        values = [np.asarray(chain.get(name, np.nan), float) for chain in stats]
        if values[0].ndim == 0:
            variables[name] = ("chain", values)
        else:
            rungs = max(chain["temperature"].size for chain in stats)
            padded = np.full((len(values), rungs), np.nan)
            for row, value in zip(padded, values, strict=True):
                row[: value.size] = value
            variables[name] = (("chain", "rung"), padded)
    return variables


def save(tree: "xarray.DataTree", path: str | os.PathLike) -> None:
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

    Example
    -------
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


def load(path: str | os.PathLike, verify: bool = True) -> "xarray.DataTree":
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

    Example
    -------
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
    if not known or attrs.get("creation_library") != "thali" or "posterior" not in groups:
        raise DataError(f"'{path}' is a netCDF file, but not a posterior that thali wrote")
    if schema > SCHEMA:
        version = attrs.get("creation_library_version")
        raise DataError(f"'{path}' was written by thali {version}, newer than this one; update thali to read it")
    return tree_of(groups, attrs)  # files of before hold features as booleans


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


def _dense_features(columns: Columns, shape: tuple[int, int]) -> dict:
    features, weights = columns.dense(0, columns.n_draws)
    return {
        "features": (("chain", "draw", "feature", "option"), features.reshape(*shape, *features.shape[1:])),
        "weights": (("chain", "draw", "feature"), weights.reshape(*shape, -1)),
    }


def _listed_features(columns: Columns, shape: tuple[int, int]) -> dict:
    owners_per_draw = np.diff(columns.first_owner[columns.first_column])

    def padded(values, counts, fill, dtype):
        array = np.full((columns.n_draws, int(counts.max())), fill, dtype=dtype)
        array[np.arange(array.shape[1]) < counts[:, None]] = values
        return array.reshape(*shape, -1)

    by_feature, by_owner = ("chain", "draw", "feature"), ("chain", "draw", "owner")
    return {
        "weights": (by_feature, padded(columns.weights, columns.n_features, 0.0, float)),
        "feature_size": (by_feature, padded(columns.sizes, columns.n_features, 0, np.int32)),
        "owners": (by_owner, padded(columns.owners, owners_per_draw, -1, np.int32)),
    }


def origin() -> dict:
    """Attributes that say when, and by which version of thali, a tree was made."""
    from datetime import UTC, datetime

    from thali import __version__

    return {
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "creation_library": "thali",
        "creation_library_version": __version__,
        "creation_library_language": "Python",
        "inference_library": "thali",
        "inference_library_version": __version__,
        "thali_schema": SCHEMA,
    }
