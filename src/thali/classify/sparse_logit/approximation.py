r"""What the normal approximations of the posterior of the sparse multinomial logit share.

.. math:: q(\beta, b) = \mathrm{Normal}(m, P^{-1}), \qquad
          q(\eta) \propto \eta^{\text{shape} - 1 + N/2} e^{-\text{rate}\,\eta - \sqrt\eta \sum_j E_q|\beta_j|}

The Laplace prior has no second derivative at 0, where many coefficients are, so its expectation under q takes its
place, which is smooth: with s_j the standard deviation of beta_j, E|beta_j| has the slope 2 Phi(m_j / s_j) - 1, and
its part of P is 2 E[sqrt eta] phi(m_j / s_j) / s_j.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .expansion import Expansion
from .sweep import INTERCEPT_VARIANCE, Problem

Expand = Callable[..., Expansion]  # of coefficients (q, m) and, if it is that of a mean over a normal law, covariance
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


def is_free(problem: Problem) -> np.ndarray:
    """Which of the coefficients (q m,) are intercepts."""
    return np.tile(np.arange(problem.covariates.shape[0]) >= problem.penalised, problem.classes - 1)


def slope_and_bend(mean: np.ndarray, sd: np.ndarray, root: float, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Minus the first and the second derivatives of the prior's part of the bound; root is E[sqrt eta]."""
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
    """Values and probabilities of eta; its root v has a density proportional to v^(shape-1) exp(-size v - rate v²)."""
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
