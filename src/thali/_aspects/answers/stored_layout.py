"""The variables of a saved posterior that answers are computed from, and their dimensions."""

from typing import TYPE_CHECKING

import numpy as np

from thali._posterior.view import FACTS, LATENT, Posterior
from thali.errors import DataError

from ..draws.feature_columns import read_columns

if TYPE_CHECKING:
    import xarray

# attribute: 1 if the run started without tempering and began again with it
TEMPERED_LATER = "started_anew"
POINT = "point"  # attribute: 1 if the only draw is the best answer that was found
RESTARTS, REACHED = (
    "restarts",
    "reached",
)  # attributes of such: how many runs sought it, and how many found as good a one

_EACH = ("chain", "draw")
_ALWAYS = {
    "n_features": _EACH,
    "alpha": _EACH,
    "log_likelihood": _EACH,
    "weights": (*_EACH, "feature"),
    "option": ("option",),
}
_DENSE = {"features": (*_EACH, "feature", "option")}
_LISTED = {"feature_size": (*_EACH, "feature"), "owners": (*_EACH, "owner")}
_UNIQUE = {"unique_weights": (*_EACH, "option")}
_GROUPS = ("posterior", LATENT, "observed_data", "constant_data", "sample_stats")


def check_layout(tree: "xarray.DataTree", path: object) -> None:
    """Refuse a tree that `to_datatree` cannot have made."""
    for name in _GROUPS:
        if name not in tree.children:
            raise DataError(f"'{path}' is not a posterior of this model: it lacks the group {name}")
    posterior = Posterior(tree)
    if (kind := str(posterior.fixed.get("kind", np.array("")).item())) not in FACTS:
        version = tree.attrs.get("creation_library_version", "?")
        raise DataError(
            f"'{path}', written by thali {version}, contains data of kind {kind!r}, which this"
            " version does not support; fit the model again"
        )
    drawn = posterior.whole()
    wanted = _ALWAYS | (_LISTED if posterior.features is None else _DENSE)
    wanted |= {} if posterior.unique is None else _UNIQUE
    for name, dimensions in wanted.items():
        found = drawn[name].dims if name in drawn.variables else None
        if found != dimensions:
            raise DataError(
                f"'{path}' is not a posterior of this model: {name} must be {dimensions}; got"
                f" {found}"
            )
        if name != "option" and drawn[name].dtype.kind not in "biuf":
            raise DataError(
                f"'{path}' is not a posterior of this model: {name} must contain numbers"
            )
    columns = read_columns(posterior)
    owners, options = columns.owners, posterior.n_options
    if columns.sizes.sum() != len(owners) or (
        len(owners) and not 0 <= np.min(owners) <= np.max(owners) < options
    ):
        raise DataError(
            f"'{path}' is not a posterior of this model: its features do not match its options"
        )
