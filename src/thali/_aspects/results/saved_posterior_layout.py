"""Variables and dimensions that a saved posterior must have."""

from typing import TYPE_CHECKING

import numpy as np

from thali._posterior.posterior_tree import FACTS, LATENT, Posterior
from thali.errors import DataError

from ..draws.feature_columns import read_columns

if TYPE_CHECKING:
    import xarray

# attribute: 1 if the run was restarted with tempering
TEMPERED_LATER = "started_anew"
POINT = "point"  # attribute: 1 if the only draw is a point estimate
# attributes of a point estimate: the number of runs, and of runs that reached it
RESTARTS = "restarts"
REACHED = "reached"

_DRAW_DIMS = ("chain", "draw")
_REQUIRED = {
    "n_features": _DRAW_DIMS,
    "alpha": _DRAW_DIMS,
    "log_likelihood": _DRAW_DIMS,
    "weights": (*_DRAW_DIMS, "feature"),
    "option": ("option",),
}
_DENSE = {"features": (*_DRAW_DIMS, "feature", "option")}
_LISTED = {"feature_size": (*_DRAW_DIMS, "feature"), "owners": (*_DRAW_DIMS, "owner")}
_UNIQUE = {"unique_weights": (*_DRAW_DIMS, "option")}
_DATASETS = ("posterior", LATENT, "observed_data", "constant_data", "sample_stats")


def check_layout(tree: "xarray.DataTree", path: object) -> None:
    """Raise DataError if a tree lacks variables or dimensions of a saved posterior."""
    for name in _DATASETS:
        if name not in tree.children:
            raise DataError(f"'{path}' is not a posterior of this model: it lacks the group {name}")
    posterior = Posterior(tree)
    if (data_kind := str(posterior.fixed.get("kind", np.array("")).item())) not in FACTS:
        version = tree.attrs.get("creation_library_version", "?")
        raise DataError(
            f"'{path}', written by thali {version}, contains data of kind {data_kind!r}, which this"
            " version does not support; fit the model again"
        )
    variables = posterior.draws.merge(posterior.latent)
    required_variables = dict(_REQUIRED)
    if posterior.features is None:
        required_variables |= _LISTED
    else:
        required_variables |= _DENSE
    if posterior.unique is not None:
        required_variables |= _UNIQUE
    for name, dimensions in required_variables.items():
        dims = None
        if name in variables.variables:
            dims = variables[name].dims
        if dims != dimensions:
            raise DataError(
                f"'{path}' is not a posterior of this model: {name} must be {dimensions}; got"
                f" {dims}"
            )
        if name != "option" and variables[name].dtype.kind not in "biuf":
            raise DataError(
                f"'{path}' is not a posterior of this model: {name} must contain numbers"
            )
    feature_columns = read_columns(posterior)
    owners = feature_columns.owners
    n_options = posterior.n_options
    if feature_columns.sizes.sum() != len(owners) or (
        len(owners) and not 0 <= np.min(owners) <= np.max(owners) < n_options
    ):
        raise DataError(
            f"'{path}' is not a posterior of this model: its features do not match its options"
        )
