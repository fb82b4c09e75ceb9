r"""Posterior mode of the sparse logit for a fixed eta, by proximal Newton steps.

Coefficients can be exactly 0.

.. math::

    F(\beta, b) = \sum_i c_i \ln P(y_i \mid x_i) - \sqrt\eta \sum_{kj} |\beta_{kj}| - \sum_k b_k^2 /
    200

F is concave. Proximal Newton steps: the likelihood's quadratic approximation at the current
coefficients, with the exact penalty, is maximised by coordinate descent over the coefficients that
are not 0 or whose slope exceeds the penalty; a line search ensures that every step raises F.

Reference: Lee, Sun & Saunders (2014), Proximal Newton-type methods for minimizing composite
functions.
"""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._compile.jit import compiled
from thali._inference.maximisation import Step, Target, maximise_newton
from thali._inference.numerics.weight_shares import softmax
from thali._model.base import Job
from thali.errors import DataError

from ..covariates_and_labels import is_sparse
from ..posterior_datasets import list_nonzero_cells
from .covariate_columns import DenseColumns, build_sparse_columns, compute_class_probabilities
from .gibbs_sweep import INTERCEPT_VARIANCE

if TYPE_CHECKING:
    import pandas
    from scipy.sparse import csc_array

    from thali._data.classification_data import TrainingData

    from ..covariates_and_labels import Standardization
    from .arguments import CoefficientPrior, LogitDesign
    from .model import SparseMultinomialLogit

TOLERANCE = 1e-9  # of a slope, per unit of weight
MAX_STEPS = 200
_MAX_SWEEPS = 10_000
_INNER_TOLERANCE = 1e-2  # slope after coordinate descent, as a share of the largest
_MIN_GAIN = 1e-4  # gain of an accepted step, as a share of its promised gain
_ROUNDING = 1e-15


class ObservedRows(NamedTuple):
    """Covariates, class indicators and prior of a fit of the posterior mode."""

    columns: Any  # DenseColumns or SparseColumns
    is_class: np.ndarray  # (n, q) 0 or 1
    counts: np.ndarray  # (n,)
    n_penalised: int  # columns under the penalty: all, or all but the intercept


class CoefficientPoint(NamedTuple):
    """Coefficients with objective, class probabilities and gradient."""

    coef: np.ndarray  # (q, m)
    linear: np.ndarray  # (n, q)
    share: np.ndarray  # (n, q) probabilities
    log_likelihood: float
    value: float  # F
    gradient: np.ndarray  # (q, m) of minus the log-likelihood and minus the intercepts' prior
    # (q, m) smallest subgradient of -F, 0 at the optimum
    slope: np.ndarray


class CoefficientMaximum(NamedTuple):
    """Coefficients at the posterior mode, with convergence."""

    coef: np.ndarray  # (q, m) of standardised covariates
    log_likelihood: float
    objective: float
    n_iter: int
    slope: float  # largest remaining, per unit of weight
    converged: bool


def maximise_posterior(
    observed: ObservedRows, eta: float, start: np.ndarray | None = None
) -> CoefficientMaximum:
    """Return the posterior mode for this eta, by Newton steps from `start`."""
    target = _PenalisedLikelihood(observed, eta)
    total_weight = float(observed.counts.sum())
    if start is None:
        start = np.zeros((observed.is_class.shape[1], observed.columns.m))
    point = target.evaluate(start)
    mode, n_steps, _ = maximise_newton(
        target, point, target.estimate_rounding_error(point), max_steps=MAX_STEPS
    )
    slope = float(mode.slope.max()) / total_weight
    return CoefficientMaximum(
        mode.coef, mode.log_likelihood, mode.value, n_steps, slope, slope <= 1e3 * TOLERANCE
    )


