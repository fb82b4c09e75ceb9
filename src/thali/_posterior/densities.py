"""Log densities stored with a posterior: log-likelihoods of observations, log prior."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from thali.errors import DataError

if TYPE_CHECKING:
    import xarray

MAX_POINTWISE = 20_000_000  # maximum of a group with one number per observation and draw

_LP = (
    "log_likelihood plus the log prior density of the state (the sum of the group log_prior)."
    " Where the number of features varies, states with different numbers of columns have densities"
    " of different dimension, which cannot be compared"
)
_OF = "log prior density of the draw (natural logarithm) for "


def is_pointwise(observations: int, draws: int) -> bool:
    """Return whether one log-likelihood per observation and draw is small enough to store."""
    return observations * draws <= MAX_POINTWISE


def check_predictive_size(observations: int, draws: int) -> None:
    """Raise DataError if simulated data would not fit in memory."""
    if not is_pointwise(observations, draws):
        raise DataError(
            f"posterior_predictive would contain {observations * draws:,} numbers"
            f" ({observations:,} observations and {draws:,} draws); the limit is"
            f" {MAX_POINTWISE:,}. Fit with fewer draws."
        )


def add_log_prior(
    groups: "dict[str, xarray.Dataset]",
    log_prior: Mapping[str, np.ndarray],
    notes: Mapping[str, str],
) -> None:
    """Add the group log_prior, and `lp` in sample_stats, to the dict of groups.

    Log priors are arrays (chain, draw) by variable. ArviZ multiplies the whole group, or the
    requested variables, by a power.
    """
    import xarray as xr

    posterior = groups["posterior"]
    sampled = {name: posterior[name] for name in ("chain", "draw")}
    variables = {
        name: (("chain", "draw"), log_densities, {"description": _OF + notes.get(name, name)})
        for name, log_densities in log_prior.items()
    }
    groups["log_prior"] = xr.Dataset(variables, sampled)
    total = posterior["log_likelihood"].values + sum(log_prior.values())
    lp = xr.DataArray(total, sampled, ("chain", "draw"), attrs={"description": _LP})
    groups["sample_stats"] = groups["sample_stats"].assign(lp=lp)
