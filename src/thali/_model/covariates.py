"""Covariates of comparisons and of options: what predictions are asked for, and their
coefficients."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import shorten, suggest
from thali._posterior.interval import tails_of
from thali._posterior.view import COVARIATE
from thali.errors import ArgumentError

if TYPE_CHECKING:
    import pandas

    from thali._data.pairs.covariates import PairCovariates


def parameter(name: str) -> str:
    """The name of a coefficient among the parameters of the likelihood, and in a summary."""
    return f"covariate[{name}]"


def parts_of(covariates: "PairCovariates") -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Variables and coordinates of the group constant_data: the cells with their counts, and who
    they are of."""
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


def values_for(given: Any, names: Sequence[str], count: int) -> np.ndarray:
    """x (pairs, covariates) of predictions: numbers given by name, else 0."""
    x = np.zeros((count, len(names)))
    if given is None:
        return x
    if not isinstance(given, Mapping) and not hasattr(given, "columns"):
        raise ArgumentError(
            f"`covariates` must map names to numbers, such as {{'order': 1}}; got {given!r}."
        )
    for name in given.keys():
        if name not in names:
            known = (
                f"available: {shorten(names, 12)}" if names else "the model was fitted without any"
            )
            raise ArgumentError(
                f"There is no covariate {name!r}; {known}.{suggest(str(name), names)}"
            )
        try:
            x[:, names.index(name)] = np.asarray(given[name], float)
        except (TypeError, ValueError):
            raise ArgumentError(
                f"The covariate {name!r} must be a number, or one number for each of the {count}"
                f" pairs; got {given[name]!r}."
            ) from None
    if not np.isfinite(x).all():
        raise ArgumentError("Covariates must be finite numbers; correct the values.")
    return x


def effects_table(covariates: Sequence[str], beta: np.ndarray, ci: float) -> "pandas.DataFrame":
    """Return a row a covariate, of coefficients (draws, covariates): mean, sd, low, high, above_0,
    odds."""
    import pandas as pd

    from thali._tables import Table

    low, high = np.quantile(beta, tails_of(ci), axis=0)
    mean = beta.mean(axis=0)
    columns = {
        "mean": mean,
        "sd": beta.std(axis=0),
        "low": low,
        "high": high,
        "above_0": (beta > 0.0).mean(axis=0),
    }
    names = pd.Index(covariates, name="covariate", dtype=object)
    table = Table(columns | {"odds": np.exp(mean)}, index=names)
    table.attrs["interval"] = ci
    return table
