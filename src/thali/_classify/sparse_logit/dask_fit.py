"""Fits of the sparse logit to Dask arrays: posterior mode or normal approximation.

Every worker stores its standardised rows; a step transfers coefficients, sums over rows and, for
the maximum, linear predictors.
"""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.classification_data import TrainingData
from thali._inference.markov_chains import Run
from thali._model.base import Job
from thali.errors import Argument, ArgumentError

from ..covariates_and_labels import (
    Standardization,
    convert_to_matrix,
    list_covariate_names,
    warn_about_constant_columns,
)
from ..dask_blocks import (
    BlockScan,
    compute_block_standardization,
    refuse_blocks,
    scan_blocks,
    sum_over_blocks,
)
from .arguments import (
    CoefficientPrior,
    LogitDesign,
    choose_standardization,
)
from .covariate_columns import BlockColumns, DenseColumns
from .fitting_methods import ENGINES, check_normal_run
from .gibbs_sweep import CoefficientProblem
from .markov_chain import build_coefficient_problem
from .normal_approximation import (
    Expansion,
    choose_radii,
    expand_log_likelihood,
    fit_normal_approximation,
)
from .posterior_mode import build_maximum_job, observe_classes
from .time_forecast import NORMAL_METHODS

if TYPE_CHECKING:
    from .model import SparseMultinomialLogit


def scan_rows(model: "SparseMultinomialLogit", X: Any, y: Any, sample_weight: Any) -> BlockScan:
    """Check arguments and blocks of a Dask array; store its classes and width."""
    if model.method not in (*NORMAL_METHODS, "map", "auto"):
        refuse_blocks(model.method, (*NORMAL_METHODS, "map"))
    if model.class_weight is not None:
        raise ArgumentError(
            Argument("class_weight"),
            " does not support a Dask array X; remove ",
            Argument("class_weight"),
            ", or pass X.compute().",
        )
    scan = scan_blocks(X, y, sample_weight, type(model).__name__)
    model.classes_ = scan.classes
    model.n_features_in_ = X.shape[1]
    return scan


def build_dask_job(
    model: "SparseMultinomialLogit",
    design: LogitDesign,
    prior: CoefficientPrior,
    scan: BlockScan,
    run: Run,
) -> Job:
    """Return the job of a fit to a Dask array."""
    model.method_ = model.method
    if model.method == "auto":
        model.method_ = "variational"
    if ENGINES[model.method_].is_point:
        return _build_dask_maximum_job(design, scan, prior)
    if model.method_ not in NORMAL_METHODS:
        refuse_blocks("polya-gamma", (*NORMAL_METHODS, "map"))
    n_columns = len(design.columns) + prior.intercept
    check_normal_run(model, run, float(sum(scan.rows)), n_columns)
    return Job(partial(_fit_dask_approximation, model, design, scan, prior, run), draws=run.draws)


def _build_dask_maximum_job(design: LogitDesign, scan: BlockScan, prior: CoefficientPrior) -> Job:
    """Return the job of a posterior mode; covariates stay in blocks."""
    from dask.base import persist
    from dask.delayed import delayed

    standardization = design.standardization
    blocks = persist(
        *(delayed(_build_block_columns)(x, standardization, prior.intercept) for x, _ in scan.pairs)
    )
    class_codes = _encode_dask_labels(scan)
    n_columns = len(design.columns) + prior.intercept
    columns = BlockColumns(blocks, scan.rows, n_columns)
    observed = observe_classes(design, columns, class_codes, np.ones(len(class_codes)))
    return build_maximum_job(standardization, observed, prior)


def _fit_dask_approximation(
    model: "SparseMultinomialLogit",
    design: LogitDesign,
    scan: BlockScan,
    prior: CoefficientPrior,
    run: Run,
) -> dict[str, Any]:
    """Return fitted attributes of a normal approximation, computed block by block."""
    from dask.base import persist
    from dask.delayed import delayed

    standardization = design.standardization
    class_codes = _encode_dask_labels(scan)
    reference_index = design.reference_index
    fit_class = ENGINES[model.method_].fit_class
    problems = persist(
        *(
            delayed(_build_block_problem)(
                x, labels, standardization, scan.classes, reference_index, prior
            )
            for x, labels in scan.pairs
        )
    )
    no_rows = np.empty((0, len(design.columns)))
    empty_problem = build_coefficient_problem(
        no_rows, class_codes[:0], len(scan.classes), reference_index, prior, False
    )
    n_radii = choose_radii(empty_problem, float(len(class_codes)))

    def expand_over_blocks(coef: np.ndarray, covariance: np.ndarray | None = None) -> Expansion:
        """Return the log-likelihood's expansion, summed over all blocks."""
        return sum_over_blocks(expand_log_likelihood, zip(problems), coef, covariance, n_radii)

    model._normal_ = fit_normal_approximation(
        empty_problem, prior.eta, fit_class.has_bound, expand_over_blocks
    )
    unit_weights = np.ones(len(class_codes))
    row_numbers = np.arange(len(class_codes))
    training_data = TrainingData(
        no_rows, class_codes, unit_weights, row_numbers, unit_weights, row_numbers
    )
    return fit_class(model, training_data, run, design).run_to_end()


def choose_dask_standardization(
    model: "SparseMultinomialLogit", scan: BlockScan
) -> Standardization:
    """Return the covariates' standardisation over all blocks."""
    if not model.standardize:
        return choose_standardization(model, scan.ends, model.fit_intercept)
    standardization = compute_block_standardization(scan, list_covariate_names(model))
    warn_about_constant_columns(standardization, None)
    return standardization


def _encode_dask_labels(scan: BlockScan) -> np.ndarray:
    """Return each row's class index, over all blocks."""
    from dask.base import compute
    from dask.delayed import delayed

    return np.concatenate(
        compute(*(delayed(_encode_block_labels)(labels, scan.classes) for _, labels in scan.pairs))
    )


def _build_block_columns(
    block: np.ndarray, standardization: Standardization, has_intercept: bool
) -> DenseColumns:
    """Return a block's covariates, standardised."""
    return DenseColumns(standardization.varying(convert_to_matrix(block)), has_intercept)


def _encode_block_labels(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return each row's class index in one block."""
    return np.searchsorted(classes, np.asarray(labels))


def _build_block_problem(
    block: np.ndarray,
    labels: np.ndarray,
    standardization: Standardization,
    classes: np.ndarray,
    reference_index: int,
    prior: CoefficientPrior,
) -> CoefficientProblem:
    """Return a Dask block's rows, labels and the prior as `CoefficientProblem`."""
    return build_coefficient_problem(
        standardization.varying(convert_to_matrix(block)),
        _encode_block_labels(labels, classes),
        len(classes),
        reference_index,
        prior,
        False,
    )
