"""Variational inference of Plackett–Luce regression, with its shape a fixed or learned."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thali._compile.jit import compiled, scalar
from thali._inference.optimise import iterate_squarem

# The variational posterior of Plackett–Luce regression and its lower bound of the evidence --------
#
# q(λ_kj) = Gamma(a_kj, b_j); with q(C) and q(Z) at their best, A = exp⟨ln λ⟩, m = Σ_k ⟨λ_k⟩, T =
# W·A_Y, S = W·m,
#
# F = Σ ln T_i/S_i − Σ KL(Gamma(a_kj, b_j) ‖ Gamma(a, b)),  a_kj ← a + A_kj Σ_{Y_i=k} W_ij/T_i,  b_j
# ← b + Σ W_ij/S_i.


@dataclass(frozen=True)
class VariationalStep:
    """The result of one sweep over the rows for a variational posterior."""

    bound: float  # F at the given shapes and rates
    shapes: np.ndarray  # (K, p), improved
    rates: np.ndarray  # (p,), improved
    # Σ ln T_i/S_i: expected, under the best q(C) and q(Z), without their entropies
    log_likelihood: float


def mean_logs(shapes: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """⟨ln λ⟩."""
    from scipy.special import digamma

    return digamma(shapes) - np.log(rates)


def variational_step(
    data: Any, shapes: np.ndarray, rates: np.ndarray, a: float, b: float
) -> VariationalStep:
    """F at q(λ), and one coordinate ascent step from there, in a single sweep over the rows."""
    logs = mean_logs(shapes, rates)
    # of a class; ⟨ln λ⟩ itself may be far below the range of exp
    top = logs.max(axis=1, keepdims=True)
    A = np.exp(logs - top)
    sums = data.statistics(A, (shapes / rates).sum(axis=0))
    counts = A * sums.R
    fit = sums.log_likelihood + float(counts.sum(axis=1) @ top[:, 0])
    bound = fit - divergence(shapes, rates, a, b)
    return VariationalStep(bound, a + counts, b + sums.s, fit)


def divergence(shapes: np.ndarray, rates: np.ndarray, a: float, b: float) -> float:
    """Σ KL(Gamma(a_kj, b_j) ‖ Gamma(a, b))."""
    from scipy.special import digamma, gammaln

    own = (shapes - a) * digamma(shapes) - gammaln(shapes) + gammaln(a)
    return float((own + a * np.log(rates / b) + shapes * (b - rates) / rates).sum())


# The shape a that maximises the bound of a variational posterior ----------------------------------


_CLOSE = 1e-13


def learned_shape(
    a: float, counts: np.ndarray, slope: float, inverse_prior: bool, low: float, high: float
) -> float:
    """The a that maximises the bound for given q(C) and q(Z) while q(λ) follows it.

    Σ_kj [ln Γ(a + n_kj) − ln Γ(a)] + a · slope (− ln a), by Newton's method on ln a inside a
    shrinking bracket. Of several maxima it finds the one uphill from the start.
    """
    from scipy.special import digamma, polygamma

    counts = counts[counts > 0.0]

    def derivatives(x: Any) -> Any:  # with respect to x = ln a
        a = math.exp(x)
        first = a * (float((digamma(a + counts) - digamma(a)).sum()) + slope)
        second = first + a * a * float((polygamma(1, a + counts) - polygamma(1, a)).sum())
        return first - inverse_prior, second

    left, right = math.log(low), math.log(high)
    x = min(max(math.log(a), left), right)
    first, second = derivatives(x)
    rising = first > 0.0
    while True:
        if first > 0.0:
            left = x
        else:
            right = x
        new = x - first / second if second < 0.0 else x + (1.0 if rising else -1.0)
        if not left < new < right:
            new = 0.5 * (left + right)
        if abs(new - x) < _CLOSE or right - left < _CLOSE:
            return math.exp(new)
        x = new
        first, second = derivatives(x)


# of a; weights that converge at a large a end where all classes are equally probable
STARTS = (0.05, 0.01, 0.3)
_MAX_PASSES = 5000
_TOLERANCE, _CONVERGED = 1e-11, 1e-5
# share of n ln K, the lack of fit of equal probabilities, above which a fit says nothing
_NO_BETTER = 0.95


@dataclass(frozen=True)
class VariationalFit:
    """The best variational posterior found."""

    shapes: np.ndarray  # (K, p): q(λ_kj) = Gamma(a_kj, b_j)
    rates: np.ndarray  # (p,)
    a: float
    lower_bound: float  # F, without the prior on a
    log_likelihood: float  # at the posterior means
    # the objective (F, plus ln p(a) if that prior is used) from the best start; never decreasing
    bounds: list[float]
    n_passes: int  # sweeps over the rows of all starts
    converged: bool
    collapsed: bool  # the estimate says little more than that all classes are equally probable


class _Ascent:
    """The fixed-point map of q(λ) and, if it is learned, a; a point is the logarithms of shapes,
    rates and a.

    After each step all weights are scaled to the prior's optimum: ⟨Λ⟩ = Kpa/b. The likelihood does
    not depend on that scale, so that plain updates find it slowly.
    """

    def __init__(self, data: Any, b: float, low: float, high: float, inverse_prior: bool) -> None:
        self.data, self.b, self.low, self.high, self.inverse_prior = (
            data,
            b,
            low,
            high,
            inverse_prior,
        )
        self.shape = (data.n_classes, data.p)

    def unpacked(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        cells = self.shape[0] * self.shape[1]
        return (
            np.exp(theta[:cells]).reshape(self.shape),
            np.exp(theta[cells:-1]),
            math.exp(theta[-1]),
        )

    def packed(self, shapes: np.ndarray, rates: np.ndarray, a: float) -> np.ndarray:
        rates = rates * (self.b * float((shapes / rates).sum()) / (a * shapes.size))
        return np.concatenate([np.log(shapes).ravel(), np.log(rates), [math.log(a)]])

    def start(self, a: float) -> np.ndarray:
        """The start with all cells equal."""
        cells = self.shape[0] * self.shape[1]
        return self.packed(
            np.full(self.shape, a + self.data.n / cells), np.full(self.shape[1], self.b), a
        )

    def step(self, theta: np.ndarray) -> tuple[np.ndarray, float]:
        shapes, rates, a = self.unpacked(theta)
        found = variational_step(self.data, shapes, rates, a, self.b)
        return self.packed(found.shapes, found.rates, a), found.bound

    def step_with_shape(self, theta: np.ndarray) -> tuple[np.ndarray, float]:
        theta[-1] = min(max(theta[-1], math.log(self.low)), math.log(self.high))
        shapes, rates, a = self.unpacked(theta)
        found = variational_step(self.data, shapes, rates, a, self.b)
        counts = np.maximum(found.shapes - a, 0.0)
        slope = -self.shape[0] * float(np.log(found.rates / self.b).sum())
        new = learned_shape(a, counts, slope, self.inverse_prior, self.low, self.high)
        return self.packed(
            new + counts, found.rates, new
        ), found.bound - self.inverse_prior * math.log(a)


def fit_variational(
    data: Any,
    *,
    a: float | None = None,
    a_range: tuple[float, float] = (1e-3, 1e2),
    b: float = 1.0,
    prior_of_a: str = "inverse",
    starts: Sequence[float] = STARTS,
) -> VariationalFit:
    """The variational posterior with the highest bound among several starts."""
    low, high = (float(a), float(a)) if a is not None else (float(a_range[0]), float(a_range[1]))
    ascent = _Ascent(data, b, low, high, a is None and prior_of_a == "inverse")
    best: Any = None
    passes = 0
    for start in starts if a is None else (float(a), *starts):
        run = iterate_squarem(ascent.step, ascent.start(start), _MAX_PASSES, _CONVERGED)
        theta = run.theta
        if a is not None:
            theta[-1] = math.log(a)
        last = iterate_squarem(
            ascent.step_with_shape if a is None else ascent.step, theta, _MAX_PASSES, _TOLERANCE
        )
        passes += run.n_passes + last.n_passes
        if best is None or last.values[-1] > best.values[-1]:
            best = last
    shapes, rates, now = ascent.unpacked(best.theta)
    means = shapes / rates
    bound = variational_step(data, shapes, rates, now, b).bound
    log_likelihood = data.statistics(means, means.sum(axis=0)).log_likelihood
    return VariationalFit(
        shapes=shapes,
        rates=rates,
        a=now,
        lower_bound=bound,
        log_likelihood=log_likelihood,
        bounds=best.values,
        n_passes=passes + 2,
        converged=best.converged,
        collapsed=log_likelihood < -_NO_BETTER * data.n * math.log(data.n_classes),
    )


# Class probabilities under independent Gamma weights, by an integral over one variable ------------
#
# .. math:: E\frac{A_k}{\sum_l A_l} = \int_0^\infty \prod_{lj} (1 + tW_j/b_j)^{-a_{lj}}
#           \sum_j \frac{W_j a_{kj}}{b_j + tW_j}\, dt, \qquad A_k = \sum_j W_j \lambda_{kj}
#
# It is summed over equal steps of ln t, whose error falls as exp(−π²/step): the integrand is smooth
# and never narrow. But it may be very wide, since the product falls no faster than t to the power
# −Σ a of the active columns: a column whose W is e^-60 becomes active at t = e^60. Between two
# columns every step shrinks the integrand by the same factor, and the steps up to the next column
# are a geometric series.


_STEP = 0.3
_NOTHING = 40.0  # e to the minus this is negligible beside 1


@scalar
def _steps_to_spare(at: Any, logs: Any, i: Any, margins: Any) -> Any:
    """Steps from ln t = at until a column becomes active; 0 while one does, infinity if none is
    left."""
    free = math.inf
    for j in range(logs.shape[1]):
        x = at + logs[i, j]
        if x < margins[j]:
            free = min(free, math.floor((-margins[j] - x) / _STEP))
    return max(free, 0.0)


@compiled
def _integrate(
    logs: Any, shapes: Any, totals: Any, margins: Any, slopes: Any, probabilities: Any
) -> None:
    """Add the integrals of every row to its probabilities; `logs` are those of W / b, 0 the largest
    of a row."""
    classes, p = shapes.shape
    for i in range(logs.shape[0]):
        size = 0.0
        for j in range(p):
            size += totals[j] * math.exp(logs[i, j])
        at = -_NOTHING - math.log(size)
        log_product = 0.0
        while log_product > -_NOTHING:
            log_product = 0.0
            fall = 0.0
            for k in range(classes):
                slopes[k] = 0.0
            for j in range(p):
                x = at + logs[i, j]
                small = math.exp(-abs(x))
                share = (1.0 if x > 0.0 else small) / (1.0 + small)  # tW/(b + tW)
                log_product -= totals[j] * (max(x, 0.0) + math.log1p(small))
                fall += totals[j] * share
                for k in range(classes):
                    slopes[k] += shapes[k, j] * share
            alike = _steps_to_spare(at, logs, i, margins)
            height = _STEP * math.exp(log_product)
            if alike > 0.0:  # 1 + q + q² + ..., also the first of the steps that follow
                height *= math.expm1(-fall * _STEP * (alike + 1.0)) / math.expm1(-fall * _STEP)
            for k in range(classes):
                probabilities[i, k] += height * slopes[k]
            if alike == math.inf:
                break
            at += _STEP * (alike + 1.0)


def undivided(logs: np.ndarray, shapes: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """The integrals for rows of ln W, shape (n, K), before they are divided by their sum, which is
    1 but for rounding.

    Parameters and result as in `expected_from_logs`.
    """
    logs = logs - np.log(rates)
    logs -= logs.max(axis=1, keepdims=True)  # a factor of t
    shapes = np.ascontiguousarray(shapes, np.float64)
    totals = shapes.sum(axis=0)
    margins = _NOTHING + np.log(np.maximum(totals, 1.0))
    probabilities = np.zeros((len(logs), len(shapes)))
    _integrate(logs, shapes, totals, margins, np.zeros(len(shapes)), probabilities)
    return probabilities


def expected_from_logs(logs: np.ndarray, shapes: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Expected class probabilities of rows of W, given ln W, when λ_kj ~ Gamma(a_kj, b_j)."""
    found = undivided(np.asarray(logs, np.float64), shapes, rates)
    return found / found.sum(axis=1, keepdims=True)
