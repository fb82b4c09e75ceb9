"""The data of a user's own likelihood in the posterior tree: every field, under its name."""

from typing import TYPE_CHECKING

import numpy as np

from thali.data.kinds import OWN
from thali.model.latent_features.answers.tree import DataPart

if TYPE_CHECKING:
    from ..likelihoods.observed import Observed


def own_part(observed: "Observed", sees_single: bool) -> DataPart:
    """The part of a posterior about a user's data, which thali cannot interpret."""
    kept = {}
    for name, value in zip(observed.fields._fields, observed.fields, strict=True):
        array = np.asarray(value)
        kept[f"data.{name}"] = (tuple(f"{name}_{axis}" for axis in range(array.ndim)), array)
    constants = {"unique": False, "sees_single": sees_single}
    return DataPart(kind=OWN, log_constant=0.0, descriptions={}, observed=kept, constants=constants)
