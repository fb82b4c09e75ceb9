"""Which population the data of a fit are of."""

from collections.abc import Mapping
from typing import Any

from .groups import SeveralGroups
from .kinds import UnknownKinds
from .one import One, Population


def population_of(data: Any, weights: Any, kinds: Any = None) -> Population:
    """The population of data that `fit` takes, or of what was made of them."""
    if kinds is not None:
        return UnknownKinds(kinds, weights)
    return SeveralGroups(weights) if isinstance(data, Mapping) else One(weights)
