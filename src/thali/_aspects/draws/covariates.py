"""What covariates of comparisons and of options do to choice probabilities, draw by draw."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import shorten, suggest
from thali._posterior.view import COVARIATE, Posterior
from thali.errors import ArgumentError

from .columns import FeatureColumns, columns_of

if TYPE_CHECKING:
    import pandas

    from thali._data.pairs.covariates import PairCovariates

FARTHEST = 300.0  # x'beta beyond it counts as much, as in the samplers


class Lift(NamedTuple):
    """What covariates add to the log odds of the first of each pair, or cell, in every draw: beta'x."""

    beta: np.ndarray  # (draws, covariates)
    x: np.ndarray  # (cells, covariates)

    def of(self, draws: slice, cells: slice = slice(None)) -> np.ndarray:
        """Of some draws and cells."""
        return self.beta[draws] @ self.x[cells].T


def parameter(name: str) -> str:
    """The name of a coefficient among the parameters of the likelihood, and in a summary."""
    return f"covariate[{name}]"


def coefficients(own: Mapping[str, Any], names: Iterable[str]) -> np.ndarray:
    """beta (draws, covariates), of parameters by their names."""
    return np.stack([np.atleast_1d(own[parameter(name)]) for name in names], axis=-1)


def with_worths(columns: FeatureColumns, options: np.ndarray, beta: np.ndarray) -> FeatureColumns:
    """The columns with unique weights times exp(x'beta) of the options; a common factor does not matter."""
    if not options.any():
        return columns
    centred = options - options.mean(axis=0)
    factor = np.exp(np.clip(beta @ centred.T, -FARTHEST, FARTHEST))
    return replace(columns, unique_weights=columns.unique_weights * factor)


def as_drawn(posterior: Posterior) -> FeatureColumns:
    """The columns of a posterior with the own weights that were drawn, without what covariates of options do."""
    return with_worths(columns_of(posterior), posterior.option_covariates, -posterior.coefficients)


def own_draws(posterior: Posterior, names: Sequence[str]) -> dict[str, np.ndarray]:
    """The draws of a likelihood's own parameters by their names, chain after chain."""
    own = dict(zip(map(parameter, posterior.covariates), posterior.coefficients.T, strict=True))
    return {name: own[name] if name in own else posterior.draws[name].values.ravel() for name in names}


def lifted(ij: np.ndarray, ji: np.ndarray, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two advantages, the first times exp(eta); where neither option has one, both have the same."""
    empty = ij + ji == 0.0
    ij, ji = np.where(empty, 1.0, ij), np.where(empty, 1.0, ji)
    return ij * np.exp(np.clip(eta, -FARTHEST, FARTHEST)), ji


def parts_of(covariates: "PairCovariates") -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Variables and coordinates of the group constant_data: the cells with their counts, and who they are of."""
    names = np.asarray(covariates.names, dtype=str)
    variables = {
        "cell_pair": ("cell", covariates.pair),
        "covariate_values": (("cell", COVARIATE), covariates.values),
        "option_values": (("option", COVARIATE), covariates.options),
        "cell_wins": ("cell", covariates.wins),
        "cell_losses": ("cell", covariates.losses),
        "cell_ties": ("cell", covariates.tied),
    }
    return variables, {COVARIATE: names}


def cells_of(posterior: Posterior) -> dict[str, np.ndarray]:
    """Of each cell the place of its pair, counts by outcome and covariates; a pair is one cell if there are none."""
    constant, observed = posterior.fixed, posterior.observed
    if posterior.covariates:
        names = {"pair": "cell_pair", "wins": "cell_wins", "losses": "cell_losses", "ties": "cell_ties"}
        return {key: constant[name].values for key, name in names.items()} | {"x": constant["covariate_values"].values}
    wins, losses = observed["wins"].values, constant["losses"].values
    ties = observed["ties"].values if posterior.has_ties else 0.0 * wins
    return {"pair": np.arange(len(wins)), "wins": wins, "losses": losses, "ties": ties, "x": np.zeros((len(wins), 0))}


def values_for(given: Any, names: Sequence[str], options: np.ndarray, count: int) -> np.ndarray:
    """x (pairs, covariates) of predictions: numbers given by name, else 0; `options`: the covariates of options."""
    x = np.zeros((count, len(names)))
    if given is None:
        return x
    if not isinstance(given, Mapping) and not hasattr(given, "columns"):
        raise ArgumentError(f"`covariates` must map names to numbers, such as {{'order': 1}}; got {given!r}.")
    for name in given.keys():
        if name not in names:
            known = f"available: {shorten(names, 12)}" if names else "the model was fitted without any"
            raise ArgumentError(f"There is no covariate {name!r}; {known}.{suggest(str(name), names)}")
        if options[:, names.index(name)].any():
            raise ArgumentError(
                f"The covariate {name!r} describes options, so its values are already known; do not pass it."
            )
        try:
            x[:, names.index(name)] = np.asarray(given[name], float)
        except (TypeError, ValueError):
            raise ArgumentError(
                f"The covariate {name!r} must be a number, or one number for each of the {count} pairs; got"
                f" {given[name]!r}."
            ) from None
    if not np.isfinite(x).all():
        raise ArgumentError("Covariates must be finite numbers; correct the values.")
    return x


def effects_table(posterior: Posterior, ci: float) -> "pandas.DataFrame":
    """A row a covariate: mean, sd, low, high, above_0, odds."""
    import pandas as pd

    from thali._posterior.interval import tails_of
    from thali._tables import Table

    beta = posterior.coefficients
    low, high = np.quantile(beta, tails_of(ci), axis=0)
    mean = beta.mean(axis=0)
    columns = {"mean": mean, "sd": beta.std(axis=0), "low": low, "high": high, "above_0": (beta > 0.0).mean(axis=0)}
    names = pd.Index(posterior.covariates, name="covariate", dtype=object)
    table = Table(columns | {"odds": np.exp(mean)}, index=names)
    table.attrs["interval"] = ci
    return table
