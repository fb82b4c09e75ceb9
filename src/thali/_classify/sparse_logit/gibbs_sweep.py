r"""Kernels of one sweep of the sparse logit's Gibbs sampler (Polya-Gamma variables).

The model: :math:`P(y_i = k) \propto \exp(b_k + x_i^T\beta_k)`, the reference class at 0; every beta
is Laplace of rate :math:`\sqrt\eta`, which is Normal(0, tau) with tau exponential of rate eta/2;
eta ~ Gamma(shape, rate) or fixed; b ~ Normal(0, 100).

Given the other classes, a class is a logistic regression with an offset, the logarithm of the sum
of the other classes' exponentials. With few enough coefficients, trajectories of all classes
follow.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import compiled, part, scalar
from thali._inference.numerics.polya_gamma import draw_half_inverse_gaussian, draw_polya_gamma_shape
from thali._inference.numerics.positive_weight_draws import draw_by_gamma_proposal

from .coefficient_draws import dot_row_vector, draw_coefficients_by_column, draw_coefficients_by_row
from .hamiltonian_moves import (
    FIRST_SWEEPS,
    adapt_trajectory,
    adapt_trajectory_step,
    move_along_trajectory,
)

INTERCEPT_VARIANCE = 100.0
ETA, LOG_STEP, TRIED, ACCEPTED = 0, 1, 2, 3  # indices in `CoefficientState.real`
_MIN_ROOT_ETA = 1e-150  # smallest sqrt(eta) whose square is a float
# variances whose square root and inverse are floats
_MIN_VARIANCE = 1e-300
_MAX_VARIANCE = 1e100
_MAX_WIDE = 1e13  # `draw_coefficients_by_row` loses precision above it
_TARGET_ACCEPTANCE = 0.4  # of the scale move


class CoefficientProblem(NamedTuple):
    """Data and prior of a chain as kernels read them."""

    # (m, n) or, if there are more coefficients than rows, (n, m); the intercept's ones last
    covariates: np.ndarray
    codes: np.ndarray  # (n,) classes
    counts: np.ndarray  # (n,) weights of the rows
    classes: int
    reference: int
    n_penalised: int  # number of shrunk coefficients: all, or all but the intercept
    wide: bool
    shape: float
    rate: float
    learns_eta: bool  # whether eta is learned
    trajectories: int  # number per sweep
    free_classes: np.ndarray  # (K - 1,) all but the reference

    @property
    def columns(self) -> np.ndarray:
        """Covariates with one row per coefficient, shape (m, n)."""
        if self.wide:
            return self.covariates.T
        return self.covariates


class CoefficientState(NamedTuple):
    """State of a chain: coefficients, scales, predictors and scratch arrays."""

    coef: np.ndarray  # (K, m); the reference class keeps its zeros
    variance: np.ndarray  # (K, m) prior variances given the scales
    linear: np.ndarray  # (K, n) x_i^T coef_k
    real: np.ndarray  # ETA and the random walk of the scale move
    weights: np.ndarray  # (n,)
    pull: np.ndarray  # (n,)
    scaled: np.ndarray  # shape of covariates
    gram: np.ndarray  # (s, s) for the smaller side s of covariates
    right: np.ndarray  # (s,)


class CoefficientDraws(NamedTuple):
    """Recorded draws of one chain: coefficients, log-likelihood and eta."""

    coef: np.ndarray  # (draws, K, m)
    log_likelihood: np.ndarray  # (draws,)
    eta: np.ndarray  # (draws,)


@compiled
def record_sweeps(
    rng: np.random.Generator,
    problem: Any,
    state: Any,
    motion: Any,
    coefs: Any,
    likelihoods: Any,
    etas: Any,
    sweep: Any,
    until: Any,
    tune: int,
    thin: Any,
) -> None:
    """Run sweeps `sweep` + 1 to `until`, recording every `thin`-th after `tune`."""
    while sweep < until:
        sweep += 1
        draw_sweep(rng, problem, state)
        if sweep > tune or sweep > FIRST_SWEEPS:
            for _ in range(problem.trajectories):
                draw_trajectory(rng, problem, state, motion, sweep <= tune)
        if sweep <= tune:
            _adapt_scale_step(state.real, sweep)
            if problem.trajectories > 0:
                adapt_trajectory(problem, state, motion, sweep, tune)
        elif (sweep - tune) % thin == 0:
            draw_index = (sweep - tune) // thin - 1
            for k in range(problem.classes):
                for j in range(state.coef.shape[1]):
                    coefs[draw_index, k, j] = state.coef[k, j]
            likelihoods[draw_index] = logit_log_likelihood(
                problem.codes, problem.counts, state.linear, 1.0
            )
            etas[draw_index] = state.real[ETA]


@scalar
def draw_sweep(rng: np.random.Generator, problem: Any, state: Any) -> None:
    """Do one sweep: prior scales, coefficients class by class, common scale."""
    draw_laplace_scales(rng, problem, state)
    for k in problem.free_classes:
        draw_auxiliary_variables(rng, problem, state, k)
        draw_class_coefficients(rng, problem, state, k)
    if problem.classes > 2:
        draw_common_shift(rng, problem, state)
    move_common_scale(rng, problem, state)


@scalar
def draw_trajectory(
    rng: np.random.Generator, problem: Any, state: Any, motion: Any, is_tuning: Any
) -> None:
    """Do one sweep: prior scales, then all coefficients by a trajectory."""
    draw_laplace_scales(rng, problem, state)
    probability = move_along_trajectory(rng, problem, state, motion)
    if is_tuning:
        adapt_trajectory_step(motion, probability)
    move_common_scale(rng, problem, state)


@scalar
def draw_laplace_scales(rng: np.random.Generator, problem: Any, state: Any) -> None:
    """Draw eta, then each coefficient's scale, given the coefficients.

    1/tau is inverse Gaussian of mean sqrt(eta)/|beta| and shape eta. With the taus integrated out,
    the draw of eta has the same posterior as eta | tau ~ Gamma((K-1)J + shape, rate + sum tau/2),
    with less dependence between sweeps.
    """
    if problem.learns_eta:
        absolute_sum = 0.0
        for k in range(problem.classes):
            for j in range(problem.n_penalised):
                absolute_sum += abs(state.coef[k, j])
        n_coefficients = (problem.classes - 1) * problem.n_penalised
        # √eta has a density proportional to v^(shape-1) exp(-size v - rate v^2)
        root = max(
            draw_by_gamma_proposal(
                rng, 2.0 * problem.shape + n_coefficients, 2.0 * problem.rate, -absolute_sum
            ),
            _MIN_ROOT_ETA,
        )
        state.real[ETA] = root * root
    eta = state.real[ETA]
    max_variance = _MAX_WIDE if problem.wide else _MAX_VARIANCE
    for k in problem.free_classes:
        for j in range(problem.n_penalised):
            tau = draw_half_inverse_gaussian(rng, abs(state.coef[k, j]) * math.sqrt(eta)) / eta
            state.variance[k, j] = min(max(tau, _MIN_VARIANCE), max_variance)


@part
def draw_auxiliary_variables(rng: np.random.Generator, problem: Any, state: Any, k: Any) -> None:
    """Draw Polya-Gamma variables of class k against the other classes.

    Given them, the likelihood is Gaussian in the coefficients of class k. A row of weight c has a
    Polya-Gamma variable of shape c.
    """
    for i in range(problem.codes.size):
        log_others = _log_sum_other_classes(state.linear, k, i, problem.classes)
        c = problem.counts[i]
        weight = pull = 0.0
        if c > 0:
            weight = draw_polya_gamma_shape(rng, c, state.linear[k, i] - log_others)
            pull = (0.5 * c if problem.codes[i] == k else -0.5 * c) + weight * log_others
        state.pull[i] = pull
        state.weights[i] = weight


@part
def draw_class_coefficients(rng: np.random.Generator, problem: Any, state: Any, k: Any) -> None:
    """Draw the coefficients of class k given its Polya-Gamma variables."""
    if problem.wide:
        draw_coefficients_by_row(rng, problem.covariates, state, state.variance[k], state.coef[k])
    else:
        draw_coefficients_by_column(
            rng, problem.covariates, state, state.variance[k], state.coef[k]
        )
    _update_predictors(problem, state, k)


@scalar
def _update_predictors(problem: Any, state: Any, k: Any) -> None:
    """Update the linear predictors of class k from its coefficients."""
    A, n = problem.covariates, problem.codes.size
    if problem.wide:
        for i in range(n):
            state.linear[k, i] = dot_row_vector(A, i, state.coef[k], A.shape[1])
        return
    for i in range(n):
        state.linear[k, i] = 0.0
    for j in range(A.shape[0]):
        for i in range(n):
            state.linear[k, i] += A[j, i] * state.coef[k, j]


@part
def draw_common_shift(rng: np.random.Generator, problem: Any, state: Any) -> None:
    """Shift the coefficients of all classes but the reference by a random vector.

    Classes that differ from the reference in the same way mix slowly when drawn one by one. A shift
    by -c is the logistic regression of the reference, with coefficients c, against the others; the
    prior of c is the product of Normal(beta_k - c; 0, tau_k) over the other classes.
    """
    r, s = problem.reference, state
    draw_auxiliary_variables(rng, problem, state, r)
    for j in range(s.coef.shape[1]):
        precision = mean = 0.0
        for k in problem.free_classes:
            precision += 1.0 / s.variance[k, j]
            mean += s.coef[k, j] / s.variance[k, j]
        s.variance[r, j] = 1.0 / precision
        s.coef[r, j] = mean / precision
    _subtract_reference(problem, state)
    for i in range(problem.codes.size):
        s.pull[i] -= s.weights[i] * s.linear[r, i]
    draw_class_coefficients(rng, problem, state, r)
    _subtract_reference(problem, state)
    s.coef[r] = 0.0
    s.linear[r] = 0.0


@scalar
def _subtract_reference(problem: Any, state: Any) -> None:
    """Subtract the reference class's coefficients from all other classes."""
    r = problem.reference
    _update_predictors(problem, state, r)
    for k in problem.free_classes:
        for j in range(state.coef.shape[1]):
            state.coef[k, j] -= state.coef[r, j]
        for i in range(state.linear.shape[1]):
            state.linear[k, i] -= state.linear[r, i]


