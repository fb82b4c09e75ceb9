"""Writer of posterior trees: draws, data, statistics and log densities, in the ArviZ schema."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .datatree_files import build_tree, describe_origin, get_draw_coordinates
from .posterior_tree import LATENT

if TYPE_CHECKING:
    import xarray

_DRAW_DIMS = ("chain", "draw")
# dimensions of variables that depend on the order of features, or are padded
_LATENT_DIMS = {"feature", "owner", "dimension"}
_LP = (
    "log_likelihood plus the log prior density of the state (the sum of the group log_prior)."
    " Where the number of features varies, states with different numbers of columns have densities"
    " of different dimension, which cannot be compared"
)
_OF = "log prior density of the draw (natural logarithm) for "


class Variable(NamedTuple):
    """A variable of the draws: what it is, and its dimensions after chain and draw."""

    description: str
    dims: tuple[str, ...] = ()


def build_dataset(
    arrays: Mapping[str, Any],
    variables: Mapping[str, Variable],
    coordinates: Mapping[str, Any],
) -> "xarray.Dataset":
    """Build a dataset of arrays (chain, draw, ...), which the table `variables` describes.

    The arrays are NumPy arrays, or deferred ones.
    """
    import xarray as xr

    described = {
        name: (
            (*_DRAW_DIMS, *variables[name].dims),
            array,
            {"description": variables[name].description},
        )
        for name, array in arrays.items()
    }
    n_chains, n_draws = next(iter(arrays.values())).shape[:2]
    draw_coordinates = {"chain": np.arange(n_chains), "draw": np.arange(n_draws)}
    return xr.Dataset(described, {**draw_coordinates, **coordinates})


def _add_arrays(arrays: Sequence[Any]) -> np.ndarray:
    """Return the sum of arrays of one shape, some of which may be deferred."""
    return np.sum([np.asarray(array) for array in arrays], axis=0)


class DrawsWriter:
    """Groups of a posterior tree, written one by one; the first has the draws of `build_dataset`.

    Variables that depend on the order of features become a group of their own.
    """

    def __init__(self, draws: "xarray.Dataset") -> None:
        latent_names = [
            name for name, variable in draws.data_vars.items() if _LATENT_DIMS & set(variable.dims)
        ]
        self.groups = {"posterior": draws.drop_vars(latent_names)}
        if latent_names:
            self.groups[LATENT] = draws[latent_names]

    @property
    def draws(self) -> "xarray.Dataset":
        """The variables that can be averaged over chains."""
        return self.groups["posterior"]

    def write_observed(self, observed: Mapping[str, Any], coordinates: Mapping[str, Any]) -> None:
        """Write the observed data."""
        import xarray as xr

        self.groups["observed_data"] = xr.Dataset(observed, coordinates)

    def write_constants(self, constants: Mapping[str, Any], coordinates: Mapping[str, Any]) -> None:
        """Write what is equal in all draws, with the labels of the options."""
        import xarray as xr

        options = {"option": self.draws["option"].values}
        self.groups["constant_data"] = xr.Dataset(constants, {**coordinates, **options})

    def write_statistics(self, statistics: Mapping[str, Any]) -> None:
        """Write statistics of the chains, such as acceptance rates, by name."""
        import xarray as xr

        self.groups["sample_stats"] = xr.Dataset(statistics, get_draw_coordinates(self.draws))

    def write_log_likelihood(
        self,
        name: str,
        dims: tuple[str, ...],
        log_likelihoods: Any,
        coordinates: Mapping[str, Any],
    ) -> None:
        """Write log-likelihoods (chain, draw, observation, ...) of one observed variable.

        ArviZ finds them under the name of the variable. They are an array, or a deferred one.
        """
        import xarray as xr

        self.groups["log_likelihood"] = xr.Dataset(
            {name: ((*_DRAW_DIMS, *dims), log_likelihoods)},
            {**get_draw_coordinates(self.draws), **coordinates},
        )

    def write_log_prior(self, log_prior: Mapping[str, Any], notes: Mapping[str, str]) -> None:
        """Write log prior densities (chain, draw) by variable, and `lp` into the statistics.

        ArviZ multiplies the whole group, or the requested variables, by a power. The densities are
        arrays, or deferred ones.
        """
        from .deferred_arrays import defer

        variables = {name: Variable(_OF + notes.get(name, name)) for name in log_prior}
        self.groups["log_prior"] = build_dataset(log_prior, variables, {})
        log_likelihood = self.draws["log_likelihood"].values
        log_joint_density = defer(
            log_likelihood.shape, partial(_add_arrays, [log_likelihood, *log_prior.values()])
        )
        lp = build_dataset({"lp": log_joint_density}, {"lp": Variable(_LP)}, {})
        self.groups["sample_stats"] = self.groups["sample_stats"].merge(lp)

    def build(self, attributes: Mapping[Any, Any]) -> "xarray.DataTree":
        """Build the tree, with the version of thali among its attributes."""
        return build_tree(self.groups, {**describe_origin(), **attributes})
