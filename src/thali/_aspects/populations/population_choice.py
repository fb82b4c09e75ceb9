"""Choice of the population class (one group, groups, individuals, classes) from the arguments."""

from collections.abc import Mapping
from typing import Any

from thali._people.people_argument import Groups, Individuals

from .several_groups import IndividualRespondents, SeveralGroups
from .single_group import Population, SingleGroup


def choose_population(data: Any, people: Any) -> Population:
    """Return the population that the argument `people` and the data describe.

    The data may be those that `fit` takes, or those converted from them.
    """
    if isinstance(people, Individuals):
        return IndividualRespondents(people)
    if isinstance(people, Groups) and isinstance(data, Mapping):
        return SeveralGroups(people.weights)
    return SingleGroup(people)  # also for groups with common weights, whose data are pooled
