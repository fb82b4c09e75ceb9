"""Variational inference of Plackett-Luce regression, with fixed or learned prior shape."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._compile.jit import compiled, scalar
from thali._inference.maximisation import iterate_squarem
from thali._inference.numerics.weight_shares import compute_shares

if TYPE_CHECKING:
    from .row_sums import CovariateRows


# The variational posterior of Plackett–Luce regression and its lower bound of the evidence --------
#
# q(λ_kj) = Gamma(a_kj, b_j); with optimal q(C) and q(Z), A = exp⟨ln λ⟩, m = Σ_k ⟨λ_k⟩, T =
# W·A_Y, S = W·m,
#
# F = Σ ln T_i/S_i − Σ KL(Gamma(a_kj, b_j) ‖ Gamma(a, b)),  a_kj ← a + A_kj Σ_{Y_i=k} W_ij/T_i,  b_j
# ← b + Σ W_ij/S_i.


@dataclass(frozen=True)
class VariationalStep:
    """Lower bound and next parameters after one pass over the rows."""

    bound: float  # F at the given shapes and rates
    shapes: np.ndarray  # (K, p), improved
    rates: np.ndarray  # (p,), improved
    # Σ ln T_i/S_i, expected under the optimal q(C) and q(Z), without their entropies
    log_likelihood: float


def compute_mean_log_weights(shapes: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Return expected log weights for Gamma shapes (K, p) and rates (p,)."""
    from scipy.special import digamma

    return digamma(shapes) - np.log(rates)


def take_variational_step(
    data: "CovariateRows", shapes: np.ndarray, rates: np.ndarray, a: float, b: float
) -> VariationalStep:
    """Return the bound, and one coordinate ascent step of the posterior."""
    log_weights = compute_mean_log_weights(shapes, rates)
    # maximum of each class, as ⟨ln λ⟩ may be far below the range of exp
    maximum = log_weights.max(axis=1, keepdims=True)
    A = np.exp(log_weights - maximum)
    sums = data.compute_statistics(A, (shapes / rates).sum(axis=0))
    expected_counts = A * sums.R
    log_likelihood = sums.log_likelihood + float(expected_counts.sum(axis=1) @ maximum[:, 0])
    bound = log_likelihood - compute_kl_divergence(shapes, rates, a, b)
    return VariationalStep(bound, a + expected_counts, b + sums.s, log_likelihood)


def compute_kl_divergence(shapes: np.ndarray, rates: np.ndarray, a: float, b: float) -> float:
    """Return the summed KL divergence of the Gamma posteriors from the prior."""
    from scipy.special import digamma, gammaln

    shape_terms = (shapes - a) * digamma(shapes) - gammaln(shapes) + gammaln(a)
    return float((shape_terms + a * np.log(rates / b) + shapes * (b - rates) / rates).sum())


# The shape a that maximises the bound of a variational posterior ----------------------------------


_SHAPE_TOLERANCE = 1e-13


def maximise_shape(
    a: float, counts: np.ndarray, slope: float, has_inverse_prior: bool, low: float, high: float
) -> float:
    """Return the prior shape a that maximises the bound, posterior fixed.

    q(λ) follows a. The objective is Σ_kj [ln Γ(a + n_kj) − ln Γ(a)] + a · slope (− ln a); it is
    maximised by Newton's method on ln a inside a shrinking bracket. If there are several maxima,
    the result is the one uphill from the start.
    """
    from scipy.special import digamma, polygamma

    counts = counts[counts > 0.0]

    def differentiate_objective(x: float) -> Any:  # with respect to x = ln a
        """Return first and second derivatives of the objective by x = ln a."""
        a = math.exp(x)
        first_derivative = a * (float((digamma(a + counts) - digamma(a)).sum()) + slope)
        second_derivative = first_derivative + a * a * float(
            (polygamma(1, a + counts) - polygamma(1, a)).sum()
        )
        return first_derivative - has_inverse_prior, second_derivative

    low_log_a = math.log(low)
    high_log_a = math.log(high)
    x = min(max(math.log(a), low_log_a), high_log_a)
    first_derivative, second_derivative = differentiate_objective(x)
    direction = 1.0 if first_derivative > 0.0 else -1.0
    while True:
        if first_derivative > 0.0:
            low_log_a = x
        else:
            high_log_a = x
        proposal = (
            x - first_derivative / second_derivative if second_derivative < 0.0 else x + direction
        )
        if not low_log_a < proposal < high_log_a:
            proposal = 0.5 * (low_log_a + high_log_a)
        if abs(proposal - x) < _SHAPE_TOLERANCE or high_log_a - low_log_a < _SHAPE_TOLERANCE:
            return math.exp(proposal)
        x = proposal
        first_derivative, second_derivative = differentiate_objective(x)


