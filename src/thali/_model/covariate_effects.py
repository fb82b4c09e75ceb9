"""Covariates of comparisons and options: arguments of predictions, and coefficients."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import shorten, suggest
from thali._posterior.posterior_interval import compute_interval
from thali._posterior.posterior_tree import COVARIATE
from thali.errors import ArgumentError

if TYPE_CHECKING:
    import pandas

    from thali._data.option_covariates import OptionCovariates
    from thali._data.pairs.covariates import PairCovariates


def coefficient_name(name: str) -> str:
    """Return the name of a covariate's coefficient in the likelihood and in summaries."""
    return f"covariate[{name}]"


def store_covariates(covariates: "PairCovariates") -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Return the covariates as variables and coordinates of the posterior's group constant_data."""
    option_variables, covariate_names = store_option_covariates(covariates)
    variables = {
        "cell_pair": ("cell", covariates.pair),
        "covariate_values": (("cell", COVARIATE), covariates.values),
        **option_variables,
        "cell_wins": ("cell", covariates.wins),
        "cell_losses": ("cell", covariates.losses),
        "cell_ties": ("cell", covariates.tied),
    }
    return variables, covariate_names


def store_option_covariates(
    covariates: "OptionCovariates",
) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Return covariates of options as variables and coordinates of constant_data."""
    variables = {"option_values": (("option", COVARIATE), covariates.options)}
    return variables, {COVARIATE: np.asarray(covariates.names, dtype=str)}


def predictor_matrix(covariates: Any, names: Sequence[str], n_pairs: int) -> np.ndarray:
    """Return covariate values x, shape (pairs, covariates); covariates not given are 0."""
    x = np.zeros((n_pairs, len(names)))
    if covariates is None:
        return x
    if not isinstance(covariates, Mapping) and not hasattr(covariates, "columns"):
        raise ArgumentError(
            f"`covariates` must map names to numbers, such as {{'order': 1}}; got {covariates!r}."
        )
    for name in covariates.keys():
        if name not in names:
            options_text = "the model was fitted without any"
            if names:
                options_text = f"available: {shorten(names, 12)}"
            raise ArgumentError(
                f"There is no covariate {name!r}; {options_text}.{suggest(str(name), names)}"
            )
        try:
            x[:, names.index(name)] = np.asarray(covariates[name], float)
        except (TypeError, ValueError):
            raise ArgumentError(
                f"The covariate {name!r} must be a number, or one number for each of the {n_pairs}"
                f" pairs; got {covariates[name]!r}."
            ) from None
    if not np.isfinite(x).all():
        raise ArgumentError("Covariates must be finite numbers; correct the values.")
    return x


def summarise_effects(effect_draws: np.ndarray, ci: float) -> dict[str, np.ndarray]:
    """Return mean, sd, interval and P(> 0) of coefficients, from draws (draws, effects)."""
    low, high = compute_interval(effect_draws, ci)
    return {
        "mean": effect_draws.mean(axis=0),
        "sd": effect_draws.std(axis=0),
        "low": low,
        "high": high,
        "above_0": (effect_draws > 0.0).mean(axis=0),
    }


def tabulate_effects(covariates: Sequence[str], beta: np.ndarray, ci: float) -> "pandas.DataFrame":
    """Tabulate coefficients of covariates: mean, sd, interval, P(> 0), odds ratio."""
    import pandas as pd

    from thali._exportable_table import Table

    columns = summarise_effects(beta, ci)
    covariate_index = pd.Index(covariates, name="covariate", dtype=object)
    table = Table(columns | {"odds": np.exp(columns["mean"])}, index=covariate_index)
    table.attrs["interval"] = ci
    return table
