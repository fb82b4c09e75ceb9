r"""What the normal approximations of the posterior of the sparse multinomial logit share.

.. math:: q(\beta, b) = \mathrm{Normal}(m, P^{-1}), \qquad
          q(\eta) \propto \eta^{\text{shape} - 1
          + N/2} e^{-\text{rate}\,\eta - \sqrt\eta \sum_j E_q|\beta_j|}

The Laplace prior has no second derivative at 0, where many coefficients are, so its expectation
under q takes its place, which is smooth: with s_j the standard deviation of beta_j, E|beta_j| has
the slope 2 Phi(m_j / s_j) - 1, and its part of P is 2 E[sqrt eta] phi(m_j / s_j) / s_j.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import ClassVar, NamedTuple

import numpy as np

from thali._inference.chains import BLOCK, IndependentDraws
from thali._inference.warn import warn
from thali.errors import DataError, DataWarning, Setting

from .arguments import MAX_COEFFICIENTS, MIN_ROWS_EACH, SparseColumns
from .sweep import INTERCEPT_VARIANCE, CoefficientProblem

# The log-likelihood of the multinomial logit to second order: at some coefficients, or its mean
# over a normal law
#
# The mean over Normal(mu, V) of the q linear predictors of a row, V = L L^T, is that over points mu
# + L u. The u are the axes of some rotations at several distances: exact for polynomials of degree
# 3, and with r distances and every rotation of degree 4 r - 1. The curvature of the mean is -2
# times its slopes in V, which are exact for this rule, so that a natural gradient of the bound
# raises it.
#
# References: Arasaratnam & Haykin (2009), Cubature Kalman filters, section 3; Opper & Archambeau
# (2009), equation 10.


ROWS = 2**14  # whose probabilities are computed at a time
_CELLS = 2**23  # of a dense product of a sparse matrix at a time: 64 MB
RADII_OF_FEW_ROWS, RADII_OF_MANY_ROWS = (
    3,
    1,
)  # radii, by whether coefficients are uncertain enough for the rule to matter


@dataclass(frozen=True)
class Expansion:
    """The log-likelihood to second order in the coefficients of the q classes other than the
    reference.

    Those of two blocks of rows add up.
    """

    log_likelihood: float
    gradient: np.ndarray  # (q m,)
    curvature: np.ndarray  # (q m, q m), minus the second derivatives

    def __add__(self, other: "Expansion") -> "Expansion":
        return Expansion(
            self.log_likelihood + other.log_likelihood,
            self.gradient + other.gradient,
            self.curvature + other.curvature,
        )


def expansion_at(
    problem: CoefficientProblem,
    coef: np.ndarray,
    covariance: np.ndarray | None = None,
    radii: int = RADII_OF_FEW_ROWS,
) -> Expansion:
    """The expansion at coef (q, m), or that of its mean over Normal(coef, covariance), by blocks of
    rows."""
    q, m = coef.shape
    others = np.flatnonzero(np.arange(problem.classes) != problem.reference)
    total, gradient = 0.0, np.zeros((q, m))
    curvature = np.zeros((q, m, q, m))
    for part, Z in _parts(problem.covariates):
        own = (others[:, None] == problem.codes[part]).astype(float)
        each = (
            _at(Z.times(coef), own)
            if covariance is None
            else _around(Z.times(coef), own, Z, covariance, radii)
        )
        weights = problem.counts[part] * each.curvature
        total += float(problem.counts[part] @ each.log_likelihood)
        gradient += Z.pulled(problem.counts[part] * each.gradient)
        for k in range(q):
            for other in range(k + 1):
                curvature[k, :, other] += Z.gram(weights[k, other])
    for k in range(q):
        for other in range(k):
            curvature[other, :, k] = curvature[k, :, other].T
    return Expansion(total, gradient.ravel(), curvature.reshape(q * m, q * m))


class _Dense(NamedTuple):
    """Some rows of the covariates, as columns."""

    Z: np.ndarray  # (m, rows)

    def times(self, coef: np.ndarray) -> np.ndarray:
        """Linear predictors (q, rows) at coef (q, m)."""
        return coef @ self.Z

    def pulled(self, residuals: np.ndarray) -> np.ndarray:
        """Sums over the rows (q, m) with weights (q, rows)."""
        return residuals @ self.Z.T

    def gram(self, weights: np.ndarray) -> np.ndarray:
        """Second moments (m, m) with weights (rows,)."""
        return (self.Z * weights) @ self.Z.T

    def squares(self, matrix: np.ndarray) -> np.ndarray:
        """z^T M z of every row z for a matrix M (m, m)."""
        return ((matrix @ self.Z) * self.Z).sum(axis=0)


class _Sparse(NamedTuple):
    """The same of a sparse matrix."""

    columns: SparseColumns

    def times(self, coef: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(self.columns.times(coef).T)

    def pulled(self, residuals: np.ndarray) -> np.ndarray:
        return self.columns.pulled(residuals.T)

    def gram(self, weights: np.ndarray) -> np.ndarray:
        return self.columns.gram(weights)

    def squares(self, matrix: np.ndarray) -> np.ndarray:
        return self.columns.squares(matrix)


def _parts(covariates: np.ndarray | SparseColumns) -> Iterator[tuple[slice, _Dense | _Sparse]]:
    """Some rows of the covariates (m, n) at a time."""
    m, n = covariates.shape
    is_dense = isinstance(covariates, np.ndarray)
    step = ROWS if is_dense else max(1, min(ROWS, _CELLS // m))
    for first in range(0, n, step):
        part = slice(first, first + step)
        yield part, _Dense(covariates[:, part]) if is_dense else _Sparse(covariates.rows(part))


class QuadratureRule(NamedTuple):
    """Places of a standard normal vector of length q, and their weights."""

    places: np.ndarray  # (points, q)
    weights: np.ndarray  # (points,)


@cache
def rule_of(q: int, radii: int) -> QuadratureRule:
    """The axes of a few rotations, at the radii of Gauss and Laguerre."""
    from scipy.special import roots_genlaguerre

    halves, shares = roots_genlaguerre(radii, 0.5 * q - 1.0)  # of half the squared length
    rng = np.random.default_rng(0)
    turned = [
        np.linalg.qr(rng.normal(size=(q, q)))[0] for _ in range(1 if q == 1 else max(2, 8 // q))
    ]
    axes = np.concatenate([sign * each for each in turned for sign in (1.0, -1.0)])
    places = np.concatenate([math.sqrt(2.0 * half) * axes for half in halves])
    return QuadratureRule(places, np.repeat(shares / shares.sum() / len(axes), len(axes)))


class _QuadraticRows(NamedTuple):
    """The log-likelihood of each row to second order in its q linear predictors."""

    log_likelihood: np.ndarray  # (n,)
    gradient: np.ndarray  # (q, n)
    curvature: np.ndarray  # (q, q, n)


def _points(linear: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log-likelihoods (J, n) and probabilities (J, q, n) at J linear predictors (J, q, n) of every
    row."""
    top = np.maximum(linear.max(axis=1), 0.0)
    share = np.exp(linear - top[:, None])
    sums = share.sum(axis=1) + np.exp(-top)
    share /= sums[:, None]
    return (linear * own).sum(axis=1) - top - np.log(sums), share


