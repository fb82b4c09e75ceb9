"""The Gibbs sampler of Holmes & Held (2006) for the sparse multinomial logit, with which Archambeau
& Caron compare."""

import math
from typing import Any

import numpy as np

from thali._classify.sparse_logit.gibbs_sweep import (
    ETA,
    _adapt_scale_step,
    _log_sum_other_classes,
    _subtract_reference,
    draw_class_coefficients,
    draw_laplace_scales,
    logit_log_likelihood,
    move_common_scale,
)
from thali._classify.sparse_logit.markov_chain import CoefficientChain
from thali._compile.jit import compiled, part, scalar
from thali._inference.numerics.polya_gamma import draw_half_inverse_gaussian, draw_polya_gamma_shape

# Auxiliary variables of Holmes & Held: a logistic variable whose sign is the class, and its
# Kolmogorov-Smirnov mixing
#
# A standard logistic residual is Normal with variance 4 k^2, where k has the Kolmogorov
# distribution.


_CUT = 4.0 / 3.0  # between the two series of the mixing density


@scalar
def positive_logistic(rng: Any, mean: Any) -> Any:
    """A logistic variable with this mean and scale 1, given that it is above 0.

    Inversion: with E exponential, z = ln(1 + (e^E - 1)(1 + e^mean)).
    """
    rise = math.expm1(rng.standard_exponential())
    if mean > 0.0:
        fall = math.exp(-mean)
        return mean + math.log(rise * (1.0 + fall) + fall)
    return math.log1p(rise * (1.0 + math.exp(mean)))


@scalar
def mixing_variance(rng: Any, r: Any) -> Any:
    """The variance of a logistic residual of absolute value r, given r.

    Rejection from the generalised inverse Gaussian distribution, as in Holmes & Held (2006),
    appendix A4, with the alternating series of the mixing density on either side of a cut. Returns
    NaN for NaN.
    """
    while True:
        variance = draw_half_inverse_gaussian(rng, r)
        if variance > _CUT:
            if _is_in_upper_series(variance, rng.random()):
                return variance
        elif _is_in_lower_series(variance, rng.random()):
            return variance


@scalar
def _is_in_upper_series(variance: Any, u: Any) -> Any:
    """True with probability 1 - 4 x^3 + 9 x^8 - ..., x = exp(-variance/2)."""
    partial = 1.0
    n = 1
    while True:
        n += 1
        partial -= n * n * math.exp(-0.5 * variance * (n * n - 1))
        if not u > partial:
            return True
        n += 1
        partial += n * n * math.exp(-0.5 * variance * (n * n - 1))
        if u > partial:
            return False


@scalar
def _is_in_lower_series(variance: Any, u: Any) -> Any:
    """The same probability by the series that converges quickly for small variances."""
    if not variance > 0.0:
        return variance != variance
    slope = 0.5 * math.pi * math.pi / variance
    share = variance / (math.pi * math.pi)
    # over the factor in front, which underflows before the series does
    log_u = math.log(u) - (
        0.5 * math.log(2.0)
        + 2.5 * math.log(math.pi)
        - 2.5 * math.log(variance)
        - slope
        + 0.5 * variance
    )
    partial = 1.0
    n = 1
    while True:
        partial -= share * math.exp(-slope * (n * n - 1))
        if partial > 0.0 and not log_u > math.log(partial):
            return True
        n += 2
        partial += n * n * math.exp(-slope * (n * n - 1))
        if log_u > math.log(partial):
            return False


class HolmesHeldChain(CoefficientChain):
    """One chain under the Laplace prior."""

    def run_until(self, until: int) -> None:
        """Run until this many sweeps are done and recorded."""
        run(
            self.rng,
            self.problem,
            self.state,
            *self.record,
            self.sweeps,
            until,
            self.tune,
            self.thin,
        )
        self.sweeps = until


@compiled
def run(
    rng: np.random.Generator,
    problem: Any,
    state: Any,
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
        if sweep <= tune:
            _adapt_scale_step(state.real, sweep)
        elif (sweep - tune) % thin == 0:
            row = (sweep - tune) // thin - 1
            for k in range(problem.classes):
                for j in range(state.coef.shape[1]):
                    coefs[row, k, j] = state.coef[k, j]
            likelihoods[row] = logit_log_likelihood(
                problem.codes, problem.counts, state.linear, 1.0
            )
            scales[row] = state.real[ETA]


@scalar
def one_sweep(rng: np.random.Generator, problem: Any, state: Any) -> None:
    """Draw the scales given the coefficients, then the coefficients class by class, then move all
    by a common scale."""
    draw_laplace_scales(rng, problem, state)
    for k in range(problem.classes):
        if k != problem.reference:
            draw_auxiliary(rng, problem, state, k)
            draw_class_coefficients(rng, problem, state, k)
    if problem.classes > 2:
        draw_reference(rng, problem, state)
    move_common_scale(rng, problem, state)


@part
def draw_auxiliary(rng: np.random.Generator, problem: Any, state: Any, k: Any) -> None:
    """Draw the variables given which the likelihood of class k against the others is Gaussian in
    its coefficients.

    A row of weight c has as many latent variables as fit into c, and a Polya-Gamma variable for the
    rest.
    """
    for i in range(problem.codes.size):
        others = _log_sum_other_classes(state.linear, k, i, problem.classes)
        mean = state.linear[k, i] - others
        own = problem.codes[i] == k
        count = problem.counts[i]
        whole = int(count)
        weight = pull = 0.0
        if count > whole:
            rest = count - whole
            weight = draw_polya_gamma_shape(rng, rest, mean)
            pull = (0.5 * rest if own else -0.5 * rest) + weight * others
        for _ in range(whole):
            latent = positive_logistic(rng, mean) if own else -positive_logistic(rng, -mean)
            precision = 1.0 / mixing_variance(rng, abs(latent - mean))
            weight += precision
            pull += precision * (latent + others)
        state.pull[i] = pull
        state.weights[i] = weight


@part
def draw_reference(rng: np.random.Generator, problem: Any, state: Any) -> None:
    """Shift the coefficients of all classes but the reference by a common vector, as
    `gibbs_sweep.draw_common_shift` does."""
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
    _subtract_reference(problem, state)
    for i in range(problem.codes.size):
        s.pull[i] -= s.weights[i] * s.linear[r, i]
    draw_class_coefficients(rng, problem, state, r)
    _subtract_reference(problem, state)
    s.coef[r] = 0.0
    s.linear[r] = 0.0