class _PenalisedLikelihood(Target[CoefficientPoint]):
    """Penalised log-likelihood F of the coefficients, to maximise."""

    def __init__(self, observed: ObservedRows, eta: float) -> None:
        self._observed = observed
        self._penalty = np.where(
            np.arange(observed.columns.m) < observed.n_penalised, math.sqrt(eta), 0.0
        )

    def evaluate(self, coef: np.ndarray) -> CoefficientPoint:
        """Return F and its derivatives at coefficients (q, m)."""
        return self._evaluate_predictors(coef, self._observed.columns.multiply(coef))

    def move_point(self, point: CoefficientPoint, change: np.ndarray) -> CoefficientPoint:
        """Return the point at coefficients changed by `change`."""
        return self._evaluate_predictors(
            point.coef + change, point.linear + self._observed.columns.multiply(change)
        )

    def _evaluate_predictors(self, coef: np.ndarray, predictors: np.ndarray) -> CoefficientPoint:
        """Return F and its derivatives, given known linear predictors."""
        columns, is_class, counts, n_penalised = self._observed
        log_p, probabilities = compute_class_probabilities(predictors, is_class)
        log_likelihood = float(counts @ log_p)
        intercepts = coef[:, n_penalised:]
        minus_log_prior = float(
            (np.abs(coef) @ self._penalty).sum() + 0.5 * (intercepts**2).sum() / INTERCEPT_VARIANCE
        )
        gradient = columns.multiply_transposed(counts[:, None] * (probabilities - is_class))
        gradient[:, n_penalised:] += intercepts / INTERCEPT_VARIANCE
        zero_slope = np.maximum(np.abs(gradient) - self._penalty, 0.0)
        slope = np.where(coef == 0.0, zero_slope, np.abs(gradient + self._penalty * np.sign(coef)))
        return CoefficientPoint(
            coef,
            predictors,
            probabilities,
            log_likelihood,
            log_likelihood - minus_log_prior,
            gradient,
            slope,
        )

    def slope(self, point: CoefficientPoint) -> CoefficientPoint:
        """Return the point itself, as it contains its derivatives."""
        return point

    def solve(self, slope: CoefficientPoint, damping: float) -> Step:
        """Return a proximal Newton step for the absolute-value penalty."""
        point = slope
        largest_slope = float(slope.slope.max())
        direction = np.zeros_like(slope.coef)
        if largest_slope <= TOLERANCE * float(self._observed.counts.sum()):
            return Step(direction, 0.0)
        class_indices, column_indices = np.nonzero(
            (point.coef != 0.0) | (point.slope > 0.0) | (self._penalty == 0.0)
        )
        curvature = self._compute_curvature(point, class_indices, column_indices)
        coef = point.coef[class_indices, column_indices]
        gradient = point.gradient[class_indices, column_indices]
        penalty = self._penalty[column_indices]
        step = np.zeros(len(coef))
        change = np.zeros(len(coef))
        descend_coordinates(
            curvature,
            gradient,
            coef,
            penalty,
            step,
            change,
            _MAX_SWEEPS,
            _INNER_TOLERANCE * largest_slope,
        )
        direction[class_indices, column_indices] = step
        return Step(
            direction, -float(gradient @ step + penalty @ (np.abs(coef + step) - np.abs(coef)))
        )

    def accepts_step(
        self, point: CoefficientPoint, ahead: CoefficientPoint, promised: float
    ) -> bool:
        """Return whether the gain is a sufficient share of the promised gain."""
        return ahead.value - point.value >= _MIN_GAIN * promised - self.estimate_rounding_error(
            point
        )

    def estimate_rounding_error(self, point: CoefficientPoint) -> float:
        """Return the rounding error of a difference of two values of F."""
        return _ROUNDING * (abs(point.value) + self._observed.columns.n)

    def _compute_curvature(
        self, point: CoefficientPoint, class_indices: np.ndarray, column_indices: np.ndarray
    ) -> np.ndarray:
        """Return the negative Hessian for selected coefficients."""
        # They are Z_a^T diag(c p_k (1{k=l} - p_l)) Z_b.
        class_positions = [np.flatnonzero(class_indices == k) for k in range(point.coef.shape[0])]
        curvature = np.empty((len(column_indices), len(column_indices)))
        for k, positions in enumerate(class_positions):
            for other_class in range(k + 1):
                other_positions = class_positions[other_class]
                row_weights = (
                    self._observed.counts
                    * point.share[:, k]
                    * ((k == other_class) - point.share[:, other_class])
                )
                curvature_block = self._observed.columns.compute_gram(
                    row_weights, column_indices[positions], column_indices[other_positions]
                )
                curvature[np.ix_(positions, other_positions)] = curvature_block
                curvature[np.ix_(other_positions, positions)] = curvature_block.T
        intercepts = np.flatnonzero(column_indices >= self._observed.n_penalised)
        curvature[intercepts, intercepts] += 1.0 / INTERCEPT_VARIANCE
        return curvature


@compiled
def descend_coordinates(
    curvature: Any,
    slopes: Any,
    coef: Any,
    penalty: Any,
    step: Any,
    change: Any,
    sweeps: int,
    tolerance: Any,
) -> None:
    """Minimise a quadratic plus absolute penalty by coordinate descent.

    The objective is slopes·step + step·curvature step / 2 + penalty·|coef + step|; change =
    curvature step.
    """
    for _ in range(sweeps):
        largest_gradient = 0.0
        for j in range(step.size):
            curvature_j = curvature[j, j]
            if curvature_j <= 0.0:
                continue
            old_coef = coef[j] + step[j]
            new_coef = old_coef - (slopes[j] + change[j]) / curvature_j
            threshold = penalty[j] / curvature_j
            if new_coef > threshold:
                new_coef -= threshold
            elif new_coef < -threshold:
                new_coef += threshold
            else:
                new_coef = 0.0
            move = new_coef - old_coef
            if move != 0.0:
                step[j] = new_coef - coef[j]
                for i in range(step.size):
                    change[i] += curvature[j, i] * move
                largest_gradient = max(largest_gradient, abs(move) * curvature_j)
        if largest_gradient <= tolerance:
            return


def find_largest_eta(observed: ObservedRows) -> float:
    """Return the smallest penalty eta at which all coefficients are 0.

    It is the square of the largest slope of a model with intercepts only, and a millionth more
    against rounding.
    """
    intercept_coef = maximise_posterior(observed, 1e300).coef
    gradient = _PenalisedLikelihood(observed, 1e300).evaluate(intercept_coef).gradient
    return float(np.abs(gradient[:, : observed.n_penalised]).max() ** 2) * (1.0 + 1e-6)


