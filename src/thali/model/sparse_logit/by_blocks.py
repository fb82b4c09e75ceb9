"""The maximum of the sparse logit's posterior for rows in blocks of a Dask array."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import Argument, ArgumentError

from ..base import Job
from ..classifiers.blocks import Seen, refuse_blocks, see, standard_over
from ..classifiers.input import matrix_of
from ..classifiers.standard import Standard, warn_of_left_out
from .at_maximum import by_map
from .columns import BlockColumns, DenseColumns
from .maximum import Target

if TYPE_CHECKING:
    from .model import SparseMultinomialLogit


def job_of_blocks(model: "SparseMultinomialLogit", X: Any, y: Any, sample_weight: Any) -> Job:
    """The fit: every worker keeps its standardised rows, and a step transfers linear predictors and sums."""
    from dask.base import compute, persist
    from dask.delayed import delayed

    prior = model._prior()
    if model.method != "map":
        refuse_blocks(X, model.method, "map")
    if model.class_weight is not None:
        raise ArgumentError(Argument("class_weight"), " is not for a Dask array X; leave it out, or pass X.compute().")
    seen = see(X, y, sample_weight, type(model).__name__)
    model.classes_, model.n_features_in_ = seen.classes, X.shape[1]
    reference = model._position_of_reference()
    standard = model._standard_ = _standard_of(model, seen)
    model.method_ = model.method
    held = persist(*(delayed(_columns_of)(x, standard, prior.intercept) for x, _ in seen.pairs))
    codes = np.concatenate(compute(*(delayed(_codes_of)(labels, seen.classes) for _, labels in seen.pairs)))
    penalised = int(standard.varies.sum())
    columns = BlockColumns(held, seen.rows, penalised + prior.intercept)
    others = np.flatnonzero(np.arange(len(seen.classes)) != reference)
    target = Target(columns, (codes[:, None] == others).astype(float), np.ones(len(codes)), penalised)
    return by_map(model, target, prior.eta, model._size(len(codes)))


def _standard_of(model: "SparseMultinomialLogit", seen: Seen) -> Standard:
    """The scale of the covariates over all blocks: their own, or none."""
    if not model.standardize:
        return model._standard_for(seen.ends, model.fit_intercept)
    standard = standard_over(seen, model._column_names())
    warn_of_left_out(standard, None)
    return standard


def _columns_of(x: Any, standard: Standard, intercept: bool) -> DenseColumns:
    return DenseColumns(standard.varying(matrix_of(x)), intercept)


def _codes_of(labels: Any, classes: np.ndarray) -> np.ndarray:
    return np.searchsorted(classes, np.asarray(labels))
