"""The data of a user's own likelihood in the posterior tree: every field, under its name."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data.kinds import OWN
from thali.model.latent_features.answers.tree import DataPart
from thali.posterior.densities import is_pointwise

if TYPE_CHECKING:
    from ..likelihoods.custom import Custom
    from ..likelihoods.observed import Observed


def own_part(observed: "Observed", sees_single: bool) -> DataPart:
    """The part of a posterior about a user's data, which thali cannot interpret."""
    kept = {}
    for name, value in zip(observed.fields._fields, observed.fields, strict=True):
        array = np.asarray(value)
        kept[f"data.{name}"] = (tuple(f"{name}_{axis}" for axis in range(array.ndim)), array)
    constants = {"unique": False, "sees_single": sees_single}
    return DataPart(kind=OWN, log_constant=0.0, descriptions={}, observed=kept, constants=constants)


def pointwise_of_draws(
    custom: "Custom", observed: "Observed", columns: Any, shape: tuple[int, int]
) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
    """The log-likelihood of each observation in every draw, as a user's function gives it; nothing of too many."""
    found = []
    for draw in range(columns.n_draws):
        owners, weights = columns.at(draw).dense(0, 1)
        state = owners[0].T.astype(float), weights[0]
        terms = np.asarray(custom.pointwise(observed.original, *map(np.copy, state)), float)  # type: ignore[misc]
        if not is_pointwise(terms.size, columns.n_draws):
            return {}
        found.append(terms)
    values = np.asarray(found)
    axes = tuple(f"observation_{axis}" for axis in range(values.ndim - 1))
    return {"observations": (("chain", "draw", *axes), values.reshape(*shape, *values.shape[1:]))}
