"""Whether numbers between 0 and 1 are uniform, by their empirical distribution function."""

import numpy as np

_POINTS = 50  # at which the distribution functions are compared
_TIE = 1e-9  # relative difference of probabilities that are equal but for rounding


def uniformity(values: np.ndarray) -> float:
    r"""The p-value of independent uniform numbers, by the greatest deviation of their distribution function.

    At the points z_i = i/K the number c_i of values up to z_i is Binomial(n, z_i). The smallest tail probability

    .. math:: \gamma = \min_i \; 2 \min\{P(C_i \le c_i), P(C_i \ge c_i)\}

    is referred to its exact distribution, which follows from the counts being a Markov chain.
    """
    from scipy.special import gammaln
    from scipy.stats import binom

    n = len(values)
    points = np.arange(1, _POINTS) / _POINTS
    counts = np.searchsorted(np.sort(values), points, side="right")
    every = np.arange(n + 1)
    tails = np.minimum(binom.cdf(every, n, points[:, None]), binom.sf(every - 1, n, points[:, None]))
    smallest = tails[np.arange(len(points)), counts].min()
    inside = tails > smallest * (1.0 + _TIE)
    log_factorial = gammaln(every + 1.0)
    before, decisions, point = np.zeros(1, int), np.ones(1), 0.0
    for next_point, allowed in zip(points, inside, strict=True):
        after = np.flatnonzero(allowed)
        share = (next_point - point) / (1.0 - point)
        new, left = after[None, :] - before[:, None], n - after
        log_p = log_factorial[n - before][:, None] - log_factorial[np.maximum(new, 0)] - log_factorial[left]
        log_p = log_p + new * np.log(share) + left * np.log1p(-share)
        before, decisions, point = after, decisions @ np.where(new >= 0, np.exp(log_p), 0.0), next_point
    return float(min(1.0, max(0.0, 1.0 - decisions.sum())))
