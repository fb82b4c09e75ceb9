"""The sparse logit for rows in blocks of a Dask array: the maximum of its posterior, or a normal
approximation.

Every worker keeps its standardised rows; a step transfers coefficients, sums over rows and, for the
maximum, linear predictors.
"""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.rows import TrainingData
from thali._inference.chains import Run
from thali._model.base import Job
from thali._model.sampling import run_sampling
from thali.errors import Argument, ArgumentError

from ..blocks import BlockScan, refuse_blocks, see, standard_over, sum_over
from ..input import Standard, matrix_of, warn_of_left_out
from .approximation import Expansion, expansion_at, normal_posterior, radii_for
from .arguments import NORMAL, BlockColumns, CoefficientPrior, DenseColumns, prior_of
from .chain import problem_of
from .engines import check
from .maximum import ObservedRows, by_map
from .sweep import CoefficientProblem

if TYPE_CHECKING:
    from .model import SparseMultinomialLogit


def job_of_blocks(
    model: "SparseMultinomialLogit", X: Any, y: Any, sample_weight: Any, run: Run
) -> Job:
    """The fit."""
    prior, by_size = prior_of(model), model.method == "auto"
    if model.method not in (*NORMAL, "map") and not by_size:
        refuse_blocks(model.method, (*NORMAL, "map"))
    if model.class_weight is not None:
        raise ArgumentError(
            Argument("class_weight"),
            " does not support a Dask array X; remove ",
            Argument("class_weight"),
            ", or pass X.compute().",
        )
    seen = see(X, y, sample_weight, type(model).__name__)
    model.classes_, model.n_features_in_ = seen.classes, X.shape[1]
    model._position_of_reference()
    model._standard_ = _standard_of(model, seen)
    model.method_ = "variational" if by_size and prior.name == "laplace" else model.method
    if model._used.is_point:
        return _maximum(model, seen, prior)
    if model.method_ not in NORMAL:
        refuse_blocks("polya-gamma", (*NORMAL, "map"))
    check(model, run, float(sum(seen.rows)))
    return Job(
        partial(_normal, model, seen, prior, run), draws=run.draws, data=model._size(sum(seen.rows))
    )


def _maximum(model: "SparseMultinomialLogit", seen: BlockScan, prior: Any) -> Job:
    """The fit by the maximum, whose columns are in blocks."""
    from dask.base import persist
    from dask.delayed import delayed

    standard = model._standard_
    held = persist(*(delayed(_columns_of)(x, standard, prior.intercept) for x, _ in seen.pairs))
    codes, penalised = _codes(seen), int(standard.varies.sum())
    columns = BlockColumns(held, seen.rows, penalised + prior.intercept)
    others = np.flatnonzero(np.arange(len(seen.classes)) != model._position_of_reference())
    observed = ObservedRows(
        columns, (codes[:, None] == others).astype(float), np.ones(len(codes)), penalised
    )
    return by_map(model, observed, prior.eta, model._size(len(codes)))


def _normal(
    model: "SparseMultinomialLogit", seen: BlockScan, prior: CoefficientPrior, run: Any
) -> dict[str, Any]:
    """The fit by a normal approximation: from then on the rows are not needed any more, only their
    classes."""
    from dask.base import persist
    from dask.delayed import delayed

    standard, codes = model._standard_, _codes(seen)
    facts = standard, seen.classes, model._position_of_reference(), prior
    held = persist(*(delayed(_problem_of)(*pair, *facts) for pair in seen.pairs))
    no_rows = np.empty((0, int(standard.varies.sum())))
    empty = problem_of(no_rows, codes[:0], len(seen.classes), facts[2], prior, False)
    radii = radii_for(empty, float(len(codes)))

    def expand(coef: np.ndarray, covariance: np.ndarray | None = None) -> Expansion:
        return sum_over(expansion_at, held, coef, covariance, radii)

    model._normal_ = normal_posterior(empty, prior.eta, model._used.has_bound, expand)
    ones, numbers = np.ones(len(codes)), np.arange(len(codes))
    source = TrainingData(no_rows, codes, ones, numbers, ones, numbers)
    return run_sampling(model, model._build_sampling(source, run))


def _standard_of(model: "SparseMultinomialLogit", seen: BlockScan) -> Standard:
    """The scale of the covariates over all blocks: their own, or none."""
    if not model.standardize:
        return model._standard_for(seen.ends, model.fit_intercept)
    standard = standard_over(seen, model._column_names())
    warn_of_left_out(standard, None)
    return standard


def _codes(seen: BlockScan) -> np.ndarray:
    """The place of the label of every row among the classes."""
    from dask.base import compute
    from dask.delayed import delayed

    return np.concatenate(
        compute(*(delayed(_codes_of)(labels, seen.classes) for _, labels in seen.pairs))
    )


def _columns_of(x: Any, standard: Standard, intercept: bool) -> DenseColumns:
    return DenseColumns(standard.varying(matrix_of(x)), intercept)


def _codes_of(labels: Any, classes: np.ndarray) -> np.ndarray:
    return np.searchsorted(classes, np.asarray(labels))


def _problem_of(
    x: Any,
    labels: Any,
    standard: Standard,
    classes: np.ndarray,
    reference: int,
    prior: CoefficientPrior,
) -> CoefficientProblem:
    rows = standard.varying(matrix_of(x)), _codes_of(labels, classes), len(classes), reference
    return problem_of(*rows, prior, False)
