"""Data simulated from prior or posterior of any model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._argument_checks import check_integer
from thali._inference.random_seeds import RandomSeed, spawn_generators
from thali._inference.user_warnings import silence_warnings
from thali._posterior.datatree_files import check_predictive_size
from thali._posterior.posterior_tree import LATENT, Posterior, PosteriorTree
from thali.errors import DataError

if TYPE_CHECKING:
    import xarray

    from .markov_chain_model import MarkovChainModel


@dataclass(frozen=True)
class PriorSample:
    """Parameters drawn from the prior, and data simulated from them, in one chain.

    Datasets have the dimensions (chain, draw, ...) and the variables of `posterior` and
    `observed_data`.
    """

    prior: "xarray.Dataset"
    predictive: "xarray.Dataset"
    # per draw: arguments of `fit`; None if the model cannot be fitted to the data
    data: Sequence[tuple[Any, ...] | None]
    # groups that are equal in all draws
    fixed: "dict[str, xarray.Dataset]" = field(default_factory=dict)
    latent: "xarray.Dataset | None" = None  # variables that depend on the order of features

    def build_tree(self) -> "xarray.DataTree":
        """Build the DataTree with groups prior and prior_predictive."""
        from thali._posterior.datatree_files import build_tree, describe_origin

        groups = {"prior": self.prior, "prior_predictive": self.predictive, **self.fixed}
        if self.latent:
            groups[f"prior_{LATENT}"] = self.latent
        return build_tree(groups, describe_origin())


def draw_prior(
    model: "MarkovChainModel", draws: int, random_seed: RandomSeed, *design: Any
) -> PriorSample:
    """Draw parameters from the prior and simulate data, `draws` times."""
    rngs = spawn_generators(random_seed, check_integer("draws", draws, 1))
    with silence_warnings():  # only `fit` warns about unusual data
        return model._sample_prior(rngs, *design)


def add_replicates(
    posterior: PosteriorTree,
    observed_by_name: dict[str, np.ndarray],
    simulate: Callable[[], dict[str, np.ndarray]],
) -> "xarray.DataTree":
    """Return the posterior's DataTree with simulated data, group posterior_predictive."""
    import xarray as xr

    observed = posterior.observed
    if not (
        observed_by_name
        and all(_are_equal(observed[name].values, x) for name, x in observed_by_name.items())
    ):
        raise DataError(
            "posterior_predictive requires the data that the model was fitted to; got other data."
        )
    check_predictive_size(
        sum(values.size for values in observed_by_name.values()), posterior.n_draws
    )
    tree = posterior.tree.copy()
    tree["posterior_predictive"] = xr.DataTree(
        build_predictive_dataset(observed, posterior.draws, simulate())
    )
    return tree


def select_observed(posterior: Posterior, stored_data: Any) -> dict[str, np.ndarray]:
    """Return the observed arrays of the fitted data; {} if the design differs."""
    for name, constant in stored_data.constants.items():
        if isinstance(constant, tuple):  # dimensions, values
            constant = constant[1]
        if not _are_equal(posterior.fixed[name].values, constant):
            return {}
    return {name: np.asarray(array) for name, (_, array) in stored_data.observed.items()}


def _are_equal(stored: np.ndarray, values: Any) -> bool:
    """Return whether arrays are equal; NaN, such as an unknown reliability, equals NaN."""
    return np.array_equal(stored, values, equal_nan=stored.dtype.kind == "f")


def add_sample_dimensions(
    draw_values: Sequence[float] | np.ndarray,
) -> tuple[tuple[str, str], np.ndarray]:
    """Return one number per draw as an xarray variable with dimensions (chain, draw)."""
    return ("chain", "draw"), np.asarray(draw_values)[None]


def build_predictive_dataset(
    observed: "xarray.Dataset", sampled: "xarray.Dataset", replicates: dict[str, np.ndarray]
) -> "xarray.Dataset":
    """Build the dataset of simulated data, with coordinates of the observed data."""
    coordinates_dataset = observed.drop_vars(list(observed.data_vars)).assign_coords(
        chain=sampled["chain"], draw=sampled["draw"]
    )
    return coordinates_dataset.assign(
        {
            name: (
                ("chain", "draw", *observed[name].dims),
                array.astype(observed[name].dtype),
                observed[name].attrs,
            )
            for name, array in replicates.items()
        }
    )
