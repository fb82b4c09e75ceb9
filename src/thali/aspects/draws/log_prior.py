"""The log prior density of recorded draws, part by part."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .columns import Columns

if TYPE_CHECKING:
    from ..samplers.chains import Task

NOTES = {
    "alpha": "the concentration",
    "features": "the owners of all columns: an unordered Poisson process under an infinite prior, else the matrix",
    "weights": "the weights of all columns",
    "unique_weights": "the weights of the unique aspects",
    "constant": "the additive constant",
    "sigma": "sigma",
    "tie": "the parameter of ties",
    "covariate": "the coefficients of covariates",
}


def log_prior_of(
    task: "Task", likelihood: Any, data: Any, columns: Columns, alpha: np.ndarray, own: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    r"""Log prior densities of what was drawn, arrays (draws,) by the names of the variables of the posterior.

    .. math:: \log p(\alpha) + \log p(Z \mid \alpha) + \sum_k \log p(w_k) + \dots

    A fixed alpha has none; that of a given matrix is 0.
    """
    weights = task.model.weights
    found = {}
    if task.model.learn_alpha:
        found["alpha"] = -alpha  # Gamma(1, 1)
    found["features"] = task.prior.log_prob_of_draws(columns, alpha)
    found["weights"] = columns.summed(weights.log_density(columns.weights))
    if likelihood.unique:
        found["unique_weights"] = weights.log_density(columns.unique_weights).sum(axis=1)
    return found | likelihood.log_prior_of_parameters(own, data, weights)
