r"""Regularised horseshoe prior: kernels that draw its scales, and its density.

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
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import scalar
from thali._inference.numerics.log_densities import LOG_2PI
from thali._inference.numerics.slice_sampling import draw_within_steps, log_density

TAU_SQUARE, SLAB_SQUARE = 4, 5  # indices in `CoefficientState.real`
# largest absolute log squared scale; its prior tail probability is 1e-50
MAX_LOG_SQUARE = 230.0
_WITH_RATIOS, _WITH_SPREADS, _SLAB = 0, 1, 2  # ln tau² given lambda, ln tau² given u, ln c²
_MAX_STEPS = 16  # more than the steps that widen a slice


@scalar
def draw_horseshoe_scales(rng: np.random.Generator, problem: Any, state: Any) -> None:
    """Draw local scales, tau and slab of the horseshoe; update prior variances.

    The order is lambda given tau, tau given lambda, tau given u, then c. The two draws of tau are
    conditionals of one posterior under two parametrisations, of which each mixes fast where the
    other is slow (Yu & Meng, 2011).
    """
    tau, slab = state.real[TAU_SQUARE], state.real[SLAB_SQUARE]
    for k in problem.free_classes:
        for j in range(problem.n_penalised):
            beta = state.coef[k, j]
            y = _draw_inverse_lambda_square(
                rng, tau / state.spread[k, j], 0.5 * beta * beta / tau, tau / slab
            )
            state.spread[k, j] = math.exp(
                min(max(math.log(tau) - math.log(y), -MAX_LOG_SQUARE), MAX_LOG_SQUARE)
            )
    old_log_tau = math.log(tau)
    new_log_tau = _draw_by_slice(rng, problem, state, _WITH_RATIOS, old_log_tau)
    _multiply_spreads(problem, state, math.exp(new_log_tau - old_log_tau))
    state.real[TAU_SQUARE] = math.exp(new_log_tau)
    state.real[TAU_SQUARE] = math.exp(
        _draw_by_slice(rng, problem, state, _WITH_SPREADS, new_log_tau)
    )
    state.real[SLAB_SQUARE] = math.exp(_draw_by_slice(rng, problem, state, _SLAB, math.log(slab)))
    for k in problem.free_classes:
        for j in range(problem.n_penalised):
            state.variance[k, j] = 1.0 / (1.0 / state.spread[k, j] + 1.0 / state.real[SLAB_SQUARE])


@scalar
def _draw_inverse_lambda_square(rng: np.random.Generator, y: Any, b: Any, a: Any) -> Any:
    """Draw y = 1 / lambda² of one coefficient, by rejection."""
    # The density is proportional to sqrt((y + a)/y) exp(-b y)/(1 + y).
    # With w ~ Exponential(1 + y), y given w has sqrt((y + a)/y) exp(-(b + w) y), which is below
    # exp(-(b + w) y) (1 + sqrt(a/y)), a mixture of an exponential and a Gamma(1/2); a proposal is
    # accepted with 0.7 or more.
    rate = b + rng.standard_exponential() / (1.0 + y)
    share = 1.0 / (1.0 + math.sqrt(a * math.pi * rate))
    while True:
        if rng.random() < share:
            proposal = rng.standard_exponential() / rate
        else:
            normal = rng.standard_normal()
            proposal = 0.5 * normal * normal / rate
        proposal = max(proposal, 1e-300)
        if rng.random() * (math.sqrt(proposal) + math.sqrt(a)) < math.sqrt(proposal + a):
            return proposal


@scalar
def _multiply_spreads(problem: Any, state: Any, factor: Any) -> None:
    """Multiply all squared scales tau² lambda² by a factor."""
    for k in problem.free_classes:
        for j in range(problem.n_penalised):
            state.spread[k, j] *= factor


class HorseshoeScaleLine(NamedTuple):
    """Conditional density of a log squared scale (tau or slab), for slice sampling."""

    problem: Any
    state: Any
    variable: int


@scalar
def _draw_by_slice(
    rng: np.random.Generator, problem: Any, state: Any, variable: Any, start: Any
) -> Any:
    """Draw the log of a squared scale (tau or slab) by a slice."""
    return draw_within_steps(
        rng, HorseshoeScaleLine(problem, state, variable), start, 1.0, _MAX_STEPS
    )


@log_density.register(HorseshoeScaleLine)
def _log_conditional_density(line: HorseshoeScaleLine, log_square: float) -> Any:
    """Return the conditional log density of a log squared scale."""
    problem, state, variable = line
    if abs(log_square) > MAX_LOG_SQUARE:
        return -math.inf
    square = math.exp(log_square)
    total = (
        log_slab_prior(problem, log_square)
        if variable == _SLAB
        else log_tau_prior(problem, log_square)
    )
    factor = square / state.real[TAU_SQUARE]
    for k in problem.free_classes:
        for j in range(problem.n_penalised):
            u = state.spread[k, j]
            beta = state.coef[k, j]
            if variable == _WITH_RATIOS:
                u *= factor
                total += 0.5 * (
                    math.log1p(u / state.real[SLAB_SQUARE]) - log_square - beta * beta / u
                )
            elif variable == _WITH_SPREADS:
                total += 0.5 * log_square - math.log(square + u)
            else:
                total += 0.5 * (math.log1p(u / square) - beta * beta / square)
    return total


@scalar
def log_tau_prior(problem: Any, log_square: Any) -> Any:
    """Return the log prior density of ln tau², up to a constant."""
    return 0.5 * log_square - math.log1p(
        math.exp(log_square) / (problem.global_scale * problem.global_scale)
    )


@scalar
def log_slab_prior(problem: Any, log_square: Any) -> Any:
    """Return the log prior density of ln c² of the slab, up to a constant."""
    half = 0.5 * problem.slab_df
    return -half * log_square - half * problem.slab_scale * problem.slab_scale * math.exp(
        -log_square
    )


def log_coefficient_density(coef: np.ndarray, tau: np.ndarray, slab: np.ndarray) -> np.ndarray:
    """Return log densities of coefficients given tau and slab (lambda integrated).

    Shapes are (..., coefficient) for coefficients and (...) for tau and slab. In s = ln lambda,
    lambda a local scale, the integrand Normal(beta; 0, v(s)) / (pi cosh s) is smooth, so that the
    trapezoidal rule converges geometrically. It depends on |beta|/tau and slab/tau alone, so that a
    spline replaces many integrals.
    """
    from scipy.interpolate import RectBivariateSpline

    if not coef.size:
        return np.zeros(coef.shape)
    log_tau = np.log(tau)
    r = np.log(np.maximum(np.abs(coef) / tau[..., None], 1e-20))
    ratio = np.log(slab) - log_tau
    r_knots, ratio_knots = (
        _build_knots(coordinate.min(), coordinate.max()) for coordinate in (r, ratio)
    )
    log_integrals = np.array([[_log_integral(log_r, c) for c in ratio_knots] for log_r in r_knots])
    spline = RectBivariateSpline(r_knots, ratio_knots, log_integrals)
    log_integral = spline.ev(r.ravel(), np.broadcast_to(ratio[..., None], r.shape).ravel()).reshape(
        r.shape
    )
    return log_integral - 0.5 * np.exp(2.0 * (r - ratio[..., None])) - log_tau[..., None]


def _build_knots(low: float, high: float) -> np.ndarray:
    """Return equidistant spline knots that cover `low` to `high`."""
    step = 0.15
    return np.linspace(low - step, high + step, max(4, int((high - low) / step) + 4))


def _log_integral(log_r: float, log_c: float) -> float:
    """Return the log horseshoe density at |beta| = exp(log_r), without its slab factor."""
    s = np.arange(log_r - 2.4, max(log_r, log_c, 0.0) + 37.0, 0.25)
    log_integrand = (
        0.5 * np.logaddexp(-2.0 * s, -2.0 * log_c)
        - 0.5 * np.exp(2.0 * (log_r - s))
        - np.logaddexp(s, -s)
    )
    maximum = log_integrand.max()
    return float(
        maximum + np.log(np.exp(log_integrand - maximum).sum() * 0.25 * 2.0 / np.pi) - 0.5 * LOG_2PI
    )
