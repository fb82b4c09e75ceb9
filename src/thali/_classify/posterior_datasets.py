"""Datasets of a classifier's posterior tree about the training rows."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.classification_data import TrainingData
from thali._inference.index_arithmetic import iterate_slices
from thali._posterior.datatree_files import can_store_pointwise
from thali._posterior.draws_writer import DrawsWriter

if TYPE_CHECKING:
    import xarray

LABEL = "position of the class of a row in constant_data['classes']"


def build_observed_groups(
    class_codes: np.ndarray, classes: np.ndarray, constants: Mapping[str, Any]
) -> "dict[str, xarray.Dataset]":
    """Return datasets observed_data and constant_data for class codes (n,).

    Labels are stored as numbers, which ArviZ can plot, with the class names.
    """
    import xarray as xr

    class_names = convert_class_labels(classes)
    label_variable = ("row", np.asarray(class_codes, np.int64), {"description": LABEL})
    return {
        "observed_data": xr.Dataset(
            {"label": label_variable}, {"row": np.arange(len(class_codes))}
        ),
        "constant_data": xr.Dataset({"classes": ("class_number", class_names), **constants}),
    }


def convert_class_labels(classes: np.ndarray) -> np.ndarray:
    """Return class labels as an array type that netCDF can store."""
    if classes.dtype == object:
        return classes.astype(str)
    return classes


def build_observed_row_groups(
    data: TrainingData, classes: np.ndarray, constants: Mapping[str, Any]
) -> "dict[str, xarray.Dataset]":
    """Return observed_data and constant_data for weighted training rows.

    Equal weights are omitted.
    """
    constants = dict(constants)
    if not (data.weight == 1.0).all():
        constants["weight"] = "row", data.weight
    groups = build_observed_groups(data.codes[data.row], classes, constants)
    for name, dataset in groups.items():
        if "row" in dataset.dims:
            groups[name] = dataset.assign_coords(row=data.number)
    return groups


def write_row_log_likelihood(
    writer: DrawsWriter, compute_log_p: Callable[[np.ndarray], np.ndarray], data: TrainingData
) -> None:
    """Write ln P of each row's class, unless there are too many.

    `compute_log_p` returns it, shape (chain, draw, row), for indices of rows of `data.matrix`.
    """
    n_rows = len(data.row)
    shape = writer.draws.sizes["chain"], writer.draws.sizes["draw"]
    n_draws = shape[0] * shape[1]
    if not can_store_pointwise(n_rows, n_draws):
        return
    log_p = np.empty((*shape, n_rows))
    row_size = n_draws * writer.groups["constant_data"].sizes["class_number"]
    for row_slice in iterate_slices(n_rows, row_size):
        log_p[..., row_slice] = compute_log_p(data.row[row_slice])
    rows = {"row": writer.groups["observed_data"]["row"]}
    writer.write_log_likelihood("label", ("row",), log_p, rows)


def select_class_entries(scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the entry of each row's class, shape (chains, draws, rows).

    `scores` has shape (chains, draws, K, rows), and `codes` (rows,) or (draws, rows).
    """
    indices = np.broadcast_to(codes[..., None, :], scores[:, :, :1].shape)
    return np.take_along_axis(scores, indices, axis=2)[:, :, 0]


def sample_class_codes(probabilities: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Sample a class for each row and draw, shape (rows, draws).

    `probabilities` has shape (rows, draws, K).
    """
    cumulative_p = np.cumsum(probabilities, axis=2)
    u = rng.random(cumulative_p.shape[:2]) * cumulative_p[..., -1]
    return (u[..., None] >= cumulative_p).sum(axis=2)


def sample_prior_codes(
    log_scores: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """Sample a class for each row from log scores (rows, K), with log-likelihood."""
    log_p = log_scores - np.logaddexp.reduce(log_scores, axis=1, keepdims=True)
    class_codes = np.argmax(log_p + rng.gumbel(size=log_p.shape), axis=1)
    return class_codes, log_p[np.arange(len(class_codes)), class_codes].sum()


def list_nonzero_cells(matrix: np.ndarray) -> list[tuple[int, int]]:
    """Return (row, column) of nonzero entries, largest absolute value first."""
    by_size = np.argsort(-np.abs(matrix), axis=None, kind="stable")
    cells = [divmod(int(index), matrix.shape[1]) for index in by_size]
    return [cell for cell in cells if matrix[cell] != 0.0]


def average_probabilities(
    blocks: Iterable[tuple[slice, np.ndarray]], n_rows: int, n_classes: int
) -> np.ndarray:
    """Return class probabilities averaged over draws, shape (n_rows, K).

    `blocks` are slices of rows with probabilities (rows, draws, K).
    """
    means = np.empty((n_rows, n_classes))
    for row_slice, probabilities in blocks:
        means[row_slice] = probabilities.mean(axis=1)
    return means


def compute_probability_errors(probabilities: np.ndarray, n_chains: int) -> np.ndarray:
    """Return Monte Carlo standard errors of mean probabilities, (n_rows, K).

    `probabilities` has shape (rows, draws, K).
    """
    from thali._posterior.summary_table import compute_mean_errors

    n_rows, _, n_classes = probabilities.shape
    probability_draws = np.moveaxis(probabilities, 1, 2).reshape(n_rows * n_classes, n_chains, -1)
    return compute_mean_errors(probability_draws).reshape(n_rows, n_classes)
