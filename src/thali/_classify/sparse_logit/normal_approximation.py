r"""Normal approximations (Laplace, variational) of the sparse logit's posterior.

.. math:: q(\beta, b) = \mathrm{Normal}(m, P^{-1}), \qquad
          q(\eta) \propto \eta^{\text{shape} - 1
          + N/2} e^{-\text{rate}\,\eta - \sqrt\eta \sum_j E_q|\beta_j|}

The Laplace prior has no second derivative at 0, where many coefficients are, so it is
replaced by its expectation under q, which is smooth: with s_j the standard deviation of beta_j,
E|beta_j| has the slope 2 Phi(m_j / s_j) - 1, and it adds 2 E[sqrt eta] phi(m_j / s_j) / s_j to P.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import ClassVar, NamedTuple

import numpy as np

from thali._inference.index_arithmetic import iterate_slices
from thali._inference.markov_chains import BLOCK, IndependentDraws
from thali._inference.numerics.log_densities import LOG_2PI
from thali._inference.numerics.weight_shares import compute_shares, scale_to_maximum, softmax
from thali._inference.user_warnings import warn
from thali.errors import DataError, DataWarning, Setting

from .covariate_columns import SparseColumns, compute_class_probabilities
from .gibbs_sweep import INTERCEPT_VARIANCE, CoefficientDraws, CoefficientProblem
from .time_forecast import MAX_COEFFICIENTS, MIN_ROWS_PER_COEFFICIENT, has_few_rows

# The log-likelihood of the multinomial logit to second order, at given coefficients, or its mean
# over a normal distribution of them
#
# The mean over Normal(mu, V) of the q linear predictors of a row, V = L L^T, is the mean over
# points mu + L u. The u are the axes of some rotations at several radii: exact for polynomials of
# degree 3, and with r radii and every rotation of degree 4 r - 1. The curvature of the mean is -2
# times its slopes in V, which are exact for this rule, so that a natural gradient of the bound
# raises it.
#
# References: Arasaratnam & Haykin (2009), Cubature Kalman filters, section 3; Opper & Archambeau
# (2009), equation 10.


BLOCK_ROWS = 2**14  # rows of a block
_BLOCK_CELLS = 2**23  # cells of a dense product of a sparse block: 64 MB
# number of radii; with few rows coefficients are uncertain, which requires a better rule
RADII_OF_FEW_ROWS = 3
RADII_OF_MANY_ROWS = 1


class Expansion(NamedTuple):
    """Log-likelihood, gradient and Hessian by the coefficients of q classes."""

    log_likelihood: float
    gradient: np.ndarray  # (q m,)
    curvature: np.ndarray  # (q m, q m), minus the second derivatives


def expand_log_likelihood(
    problem: CoefficientProblem,
    coef: np.ndarray,
    covariance: np.ndarray | None = None,
    n_radii: int = RADII_OF_FEW_ROWS,
) -> Expansion:
    """Return the log-likelihood's expansion at coef (q, m), by blocks of rows.

    With `covariance`, expand its mean over Normal(coef, covariance).
    """
    q, m = coef.shape
    log_likelihood = 0.0
    gradient = np.zeros((q, m))
    curvature = np.zeros((q, m, q, m))
    for row_slice, Z in _iterate_row_blocks(problem.covariates):
        is_class = (problem.free_classes[:, None] == problem.codes[row_slice]).astype(float)
        predictors = Z.multiply(coef)
        if covariance is None:
            row_expansion = _expand_at_predictors(predictors, is_class)
        else:
            row_expansion = _expand_mean(predictors, is_class, Z, covariance, n_radii)
        hessian_weights = problem.counts[row_slice] * row_expansion.curvature
        log_likelihood += float(problem.counts[row_slice] @ row_expansion.log_likelihood)
        gradient += Z.multiply_transposed(problem.counts[row_slice] * row_expansion.gradient)
        for k in range(q):
            for other_class in range(k + 1):
                curvature[k, :, other_class] += Z.compute_gram(hessian_weights[k, other_class])
    for k in range(q):
        for other_class in range(k):
            curvature[other_class, :, k] = curvature[k, :, other_class].T
    return Expansion(log_likelihood, gradient.ravel(), curvature.reshape(q * m, q * m))


class _DenseRows(NamedTuple):
    """A block of rows of dense covariates."""

    Z: np.ndarray  # (m, rows)

    def multiply(self, coef: np.ndarray) -> np.ndarray:
        """Return linear predictors (q, rows) at coefficients (q, m)."""
        return coef @ self.Z

    def multiply_transposed(self, residuals: np.ndarray) -> np.ndarray:
        """Return weighted sums over the rows, (q, m), for weights (q, rows)."""
        return residuals @ self.Z.T

    def compute_gram(self, weights: np.ndarray) -> np.ndarray:
        """Return weighted second moments (m, m) of the rows."""
        return (self.Z * weights) @ self.Z.T

    def compute_quadratic_forms(self, matrix: np.ndarray) -> np.ndarray:
        """Return z'Mz of each row z, for a matrix M (m, m)."""
        return ((matrix @ self.Z) * self.Z).sum(axis=0)


