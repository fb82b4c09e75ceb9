"""Thermodynamic integration along temperatures: a check of the log evidence by other means."""

import math
from dataclasses import dataclass

import numpy as np

WITHIN = 4.0  # standard errors, beside the bias, by which the integral may differ from the value


@dataclass(frozen=True)
class Thermodynamic:
    r"""The log evidence as the integral of the mean log-likelihood over inverse temperatures.

    With E, V and K the mean, the variance and the third cumulant of the log-likelihood at an inverse temperature, of
    which each is the derivative of the one before, the gaps :math:`\Delta_t` of the path give

    .. math:: \sum_t \Bigl( \Delta_t \frac{E_t + E_{t+1}}{2} - \Delta_t^2 \frac{V_t - V_{t+1}}{12} \Bigr),

    the trapezoids and their second-order term, and, to the next order, a bias that is at most about

    .. math:: \sum_t \Bigl| \Delta_t^3 \frac{K_t + K_{t+1}}{120} - \Delta_t^2 \frac{V_t - V_{t+1}}{60} \Bigr|.

    Attributes
    ----------
    value : float
    standard_error : float
        Between chains.
    bias : float
        What the gaps may add or take away.
    difference : float
        The value less the log evidence by the multistate acceptance ratio.
    difference_se : float
        Its standard error, which is small because both are of the same draws.

    References
    ----------
    Gelman & Meng (1998), Simulating normalizing constants; the rules are those of Hermite interpolation with one
    derivative and with two.
    """

    value: float
    standard_error: float
    bias: float
    difference: float
    difference_se: float

    @property
    def agrees(self) -> bool:
        """Whether the difference lies within four of its standard errors and the bias."""
        return abs(self.difference) <= WITHIN * self.difference_se + self.bias

    def __str__(self) -> str:
        return (
            f"{self.value:.2f} (standard error {self.standard_error:.3f}, bias up to {self.bias:.3f}), "
            f"{'which agrees' if self.agrees else 'which does not agree'}"
        )


def integrated(
    beta: np.ndarray, energies: np.ndarray, log_constant: float, value: float, estimates: np.ndarray
) -> Thermodynamic | None:
    """The integral, and how it differs from a value; None of one chain, and where the prior draws a likelihood of 0.

    Parameters
    ----------
    beta : (temperatures,)
        Inverse temperatures, falling from 1 to 0.
    energies : (chains, draws, temperatures)
        Log-likelihoods without a constant.
    log_constant : float
        What they leave out.
    value : float
        The log evidence.
    estimates : (chains,)
        That of each chain.
    """
    gaps, chains = -np.diff(beta), len(energies)
    if chains < 2 or not np.isfinite(energies).all():
        return None
    cumulants = cumulants_of(energies.reshape(1, -1, beta.size))
    integral = float(integral_of(gaps, cumulants)[0]) + log_constant
    of_chain = integral_of(gaps, cumulants_of(energies)) + log_constant
    bias = float(np.abs(next_order_of(gaps, cumulants)).sum())
    error, apart = (float(each.std(ddof=1) / math.sqrt(chains)) for each in (of_chain, of_chain - estimates))
    return Thermodynamic(integral, error, bias, integral - value, apart)


def cumulants_of(energies: np.ndarray) -> np.ndarray:
    """Mean, variance and third cumulant (3, chains, temperatures) of log-likelihoods (chains, draws, temperatures)."""
    mean = energies.mean(axis=1)
    centred = energies - mean[:, None]
    return np.stack([mean, (centred**2).mean(axis=1), (centred**3).mean(axis=1)])


def integral_of(gaps: np.ndarray, cumulants: np.ndarray) -> np.ndarray:
    """The trapezoids and their second-order term, of cumulants (3, chains, temperatures): (chains,)."""
    mean, variance, _ = cumulants
    trapezoids = gaps * (mean[:, 1:] + mean[:, :-1]) / 2.0
    return (trapezoids + gaps**2 * np.diff(variance, axis=1) / 12.0).sum(axis=1)


def next_order_of(gaps: np.ndarray, cumulants: np.ndarray) -> np.ndarray:
    """What the third cumulant adds to that in each gap, of cumulants (3, chains, temperatures)."""
    _, variance, third = cumulants
    return gaps**3 * (third[:, 1:] + third[:, :-1]) / 120.0 + gaps**2 * np.diff(variance, axis=1) / 60.0
