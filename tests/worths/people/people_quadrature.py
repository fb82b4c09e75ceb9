"""Means of the posterior of two people who compare two options, by sums over grids."""

import math

import numpy as np
from scipy.special import expit

LOG_SIGMA = np.arange(-11.0, 2.5, 0.3)
LOG_S = np.arange(math.log(1.3) - 4.6, math.log(1.3) + 4.7, 0.2)
DEVIATION = np.linspace(-6.0, 6.0, 61)  # of a person's difference, in standard deviations
DIFFERENCE = np.linspace(-24.0, 24.0, 481)  # between the population's log worths
LOG_NU = np.linspace(-10.0, 10.0, 31)


def integrate_two_people(
    counts: tuple[tuple[int, int, int], tuple[int, int, int]], lapse: float, has_ties: bool
) -> dict[str, float]:
    """Return posterior means by name; counts of each person: option 1 chosen, option 2 chosen,
    ties.

    "choice" is the probability of option 1 by the population's worths, "person" that by those of
    the first person.

    The difference of a person's log worths is Normal(D, 2 sigma^2), that of the population's, D, is
    Normal(0, 2 s^2).
    """
    prior = np.exp(-(DIFFERENCE**2) / (4.0 * np.exp(2.0 * LOG_S)[:, None]))
    whole = math.sqrt(4.0 * math.pi) * np.exp(LOG_S) / (DIFFERENCE[1] - DIFFERENCE[0])
    # a narrow one has few points, a wide one has its ends
    prior /= np.maximum(prior.sum(axis=1), whole)[:, None]
    prior *= np.exp(-0.5 * (LOG_S - math.log(1.3)) ** 2)[:, None]
    of_difference, of_log_s = prior.sum(axis=0), (prior * LOG_S[:, None]).sum(axis=0)
    normal = np.exp(-0.5 * DEVIATION**2)
    normal /= normal.sum()
    choice, sums = expit(DIFFERENCE), 0.0
    for log_sigma in LOG_SIGMA:
        own = DIFFERENCE[:, None] + math.sqrt(2.0) * math.exp(log_sigma) * DEVIATION
        p = (1.0 - lapse) / (1.0 + np.exp(-own)) + lapse / 2.0
        q = (1.0 - lapse) / (1.0 + np.exp(own)) + lapse / 2.0
        prior_of_sigma = math.exp(log_sigma - 0.5 * math.exp(2.0 * log_sigma))
        for log_nu in LOG_NU if has_ties else (None,):
            likelihoods = [p**won * q**lost for won, lost, _ in counts]
            if log_nu is not None:
                tie = math.exp(log_nu) * np.sqrt(p * q)
                for k, (won, lost, tied) in enumerate(counts):
                    likelihoods[k] *= tie**tied / (1.0 + tie) ** (won + lost + tied)
            first, second = (likelihood @ normal for likelihood in likelihoods)
            prior_of_nu = 1.0 if log_nu is None else math.exp(-(log_nu**2) / 8.0)
            mass = prior_of_sigma * prior_of_nu * of_difference * first * second
            total = mass.sum()
            of_first = (
                prior_of_sigma
                * prior_of_nu
                * of_difference
                * ((likelihoods[0] * expit(own)) @ normal)
                * second
            )
            sums += np.array(
                [
                    total,
                    mass @ choice,
                    mass @ choice**2,
                    total * log_sigma,
                    total * math.exp(log_sigma),
                    mass @ (of_log_s / of_difference),
                    of_first.sum(),
                    total * (log_nu or 0.0),
                ]
            )
    names = "choice", "choice^2", "log sigma", "sigma", "log s", "person", "log nu"
    return dict(zip(names, (sums[1:] / sums[0]).tolist(), strict=True))
