"""Data simulated at every draw of a posterior, by the likelihood itself."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .columns import columns_of

if TYPE_CHECKING:
    import xarray


def replicates(tree: "xarray.DataTree", likelihood: Any, data: Any, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Arrays (chain, draw, ...) under the names of the group observed_data."""
    columns, own = columns_of(tree), _own_parameters(tree, likelihood)
    drawn = [
        likelihood.new_data(columns.at(draw), {name: values[draw] for name, values in own.items()}, data, rng).observed
        for draw in range(columns.n_draws)
    ]
    shape = tree["posterior"].sizes["chain"], tree["posterior"].sizes["draw"]
    arrays = {name: np.asarray([each[name] for each in drawn]) for name in drawn[0]}
    return {name: values.reshape(*shape, *values.shape[1:]) for name, values in arrays.items()}


def observed_by(tree: "xarray.DataTree", likelihood: Any, data: Any) -> dict[str, np.ndarray]:
    """What the group observed_data of a fit to these data holds; nothing if they have another design."""
    own = {name: values[:1] for name, values in _own_parameters(tree, likelihood).items()}
    part = likelihood.posterior_part(columns_of(tree).at(0), own, data, (1, 1), False)
    known = tree["constant_data"].dataset
    for name, constant in part.constants.items():
        if not np.array_equal(known[name].values, constant[1] if isinstance(constant, tuple) else constant):
            return {}
    return {name: np.asarray(values) for name, (_, values) in part.observed.items()}


def _own_parameters(tree: "xarray.DataTree", likelihood: Any) -> dict[str, np.ndarray]:
    """The draws of the likelihood's own parameters, chain after chain."""
    return {name: tree["posterior"].dataset[name].values.ravel() for name in likelihood.parameters}
