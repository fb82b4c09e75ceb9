"""Which population the data of a fit are of."""

from collections.abc import Mapping
from typing import Any

from thali._people.populations import Groups, Individuals

from .groups import EveryPerson, SeveralGroups
from .one import One, Population


def population_of(data: Any, people: Any) -> Population:
    """The population that the argument `people` asks for, of data that `fit` takes or that were
    made of them."""
    if isinstance(people, Individuals):
        return EveryPerson(people)
    if isinstance(people, Groups) and isinstance(data, Mapping):
        return SeveralGroups(people.weights)
    return One(people)  # also of groups of common weights, whose data are pooled
