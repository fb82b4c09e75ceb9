"""The normal approximation by Laplace: the log-likelihood to second order at its mean.

Means, standard deviations and q(eta) are improved in turn until they stay.
"""

import math

import numpy as np

from .approximation import SETTLED, Expand, NormalPosterior, is_free, law_of_eta, mean_size, slope_and_bend
from .expansion import Expansion
from .sweep import INTERCEPT_VARIANCE, Problem

_MAX_ROUNDS = 200


def laplace_posterior(problem: Problem, eta: float | None, expand: Expand) -> NormalPosterior:
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
            if _value(ahead, trial, sd, root, free) >= before - 1e-9 * (1.0 + abs(before)) or length < 1e-6:
                break
            length *= 0.5
        mean, at, length = trial, ahead, min(1.0, 2.0 * length)
        if eta is None:
            size = float(mean_size(mean, sd)[~free].sum())
            etas, shares = law_of_eta(2.0 * problem.shape + q * problem.penalised, size, problem.rate)
            change = max(change, abs(float(shares @ np.sqrt(etas)) / root - 1.0))
        settled = change < SETTLED
    return NormalPosterior(mean, factor, at, etas, shares, settled, math.nan)


def _factor(precision: np.ndarray, curvature: np.ndarray, root: float) -> np.ndarray:
    """The Cholesky factor of P, with a little of the prior's precision where rounding makes P singular."""
    from scipy.linalg import LinAlgError, cholesky

    try:
        return cholesky(precision, lower=True)
    except LinAlgError:
        return cholesky(precision + np.diag(1e-3 * root * root + 1e-9 * np.diag(curvature)), lower=True)


def _value(at: Expansion, mean: np.ndarray, sd: np.ndarray, root: float, free: np.ndarray) -> float:
    """What the means maximise while standard deviations and q(eta) stay."""
    prior = np.where(free, 0.5 * mean**2 / INTERCEPT_VARIANCE, root * mean_size(mean, sd))
    return at.log_likelihood - float(prior.sum())
