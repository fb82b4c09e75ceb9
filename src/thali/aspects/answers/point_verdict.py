"""The verdict on a single answer, the best end of several annealed runs."""

from typing import TYPE_CHECKING

from thali.errors import Message, Setting
from thali.posterior.verdict import Verdict

from .stored_layout import REACHED, RESTARTS

if TYPE_CHECKING:
    import xarray


def point_verdict(tree: "xarray.DataTree") -> Verdict:
    """How many runs found it, and what it is not."""
    restarts, reached = int(tree.attrs[RESTARTS]), int(tree.attrs[REACHED])
    found = f"{reached} of {restarts} annealed runs found one as probable"
    more = () if reached > 1 else (", so that more runs may find a better one: raise ", Setting("chains", restarts))
    return Verdict(
        False,
        {"restarts": restarts, "reached": reached},
        Message(
            f"This is the most probable set of features that was found ({found}), not a posterior: it says nothing of"
            " how sure a feature is",
            *more,
            "; for probabilities set ",
            Setting("method", "mcmc"),
            ".",
        ),
    )