def _at(linear: np.ndarray, own: np.ndarray) -> _QuadraticRows:
    """At linear predictors (q, n)."""
    log_p, (share,) = _points(linear[None], own)
    curvature = -share[:, None] * share
    np.einsum("kki->ki", curvature)[:] += share
    return _QuadraticRows(log_p[0], own - share, curvature)


def _around(
    linear: np.ndarray, own: np.ndarray, Z: _Dense | _Sparse, covariance: np.ndarray, radii: int
) -> _QuadraticRows:
    """The mean over the law of the linear predictors, by the points of the rule."""
    # With L̄ the slopes of that mean in L, those in V are half of L^-T (P + P^T) L^-1, where P is
    # the lower triangle of L^T L̄ with half its diagonal.
    (q, n), m = linear.shape, len(covariance) // len(linear)
    spread = np.empty((n, q, q))
    for k in range(q):
        for other in range(k + 1):
            block = covariance[k * m : (k + 1) * m, other * m : (other + 1) * m]
            spread[:, k, other] = spread[:, other, k] = Z.squares(block)
    # of rows that are 0
    spread[:, np.arange(q), np.arange(q)] += 1e-14 * (1.0 + np.einsum("ikk->ik", spread))
    root = np.linalg.cholesky(spread)
    places, weights = rule_of(q, radii)
    moved = places @ np.ascontiguousarray(root.transpose(2, 1, 0)).reshape(q, q * n)
    log_p, share = _points(linear + moved.reshape(-1, q, n), own)
    residual = weights[:, None, None] * (own - share)
    slopes = (places.T @ residual.reshape(-1, q * n)).reshape(q, q, n).transpose(2, 1, 0)
    P = np.tril(root.transpose(0, 2, 1) @ slopes)
    P[:, np.arange(q), np.arange(q)] *= 0.5
    inverse = np.linalg.inv(root)
    curvature = -inverse.transpose(0, 2, 1) @ (P + P.transpose(0, 2, 1)) @ inverse
    return _QuadraticRows(weights @ log_p, residual.sum(axis=0), curvature.transpose(1, 2, 0))


