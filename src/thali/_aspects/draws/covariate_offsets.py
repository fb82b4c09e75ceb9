"""Effects of comparison covariates on choice probabilities, for every draw."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from thali._model.covariate_effects import coefficient_name
from thali._posterior.posterior_tree import Posterior

MAX_OFFSET = 300.0  # bound of x'beta, as in the samplers


class CovariateOffsets(NamedTuple):
    """Coefficients and covariates of comparisons; their product is added to log odds."""

    beta: np.ndarray  # (draws, covariates)
    x: np.ndarray  # (cells, covariates)

    def log_odds(self, draws: slice) -> np.ndarray:
        """Return beta'x of each comparison at these draws, shape (n_draws, n_cells)."""
        return self.beta[draws] @ self.x.T


def stack_coefficients(parameters: Mapping[str, Any], names: Iterable[str]) -> np.ndarray:
    """Stack draws of the covariates' coefficients, shape (n_draws, n_covariates)."""
    return np.stack([np.atleast_1d(parameters[coefficient_name(name)]) for name in names], axis=-1)


def read_parameter_draws(posterior: Posterior, names: Iterable[str]) -> dict[str, np.ndarray]:
    """Read draws of the likelihood's parameters by name, chain after chain."""
    coefficients = dict(
        zip(map(coefficient_name, posterior.covariates), posterior.coefficients.T, strict=True)
    )
    draws_by_name = {}
    for name in names:
        if name in coefficients:
            draws_by_name[name] = coefficients[name]
        else:
            draws_by_name[name] = posterior.draws[name].values.ravel()
    return draws_by_name


def multiply_first_advantage(
    first_advantage: np.ndarray, second_advantage: np.ndarray, eta: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Multiply the first option's advantage by exp(eta); ones where both are zero."""
    are_zero = first_advantage + second_advantage == 0.0
    first_advantage = np.where(are_zero, 1.0, first_advantage)
    second_advantage = np.where(are_zero, 1.0, second_advantage)
    return first_advantage * np.exp(np.clip(eta, -MAX_OFFSET, MAX_OFFSET)), second_advantage


def read_cells(posterior: Posterior) -> dict[str, np.ndarray]:
    """Read pair, outcome counts and covariates of each distinct comparison.

    Without covariates each pair is one cell.
    """
    constant_data = posterior.fixed
    observed_data = posterior.observed
    if posterior.covariates:
        variable_names = {
            "pair": "cell_pair",
            "wins": "cell_wins",
            "losses": "cell_losses",
            "ties": "cell_ties",
        }
        return {key: constant_data[name].values for key, name in variable_names.items()} | {
            "x": constant_data["covariate_values"].values
        }
    wins = observed_data["wins"].values
    losses = constant_data["losses"].values
    ties = np.zeros(len(wins))
    if posterior.has_ties:
        ties = observed_data["ties"].values
    return {
        "pair": np.arange(len(wins)),
        "wins": wins,
        "losses": losses,
        "ties": ties,
        "x": np.zeros((len(wins), 0)),
    }
