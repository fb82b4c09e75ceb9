"""The logit models of choice experiments once more, slow and obvious."""

import math

import numpy as np

__all__ = ["choice_probability", "hierarchical_log_joint"]


def choice_probability(alternatives: np.ndarray, chosen: int, beta: np.ndarray) -> float:
    """Probability that one of the alternatives, rows of numbers, is chosen.

    Example
    -------
    >>> round(choice_probability(np.array([[0.0], [1.0]]), 1, np.array([math.log(3.0)])), 12)
    0.75
    """
    weights = [math.exp(float(x @ beta)) for x in alternatives]
    return weights[chosen] / sum(weights)


def hierarchical_log_joint(tasks, beta, mean, covariance, df: float, scale: float, mean_sd: float) -> float:
    r"""Log of the joint density of choices, tastes and population of the hierarchical logit.

    .. math::
        \sum_{nt} \ln p_{nt}(x^*_{nt} \mid \beta_n) + \sum_n \ln N(\beta_n \mid \mu, \Sigma)
        + \ln N(\mu \mid 0, s^2 I) + \ln IW(\Sigma \mid \nu, S I)

    Parameters
    ----------
    tasks : list of lists of (alternatives, chosen)
        The tasks of each person.
    beta : array (N, p)
    mean : array (p,)
    covariance : array (p, p)
    df, scale, mean_sd : float
        nu, S (nu V in the terms of `HierarchicalLogit`) and s.

    Returns
    -------
    float
    """
    from scipy.stats import invwishart, multivariate_normal

    p = len(mean)
    total = float(invwishart.logpdf(covariance, df, scale * np.eye(p)))
    total += float(multivariate_normal.logpdf(mean, np.zeros(p), mean_sd**2 * np.eye(p)))  # pyright: ignore
    for own, tastes in zip(tasks, beta, strict=True):
        total += float(multivariate_normal.logpdf(tastes, mean, covariance))
        total += sum(math.log(choice_probability(alternatives, chosen, tastes)) for alternatives, chosen in own)
    return total
