"""Simulated data, for every model: `sample_prior` at draws from the prior, `posterior_predictive`
at those of a fit."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._arguments import check_integer
from thali._inference.seeds import spawn_generators
from thali._inference.warn import silence_warnings
from thali._posterior.densities import refuse_large
from thali._posterior.view import LATENT
from thali.errors import DataError

if TYPE_CHECKING:
    import xarray

    from .chain_model import RunByChains


@dataclass(frozen=True)
class PriorSample:
    """Draws from the prior and their data, of one chain.

    Datasets have the dimensions (chain, draw, ...), and the variables that `posterior` and
    `observed_data` have.
    """

    prior: "xarray.Dataset"
    predictive: "xarray.Dataset"
    # of each draw what `fit` takes; None where the model cannot be fitted to it
    data: Sequence[tuple[Any, ...] | None]
    # groups that are the same in all draws
    fixed: "dict[str, xarray.Dataset]" = field(default_factory=dict)
    latent: "xarray.Dataset | None" = None  # what depends on the order of features

    def tree(self) -> "xarray.DataTree":
        """The draws in the ArviZ schema."""
        from thali._posterior.store import origin, tree_of

        latent = {} if self.latent is None else {f"prior_{LATENT}": self.latent}
        return tree_of(
            {"prior": self.prior, "prior_predictive": self.predictive, **self.fixed, **latent},
            origin(),
        )


def drawn_from(model: "RunByChains", draws: int, random_seed: Any, *design: Any) -> PriorSample:
    """This many draws from the prior of a model, each from a separate random stream."""
    draws = check_integer("draws", draws, 1)
    with silence_warnings():  # of unusual data `fit` warns
        return model._prior_sample(spawn_generators(random_seed, draws), *design)


def with_replicates(model: "RunByChains", random_seed: Any, *design: Any) -> "xarray.DataTree":
    """The posterior of a fitted model, with the group posterior_predictive."""
    import xarray as xr

    posterior = model._view
    known = posterior.observed
    given = model._observed(*design)
    is_same = (
        np.array_equal(known[name].values, values, equal_nan=values.dtype.kind == "f")
        for name, values in given.items()
    )
    if not given or not all(is_same):
        raise DataError(
            "posterior_predictive requires the data that the model was fitted to; got other data."
        )
    refuse_large(sum(values.size for values in given.values()), posterior.n_draws)
    drawn = model._replicates(spawn_generators(random_seed, 1)[0], *design)
    result = posterior.tree.copy()
    result["posterior_predictive"] = xr.DataTree(predictive_group(known, posterior.draws, drawn))
    return result


def observed_of_design(posterior: Any, stored: Any) -> dict[str, np.ndarray]:
    """Return the observed variables of stored data; nothing if the posterior is of another
    design."""
    for name, constant in stored.constants.items():
        if not np.array_equal(
            posterior.fixed[name].values, constant[1] if isinstance(constant, tuple) else constant
        ):
            return {}
    return {name: np.asarray(values) for name, (_, values) in stored.observed.items()}


def stacked(values: Any, dims: Sequence[Any] = ()) -> tuple[tuple[Any, ...], np.ndarray]:
    """One value a draw as a variable with the dimensions chain, draw, and those of a value."""
    return ("chain", "draw", *dims), np.asarray(values)[None]


def predictive_group(
    observed: "xarray.Dataset", sampled: "xarray.Dataset", values: dict[str, np.ndarray]
) -> "xarray.Dataset":
    """Simulated data (chain, draw, ...) with the dimensions and coordinates of the observed
    ones."""
    group = observed.drop_vars(list(observed.data_vars)).assign_coords(
        chain=sampled["chain"], draw=sampled["draw"]
    )
    return group.assign(
        {
            name: (
                ("chain", "draw", *observed[name].dims),
                drawn.astype(observed[name].dtype),
                observed[name].attrs,
            )
            for name, drawn in values.items()
        }
    )
