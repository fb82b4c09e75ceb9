r"""The regularised horseshoe prior: draws of its scales, and its densities.

.. math::

    \beta_{kj} \sim \mathrm{Normal}\left(0, \left(\tfrac1{c^2}
    + \tfrac1{u_{kj}}\right)^{-1}\right), \quad
          u_{kj} = \tau^2\lambda_{kj}^2, \quad \lambda_{kj} \sim C^+(0, 1), \quad
          \tau \sim C^+(0, \tau_0), \quad
          c^2 \sim \mathrm{InvGamma}(\nu/2, \nu s^2/2)

The density of beta has the factor sqrt((c² + u)/(c² u)), where that of the horseshoe without a slab
has 1/sqrt(u) and thus inverse-gamma conditionals. So y = 1/lambda² is drawn by rejection given an
auxiliary variable, and ln tau² and ln c² by slices.

References: Piironen & Vehtari (2017), Sparsity information and regularization in the horseshoe and
other shrinkage priors; Makalic & Schmidt (2016), A simple sampler for the horseshoe estimator; Neal
(2003), Slice sampling.
"""

import math
from typing import Any

import numpy as np

from thali._compile.jit import scalar

TAU_SQUARE, SLAB_SQUARE = 4, 5  # places in `State.real`
# of the logarithms of squared scales, which the prior exceeds with a probability of 1e-50
FURTHEST = 230.0
_WITH_RATIOS, _WITH_SPREADS, _SLAB = 0, 1, 2  # ln tau² given lambda, ln tau² given u, ln c²
_STEPS = 8  # by which a slice is widened on each side


@scalar
def draw_spreads(rng: np.random.Generator, problem: Any, state: Any) -> None:
    """Draw every lambda given tau, tau given lambda, tau given u, then c; and the variances that
    they make.

    The two draws of tau are conditionals of one posterior under two parametrisations, of which each
    mixes fast where the other is slow (Yu & Meng, 2011).
    """
    tau, slab = state.real[TAU_SQUARE], state.real[SLAB_SQUARE]
    for k in range(problem.classes):
        if k != problem.reference:
            for j in range(problem.penalised):
                beta = state.coef[k, j]
                y = _precision(rng, tau / state.spread[k, j], 0.5 * beta * beta / tau, tau / slab)
                state.spread[k, j] = math.exp(
                    min(max(math.log(tau) - math.log(y), -FURTHEST), FURTHEST)
                )
    before = math.log(tau)
    after = _slice(rng, problem, state, _WITH_RATIOS, before)
    _multiply_spreads(problem, state, math.exp(after - before))
    state.real[TAU_SQUARE] = math.exp(after)
    state.real[TAU_SQUARE] = math.exp(_slice(rng, problem, state, _WITH_SPREADS, after))
    state.real[SLAB_SQUARE] = math.exp(_slice(rng, problem, state, _SLAB, math.log(slab)))
    for k in range(problem.classes):
        if k != problem.reference:
            for j in range(problem.penalised):
                state.variance[k, j] = 1.0 / (
                    1.0 / state.spread[k, j] + 1.0 / state.real[SLAB_SQUARE]
                )


@scalar
def _precision(rng: np.random.Generator, y: Any, b: Any, a: Any) -> Any:
    """A step of y = 1/lambda², whose density is proportional to sqrt((y + a)/y) exp(-b y)/(1 +
    y)."""
    # With w ~ Exponential(1 + y), y given w has sqrt((y + a)/y) exp(-(b + w) y), which is below
    # exp(-(b + w) y) (1 + sqrt(a/y)), a mixture of an exponential and a Gamma(1/2); a proposal is
    # accepted with 0.7 or more.
    rate = b + rng.standard_exponential() / (1.0 + y)
    share = 1.0 / (1.0 + math.sqrt(a * math.pi * rate))
    while True:
        if rng.random() < share:
            new = rng.standard_exponential() / rate
        else:
            normal = rng.standard_normal()
            new = 0.5 * normal * normal / rate
        new = max(new, 1e-300)
        if rng.random() * (math.sqrt(new) + math.sqrt(a)) < math.sqrt(new + a):
            return new


@scalar
def _multiply_spreads(problem: Any, state: Any, factor: Any) -> None:
    for k in range(problem.classes):
        if k != problem.reference:
            for j in range(problem.penalised):
                state.spread[k, j] *= factor