@scalar
def move_common_scale(rng: np.random.Generator, problem: Any, state: Any) -> None:
    """Propose to rescale coefficients and prior scales by one factor.

    It multiplies all coefficients by u and all variances by u^2. Along this line the posterior may
    be wide although each conditional is narrow, so that other moves are slow there. With ln u
    symmetric the ratio has the likelihood, and prior and Jacobian of the intercepts and of eta,
    which is divided by u^2.
    """
    log_u = math.exp(state.real[LOG_STEP]) * rng.standard_normal()
    square = math.exp(2.0 * log_u)
    ratio = logit_log_likelihood(problem.codes, problem.counts, state.linear, math.exp(log_u))
    ratio -= logit_log_likelihood(problem.codes, problem.counts, state.linear, 1.0)
    taus = 0.0
    for k in problem.free_classes:
        for j in range(problem.n_penalised):
            taus += state.variance[k, j]
        for j in range(problem.n_penalised, state.coef.shape[1]):
            ratio += (
                log_u
                - 0.5 * (square - 1.0) * state.coef[k, j] * state.coef[k, j] / INTERCEPT_VARIANCE
            )
    eta = state.real[ETA]
    if problem.learns_eta:
        ratio -= 2.0 * problem.shape * log_u + problem.rate * eta * (1.0 / square - 1.0)
    else:
        ratio += 2.0 * (problem.classes - 1) * problem.n_penalised * log_u - 0.5 * eta * taus * (
            square - 1.0
        )
    state.real[TRIED] += 1.0
    if not ratio > -rng.standard_exponential():
        return
    state.real[ACCEPTED] += 1.0
    if problem.learns_eta:
        state.real[ETA] = eta / square
    for k in problem.free_classes:
        for j in range(problem.n_penalised):
            state.variance[k, j] *= square
        for j in range(state.coef.shape[1]):
            state.coef[k, j] *= math.exp(log_u)
        for i in range(state.linear.shape[1]):
            state.linear[k, i] *= math.exp(log_u)


