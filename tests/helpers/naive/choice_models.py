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
    tasks: Any,
    beta: Any,
    mean: Any,
    covariance: Any,
    df: float,
    scale: float,
    mean_sd: Any,
    covariates: Any = None,
    sign: Any = None,
    price: int | None = None,
) -> float:
    r"""Log of the joint density of choices, tastes and population of the hierarchical logit.

    .. math::
        \sum_{nt} \ln p_{nt}(x^*_{nt} \mid f(\beta_n)) + \sum_n \ln N(\beta_n \mid M^T z_n, \Sigma)
        + \sum_{rk} \ln N(M_{rk} \mid 0, s_k^2) + \ln IW(\Sigma \mid \nu, S I),
        \qquad f_k(b) = b \text{ or } \pm e^b

    `mean` has the shape (p,), or (q, p) with `covariates` (people, q); `sign` (p,) is 0 where a
    taste may have any. In willingness-to-pay space `price` is the place of its coefficient, whose
    sign is -1, and the others are f times minus that coefficient.
    """
    from scipy.stats import invwishart, multivariate_normal

    mean = np.atleast_2d(mean)
    p = mean.shape[1]
    covariates = np.ones((len(beta), 1)) if covariates is None else covariates
    total = float(invwishart.logpdf(covariance, df, scale * np.eye(p)))
    for row in mean:
        total += float(
            multivariate_normal.logpdf(row, np.zeros(p), np.asarray(mean_sd) ** 2 * np.eye(p))
        )  # pyright: ignore
    for own, z, normal in zip(tasks, covariates, beta, strict=True):
        total += float(multivariate_normal.logpdf(normal, z @ mean, covariance))
        tastes = np.array(normal, float)
        for k in range(p):
            if sign is not None and sign[k] != 0:
                tastes[k] = sign[k] * math.exp(normal[k])
        if price is not None:
            tastes = np.array(
                [taste if k == price else -taste * tastes[price] for k, taste in enumerate(tastes)]
            )
        total += sum(
            math.log(choice_probability(alternatives, chosen, tastes))
            for alternatives, chosen in own
        )
    return total


def latent_class_log_likelihood(tasks: Any, sizes: Any, tastes: Any) -> float:
    r"""Log-likelihood of the choices of all people, each of whom belongs to one of K classes.

    .. math:: \sum_n \ln \sum_k \pi_k \prod_t p_{nt}(x^*_{nt} \mid \beta_k)

    `sizes` (K,) is the same for all, or (people, K).
    """
    total = 0.0
    for own, of_classes in zip(
        tasks, np.broadcast_to(sizes, (len(tasks), len(tastes))), strict=True
    ):
        of_person = 0.0
        for size, beta in zip(of_classes, tastes, strict=True):
            of_person += size * math.prod(
                choice_probability(rows, chosen, beta) for rows, chosen in own
            )
        total += math.log(of_person)
    return total
