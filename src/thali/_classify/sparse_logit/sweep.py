r"""One sweep of the sampler of the sparse multinomial logit.

The model: :math:`P(y_i = k) \propto \exp(b_k + x_i^T\beta_k)`, the reference class at 0; every beta
is Laplace of rate :math:`\sqrt\eta`, which is Normal(0, tau) with tau exponential of rate eta/2;
eta ~ Gamma(shape, rate) or fixed; b ~ Normal(0, 100). Or the betas have the prior of `horseshoe`.

A class given the others is a logistic regression with an offset, the logarithm of the sum of the
others' exponentials. Trajectories of all classes at once follow, where there are few enough
coefficients.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import compiled, part, scalar
from thali._inference.numerics.polya_gamma import draw_half_inverse_gaussian, draw_polya_gamma_shape
from thali._inference.numerics.truncated import draw_by_gamma_proposal

from .horseshoe import (
    FURTHEST,
    SLAB_SQUARE,
    TAU_SQUARE,
    draw_spreads,
    log_prior_of_slab,
    log_prior_of_tau,
)
from .trajectory import (
    ALONE,
    adapt_motion,
    adapt_step,
    applied,
    draw_along_trajectory,
    draw_tall,
    draw_wide,
)

INTERCEPT_VARIANCE = 100.0
ETA, LOG_STEP, TRIED, ACCEPTED = 0, 1, 2, 3  # places in `State.real`
LAPLACE, HORSESHOE = 0, 1  # priors
_SMALLEST = 1e-150  # of sqrt(eta): its square is still a float
# of a variance: its square root and its inverse are floats
_MIN_VARIANCE, _MAX_VARIANCE = 1e-300, 1e100
_MAX_WIDE = 1e13  # above it `draw_wide` loses precision
_NARROW, _WIDE = math.log(0.1), math.log(4.0)  # widths of steps of ln tau², as logarithms
_WANTED = 0.4  # share of the scale moves that should be accepted


class CoefficientProblem(NamedTuple):
    """Data and prior, which never change while a chain runs."""

    # (m, n) or, if there are more coefficients than rows, (n, m); the intercept's ones last
    covariates: np.ndarray
    codes: np.ndarray  # (n,) classes
    counts: np.ndarray  # (n,) weights of the rows
    classes: int
    reference: int
    penalised: int  # coefficients that are shrunk: all, or all but the intercept
    wide: bool
    shape: float
    rate: float
    learned: bool  # whether eta is
    prior: int
    global_scale: float  # of the half-Cauchy prior of tau
    slab_df: float
    slab_scale: float
    trajectories: int  # in a sweep


class CoefficientState(NamedTuple):
    """The state of a chain, and its work space."""

    coef: np.ndarray  # (K, m); the reference class keeps its zeros
    variance: np.ndarray  # (K, m): of every coefficient given its scale
    spread: np.ndarray  # (K, m): of the horseshoe, tau² lambda²
    linear: np.ndarray  # (K, n): x_i^T coef_k
    real: np.ndarray  # ETA, the random walk of the scale move, TAU_SQUARE, SLAB_SQUARE
    weights: np.ndarray  # (n,)
    pull: np.ndarray  # (n,)
    scaled: np.ndarray  # as covariates
    gram: np.ndarray  # square, of the smaller side
    right: np.ndarray  # of the smaller side


@compiled
def run(
    rng: np.random.Generator,
    problem: Any,
    state: Any,
    motion: Any,
    coefs: Any,
    likelihoods: Any,
    scales: Any,
    sweep: Any,
    until: Any,
    tune: int,
    thin: Any,
) -> None:
    """Sweeps number `sweep` + 1 to `until`; every `thin`-th one after `tune` is recorded."""
    while sweep < until:
        sweep += 1
        one_sweep(rng, problem, state)
        if sweep > tune or sweep > ALONE:
            for _ in range(problem.trajectories):
                one_trajectory(rng, problem, state, motion, sweep <= tune)
        if sweep <= tune:
            _adapt(state.real, sweep)
            if problem.trajectories > 0:
                adapt_motion(problem, state, motion, sweep, tune)
        elif (sweep - tune) % thin == 0:
            row = (sweep - tune) // thin - 1
            for k in range(problem.classes):
                for j in range(state.coef.shape[1]):
                    coefs[row, k, j] = state.coef[k, j]
            likelihoods[row] = log_likelihood(problem.codes, problem.counts, state.linear, 1.0)
            if problem.prior == HORSESHOE:
                scales[row, 0] = math.sqrt(state.real[TAU_SQUARE])
                scales[row, 1] = math.sqrt(state.real[SLAB_SQUARE])
            else:
                scales[row, 0] = state.real[ETA]


@scalar
def one_sweep(rng: np.random.Generator, problem: Any, state: Any) -> None:
    """Draw the scales given the coefficients, then the coefficients class by class, then move all
    by a common scale."""
    draw_prior(rng, problem, state)
    for k in range(problem.classes):
        if k != problem.reference:
            draw_auxiliary(rng, problem, state, k)
            draw_class(rng, problem, state, k)
    if problem.classes > 2:
        draw_reference(rng, problem, state)
    move_scale(rng, problem, state)


@scalar
def one_trajectory(
    rng: np.random.Generator, problem: Any, state: Any, motion: Any, tunes: Any
) -> None:
    """Draw the scales given the coefficients, then move all coefficients along a trajectory and by
    a common scale."""
    draw_prior(rng, problem, state)
    probability = draw_along_trajectory(rng, problem, state, motion)
    if tunes:
        adapt_step(motion, probability)
    move_scale(rng, problem, state)


@scalar
def draw_prior(rng: np.random.Generator, problem: Any, state: Any) -> None:
    """Draw the scales given the coefficients; of the horseshoe, then move tau with them."""
    if problem.prior == HORSESHOE:
        draw_spreads(rng, problem, state)
        move_tau(rng, problem, state)
    else:
        draw_scales(rng, problem, state)


@scalar
def draw_scales(rng: np.random.Generator, problem: Any, state: Any) -> None:
    """Draw eta and then every tau given eta, both given the coefficients alone.

    1/tau is inverse Gaussian of mean sqrt(eta)/|beta| and shape eta. Drawing eta with the taus left
    out is the same posterior as eta | tau ~ Gamma((K-1)J + shape, rate + sum tau/2) with less
    dependence between sweeps.
    """
    if problem.learned:
        size = 0.0
        for k in range(problem.classes):
            for j in range(problem.penalised):
                size += abs(state.coef[k, j])
        count = (problem.classes - 1) * problem.penalised
        # √eta has a density proportional to v^(shape-1) exp(-size v - rate v^2)
        root = max(
            draw_by_gamma_proposal(rng, 2.0 * problem.shape + count, 2.0 * problem.rate, -size),
            _SMALLEST,
        )
        state.real[ETA] = root * root
    eta = state.real[ETA]
    most = _MAX_WIDE if problem.wide else _MAX_VARIANCE
    for k in range(problem.classes):
        if k != problem.reference:
            for j in range(problem.penalised):
                tau = draw_half_inverse_gaussian(rng, abs(state.coef[k, j]) * math.sqrt(eta)) / eta
                state.variance[k, j] = min(max(tau, _MIN_VARIANCE), most)


@part
def draw_auxiliary(rng: np.random.Generator, problem: Any, state: Any, k: Any) -> None:
    """Draw the variables given which the likelihood of class k against the others is Gaussian in
    its coefficients.

    A row of weight c has a Polya-Gamma variable of shape c.
    """
    for i in range(problem.codes.size):
        others = _log_of_others(state.linear, k, i, problem.classes)
        count = problem.counts[i]
        weight = pull = 0.0
        if count > 0:
            weight = draw_polya_gamma_shape(rng, count, state.linear[k, i] - others)
            pull = (0.5 * count if problem.codes[i] == k else -0.5 * count) + weight * others
        state.pull[i] = pull
        state.weights[i] = weight


@part
def draw_class(rng: np.random.Generator, problem: Any, state: Any, k: Any) -> None:
    """The coefficients of class k, and its row of the linear predictors."""
    s = state
    if problem.wide:
        draw_wide(
            rng,
            problem.covariates,
            s.weights,
            s.pull,
            s.variance[k],
            s.scaled,
            s.gram,
            s.right,
            s.coef[k],
        )
    else:
        draw_tall(
            rng,
            problem.covariates,
            s.weights,
            s.pull,
            s.variance[k],
            s.scaled,
            s.gram,
            s.right,
            s.coef[k],
        )
    _predict(problem, state, k)


@scalar
def _predict(problem: Any, state: Any, k: Any) -> None:
    """The linear predictors of class k from its coefficients."""
    A, n = problem.covariates, problem.codes.size
    if problem.wide:
        for i in range(n):
            state.linear[k, i] = applied(A, i, state.coef[k], A.shape[1])
        return
    for i in range(n):
        state.linear[k, i] = 0.0
    for j in range(A.shape[0]):
        for i in range(n):
            state.linear[k, i] += A[j, i] * state.coef[k, j]


@part
def draw_reference(rng: np.random.Generator, problem: Any, state: Any) -> None:
    """Shift the coefficients of all classes but the reference by a common vector, drawn from its
    conditional.

    Classes that differ from the reference in the same way mix slowly when drawn one by one. A shift
    by -c is the logistic regression of the reference, with coefficients c, against the others; the
    prior of c is the product of Normal(beta_k - c; 0, tau_k) over the other classes.
    """
    r, s = problem.reference, state
    draw_auxiliary(rng, problem, state, r)
    for j in range(s.coef.shape[1]):
        precision = mean = 0.0
        for k in range(problem.classes):
            if k != r:
                precision += 1.0 / s.variance[k, j]
                mean += s.coef[k, j] / s.variance[k, j]
        s.variance[r, j] = 1.0 / precision
        s.coef[r, j] = mean / precision
    _shift(problem, state)
    for i in range(problem.codes.size):
        s.pull[i] -= s.weights[i] * s.linear[r, i]
    draw_class(rng, problem, state, r)
    _shift(problem, state)
    s.coef[r] = 0.0
    s.linear[r] = 0.0


@scalar
def _shift(problem: Any, state: Any) -> None:
    """Subtract the coefficients of the reference from those of the other classes."""
    r = problem.reference
    _predict(problem, state, r)
    for k in range(problem.classes):
        if k != r:
            for j in range(state.coef.shape[1]):
                state.coef[k, j] -= state.coef[r, j]
            for i in range(state.linear.shape[1]):
                state.linear[k, i] -= state.linear[r, i]


@scalar
def move_scale(rng: np.random.Generator, problem: Any, state: Any) -> None:
    """Metropolis: all coefficients times u, all variances times u^2, and the hyperparameters that
    are learned alike.

    Along this line the posterior may be wide although each conditional is narrow, so that other
    moves are slow there. With ln u symmetric the ratio has the likelihood, and prior and Jacobian
    of intercepts and hyperparameters: eta is divided by u^2; tau and c of the horseshoe are
    multiplied by u.
    """
    log_u = math.exp(state.real[LOG_STEP]) * rng.standard_normal()
    square = math.exp(2.0 * log_u)
    ratio = log_likelihood(problem.codes, problem.counts, state.linear, math.exp(log_u))
    ratio -= log_likelihood(problem.codes, problem.counts, state.linear, 1.0)
    taus = 0.0
    for k in range(problem.classes):
        if k != problem.reference:
            for j in range(problem.penalised):
                taus += state.variance[k, j]
            for j in range(problem.penalised, state.coef.shape[1]):
                ratio += (
                    log_u
                    - 0.5
                    * (square - 1.0)
                    * state.coef[k, j]
                    * state.coef[k, j]
                    / INTERCEPT_VARIANCE
                )
    eta, tau, slab = state.real[ETA], state.real[TAU_SQUARE], state.real[SLAB_SQUARE]
    if problem.prior == HORSESHOE:
        ratio += log_prior_of_tau(problem, math.log(tau * square)) - log_prior_of_tau(
            problem, math.log(tau)
        )
        ratio += log_prior_of_slab(problem, math.log(slab * square)) - log_prior_of_slab(
            problem, math.log(slab)
        )
    elif problem.learned:
        ratio -= 2.0 * problem.shape * log_u + problem.rate * eta * (1.0 / square - 1.0)
    else:
        ratio += 2.0 * (problem.classes - 1) * problem.penalised * log_u - 0.5 * eta * taus * (
            square - 1.0
        )
    state.real[TRIED] += 1.0
    if not ratio > -rng.standard_exponential():
        return
    state.real[ACCEPTED] += 1.0
    if problem.prior == HORSESHOE:
        state.real[TAU_SQUARE] = tau * square
        state.real[SLAB_SQUARE] = slab * square
    elif problem.learned:
        state.real[ETA] = eta / square
    for k in range(problem.classes):
        if k != problem.reference:
            for j in range(problem.penalised):
                state.variance[k, j] *= square
                state.spread[k, j] *= square
            for j in range(state.coef.shape[1]):
                state.coef[k, j] *= math.exp(log_u)
            for i in range(state.linear.shape[1]):
                state.linear[k, i] *= math.exp(log_u)


@scalar
def move_tau(rng: np.random.Generator, problem: Any, state: Any) -> None:
    """Metropolis: tau times a factor, and every coefficient in proportion to its standard
    deviation, which follows.

    Given many small coefficients tau hardly moves, and given tau they hardly do. Of beta divided by
    its standard deviation given tau, lambda and c, the prior knows no tau, so that the ratio has
    the likelihood and the prior of ln tau² alone (Papaspiliopoulos, Roberts & Sköld, 2007). The
    width of the symmetric step is drawn first.
    """
    step = math.exp(_NARROW + (_WIDE - _NARROW) * rng.random()) * rng.standard_normal()
    before = math.log(state.real[TAU_SQUARE])
    if abs(before + step) > FURTHEST:
        return
    ratio = log_prior_of_tau(problem, before + step) - log_prior_of_tau(problem, before)
    ratio -= log_likelihood(problem.codes, problem.counts, state.linear, 1.0)
    _carry_with_tau(problem, state, math.exp(step))
    ratio += log_likelihood(problem.codes, problem.counts, state.linear, 1.0)
    if not ratio > -rng.standard_exponential():
        _carry_with_tau(problem, state, math.exp(-step))


@scalar
def _carry_with_tau(problem: Any, state: Any, factor: Any) -> None:
    """Multiply tau² and every tau² lambda², and coefficients as the standard deviations that
    follow."""
    state.real[TAU_SQUARE] *= factor
    for k in range(problem.classes):
        if k != problem.reference:
            for j in range(problem.penalised):
                state.spread[k, j] *= factor
                variance = 1.0 / (1.0 / state.spread[k, j] + 1.0 / state.real[SLAB_SQUARE])
                state.coef[k, j] *= math.sqrt(variance / state.variance[k, j])
                state.variance[k, j] = variance
            _predict(problem, state, k)


@scalar
def _adapt(real: Any, sweep: Any) -> None:
    """Step size of the scale move while tuning: larger after acceptance, smaller after
    rejection."""
    real[LOG_STEP] += (real[ACCEPTED] - _WANTED * real[TRIED]) / math.sqrt(sweep)
    real[ACCEPTED] = real[TRIED] = 0.0


@scalar
def _log_of_others(linear: Any, k: Any, i: Any, classes: Any) -> Any:
    """Logarithm of the sum over the classes other than k of the exponentials of their linear
    predictors."""
    if classes == 2:
        return linear[1 - k, i]
    top = -math.inf
    for other in range(classes):
        if other != k:
            top = max(top, linear[other, i])
    total = 0.0
    for other in range(classes):
        if other != k:
            total += math.exp(linear[other, i] - top)
    return top + math.log(total)


@part
def log_likelihood(codes: Any, counts: Any, linear: Any, factor: Any) -> Any:
    """Log-likelihood of the whole data, with all linear predictors multiplied by a factor."""
    total = 0.0
    for i in range(codes.size):
        own = linear[codes[i], i]
        top = -math.inf
        for k in range(linear.shape[0]):
            top = max(top, factor * (linear[k, i] - own))
        rest = 0.0
        for k in range(linear.shape[0]):
            rest += math.exp(factor * (linear[k, i] - own) - top)
        total -= counts[i] * (top + math.log(rest))
    return total