# of coefficients (q, m) and, if it is that of a mean over a normal law, covariance
Expand = Callable[..., Expansion]
SETTLED = 1e-4  # change, in standard deviations


class NormalPosterior(NamedTuple):
    """The approximation."""

    mean: np.ndarray  # (q m,)
    factor: np.ndarray  # (q m, q m) lower; factor factor^T = P
    expansion: Expansion  # at the mean
    etas: np.ndarray  # values of eta, and their probabilities
    shares: np.ndarray
    converged: bool
    lower_bound: float  # of ln P(y | X); NaN by Laplace's approximation


def is_free(problem: CoefficientProblem) -> np.ndarray:
    """Which of the coefficients (q m,) are intercepts."""
    return np.tile(np.arange(problem.covariates.shape[0]) >= problem.penalised, problem.classes - 1)


def slope_and_bend(
    mean: np.ndarray, sd: np.ndarray, root: float, free: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Minus the first and the second derivatives of the prior's part of the bound; root is E[sqrt
    eta]."""
    from scipy.special import ndtr

    z = mean / sd
    slope = np.where(free, mean / INTERCEPT_VARIANCE, root * (2.0 * ndtr(z) - 1.0))
    return slope, np.where(free, 1.0 / INTERCEPT_VARIANCE, 2.0 * root * normal_density(z) / sd)


def normal_density(z: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)


def mean_size(mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """E|x| of Normal(mean, sd²)."""
    from scipy.special import ndtr

    z = mean / sd
    return 2.0 * sd * normal_density(z) + mean * (2.0 * ndtr(z) - 1.0)


def law_of_eta(shape: float, size: float, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Values and probabilities of eta; its root v has a density proportional to v^(shape-1)
    exp(-size v - rate v²)."""
    log_v, logs = log_law_of_root(shape, size, rate)
    v = np.exp(log_v)
    shares = np.exp(logs - logs.max())
    return v * v, shares / shares.sum()


