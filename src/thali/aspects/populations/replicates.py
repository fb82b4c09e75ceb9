"""Data simulated at every draw of a posterior, by the likelihood itself."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..draws.covariates import as_drawn, own_draws

if TYPE_CHECKING:
    import xarray


def replicates(tree: "xarray.DataTree", likelihood: Any, data: Any, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Arrays (chain, draw, ...) under the names of the group observed_data."""
    columns, own = as_drawn(tree), own_draws(tree, likelihood.parameters)
    drawn = [
        likelihood.new_data(columns.at(draw), {name: values[draw] for name, values in own.items()}, data, rng).observed
        for draw in range(columns.n_draws)
    ]
    shape = tree["posterior"].sizes["chain"], tree["posterior"].sizes["draw"]
    arrays = {name: np.asarray([each[name] for each in drawn]) for name in drawn[0]}
    return {name: values.reshape(*shape, *values.shape[1:]) for name, values in arrays.items()}


def observed_by(tree: "xarray.DataTree", likelihood: Any, data: Any) -> dict[str, np.ndarray]:
    """What the group observed_data of a fit to these data holds; nothing if they have another design."""
    own = {name: values[:1] for name, values in own_draws(tree, likelihood.parameters).items()}
    part = likelihood.posterior_part(as_drawn(tree).at(0), own, data, (1, 1), False)
    known = tree["constant_data"].dataset
    for name, constant in part.constants.items():
        if not np.array_equal(known[name].values, constant[1] if isinstance(constant, tuple) else constant):
            return {}
    return {name: np.asarray(values) for name, (_, values) in part.observed.items()}