class _SparseRows(SparseColumns):
    """A block of rows of sparse covariates, like `_DenseRows`."""

    def multiply(self, coef: np.ndarray) -> np.ndarray:
        """Return linear predictors (q, rows) at coefficients (q, m)."""
        return np.ascontiguousarray(super().multiply(coef).T)

    def multiply_transposed(self, residuals: np.ndarray) -> np.ndarray:
        """Return weighted sums over the rows, (q, m), for weights (q, rows)."""
        return super().multiply_transposed(residuals.T)


def _iterate_row_blocks(
    covariates: np.ndarray | SparseColumns,
) -> Iterator[tuple[slice, _DenseRows | _SparseRows]]:
    """Yield blocks of rows of the covariates (m, n)."""
    m, n = covariates.shape
    is_dense = isinstance(covariates, np.ndarray)
    block_size = BLOCK_ROWS
    if not is_dense:
        block_size = max(1, min(BLOCK_ROWS, _BLOCK_CELLS // m))
    for row_slice in iterate_slices(n, 1, block_size):
        if is_dense:
            yield row_slice, _DenseRows(covariates[:, row_slice])
        else:
            yield row_slice, _SparseRows(covariates.S[row_slice], covariates.shift)


class QuadratureRule(NamedTuple):
    """Nodes and weights for expectations over a standard normal vector of length q."""

    points: np.ndarray  # (points, q)
    weights: np.ndarray  # (points,)


@cache
def build_quadrature_rule(q: int, n_radii: int) -> QuadratureRule:
    """Return nodes on rotated axes at Gauss-Laguerre radii, with weights."""
    from scipy.special import roots_genlaguerre

    # nodes for half the squared length
    half_squares, radius_weights = roots_genlaguerre(n_radii, 0.5 * q - 1.0)
    rng = np.random.default_rng(0)
    n_rotations = max(2, 8 // q)
    if q == 1:
        n_rotations = 1
    rotations = [np.linalg.qr(rng.normal(size=(q, q)))[0] for _ in range(n_rotations)]
    axes = np.concatenate([sign * rotation for rotation in rotations for sign in (1.0, -1.0)])
    points = np.concatenate([math.sqrt(2.0 * half_square) * axes for half_square in half_squares])
    return QuadratureRule(points, np.repeat(compute_shares(radius_weights) / len(axes), len(axes)))


class _RowExpansion(NamedTuple):
    """Each row's log-likelihood, gradient and Hessian by its q predictors."""

    log_likelihood: np.ndarray  # (n,)
    gradient: np.ndarray  # (q, n)
    curvature: np.ndarray  # (q, q, n)


def _expand_at_predictors(predictors: np.ndarray, is_class: np.ndarray) -> _RowExpansion:
    """Return each row's log-likelihood to second order at predictors (q, n)."""
    log_p, (probabilities,) = compute_class_probabilities(predictors[None], is_class)
    curvature = -probabilities[:, None] * probabilities
    np.einsum("kki->ki", curvature)[:] += probabilities
    return _RowExpansion(log_p[0], is_class - probabilities, curvature)


def _expand_mean(
    predictors: np.ndarray,
    is_class: np.ndarray,
    Z: _DenseRows | _SparseRows,
    covariance: np.ndarray,
    n_radii: int,
) -> _RowExpansion:
    """Return each row's mean log-likelihood to second order over normal predictors."""
    # With L̄ the slopes of the mean in L, its slopes in V are half of L^-T (P + P^T) L^-1, where P
    # is the lower triangle of L^T L̄ with half its diagonal.
    q, n = predictors.shape
    m = len(covariance) // len(predictors)
    predictor_covariance = np.empty((n, q, q))
    for k in range(q):
        for other_class in range(k + 1):
            covariance_block = covariance[
                k * m : (k + 1) * m, other_class * m : (other_class + 1) * m
            ]
            predictor_covariance[:, k, other_class] = predictor_covariance[:, other_class, k] = (
                Z.compute_quadratic_forms(covariance_block)
            )
    # keeps the covariance of rows of zeros positive definite
    predictor_covariance[:, np.arange(q), np.arange(q)] += 1e-14 * (
        1.0 + np.einsum("ikk->ik", predictor_covariance)
    )
    covariance_root = np.linalg.cholesky(predictor_covariance)
    points, weights = build_quadrature_rule(q, n_radii)
    deviations = points @ np.ascontiguousarray(covariance_root.transpose(2, 1, 0)).reshape(q, q * n)
    log_p, probabilities = compute_class_probabilities(
        predictors + deviations.reshape(-1, q, n), is_class
    )
    weighted_residuals = weights[:, None, None] * (is_class - probabilities)
    slopes = (points.T @ weighted_residuals.reshape(-1, q * n)).reshape(q, q, n).transpose(2, 1, 0)
    P = np.tril(covariance_root.transpose(0, 2, 1) @ slopes)
    P[:, np.arange(q), np.arange(q)] *= 0.5
    inverse_root = np.linalg.inv(covariance_root)
    curvature = -inverse_root.transpose(0, 2, 1) @ (P + P.transpose(0, 2, 1)) @ inverse_root
    return _RowExpansion(
        weights @ log_p, weighted_residuals.sum(axis=0), curvature.transpose(1, 2, 0)
    )


# expands at coefficients (q, m), or over a normal distribution with a covariance
Expand = Callable[..., Expansion]
SETTLED = 1e-4  # largest change at the end, in standard deviations


class NormalPosterior(NamedTuple):
    """Normal approximation of the coefficients' posterior, with bound and eta."""

    mean: np.ndarray  # (q m,)
    factor: np.ndarray  # (q m, q m) lower; factor factor^T = P
    expansion: Expansion  # at the mean
    etas: np.ndarray  # values of eta, and their probabilities
    shares: np.ndarray
    converged: bool
    lower_bound: float  # of ln P(y | X); NaN by Laplace's approximation


def build_intercept_mask(problem: CoefficientProblem) -> np.ndarray:
    """Return a mask of the intercepts among the coefficients, shape (q m,)."""
    return np.tile(
        np.arange(problem.covariates.shape[0]) >= problem.n_penalised, problem.classes - 1
    )


def differentiate_prior(
    mean: np.ndarray, sd: np.ndarray, mean_root_eta: float, is_intercept: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return minus first and second derivatives of the expected log prior."""
    from scipy.special import ndtr

    z = mean / sd
    slope = np.where(is_intercept, mean / INTERCEPT_VARIANCE, mean_root_eta * (2.0 * ndtr(z) - 1.0))
    return slope, np.where(
        is_intercept, 1.0 / INTERCEPT_VARIANCE, 2.0 * mean_root_eta * compute_normal_density(z) / sd
    )


def compute_normal_density(z: np.ndarray) -> np.ndarray:
    """Return the standard normal density at z."""
    return np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)


def compute_mean_absolute_value(mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """Return E|x| of x ~ Normal(mean, sd²)."""
    from scipy.special import ndtr

    z = mean / sd
    return 2.0 * sd * compute_normal_density(z) + mean * (2.0 * ndtr(z) - 1.0)


def compute_eta_distribution(
    shape: float, absolute_sum: float, rate: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return a grid of eta values and their probabilities.

    The root v of eta has a density proportional to v^(shape-1) exp(-absolute_sum v - rate v²).
    """
    log_v, log_density = evaluate_root_log_density(shape, absolute_sum, rate)
    v = np.exp(log_v)
    return v * v, softmax(log_density)


def evaluate_root_log_density(
    shape: float, absolute_sum: float, rate: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return a grid of ln v, where v = sqrt(eta), and its log density up to a constant."""
    discriminant_root = math.sqrt(absolute_sum * absolute_sum + 8.0 * shape * rate)
    mode = 2.0 * shape / (absolute_sum + discriminant_root)  # of ln v
    width = 1.0 / math.sqrt(absolute_sum * mode + 4.0 * rate * mode * mode)
    log_v = math.log(mode) + width * np.linspace(-12.0, 8.0, 801)
    v = np.exp(log_v)
    return log_v, shape * log_v - absolute_sum * v - rate * v * v


# The Laplace approximation: the log-likelihood to second order at its mean ------------------------
#
# Means, standard deviations and q(eta) are improved in turn until they converge.


_MAX_ROUNDS = 200


def fit_laplace_approximation(
    problem: CoefficientProblem, eta: float | None, expand: Expand
) -> NormalPosterior:
    """Return the Laplace approximation; `eta` None means learned."""
    from scipy.linalg import cho_solve

    q = problem.classes - 1
    m = problem.covariates.shape[0]
    is_intercept = build_intercept_mask(problem)
    mean = np.zeros(q * m)
    sd = np.ones(q * m)
    etas = np.full(1, eta or 1.0)
    eta_probabilities = np.ones(1)
    expansion = expand(mean.reshape(q, m))
    step_length = 1.0
    has_settled = False
    for _ in range(_MAX_ROUNDS):
        mean_root_eta = float(eta_probabilities @ np.sqrt(etas))
        prior_slope, prior_curvature = differentiate_prior(mean, sd, mean_root_eta, is_intercept)
        precision_factor = _factorise_precision(
            expansion.curvature + np.diag(prior_curvature), expansion.curvature, mean_root_eta
        )
        covariance = cho_solve((precision_factor, True), np.eye(q * m))
        new_sd = np.sqrt(np.diag(covariance))
        newton_step = cho_solve((precision_factor, True), expansion.gradient - prior_slope)
        largest_change = max(np.abs(newton_step / new_sd).max(), np.abs(np.log(new_sd / sd)).max())
        sd = np.sqrt(sd * new_sd)
        if has_settled:
            break
        objective = _compute_mean_objective(expansion, mean, sd, mean_root_eta, is_intercept)
        while True:
            new_mean = mean + step_length * newton_step
            new_expansion = expand(new_mean.reshape(q, m))
            if (
                _compute_mean_objective(new_expansion, new_mean, sd, mean_root_eta, is_intercept)
                >= objective - 1e-9 * (1.0 + abs(objective))
                or step_length < 1e-6
            ):
                break
            step_length *= 0.5
        mean = new_mean
        expansion = new_expansion
        step_length = min(1.0, 2.0 * step_length)
        if eta is None:
            absolute_sum = float(compute_mean_absolute_value(mean, sd)[~is_intercept].sum())
            etas, eta_probabilities = compute_eta_distribution(
                2.0 * problem.shape + q * problem.n_penalised, absolute_sum, problem.rate
            )
            largest_change = max(
                largest_change, abs(float(eta_probabilities @ np.sqrt(etas)) / mean_root_eta - 1.0)
            )
        has_settled = largest_change < SETTLED
    return NormalPosterior(
        mean,
        precision_factor,  # type: ignore[possibly-unbound]
        expansion,
        etas,
        eta_probabilities,
        has_settled,
        math.nan,
    )


def _factorise_precision(
    precision: np.ndarray, curvature: np.ndarray, mean_root_eta: float
) -> np.ndarray:
    """Return the Cholesky factor of the coefficients' posterior precision."""
    # If rounding makes P singular, add a small share of the prior's precision.
    from scipy.linalg import LinAlgError, cholesky

    try:
        return cholesky(precision, lower=True)
    except LinAlgError:
        return cholesky(
            precision + np.diag(1e-3 * mean_root_eta * mean_root_eta + 1e-9 * np.diag(curvature)),
            lower=True,
        )


def _compute_mean_objective(
    expansion: Expansion,
    mean: np.ndarray,
    sd: np.ndarray,
    mean_root_eta: float,
    is_intercept: np.ndarray,
) -> float:
    """Return the objective that the posterior means maximise."""
    minus_log_prior = np.where(
        is_intercept,
        0.5 * mean**2 / INTERCEPT_VARIANCE,
        mean_root_eta * compute_mean_absolute_value(mean, sd),
    )
    return expansion.log_likelihood - float(minus_log_prior.sum())


# The variational normal posterior, which maximises the lower bound of the evidence,
#
# .. math:: F = E_q[\ln P(y \mid X, \beta, b) + \ln p(\beta, b \mid \eta) + \ln p(\eta) - \ln q].
#
# A natural-gradient step of length 1 makes P the mean curvature under q, and moves m by Newton's
# step with this P; shorter steps mix old and new P and P m. Previous steps are combined with it
# (Anderson acceleration) where that raises the bound; else a step is shortened until it does.
#
# References: Opper & Archambeau (2009), The variational Gaussian approximation revisited; Khan &
# Lin (2017), Conjugate-computation variational inference; Walker & Ni (2011), Anderson acceleration
# for fixed-point iterations.


_MAX_EVALUATIONS = 500
_MEMORY, _BYTES = 8, 2**30  # largest number and size of the steps that are combined
# rounds of Newton's steps, which are faster where a step of length 1 raises the bound
_NEWTON_ROUNDS = 8
_COMBINED_LENGTH = 0.5  # length of a combined step
_MIN_LENGTH = 1e-4  # shortest step that is tried
# the bound has converged if it rises by less per coefficient in this number of rounds
_FLAT = 1e-4, 10


class _VariationalPoint(NamedTuple):
    """A normal posterior with its lower bound and the next natural-gradient step."""

    precision: np.ndarray
    pull: np.ndarray  # P m
    factor: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    eta_distribution: tuple[np.ndarray, np.ndarray]  # etas and their probabilities
    bound: float
    precision_step: np.ndarray
    pull_step: np.ndarray
    change: float  # by the step, in standard deviations


@dataclass
class _LowerBound:
    """Lower bound of the log evidence, as a function of the posterior's precision P and P m (m its
    mean)."""

    problem: CoefficientProblem
    eta: float | None
    expand: Expand
    n_evaluations: int = 0

    def __post_init__(self) -> None:
        self.is_intercept = build_intercept_mask(self.problem)

    def evaluate(self, precision: np.ndarray, pull: np.ndarray) -> _VariationalPoint | None:
        """Return the bound and next step at P and P m; None if P is not positive."""
        from scipy.linalg import LinAlgError, cho_solve, cholesky

        self.n_evaluations += 1
        problem = self.problem
        is_intercept = self.is_intercept
        try:
            precision_factor = cholesky(precision, lower=True)
        except LinAlgError:
            return None
        covariance = cho_solve((precision_factor, True), np.eye(len(precision_factor)))
        mean = covariance @ pull
        sd = np.sqrt(np.diag(covariance))
        expansion: Expansion = self.expand(mean.reshape(problem.classes - 1, -1), covariance)
        absolute_sum = float(compute_mean_absolute_value(mean, sd)[~is_intercept].sum())
        if self.eta is None:
            eta_distribution = compute_eta_distribution(
                2.0 * problem.shape + np.count_nonzero(~is_intercept), absolute_sum, problem.rate
            )
        else:
            eta_distribution = np.full(1, self.eta), np.ones(1)
        prior_slope, prior_curvature = differentiate_prior(
            mean, sd, float(eta_distribution[1] @ np.sqrt(eta_distribution[0])), is_intercept
        )
        target_precision = expansion.curvature + np.diag(prior_curvature)
        gradient = expansion.gradient - prior_slope
        lower_bound = expansion.log_likelihood + _compute_prior_and_entropy(
            problem, self.eta, absolute_sum, mean[is_intercept], sd[is_intercept], precision_factor
        )
        sd_change = 0.5 * np.abs(np.einsum("ij,ji->i", covariance, target_precision - precision))
        largest_change = max(
            float(np.abs(covariance @ gradient / sd).max()), float(sd_change.max())
        )
        return _VariationalPoint(
            precision,
            pull,
            precision_factor,
            mean,
            sd,
            eta_distribution,
            lower_bound,
            target_precision - precision,
            target_precision @ mean + gradient - pull,
            largest_change,
        )


def fit_variational_approximation(
    problem: CoefficientProblem, eta: float | None, expand: Expand
) -> NormalPosterior:
    """Return the variational normal posterior; `eta` None means learned."""
    q = problem.classes - 1
    m = problem.covariates.shape[0]
    lower_bound = _LowerBound(problem, eta, expand)
    prior_precision = np.where(lower_bound.is_intercept, 1.0 / INTERCEPT_VARIANCE, 1.0)
    best_point = lower_bound.evaluate(
        expand(np.zeros((q, m))).curvature + np.diag(prior_precision), np.zeros(q * m)
    )
    assert best_point is not None  # the curvature at one point is that of a concave function
    n_remembered = min(_MEMORY, max(1, _BYTES // (24 * best_point.precision.size)))
    points = [best_point]
    bounds = [best_point.bound]
    step_length = 1.0
    has_settled = best_point.change < SETTLED
    while not has_settled and lower_bound.n_evaluations < _MAX_EVALUATIONS:
        is_slow = step_length < 1.0 or len(bounds) > _NEWTON_ROUNDS
        new_point = None
        if is_slow and len(points) > 1:
            new_point = lower_bound.evaluate(*_combine_steps(points))
        if new_point is None or not _raises_bound(best_point, new_point):
            if is_slow:
                points = points[-1:]
            while True:
                new_point = lower_bound.evaluate(*_take_step(best_point, step_length))
                if (
                    new_point is not None and _raises_bound(best_point, new_point)
                ) or step_length < _MIN_LENGTH:
                    break
                step_length *= 0.5
            # the gain is below the precision of floats
            if new_point is None or not _raises_bound(best_point, new_point):
                break
            step_length = min(1.0, 2.0 * step_length)
        best_point = new_point
        points = [*points[-n_remembered:], new_point]
        bounds = [*bounds, new_point.bound]
        has_settled = best_point.change < SETTLED or has_flat_bound(bounds, q * m)
    expansion = expand(best_point.mean.reshape(q, m))
    return NormalPosterior(
        best_point.mean,
        best_point.factor,
        expansion,
        *best_point.eta_distribution,
        has_settled,
        best_point.bound,
    )


def _raises_bound(point: _VariationalPoint, new_point: _VariationalPoint) -> bool:
    """Return whether a new posterior raises the bound, up to rounding."""
    return new_point.bound >= point.bound - 1e-9 * (1.0 + abs(point.bound))


def has_flat_bound(bounds: Sequence[float], n_coefficients: int) -> bool:
    """Return whether the bound rose too little in the last rounds."""
    min_rise, n_rounds = _FLAT
    return len(bounds) > n_rounds and bounds[-1] - bounds[-1 - n_rounds] < min_rise * n_coefficients


def _combine_steps(points: Sequence[_VariationalPoint]) -> tuple[np.ndarray, np.ndarray]:
    """Return the precision P and pull P m mixed from several steps (Anderson acceleration)."""
    # Sizes of steps are measured in the scale of the last precision.
    *previous_points, last_point = points
    coordinate_scale = 1.0 / np.sqrt(np.diag(last_point.precision))

    def flatten_step(precision: np.ndarray, pull: np.ndarray) -> np.ndarray:
        """Return a step as one vector, scaled by the last precision."""
        return np.concatenate(
            [
                (precision * coordinate_scale * coordinate_scale[:, None]).ravel() / math.sqrt(2.0),
                pull * coordinate_scale,
            ]
        )

    mixed_points = [
        _take_step(last_point, _COMBINED_LENGTH),
        *(_take_step(point, _COMBINED_LENGTH) for point in previous_points),
    ]
    last_step = flatten_step(last_point.precision_step, last_point.pull_step)
    differences = np.array(
        [
            last_step - flatten_step(point.precision_step, point.pull_step)
            for point in previous_points
        ]
    )
    gram_matrix = differences @ differences.T
    gram_matrix += 1e-10 * np.trace(gram_matrix) * np.eye(len(previous_points))
    coefficients = np.linalg.solve(gram_matrix, differences @ last_step)
    weights = np.concatenate([[1.0 - coefficients.sum()], coefficients])
    weighted_points = [
        (w * precision, w * pull)
        for w, (precision, pull) in zip(weights, mixed_points, strict=True)
    ]
    precision, pull = (
        np.sum([point[part_index] for point in weighted_points], axis=0) for part_index in (0, 1)
    )
    return 0.5 * (precision + precision.T), pull


def _take_step(point: _VariationalPoint, step_length: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the precision P and pull P m after a step of this length."""
    return (
        point.precision + step_length * point.precision_step,
        point.pull + step_length * point.pull_step,
    )


def _compute_prior_and_entropy(
    problem: CoefficientProblem,
    eta: float | None,
    absolute_sum: float,
    intercepts: np.ndarray,
    intercept_sd: np.ndarray,
    factor: np.ndarray,
) -> float:
    """Return the terms of the bound other than the log-likelihood."""
    # They are E ln p(beta, b), the terms of eta, and the entropy.
    from scipy.special import gammaln

    n_penalised = len(factor) - len(intercepts)
    if eta is None:  # ln of the integral of p(eta) (sqrt(eta)/2)^count exp(-sqrt(eta) size)
        log_v, log_density = evaluate_root_log_density(
            2.0 * problem.shape + n_penalised, absolute_sum, problem.rate
        )
        log_integral = log_density.max() + math.log(
            scale_to_maximum(log_density).sum() * (log_v[1] - log_v[0])
        )
        log_prior = (
            math.log(2.0)
            + problem.shape * math.log(problem.rate)
            - gammaln(problem.shape)
            + log_integral
        )
    else:
        log_prior = 0.5 * n_penalised * math.log(eta) - math.sqrt(eta) * absolute_sum
    log_prior -= n_penalised * math.log(2.0)
    log_prior -= 0.5 * float((intercepts**2 + intercept_sd**2).sum()) / INTERCEPT_VARIANCE
    log_prior -= 0.5 * len(intercepts) * math.log(2.0 * math.pi * INTERCEPT_VARIANCE)
    return log_prior + 0.5 * len(factor) * (1.0 + LOG_2PI) - float(np.log(np.diag(factor)).sum())


# The normal approximation of a fit, and chains of its draws


def check_approximation_size(n_coefficients: int, n_rows: float) -> None:
    """Raise ArgumentError for too many coefficients; warn of too few rows."""
    if n_coefficients > MAX_COEFFICIENTS:
        raise DataError(
            f"A normal approximation is limited to {MAX_COEFFICIENTS:,} coefficients (over all"
            f" classes), but these data require {n_coefficients:,}; set ",
            Setting("method", "polya-gamma"),
            " or ",
            Setting("method", "map"),
            ".",
        )
    if has_few_rows(n_rows, n_coefficients):
        warn(  # the same text for all fits of a search
            DataWarning(
                f"There are fewer than {MIN_ROWS_PER_COEFFICIENT} rows per coefficient, so standard"
                " deviations from the normal approximation are too small; set ",
                Setting("method", "polya-gamma"),
                ".",
            )
        )


def fit_normal_approximation(
    problem: CoefficientProblem, eta: float | None, is_variational: bool = False
) -> NormalPosterior:
    """Return the Laplace or variational normal posterior."""
    expand = partial(expand_log_likelihood, problem, n_radii=choose_radii(problem))
    if is_variational:
        return fit_variational_approximation(problem, eta, expand)
    return fit_laplace_approximation(problem, eta, expand)


def choose_radii(problem: CoefficientProblem) -> int:
    """Return how many radii the quadrature rule needs for the rows of a problem."""
    n_rows = float(problem.counts.sum())
    if has_few_rows(n_rows, (problem.classes - 1) * problem.covariates.shape[0]):
        return RADII_OF_FEW_ROWS
    return RADII_OF_MANY_ROWS


class NormalChain(IndependentDraws):
    """Independent draws of coefficients and eta from the normal approximation.

    Their log-likelihoods are computed from the expansion.
    """

    scale_rate: ClassVar[float] = float("nan")  # there is no such move

    problem: CoefficientProblem
    normal: NormalPosterior
    record: CoefficientDraws

    def __init__(
        self,
        problem: CoefficientProblem,
        normal: NormalPosterior,
        draws: int,
        rng: np.random.Generator,
    ) -> None:
        self.problem = problem
        self.normal = normal
        super().__init__(draws, rng)
        coef = np.zeros((draws, problem.classes, problem.covariates.shape[0]))
        self.record = CoefficientDraws(coef, np.zeros(draws), np.zeros(draws))

    def _draw_block(self, rng: np.random.Generator) -> CoefficientDraws:
        """Draw coefficients and eta from the approximation, with log-likelihoods."""
        from scipy.linalg import solve_triangular

        normal = self.normal
        expansion = self.normal.expansion
        K = self.problem.classes
        standard_normals = rng.standard_normal((normal.mean.size, BLOCK))
        deviations = solve_triangular(normal.factor.T, standard_normals).T
        coef = np.zeros((BLOCK, K, normal.mean.size // (K - 1)))
        coef[:, self.problem.free_classes] = (normal.mean + deviations).reshape(BLOCK, K - 1, -1)
        log_likelihood_change = deviations @ expansion.gradient - 0.5 * np.einsum(
            "ij,ij->i", deviations @ expansion.curvature, deviations
        )
        eta_indices = np.searchsorted(normal.shares.cumsum(), rng.random(BLOCK))
        etas = normal.etas[np.minimum(eta_indices, len(normal.etas) - 1)]
        return CoefficientDraws(coef, expansion.log_likelihood + log_likelihood_change, etas)
