"""The data of a user's own likelihood in the posterior tree: every field, under its name."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.kinds import OWN
from thali._posterior.densities import is_pointwise
from thali.errors import ArgumentError

from ..draws.posterior_tree import DataPart
from .delta_checks import as_seen
from .validation import called

if TYPE_CHECKING:
    from thali._data.observed import Observed

    from .custom import Custom


# feature matrices, and features in each, at which a likelihood is asked whether weights matter
TRIED, SHOWN = 8, 4


def own_part(
    observed: "Observed",
    sees_single: bool,
    parameters: tuple[str, ...] = (),
    sees_weights: bool = True,
) -> DataPart:
    """The part of a posterior about a user's data, which thali cannot interpret; `parameters` are
    learned fields."""
    kept = {}
    for name, value in zip(observed.fields._fields, observed.fields, strict=True):
        if name in parameters:
            continue
        array = np.asarray(value)
        kept[f"data.{name}"] = (tuple(f"{name}_{axis}" for axis in range(array.ndim)), array)
    constants = {"unique": False, "sees_single": sees_single, "parameters": ",".join(parameters)}
    constants |= {} if sees_weights else {"sees_weights": False}
    descriptions = {
        name: "a parameter of the likelihood, a field of the data" for name in parameters
    }
    return DataPart(
        kind=OWN, log_constant=0.0, descriptions=descriptions, observed=kept, constants=constants
    )


def sees_weights(
    custom: "Custom", observed: "Observed", columns: Any, own: dict[str, np.ndarray]
) -> bool:
    """Whether the log-likelihood of random features changes with their weights, drawn ones and
    others."""
    if not columns.weights.size:
        return True
    rng, n = np.random.default_rng(1), observed.n_options
    for draw in np.linspace(0, columns.n_draws - 1, TRIED).astype(int).tolist():
        data = custom.at(
            observed.fields, {name: float(values[draw]) for name, values in own.items()}
        )
        features, weights = (
            as_seen(rng.random((n, SHOWN)) < 0.5),
            rng.choice(columns.weights, SHOWN),
        )
        both = weights, weights * rng.exponential(size=SHOWN)
        try:
            one, other = (
                called("log_likelihood", custom.log_likelihood, data, features, each)
                for each in both
            )
        except ArgumentError:  # an impossible value
            return True
        if one != other:
            return True
    return False


def predicted_by_draws(
    custom: "Custom",
    observed: "Observed",
    columns: Any,
    own: dict[str, np.ndarray],
    name: str = "predict",
) -> list[np.ndarray]:
    """What a user's function of data, features and weights gives in every draw, arrays of one
    shape."""
    found: list[np.ndarray] = []
    for draw in range(columns.n_draws):
        owners, weights = columns.select_draw(draw).to_dense(0, 1)
        data = custom.at(observed.original, {key: values[draw] for key, values in own.items()})
        values = np.asarray(
            getattr(custom, name)(data, owners[0].T.astype(float), weights[0].copy()), float
        )
        if found and values.shape != found[0].shape:
            raise ArgumentError(
                f"{name} must return an array of the same shape for all features; it returned"
                f" shape {values.shape} after {found[0].shape}."
            )
        found.append(values)
    return found


def pointwise_of_draws(
    custom: "Custom",
    observed: "Observed",
    columns: Any,
    shape: tuple[int, int],
    own: dict[str, np.ndarray],
) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
    """The log-likelihood of each observation in every draw, as a user's function gives it; nothing
    of too many."""
    found = predicted_by_draws(
        custom, observed, columns.select_draw(0), {k: v[:1] for k, v in own.items()}, "pointwise"
    )
    if not is_pointwise(found[0].size, columns.n_draws):
        return {}
    found = predicted_by_draws(custom, observed, columns, own, "pointwise")
    values = np.asarray(found)
    axes = tuple(f"observation_{axis}" for axis in range(values.ndim - 1))
    return {"observations": (("chain", "draw", *axes), values.reshape(*shape, *values.shape[1:]))}