# starting values of a; from a large a, all classes can become equally probable
STARTS = (0.05, 0.01, 0.3)
_MAX_PASSES = 5000
_TOLERANCE = 1e-11
_CONVERGED = 1e-5
# largest share of n ln K, the deviance of equal probabilities, of a useful fit
_MAX_UNEXPLAINED = 0.95


@dataclass(frozen=True)
class VariationalFit:
    """Variational posterior with the best bound over several starts."""

    shapes: np.ndarray  # (K, p): q(λ_kj) = Gamma(a_kj, b_j)
    rates: np.ndarray  # (p,)
    a: float
    lower_bound: float  # F, without the prior on a
    log_likelihood: float  # at the posterior means
    # objective (F, plus ln p(a) if that prior is used) from the best start; it never decreases
    bounds: list[float]
    n_passes: int  # sweeps over the rows of all starts
    converged: bool
    collapsed: bool  # whether all classes are almost equally probable


@dataclass
class _VariationalAscent:
    """Map from a variational posterior to the next one, as vectors theta.

    A point contains the logarithms of shapes, rates and a. After each step all weights are scaled
    to the prior's optimum: ⟨Λ⟩ = Kpa/b. The likelihood does not depend on that scale, so that plain
    updates find it slowly.
    """

    data: Any
    b: float
    low: float
    high: float
    inverse_prior: bool

    def __post_init__(self) -> None:
        self.shape = (self.data.n_classes, self.data.p)

    def unpack(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Return Gamma shapes, rates and a from the vector theta."""
        n_cells = self.shape[0] * self.shape[1]
        return (
            np.exp(theta[:n_cells]).reshape(self.shape),
            np.exp(theta[n_cells:-1]),
            math.exp(theta[-1]),
        )

    def pack(self, shapes: np.ndarray, rates: np.ndarray, a: float) -> np.ndarray:
        """Return the vector theta of Gamma shapes, rates and a, optimally scaled."""
        rates = rates * (self.b * float((shapes / rates).sum()) / (a * shapes.size))
        return np.concatenate([np.log(shapes).ravel(), np.log(rates), [math.log(a)]])

    def build_start(self, a: float) -> np.ndarray:
        """Return the starting vector theta: equal weights, prior shape `a`."""
        n_cells = self.shape[0] * self.shape[1]
        return self.pack(
            np.full(self.shape, a + self.data.n / n_cells), np.full(self.shape[1], self.b), a
        )

    def take_step(self, theta: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the next theta at fixed prior shape a, and the lower bound."""
        shapes, rates, a = self.unpack(theta)
        step = take_variational_step(self.data, shapes, rates, a, self.b)
        return self.pack(step.shapes, step.rates, a), step.bound

    def take_step_with_shape(self, theta: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the next vector, a learned, and the objective."""
        theta[-1] = min(max(theta[-1], math.log(self.low)), math.log(self.high))
        gamma_shapes, gamma_rates, a = self.unpack(theta)
        step = take_variational_step(self.data, gamma_shapes, gamma_rates, a, self.b)
        expected_counts = np.maximum(step.shapes - a, 0.0)
        slope = -self.shape[0] * float(np.log(step.rates / self.b).sum())
        new_a = maximise_shape(a, expected_counts, slope, self.inverse_prior, self.low, self.high)
        return self.pack(
            new_a + expected_counts, step.rates, new_a
        ), step.bound - self.inverse_prior * math.log(a)


def fit_variational(
    data: "CovariateRows",
    *,
    a: float | None = None,
    a_range: tuple[float, float] = (1e-3, 1e2),
    b: float = 1.0,
    prior_of_a: str = "inverse",
    starts: Sequence[float] = STARTS,
) -> VariationalFit:
    """Return the best variational posterior over several starts."""
    if a is None:
        low = float(a_range[0])
        high = float(a_range[1])
    else:
        low = high = float(a)
        starts = low, *starts
    ascent = _VariationalAscent(data, b, low, high, a is None and prior_of_a == "inverse")
    take_step = ascent.take_step
    if a is None:
        take_step = ascent.take_step_with_shape
    best_run: Any = None
    n_passes = 0
    for start_a in starts:
        first_run = iterate_squarem(
            ascent.take_step, ascent.build_start(start_a), _MAX_PASSES, _CONVERGED
        )
        theta = first_run.theta
        if a is not None:
            theta[-1] = math.log(a)
        final_run = iterate_squarem(take_step, theta, _MAX_PASSES, _TOLERANCE)
        n_passes += first_run.n_passes + final_run.n_passes
        if best_run is None or final_run.values[-1] > best_run.values[-1]:
            best_run = final_run
    shapes, rates, final_a = ascent.unpack(best_run.theta)
    mean_weights = shapes / rates
    lower_bound = take_variational_step(data, shapes, rates, final_a, b).bound
    log_likelihood = data.compute_statistics(mean_weights, mean_weights.sum(axis=0)).log_likelihood
    return VariationalFit(
        shapes=shapes,
        rates=rates,
        a=final_a,
        lower_bound=lower_bound,
        log_likelihood=log_likelihood,
        bounds=best_run.values,
        n_passes=n_passes + 2,
        converged=best_run.converged,
        collapsed=log_likelihood < -_MAX_UNEXPLAINED * data.n * math.log(data.n_classes),
    )


# Class probabilities under independent Gamma weights, by an integral over one variable ------------
#
# .. math:: E\frac{A_k}{\sum_l A_l} = \int_0^\infty \prod_{lj} (1 + tW_j/b_j)^{-a_{lj}}
#           \sum_j \frac{W_j a_{kj}}{b_j + tW_j}\, dt, \qquad A_k = \sum_j W_j \lambda_{kj}
#
# It is summed over equal steps of ln t, with an error of order exp(−π²/step), as the integrand is
# smooth and never narrow. But it may be very wide: the product falls no faster than t to the power
# −Σ a of the active columns, and a column whose W is e^-60 becomes active at t = e^60. Between two
# columns every step multiplies the integrand by the same factor, so that the steps up to the next
# column are a geometric series.


_LOG_STEP = 0.3
_LOG_NEGLIGIBLE = 40.0  # e^-40 is negligible compared with 1


@scalar
def _count_equal_steps(log_t: Any, logs: Any, i: Any, margins: Any) -> Any:
    """Return how many integration steps remain until a column of row i matters."""
    # It is 0 while a column is becoming active, infinity if none is left.
    n_steps = math.inf
    for j in range(logs.shape[1]):
        x = log_t + logs[i, j]
        if x < margins[j]:
            n_steps = min(n_steps, math.floor((-margins[j] - x) / _LOG_STEP))
    return max(n_steps, 0.0)


@compiled
def _add_probability_integrals(
    logs: Any, shapes: Any, totals: Any, margins: Any, slopes: Any, probabilities: Any
) -> None:
    """Add each row's integrals to its class probabilities."""
    # `logs` contains ln(W / b), with 0 for the largest of a row.
    classes, p = shapes.shape
    for i in range(logs.shape[0]):
        total = 0.0
        for j in range(p):
            total += totals[j] * math.exp(logs[i, j])
        log_t = -_LOG_NEGLIGIBLE - math.log(total)
        log_product = 0.0
        while log_product > -_LOG_NEGLIGIBLE:
            log_product = 0.0
            decay = 0.0
            for k in range(classes):
                slopes[k] = 0.0
            for j in range(p):
                x = log_t + logs[i, j]
                odds = math.exp(-abs(x))
                active_share = (1.0 if x > 0.0 else odds) / (1.0 + odds)  # tW/(b + tW)
                log_product -= totals[j] * (max(x, 0.0) + math.log1p(odds))
                decay += totals[j] * active_share
                for k in range(classes):
                    slopes[k] += shapes[k, j] * active_share
            n_equal = _count_equal_steps(log_t, logs, i, margins)
            height = _LOG_STEP * math.exp(log_product)
            if n_equal > 0.0:  # 1 + q + q² + ..., including the current step
                height *= math.expm1(-decay * _LOG_STEP * (n_equal + 1.0)) / math.expm1(
                    -decay * _LOG_STEP
                )
            for k in range(classes):
                probabilities[i, k] += height * slopes[k]
            if n_equal == math.inf:
                break
            log_t += _LOG_STEP * (n_equal + 1.0)


def integrate_probabilities(log_W: np.ndarray, shapes: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Return class probabilities (n, K) by integration, before normalisation.

    Parameters and result as in `compute_expected_probabilities`; rows sum to 1 but for rounding.
    """
    log_W = log_W - np.log(rates)
    log_W -= log_W.max(axis=1, keepdims=True)  # absorbed in t
    shapes = np.ascontiguousarray(shapes, np.float64)
    shape_sums = shapes.sum(axis=0)
    margins = _LOG_NEGLIGIBLE + np.log(np.maximum(shape_sums, 1.0))
    probabilities = np.zeros((len(log_W), len(shapes)))
    _add_probability_integrals(
        log_W, shapes, shape_sums, margins, np.zeros(len(shapes)), probabilities
    )
    return probabilities


def compute_expected_probabilities(
    log_W: np.ndarray, shapes: np.ndarray, rates: np.ndarray
) -> np.ndarray:
    """Return expected class probabilities (n, K) under the posterior, from ln W.

    λ_kj ~ Gamma(a_kj, b_j).
    """
    probabilities = integrate_probabilities(np.asarray(log_W, np.float64), shapes, rates)
    return compute_shares(probabilities)