def log_law_of_root(shape: float, size: float, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Values of ln v, and the logarithm of its density there, up to a constant."""
    mode = 2.0 * shape / (size + math.sqrt(size * size + 8.0 * shape * rate))  # of ln v
    width = 1.0 / math.sqrt(size * mode + 4.0 * rate * mode * mode)
    log_v = math.log(mode) + width * np.linspace(-12.0, 8.0, 801)
    v = np.exp(log_v)
    return log_v, shape * log_v - size * v - rate * v * v


# The normal approximation by Laplace: the log-likelihood to second order at its mean --------------
#
# Means, standard deviations and q(eta) are improved in turn until they stay.


_MAX_ROUNDS = 200


def laplace_posterior(
    problem: CoefficientProblem, eta: float | None, expand: Expand
) -> NormalPosterior:
    """The approximation; eta is fixed, or None if it is learned."""
    from scipy.linalg import cho_solve

    q, m = problem.classes - 1, problem.covariates.shape[0]
    free = is_free(problem)
    mean, sd = np.zeros(q * m), np.ones(q * m)
    etas, shares = (np.ones(1), np.ones(1)) if eta is None else (np.full(1, eta), np.ones(1))
    at, length, settled = expand(mean.reshape(q, m)), 1.0, False
    for _ in range(_MAX_ROUNDS):
        root = float(shares @ np.sqrt(etas))
        slope, bend = slope_and_bend(mean, sd, root, free)
        factor = _factor(at.curvature + np.diag(bend), at.curvature, root)
        covariance = cho_solve((factor, True), np.eye(q * m))
        new_sd = np.sqrt(np.diag(covariance))
        step = cho_solve((factor, True), at.gradient - slope)
        change = max(np.abs(step / new_sd).max(), np.abs(np.log(new_sd / sd)).max())
        sd = np.sqrt(sd * new_sd)
        if settled:
            break
        before = _value(at, mean, sd, root, free)
        while True:
            trial = mean + length * step
            ahead = expand(trial.reshape(q, m))
            if (
                _value(ahead, trial, sd, root, free) >= before - 1e-9 * (1.0 + abs(before))
                or length < 1e-6
            ):
                break
            length *= 0.5
        mean, at, length = trial, ahead, min(1.0, 2.0 * length)
        if eta is None:
            size = float(mean_size(mean, sd)[~free].sum())
            etas, shares = law_of_eta(
                2.0 * problem.shape + q * problem.penalised, size, problem.rate
            )
            change = max(change, abs(float(shares @ np.sqrt(etas)) / root - 1.0))
        settled = change < SETTLED
    return NormalPosterior(mean, factor, at, etas, shares, settled, math.nan)  # type: ignore[possibly-unbound]


def _factor(precision: np.ndarray, curvature: np.ndarray, root: float) -> np.ndarray:
    """The Cholesky factor of P, with a little of the prior's precision where rounding makes P
    singular."""
    from scipy.linalg import LinAlgError, cholesky

    try:
        return cholesky(precision, lower=True)
    except LinAlgError:
        return cholesky(
            precision + np.diag(1e-3 * root * root + 1e-9 * np.diag(curvature)), lower=True
        )


def _value(at: Expansion, mean: np.ndarray, sd: np.ndarray, root: float, free: np.ndarray) -> float:
    """What the means maximise while standard deviations and q(eta) stay."""
    prior = np.where(free, 0.5 * mean**2 / INTERCEPT_VARIANCE, root * mean_size(mean, sd))
    return at.log_likelihood - float(prior.sum())


# The variational normal posterior: the normal law that maximises the lower bound of the evidence,
#
# .. math:: F = E_q[\ln P(y \mid X, \beta, b) + \ln p(\beta, b \mid \eta) + \ln p(\eta) - \ln q].
#
# A natural-gradient step of length 1 makes P the mean curvature under q, and moves m by Newton's
# step with that; shorter ones mix P and P m with what they were. The steps before are combined with
# it (Anderson acceleration) wherever that raises the bound; else a step is shortened until it does.
#
# References: Opper & Archambeau (2009), The variational Gaussian approximation revisited; Khan &
# Lin (2017), Conjugate-computation variational inference; Walker & Ni (2011), Anderson acceleration
# for fixed-point iterations.


_MAX_LOOKS = 500
_MEMORY, _BYTES = 8, 2**30  # of the steps that are combined
# rounds of Newton's steps, which are faster where a step of length 1 raises the bound
_NEWTON_ROUNDS = 8
_MIXED = 0.5  # of a combined step
_SHORTEST = 1e-4  # step that is tried
# a coefficient: a bound that has risen by less in so many rounds is as high as it need be
_FLAT = 1e-4, 10


class _Point(NamedTuple):
    """A normal law, its bound, and the step of length 1 from there."""

    precision: np.ndarray
    pull: np.ndarray  # P m
    factor: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    law: tuple[np.ndarray, np.ndarray]  # etas and their shares
    bound: float
    precision_step: np.ndarray
    pull_step: np.ndarray
    change: float  # by the step, in standard deviations


class _Bound:
    """The bound as a function of P and P m, q(eta) always the best one."""

    def __init__(self, problem: CoefficientProblem, eta: float | None, expand: Expand) -> None:
        self.problem, self.eta, self.expand, self.free, self.looks = (
            problem,
            eta,
            expand,
            is_free(problem),
            0,
        )

    def look(self, precision: np.ndarray, pull: np.ndarray) -> _Point | None:
        """The normal law there; None if P has no Cholesky factor."""
        from scipy.linalg import LinAlgError, cho_solve, cholesky

        self.looks += 1
        problem, free = self.problem, self.free
        try:
            factor = cholesky(precision, lower=True)
        except LinAlgError:
            return None
        covariance = cho_solve((factor, True), np.eye(len(factor)))
        mean, sd = covariance @ pull, np.sqrt(np.diag(covariance))
        at: Expansion = self.expand(mean.reshape(problem.classes - 1, -1), covariance)
        size = float(mean_size(mean, sd)[~free].sum())
        if self.eta is None:
            law = law_of_eta(2.0 * problem.shape + np.count_nonzero(~free), size, problem.rate)
        else:
            law = np.full(1, self.eta), np.ones(1)
        slope, bend = slope_and_bend(mean, sd, float(law[1] @ np.sqrt(law[0])), free)
        wanted, gradient = at.curvature + np.diag(bend), at.gradient - slope
        bound = at.log_likelihood + _other_terms(
            problem, self.eta, size, mean[free], sd[free], factor
        )
        of_sd = 0.5 * np.abs(np.einsum("ij,ji->i", covariance, wanted - precision))
        change = max(float(np.abs(covariance @ gradient / sd).max()), float(of_sd.max()))
        steps = wanted - precision, wanted @ mean + gradient - pull
        return _Point(precision, pull, factor, mean, sd, law, bound, *steps, change)


def variational_posterior(
    problem: CoefficientProblem, eta: float | None, expand: Expand
) -> NormalPosterior:
    """The approximation; eta is fixed, or None if it is learned."""
    q, m = problem.classes - 1, problem.covariates.shape[0]
    of = _Bound(problem, eta, expand)
    prior = np.where(of.free, 1.0 / INTERCEPT_VARIANCE, 1.0)
    point = of.look(expand(np.zeros((q, m))).curvature + np.diag(prior), np.zeros(q * m))
    assert point is not None  # the curvature at one point is that of a concave function
    memory = min(_MEMORY, max(1, _BYTES // (24 * point.precision.size)))
    points, bounds, length, settled = [point], [point.bound], 1.0, point.change < SETTLED
    while not settled and of.looks < _MAX_LOOKS:
        is_slow = length < 1.0 or len(bounds) > _NEWTON_ROUNDS
        ahead = of.look(*_combined(points)) if is_slow and len(points) > 1 else None
        if ahead is None or not _rises(point, ahead):
            points = points[-1:] if is_slow else points
            while True:
                ahead = of.look(*_step(point, length))
                if (ahead is not None and _rises(point, ahead)) or length < _SHORTEST:
                    break
                length *= 0.5
            # the gain is below the precision of floats
            if ahead is None or not _rises(point, ahead):
                break
            length = min(1.0, 2.0 * length)
        point, points, bounds = ahead, [*points[-memory:], ahead], [*bounds, ahead.bound]
        settled = point.change < SETTLED or is_flat(bounds, q * m)
    at = expand(point.mean.reshape(q, m))
    return NormalPosterior(point.mean, point.factor, at, *point.law, settled, point.bound)


def _rises(point: _Point, ahead: _Point) -> bool:
    return ahead.bound >= point.bound - 1e-9 * (1.0 + abs(point.bound))


def is_flat(bounds: Sequence[float], coefficients: int) -> bool:
    rise, rounds = _FLAT
    return len(bounds) > rounds and bounds[-1] - bounds[-1 - rounds] < rise * coefficients


def _combined(points: Sequence[_Point]) -> tuple[np.ndarray, np.ndarray]:
    """P and P m by Anderson's combination of steps, whose sizes are measured in the scale of the
    last precision."""
    *before, last = points
    scale = 1.0 / np.sqrt(np.diag(last.precision))

    def measured(precision: np.ndarray, pull: np.ndarray) -> np.ndarray:
        return np.concatenate(
            [(precision * scale * scale[:, None]).ravel() / math.sqrt(2.0), pull * scale]
        )

    away = [_step(last, _MIXED), *(_step(each, _MIXED) for each in before)]
    last_step = measured(last.precision_step, last.pull_step)
    differences = np.array(
        [last_step - measured(each.precision_step, each.pull_step) for each in before]
    )
    gram = differences @ differences.T
    gram += 1e-10 * np.trace(gram) * np.eye(len(before))
    shares = np.linalg.solve(gram, differences @ last_step)
    weights = np.concatenate([[1.0 - shares.sum()], shares])
    shared = [(w * precision, w * pull) for w, (precision, pull) in zip(weights, away, strict=True)]
    precision, pull = (np.sum([each[part] for each in shared], axis=0) for part in (0, 1))
    return 0.5 * (precision + precision.T), pull


def _step(point: _Point, length: float) -> tuple[np.ndarray, np.ndarray]:
    return point.precision + length * point.precision_step, point.pull + length * point.pull_step


def _other_terms(
    problem: CoefficientProblem,
    eta: float | None,
    size: float,
    free: np.ndarray,
    free_sd: np.ndarray,
    factor: np.ndarray,
) -> float:
    """What the lower bound has besides the log-likelihood: E ln p(beta, b), the terms of eta, and
    the entropy."""
    from scipy.special import gammaln

    count = len(factor) - len(free)
    if eta is None:  # ln of the integral of p(eta) (sqrt(eta)/2)^count exp(-sqrt(eta) size)
        log_v, logs = log_law_of_root(2.0 * problem.shape + count, size, problem.rate)
        whole = logs.max() + math.log(np.exp(logs - logs.max()).sum() * (log_v[1] - log_v[0]))
        prior = (
            math.log(2.0) + problem.shape * math.log(problem.rate) - gammaln(problem.shape) + whole
        )
    else:
        prior = 0.5 * count * math.log(eta) - math.sqrt(eta) * size
    prior -= count * math.log(2.0)
    prior -= 0.5 * float((free**2 + free_sd**2).sum()) / INTERCEPT_VARIANCE
    prior -= 0.5 * len(free) * math.log(2.0 * math.pi * INTERCEPT_VARIANCE)
    return (
        prior
        + 0.5 * len(factor) * (1.0 + math.log(2.0 * math.pi))
        - float(np.log(np.diag(factor)).sum())
    )


# The sparse multinomial logit by a normal approximation, for many rows: the approximation, and
# chains of its draws


def check_size(coefficients: int, rows: float) -> None:
    """Refuse a matrix that is too large, and warn of too few rows."""
    if coefficients > MAX_COEFFICIENTS:
        raise DataError(
            f"A normal approximation is limited to {MAX_COEFFICIENTS:,} coefficients (over all"
            f" classes), but these data require {coefficients:,}; set ",
            Setting("method", "polya-gamma"),
            " or ",
            Setting("method", "map"),
            ".",
        )
    if rows < MIN_ROWS_EACH * coefficients:
        warn(  # in one text for all fits of a search
            DataWarning(
                f"There are fewer than {MIN_ROWS_EACH} rows per coefficient, so standard"
                " deviations from the normal approximation are too small; set ",
                Setting("method", "polya-gamma"),
                ".",
            )
        )


def normal_posterior(
    problem: CoefficientProblem,
    eta: float | None,
    is_variational: bool = False,
    expand: Expand | None = None,
) -> NormalPosterior:
    """The approximation for these data; eta is fixed, or None if it is learned.

    Where the rows are elsewhere, the problem has none, and `expand` is the expansion over them.
    """
    if expand is None:
        expand = partial(
            expansion_at, problem, radii=radii_for(problem, float(problem.counts.sum()))
        )
    return (variational_posterior if is_variational else laplace_posterior)(problem, eta, expand)


def radii_for(problem: CoefficientProblem, rows: float) -> int:
    """Of the rule by which the log-likelihood of so many rows is averaged."""
    coefficients = (problem.classes - 1) * problem.covariates.shape[0]
    return RADII_OF_MANY_ROWS if rows >= MIN_ROWS_EACH * coefficients else RADII_OF_FEW_ROWS


class CoefficientRecord(NamedTuple):
    """The draws so far, as the samplers record them."""

    coef: np.ndarray  # (draws, K, m)
    log_likelihood: np.ndarray  # (draws,)
    scales: np.ndarray  # (draws, 2)


class NormalChain(IndependentDraws):
    """Draws from the approximation; their log-likelihoods are those of the expansion."""

    scale_rate: ClassVar[float] = float("nan")  # there is no such move

    problem: CoefficientProblem
    normal: NormalPosterior
    record: CoefficientRecord

    def __init__(
        self,
        problem: CoefficientProblem,
        normal: NormalPosterior,
        draws: int,
        rng: np.random.Generator,
    ) -> None:
        self.problem, self.normal = problem, normal
        super().__init__(draws, rng)
        coef = np.zeros((draws, problem.classes, problem.covariates.shape[0]))
        self.record = CoefficientRecord(coef, np.zeros(draws), np.zeros((draws, 2)))

    def _draw_block(self, rng: np.random.Generator) -> CoefficientRecord:
        from scipy.linalg import solve_triangular

        normal, at, K = self.normal, self.normal.expansion, self.problem.classes
        white = rng.standard_normal((normal.mean.size, BLOCK))
        moved = solve_triangular(normal.factor.T, white).T
        coef = np.zeros((BLOCK, K, normal.mean.size // (K - 1)))
        coef[:, np.arange(K) != self.problem.reference] = (normal.mean + moved).reshape(
            BLOCK, K - 1, -1
        )
        gain = moved @ at.gradient - 0.5 * np.einsum("ij,ij->i", moved @ at.curvature, moved)
        place = np.searchsorted(normal.shares.cumsum(), rng.random(BLOCK))
        eta = normal.etas[np.minimum(place, len(normal.etas) - 1)]
        return CoefficientRecord(
            coef, at.log_likelihood + gain, np.column_stack([eta, np.zeros(BLOCK)])
        )