@scalar
def _slice(rng: np.random.Generator, problem: Any, state: Any, which: Any, start: Any) -> Any:
    """A step of one logarithm by a slice of width 1, widened by steps and narrowed until it holds a
    draw."""
    level = _log_density(problem, state, which, start) - rng.standard_exponential()
    low = start - rng.random()
    high = low + 1.0
    # both ends share the steps at random, which keeps the step reversible
    left = int(2 * _STEPS * rng.random())
    right = 2 * _STEPS - 1 - left
    while left > 0 and _log_density(problem, state, which, low) > level:
        low -= 1.0
        left -= 1
    while right > 0 and _log_density(problem, state, which, high) > level:
        high += 1.0
        right -= 1
    while True:
        new = low + (high - low) * rng.random()
        if _log_density(problem, state, which, new) > level or new == start:
            return new
        if new < start:
            low = new
        else:
            high = new


@scalar
def _log_density(problem: Any, state: Any, which: Any, at: Any) -> Any:
    """Log density of one of the logarithms, up to a constant, given everything else."""
    if abs(at) > FURTHEST:
        return -math.inf
    value = math.exp(at)
    total = log_prior_of_slab(problem, at) if which == _SLAB else log_prior_of_tau(problem, at)
    factor = value / state.real[TAU_SQUARE]
    for k in range(problem.classes):
        if k != problem.reference:
            for j in range(problem.penalised):
                u, beta = state.spread[k, j], state.coef[k, j]
                if which == _WITH_RATIOS:
                    u *= factor
                    total += 0.5 * (math.log1p(u / state.real[SLAB_SQUARE]) - at - beta * beta / u)
                elif which == _WITH_SPREADS:
                    total += 0.5 * at - math.log(value + u)
                else:
                    total += 0.5 * (math.log1p(u / value) - beta * beta / value)
    return total


@scalar
def log_prior_of_tau(problem: Any, at: Any) -> Any:
    """Log density of ln tau², up to a constant."""
    return 0.5 * at - math.log1p(math.exp(at) / (problem.global_scale * problem.global_scale))


@scalar
def log_prior_of_slab(problem: Any, at: Any) -> Any:
    """Log density of ln c², up to a constant."""
    half = 0.5 * problem.slab_df
    return -half * at - half * problem.slab_scale * problem.slab_scale * math.exp(-at)


def log_densities(coef: np.ndarray, tau: np.ndarray, slab: np.ndarray) -> np.ndarray:
    """Log density of coefficients (..., coefficient) given tau and c (...), with the lambdas
    integrated out.

    In s = ln lambda the integrand Normal(beta; 0, v(s)) / (pi cosh s) is smooth, so that the
    trapezoidal rule converges geometrically. It depends on |beta|/tau and c/tau alone, where a
    spline takes the place of many integrals.
    """
    from scipy.interpolate import RectBivariateSpline

    if not coef.size:
        return np.zeros(coef.shape)
    log_tau = np.log(tau)
    r = np.log(np.maximum(np.abs(coef) / tau[..., None], 1e-20))
    ratio = np.log(slab) - log_tau
    rows, columns = (_knots(each.min(), each.max()) for each in (r, ratio))
    table = np.array([[_log_integral(at, c) for c in columns] for at in rows])
    spline = RectBivariateSpline(rows, columns, table)
    found = spline.ev(r.ravel(), np.broadcast_to(ratio[..., None], r.shape).ravel()).reshape(
        r.shape
    )
    return found - 0.5 * np.exp(2.0 * (r - ratio[..., None])) - log_tau[..., None]


def _knots(low: float, high: float) -> np.ndarray:
    step = 0.15
    return np.linspace(low - step, high + step, max(4, int((high - low) / step) + 4))


def _log_integral(log_r: float, log_c: float) -> float:
    """ln of p(beta | tau = 1, c) exp(beta² / (2 c²)) at beta = exp(log_r)."""
    s = np.arange(log_r - 2.4, max(log_r, log_c, 0.0) + 37.0, 0.25)
    logs = (
        0.5 * np.logaddexp(-2.0 * s, -2.0 * log_c)
        - 0.5 * np.exp(2.0 * (log_r - s))
        - np.logaddexp(s, -s)
    )
    top = logs.max()
    return float(
        top + np.log(np.exp(logs - top).sum() * 0.25 * 2.0 / np.pi) - 0.5 * np.log(2.0 * np.pi)
    )
