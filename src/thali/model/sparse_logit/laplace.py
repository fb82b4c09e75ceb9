r"""Normal approximations of the posterior of the sparse multinomial logit, for many rows.

.. math:: q(\beta, b) = \mathrm{Normal}(m, P^{-1}), \qquad
          q(\eta) \propto \eta^{\text{shape} - 1 + N/2} e^{-\text{rate}\,\eta - \sqrt\eta \sum_j E_q|\beta_j|}

The log-likelihood is expanded to second order at m. The Laplace prior has no second derivative at 0, where many
coefficients are, so its expectation under q takes its place, which is smooth: with s_j the standard deviation of
beta_j, E|beta_j| has the derivative 2 Phi(m_j / s_j) - 1, and its part of P is 2 E[sqrt eta] phi(m_j / s_j) / s_j.
Means, standard deviations and q(eta) are improved in turn until they stay.

The variational posterior takes the expectation under q of the log-likelihood as well, to second order, and so is the
normal law that maximises the lower bound of the evidence,

.. math:: F = E_q[\ln P(y \mid X, \beta, b) + \ln p(\beta, b \mid \eta) + \ln p(\eta) - \ln q].

Reference: Opper & Archambeau (2009), The variational Gaussian approximation revisited.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from thali.errors import DataError, DataWarning, Setting
from thali.inference.independent import BLOCK, IndependentDraws
from thali.inference.warn import warn

from .expansion import Expansion, expansion_at
from .method import ENOUGH, MOST
from .sweep import INTERCEPT_VARIANCE, Problem

MAX_ROUNDS = 200
Expand = Callable[..., Expansion]  # of coefficients (q, m) and, if it is the mean over a normal law, their covariance
SHORTEST = 1e-3  # step of a precision that is tried
_SETTLED = 1e-4  # change, in standard deviations


class NormalPosterior(NamedTuple):
    """The approximation."""

    mean: np.ndarray  # (q m,)
    factor: np.ndarray  # (q m, q m) lower; factor factor^T = P
    expansion: Expansion  # at the mean
    etas: np.ndarray  # values of eta, and their probabilities
    shares: np.ndarray
    converged: bool
    lower_bound: float  # of ln P(y | X); NaN by Laplace's approximation


def check_size(coefficients: int, rows: float) -> None:
    """Refuse a matrix that is too large, and warn of too few rows."""
    if coefficients > MOST:
        raise DataError(
            f"A normal approximation is for at most {MOST:,} coefficients of all classes, and these are "
            f"{coefficients:,}; set ",
            Setting("method", "polya-gamma"),
            " or ",
            Setting("method", "map"),
            ".",
        )
    if rows < ENOUGH * coefficients:
        warn(
            DataWarning(
                f"{rows:g} rows are fewer than {ENOUGH} for each of {coefficients:,} coefficients, so that standard "
                "deviations by the normal approximation are too small; set ",
                Setting("method", "polya-gamma"),
                ".",
            )
        )


def normal_posterior(
    problem: Problem, eta: float | None, is_variational: bool = False, expand: Expand | None = None
) -> NormalPosterior:
    """The approximation for these data; eta is fixed, or None if it is learned.

    Where the rows are elsewhere, the problem has none, and `expand` is the expansion over them.
    """
    from scipy.linalg import cho_solve
    from scipy.special import ndtr

    expand = partial(expansion_at, problem) if expand is None else expand
    q, m = problem.classes - 1, problem.covariates.shape[0]
    is_free = np.tile(np.arange(m) >= problem.penalised, q)
    mean, sd = np.zeros(q * m), np.ones(q * m)
    etas, shares = (np.ones(1), np.ones(1)) if eta is None else (np.full(1, eta), np.ones(1))
    at, length, settled = expand(mean.reshape(q, m)), 1.0, False
    covariance = np.eye(q * m)
    precision: np.ndarray | None = None  # of the variational normal, from the first round on
    for _ in range(MAX_ROUNDS):
        root = float(shares @ np.sqrt(etas))
        z = mean / sd
        slope = np.where(is_free, mean / INTERCEPT_VARIANCE, root * (2.0 * ndtr(z) - 1.0))
        bend = np.where(is_free, 1.0 / INTERCEPT_VARIANCE, 2.0 * root * _normal_density(z) / sd)
        wanted = at.curvature + np.diag(bend)
        there: Expansion | None = None
        if precision is not None and not settled:
            before = _bound(at, mean, precision, covariance, root, is_free)
            wanted, there = _on_the_way(expand, (q, m), mean, precision, wanted, root, is_free, before)
        factor = _factor(wanted, at.curvature, root)
        covariance = cho_solve((factor, True), np.eye(q * m))
        new_sd = np.sqrt(np.diag(covariance))
        step = cho_solve((factor, True), at.gradient - slope)
        change = max(np.abs(step / new_sd).max(), np.abs(np.log(new_sd / sd)).max())
        sd = new_sd if is_variational else np.sqrt(sd * new_sd)
        if settled:
            break
        precision = wanted if is_variational else None
        over = covariance if is_variational else None
        if is_variational:
            at = there or expand(mean.reshape(q, m), over)
            step = cho_solve((factor, True), at.gradient - slope)
        before = _value(at, mean, sd, root, is_free)
        while True:
            trial = mean + length * step
            ahead = expand(trial.reshape(q, m), over)
            if _value(ahead, trial, sd, root, is_free) >= before - 1e-9 * (1.0 + abs(before)) or length < 1e-6:
                break
            length *= 0.5
        mean, at, length = trial, ahead, min(1.0, 2.0 * length)
        if eta is None:
            size = float(_mean_size(mean, sd)[~is_free].sum())
            etas, shares = _law_of_eta(2.0 * problem.shape + q * problem.penalised, size, problem.rate)
            change = max(change, abs(float(shares @ np.sqrt(etas)) / root - 1.0))
        settled = change < _SETTLED
    bound = math.nan
    if is_variational:
        size = float(_mean_size(mean, sd)[~is_free].sum())
        bound = at.log_likelihood + _other_terms(problem, eta, size, mean[is_free], sd[is_free], factor)
        at = expand(mean.reshape(q, m))
    return NormalPosterior(mean, factor, at, etas, shares, settled, bound)


def _factor(precision: np.ndarray, curvature: np.ndarray, root: float) -> np.ndarray:
    """The Cholesky factor of P, with a little of the prior's precision where rounding makes P singular."""
    from scipy.linalg import LinAlgError, cholesky

    try:
        return cholesky(precision, lower=True)
    except LinAlgError:
        return cholesky(precision + np.diag(1e-3 * root * root + 1e-9 * np.diag(curvature)), lower=True)