# The fit by the posterior mode, its path over eta, and predictions


# number of eta of a path, and the smallest as a share of the largest
N_PATH_POINTS = 30
SMALLEST_ETA_SHARE = 1e-4


def build_observed_rows(
    design: "LogitDesign", data: "TrainingData", prior: "CoefficientPrior"
) -> "ObservedRows":
    """Return covariates and prior for a fit of the posterior mode."""
    if is_sparse(data.matrix):
        columns: Any = build_sparse_columns(data.matrix, design.standardization, prior.intercept)
    else:
        columns = DenseColumns(design.standardization.varying(data.matrix), prior.intercept)
    free_classes = np.flatnonzero(np.arange(len(design.classes)) != design.reference_index)
    is_class = (data.codes[:, None] == free_classes).astype(float)
    return ObservedRows(columns, is_class, data.counts, len(design.columns))


def build_maximum_job(
    standardization: "Standardization", observed: "ObservedRows", prior: Any
) -> Job:
    """Return the job that fits the posterior mode."""

    def fit_mode() -> dict[str, Any]:
        """Maximise the posterior; return the fitted attributes."""
        mode = maximise_posterior(observed, prior.eta)
        scaled_coef = mode.coef[:, : observed.n_penalised]
        intercepts_at_mean = np.zeros(len(scaled_coef))
        if prior.intercept:
            intercepts_at_mean = mode.coef[:, -1]
        return {
            "scaled_coef_": scaled_coef,
            "scaled_intercept_": intercepts_at_mean,
            **convert_to_original_units(scaled_coef, intercepts_at_mean, standardization),
            "log_likelihood_": mode.log_likelihood,
            "objective_": mode.objective,
            "n_iter_": mode.n_iter,
            "slope_": mode.slope,
            "converged_": mode.converged,
        }

    return Job(fit_mode)


def convert_to_original_units(
    scaled_coef: np.ndarray, intercepts_at_mean: np.ndarray, standardization: "Standardization"
) -> dict[str, np.ndarray]:
    """Return coef_ and intercept_ in units of X."""
    unit, mean, sd = standardization
    standardised_coef = np.zeros((len(scaled_coef), len(sd)))
    standardised_coef[:, standardization.varies] = scaled_coef
    with np.errstate(over="ignore", under="ignore"):
        coef = np.nan_to_num(standardised_coef / sd / unit)
    return {"coef_": coef, "intercept_": intercepts_at_mean - standardised_coef @ (mean / sd)}


def predict_at_maximum(
    model: "SparseMultinomialLogit", design: "LogitDesign", matrix: "np.ndarray | csc_array"
) -> np.ndarray:
    """Return class probabilities at the posterior mode, shape (n, K)."""
    if is_sparse(matrix):
        predictors = matrix @ model.coef_.T + model.intercept_
    else:
        predictors = (
            design.standardization.varying(matrix) @ model.scaled_coef_.T + model.scaled_intercept_
        )
    predictors = np.insert(predictors, design.reference_index, 0.0, axis=1)
    return softmax(predictors)


def build_maximum_summary(coef: np.ndarray, design: "LogitDesign") -> "pandas.DataFrame":
    """Return a table of nonzero coefficients, largest first."""
    from thali._exportable_table import Table

    column_names = design.columns
    classes = design.free_labels
    nonzero_cells = list_nonzero_cells(coef)
    return Table(
        {"mean": [coef[cell] for cell in nonzero_cells]},
        index=[f"coef[{classes[k]}, {column_names[j]}]" for k, j in nonzero_cells],
    )


def compute_coefficient_path(
    observed: "ObservedRows", names: list[str], labels: list[Any], eta: Any
) -> "pandas.DataFrame":
    """Return a table of posterior modes for falling values of eta.

    Each maximum is started from the previous one.
    """
    from thali._exportable_table import Table

    if eta is None:
        largest_eta = find_largest_eta(observed)
        eta = largest_eta * np.logspace(0.0, np.log10(SMALLEST_ETA_SHARE), N_PATH_POINTS)
    etas = np.unique(np.asarray(eta, float).ravel())[::-1]
    if not (etas.size and np.isfinite(etas).all() and etas[-1] > 0.0):
        raise DataError(f"`eta` must contain positive numbers; got {eta!r}.")
    rows = []
    start_coef = None
    for step_eta in etas.tolist():
        mode = maximise_posterior(observed, step_eta, start_coef)
        start_coef = mode.coef
        coef = mode.coef[:, : observed.n_penalised]
        fit_columns = {"log_likelihood": mode.log_likelihood, "objective": mode.objective}
        named_coef = {
            f"coef[{label}, {name}]": coef[k, j]
            for k, label in enumerate(labels)
            for j, name in enumerate(names)
        }
        rows.append(
            {"eta": step_eta, "non_zero": int(np.count_nonzero(coef)), **fit_columns, **named_coef}
        )
    return Table(rows)
