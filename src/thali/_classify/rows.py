"""What a posterior tree of a classifier says about the rows of the training data."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.rows import TrainingData
from thali._posterior.densities import is_pointwise

if TYPE_CHECKING:
    import xarray

_BLOCK = 2**21  # numbers of a block of rows
LABEL = "position of the class of a row in constant_data['classes']"


def observed_groups(
    codes: np.ndarray, classes: np.ndarray, constants: Mapping[str, Any]
) -> "dict[str, xarray.Dataset]":
    """The groups observed_data and constant_data: classes as numbers, which ArviZ can draw, and
    their names."""
    import xarray as xr

    names = class_labels(classes)
    label = ("row", np.asarray(codes, np.int64), {"description": LABEL})
    return {
        "observed_data": xr.Dataset({"label": label}, {"row": np.arange(len(codes))}),
        "constant_data": xr.Dataset({"classes": ("class_number", names), **constants}),
    }


def class_labels(classes: np.ndarray) -> np.ndarray:
    """The classes as coordinates that files can hold."""
    return np.asarray(classes.astype(str) if classes.dtype == object else classes)


def observed_rows(
    data: TrainingData, classes: np.ndarray, constants: Mapping[str, Any]
) -> "dict[str, xarray.Dataset]":
    """The same of the rows of a fit; their weights, where they have any, are constant data."""
    weights = {} if (data.weight == 1.0).all() else {"weight": ("row", data.weight)}
    groups = observed_groups(data.codes[data.row], classes, {**constants, **weights})
    return {
        name: group.assign_coords(row=data.number) if "row" in group.dims else group
        for name, group in groups.items()
    }


def add_log_likelihood(
    groups: "dict[str, xarray.Dataset]",
    log_p_of: Callable[[np.ndarray], np.ndarray],
    data: TrainingData,
) -> None:
    """Add the group log_likelihood, ln P of the class of each row, unless it would be too large.

    `log_p_of` gives it (chain, draw, row) for rows of `data.matrix`, by their numbers.
    """
    import xarray as xr

    rows = len(data.row)
    posterior = groups["posterior"]
    shape = posterior.sizes["chain"], posterior.sizes["draw"]
    draws = shape[0] * shape[1]
    if not is_pointwise(rows, draws):
        return
    found = np.empty((*shape, rows))
    step = max(1, _BLOCK // (draws * groups["constant_data"].sizes["class_number"]))
    for start in range(0, rows, step):
        part = slice(start, min(start + step, rows))
        found[..., part] = log_p_of(data.row[part])
    sampled = {name: posterior[name] for name in ("chain", "draw")}
    groups["log_likelihood"] = xr.Dataset(
        {"label": (("chain", "draw", "row"), found)},
        sampled | {"row": groups["observed_data"]["row"]},
    )


def drawn_codes(probabilities: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A class for each row and draw, shape (rows, draws), out of probabilities (rows, draws, K)."""
    below = np.cumsum(probabilities, axis=2)
    u = rng.random(below.shape[:2]) * below[..., -1]
    return (u[..., None] >= below).sum(axis=2)


def errors_of_means(probabilities: np.ndarray, chains: int) -> np.ndarray:
    """Monte Carlo standard errors of the means over draws (rows, K), out of probabilities (rows,
    draws, K)."""
    from thali._posterior.summary import mean_errors

    rows, _, classes = probabilities.shape
    draws = np.moveaxis(probabilities, 1, 2).reshape(rows * classes, chains, -1)
    return mean_errors(draws).reshape(rows, classes)