def _on_the_way(
    expand: Expand,
    shape: tuple[int, int],
    mean: np.ndarray,
    old: np.ndarray,
    new: np.ndarray,
    root: float,
    is_free: np.ndarray,
    before: float,
) -> tuple[np.ndarray, Expansion | None]:
    """The new precision, or one between the old one and that, whose bound is no lower than before; the expansion there.

    The new one is a natural-gradient step of length 1, which of separable classes can be too long.
    """
    from scipy.linalg import inv

    share = 1.0
    while share > SHORTEST:
        between = (1.0 - share) * old + share * new
        covariance = inv(between)
        at = expand(mean.reshape(shape), covariance)
        if _bound(at, mean, between, covariance, root, is_free) >= before - 1e-9 * (1.0 + abs(before)):
            return between, at
        share *= 0.5
    return old, None


def _bound(
    at: Expansion, mean: np.ndarray, precision: np.ndarray, covariance: np.ndarray, root: float, is_free: np.ndarray
) -> float:
    """The lower bound as the covariance changes it, while q(eta) stays."""
    variance = np.diag(covariance)
    sign, log_determinant = np.linalg.slogdet(precision)
    if sign <= 0 or not (variance > 0).all():
        return -math.inf
    free = 0.5 * float(variance[is_free].sum()) / INTERCEPT_VARIANCE
    return _value(at, mean, np.sqrt(variance), root, is_free) - free - 0.5 * float(log_determinant)


