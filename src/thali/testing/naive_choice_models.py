"""The logit models of choice experiments, in slow and obvious code."""

import math
from typing import Any

import numpy as np

__all__ = ["choice_probability", "hierarchical_log_joint", "latent_class_log_likelihood"]


def choice_probability(alternatives: np.ndarray, chosen: int, beta: np.ndarray) -> float:
    """Probability that one of the alternatives, rows of numbers, is chosen."""
    weights = [math.exp(float(x @ beta)) for x in alternatives]
    return weights[chosen] / sum(weights)


def hierarchical_log_joint(
    tasks: Any, beta: Any, mean: Any, covariance: Any, df: float, scale: float, mean_sd: float
) -> float:
    r"""Log of the joint density of choices, tastes and population of the hierarchical logit.

    .. math::
        \sum_{nt} \ln p_{nt}(x^*_{nt} \mid \beta_n) + \sum_n \ln N(\beta_n \mid \mu, \Sigma)
        + \ln N(\mu \mid 0, s^2 I) + \ln IW(\Sigma \mid \nu, S I)
    """
    from scipy.stats import invwishart, multivariate_normal

    p = len(mean)
    total = float(invwishart.logpdf(covariance, df, scale * np.eye(p)))
    total += float(multivariate_normal.logpdf(mean, np.zeros(p), mean_sd**2 * np.eye(p)))  # pyright: ignore
    for own, tastes in zip(tasks, beta, strict=True):
        total += float(multivariate_normal.logpdf(tastes, mean, covariance))
        total += sum(math.log(choice_probability(alternatives, chosen, tastes)) for alternatives, chosen in own)
    return total


def latent_class_log_likelihood(tasks: Any, sizes: Any, tastes: Any) -> float:
    r"""Log-likelihood of the choices of all people, each of whom belongs to one of K classes.

    .. math:: \sum_n \ln \sum_k \pi_k \prod_t p_{nt}(x^*_{nt} \mid \beta_k)
    """
    total = 0.0
    for own in tasks:
        of_person = 0.0
        for size, beta in zip(sizes, tastes, strict=True):
            of_person += size * math.prod(choice_probability(rows, chosen, beta) for rows, chosen in own)
        total += math.log(of_person)
    return total
