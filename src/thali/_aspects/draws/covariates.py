"""What covariates of comparisons do to choice probabilities, draw by draw."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from thali._model.covariates import coefficient_name
from thali._posterior.view import Posterior

FARTHEST = 300.0  # x'beta beyond it counts as much, as in the samplers


class Lift(NamedTuple):
    """What covariates add to the log odds of the first of each pair, or cell, in every draw:
    beta'x."""

    beta: np.ndarray  # (draws, covariates)
    x: np.ndarray  # (cells, covariates)

    def of(self, draws: slice, cells: slice = slice(None)) -> np.ndarray:
        """Of some draws and cells."""
        return self.beta[draws] @ self.x[cells].T


def coefficients(own: Mapping[str, Any], names: Iterable[str]) -> np.ndarray:
    """beta (draws, covariates), of parameters by their names."""
    return np.stack([np.atleast_1d(own[coefficient_name(name)]) for name in names], axis=-1)


def own_draws(posterior: Posterior, names: Sequence[str]) -> dict[str, np.ndarray]:
    """The draws of a likelihood's own parameters by their names, chain after chain."""
    own = dict(
        zip(map(coefficient_name, posterior.covariates), posterior.coefficients.T, strict=True)
    )
    return {
        name: own[name] if name in own else posterior.draws[name].values.ravel() for name in names
    }


def lifted(ij: np.ndarray, ji: np.ndarray, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two advantages, the first times exp(eta); where neither option has one, both have the
    same."""
    empty = ij + ji == 0.0
    ij, ji = np.where(empty, 1.0, ij), np.where(empty, 1.0, ji)
    return ij * np.exp(np.clip(eta, -FARTHEST, FARTHEST)), ji


def cells_of(posterior: Posterior) -> dict[str, np.ndarray]:
    """Of each cell the place of its pair, counts by outcome and covariates; a pair is one cell if
    there are none."""
    constant, observed = posterior.fixed, posterior.observed
    if posterior.covariates:
        names = {
            "pair": "cell_pair",
            "wins": "cell_wins",
            "losses": "cell_losses",
            "ties": "cell_ties",
        }
        return {key: constant[name].values for key, name in names.items()} | {
            "x": constant["covariate_values"].values
        }
    wins, losses = observed["wins"].values, constant["losses"].values
    ties = observed["ties"].values if posterior.has_ties else 0.0 * wins
    return {
        "pair": np.arange(len(wins)),
        "wins": wins,
        "losses": losses,
        "ties": ties,
        "x": np.zeros((len(wins), 0)),
    }