def _other_terms(
    problem: Problem, eta: float | None, size: float, free: np.ndarray, free_sd: np.ndarray, factor: np.ndarray
) -> float:
    """What the lower bound has besides the log-likelihood: E ln p(beta, b), the terms of eta, and the entropy."""
    from scipy.special import gammaln

    count = len(factor) - len(free)
    if eta is None:  # ln of the integral of p(eta) (sqrt(eta)/2)^count exp(-sqrt(eta) size)
        log_v, logs = _log_law_of_root(2.0 * problem.shape + count, size, problem.rate)
        whole = logs.max() + math.log(np.exp(logs - logs.max()).sum() * (log_v[1] - log_v[0]))
        prior = math.log(2.0) + problem.shape * math.log(problem.rate) - gammaln(problem.shape) + whole
    else:
        prior = 0.5 * count * math.log(eta) - math.sqrt(eta) * size
    prior -= count * math.log(2.0)
    prior -= 0.5 * float((free**2 + free_sd**2).sum()) / INTERCEPT_VARIANCE
    prior -= 0.5 * len(free) * math.log(2.0 * math.pi * INTERCEPT_VARIANCE)
    return prior + 0.5 * len(factor) * (1.0 + math.log(2.0 * math.pi)) - float(np.log(np.diag(factor)).sum())


def _value(at: Expansion, mean: np.ndarray, sd: np.ndarray, root: float, is_free: np.ndarray) -> float:
    """What the means maximise while standard deviations and q(eta) stay."""
    prior = np.where(is_free, 0.5 * mean**2 / INTERCEPT_VARIANCE, root * _mean_size(mean, sd))
    return at.log_likelihood - float(prior.sum())


def _normal_density(z: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)


def _mean_size(mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """E|x| of Normal(mean, sd²)."""
    from scipy.special import ndtr

    z = mean / sd
    return 2.0 * sd * _normal_density(z) + mean * (2.0 * ndtr(z) - 1.0)


def _law_of_eta(shape: float, size: float, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Values and probabilities of eta; its root v has a density proportional to v^(shape-1) exp(-size v - rate v²)."""
    log_v, logs = _log_law_of_root(shape, size, rate)
    v = np.exp(log_v)
    shares = np.exp(logs - logs.max())
    return v * v, shares / shares.sum()


def _log_law_of_root(shape: float, size: float, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Values of ln v, and the logarithm of its density there, up to a constant."""
    mode = 2.0 * shape / (size + math.sqrt(size * size + 8.0 * shape * rate))  # of ln v
    width = 1.0 / math.sqrt(size * mode + 4.0 * rate * mode * mode)
    log_v = math.log(mode) + width * np.linspace(-12.0, 8.0, 801)
    v = np.exp(log_v)
    return log_v, shape * log_v - size * v - rate * v * v


class Record(NamedTuple):
    """The draws so far, as the samplers record them."""

    coef: np.ndarray  # (draws, K, m)
    log_likelihood: np.ndarray  # (draws,)
    scales: np.ndarray  # (draws, 2)


class NormalChain(IndependentDraws):
    """Draws from the approximation; their log-likelihoods are those of the expansion."""

    scale_rate = float("nan")  # there is no such move

    def __init__(self, problem: Problem, normal: NormalPosterior, draws: int, rng: np.random.Generator) -> None:
        self.problem, self.normal = problem, normal
        super().__init__(draws, rng)
        coef = np.zeros((draws, problem.classes, problem.covariates.shape[0]))
        self.record = Record(coef, np.zeros(draws), np.zeros((draws, 2)))

    def _block(self, rng: np.random.Generator) -> Record:
        from scipy.linalg import solve_triangular

        normal, at, K = self.normal, self.normal.expansion, self.problem.classes
        white = rng.standard_normal((normal.mean.size, BLOCK))
        moved = solve_triangular(normal.factor.T, white).T
        coef = np.zeros((BLOCK, K, normal.mean.size // (K - 1)))
        coef[:, np.arange(K) != self.problem.reference] = (normal.mean + moved).reshape(BLOCK, K - 1, -1)
        gain = moved @ at.gradient - 0.5 * np.einsum("ij,ij->i", moved @ at.curvature, moved)
        place = np.searchsorted(normal.shares.cumsum(), rng.random(BLOCK))
        eta = normal.etas[np.minimum(place, len(normal.etas) - 1)]
        return Record(coef, at.log_likelihood + gain, np.column_stack([eta, np.zeros(BLOCK)]))
