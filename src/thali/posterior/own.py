"""What a posterior tree keeps of the data of a user's own likelihood: every field, under its name."""

from typing import TYPE_CHECKING

import numpy as np

from thali.posterior.kind import OWN
from thali.posterior.store import DataPart

if TYPE_CHECKING:
    from thali.likelihoods.observed import Observed


def own_part(observed: "Observed", sees_single: bool) -> DataPart:
    """The part of a posterior that knows of a user's data; thali cannot say anything about them.

    Parameters
    ----------
    observed : Observed
    sees_single : bool
        Whether features of a single option matter.
    """
    kept = {}
    for name, value in zip(observed.fields._fields, observed.fields, strict=True):
        array = np.asarray(value)
        kept[f"data.{name}"] = (tuple(f"{name}_{axis}" for axis in range(array.ndim)), array)
    constants = {"kind": OWN, "unique": False, "sees_single": sees_single}
    return DataPart(log_constant=0.0, descriptions={}, observed=kept, constants=constants)