@scalar
def _adapt_scale_step(real: Any, sweep: Any) -> None:
    """Adapt the log step of the scale move to its target acceptance rate."""
    real[LOG_STEP] += (real[ACCEPTED] - _TARGET_ACCEPTANCE * real[TRIED]) / math.sqrt(sweep)
    real[ACCEPTED] = real[TRIED] = 0.0


@scalar
def _log_sum_other_classes(linear: Any, k: Any, i: Any, classes: Any) -> Any:
    """Return ln of the summed exponentials of row i over classes other than k."""
    if classes == 2:
        return linear[1 - k, i]
    maximum = -math.inf
    for j in range(classes):
        if j != k:
            maximum = max(maximum, linear[j, i])
    total = 0.0
    for j in range(classes):
        if j != k:
            total += math.exp(linear[j, i] - maximum)
    return maximum + math.log(total)


@part
def logit_log_likelihood(codes: Any, counts: Any, linear: Any, factor: Any) -> Any:
    """Return the log-likelihood, with linear predictors times a factor."""
    total = 0.0
    for i in range(codes.size):
        class_predictor = linear[codes[i], i]
        maximum = -math.inf
        for k in range(linear.shape[0]):
            maximum = max(maximum, factor * (linear[k, i] - class_predictor))
        exponential_sum = 0.0
        for k in range(linear.shape[0]):
            exponential_sum += math.exp(factor * (linear[k, i] - class_predictor) - maximum)
        total -= counts[i] * (maximum + math.log(exponential_sum))
    return total
