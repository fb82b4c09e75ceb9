"""Which population the data of a fit are of."""

from collections.abc import Mapping
from typing import Any

from thali.errors import Argument, ArgumentError, Setting
from thali.posterior.dependence import RANDOM

from .groups import EveryPerson, SeveralGroups
from .groups_chain import SIMILAR
from .kinds import UnknownKinds
from .one import One, Population


def population_of(data: Any, weights: Any, kinds: Any = None, by_person: bool = False) -> Population:
    """The population of data that `fit` takes, or of what was made of them; `by_person`: everybody is a group."""
    if by_person:
        _refuse_beside_people(weights, kinds)
        return EveryPerson()
    if kinds is not None:
        return UnknownKinds(kinds, weights)
    return SeveralGroups(weights) if isinstance(data, Mapping) else One(weights)


def _refuse_beside_people(weights: Any, kinds: Any) -> None:
    """Refuse what says otherwise how weights of people hang together."""
    random = Setting("people", RANDOM)
    if weights not in (None, SIMILAR):
        raise ArgumentError(
            random, " means ", Setting("weights", SIMILAR), " of people; leave out ", Argument("weights"), "."
        )
    if kinds is not None:
        raise ArgumentError(Argument("kinds"), " are a model of people by themselves; leave out ", random, ".")
