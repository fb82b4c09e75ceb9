"""Log densities of draws as groups of a tree: of every observation, and of the prior."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from thali.errors import DataError

if TYPE_CHECKING:
    import xarray

MAX_POINTWISE = 20_000_000  # numbers of a group that has one for each observation and draw

_LP = (
    "log_likelihood plus the log prior density of the state (the sum of the group log_prior)."
    " Where the number of features varies, states with different numbers of columns have densities"
    " of different dimension, which cannot be compared"
)
_OF = "log prior density of the draw (natural logarithm) for "


def is_pointwise(observations: int, draws: int) -> bool:
    """Whether a group with a number for each observation and draw is small enough to be stored."""
    return observations * draws <= MAX_POINTWISE


def refuse_large(observations: int, draws: int) -> None:
    """Refuse to draw more data than memory should hold."""
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
    """Add the group log_prior, arrays (chain, draw) by variable, and `lp` to the group
    sample_stats.

    ArviZ scales the whole group, or the variables that it is asked for, by a power.
    """
    import xarray as xr

    posterior = groups["posterior"]
    sampled = {name: posterior[name] for name in ("chain", "draw")}
    variables = {
        name: (("chain", "draw"), values, {"description": _OF + notes.get(name, name)})
        for name, values in log_prior.items()
    }
    groups["log_prior"] = xr.Dataset(variables, sampled)
    total = posterior["log_likelihood"].values + sum(log_prior.values())
    lp = xr.DataArray(total, sampled, ("chain", "draw"), attrs={"description": _LP})
    groups["sample_stats"] = groups["sample_stats"].assign(lp=lp)
