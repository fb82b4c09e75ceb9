"""Which population the data of a fit are of."""

from collections.abc import Mapping
from typing import Any

from thali._arguments import one_of
from thali.errors import Argument, ArgumentError, Setting
from thali.people.columns import names_of
from thali.posterior.dependence import ADJUSTED, RANDOM

from .groups import EACH_SPREAD, ONE_SPREAD, EveryPerson, SeveralGroups
from .groups_chain import SIMILAR
from .kinds import UnknownKinds
from .one import One, Population


def population_of(
    data: Any, weights: Any, kinds: Any = None, people: Any = None, respondents: Any = None, spread: Any = ONE_SPREAD
) -> Population:
    """The population of data that `fit` takes, or of what was made of them; `people`: what is made of them;
    `respondents`: columns on which their weights depend; `spread`: whether all of these vary alike."""
    one_of("spread", spread, (ONE_SPREAD, EACH_SPREAD))
    if spread != ONE_SPREAD and people != RANDOM:
        own = Setting("spread", spread), " is of everybody's own weights; set "
        raise ArgumentError(*own, Setting("people", RANDOM), ", or leave it out.")
    if (columns := names_of(respondents)) and people != RANDOM:
        raise ArgumentError(
            Argument("respondents"),
            " are columns on which everybody's own weights depend; set ",
            Setting("people", RANDOM),
            ", or leave it out.",
        )
    if kinds is not None and people in (RANDOM, ADJUSTED):
        raise ArgumentError(
            Argument("kinds"), " are a model of people by themselves; leave out ", Setting("people", people), "."
        )
    if people == RANDOM:
        _refuse_weights(weights)
        return EveryPerson(columns=columns, spread=spread)
    if kinds is not None:
        return UnknownKinds(kinds, weights)
    return SeveralGroups(weights) if isinstance(data, Mapping) else One(weights)


def _refuse_weights(weights: Any) -> None:
    """Refuse what says otherwise how weights of people hang together."""
    if weights not in (None, SIMILAR):
        raise ArgumentError(
            Setting("people", RANDOM),
            " means ",
            Setting("weights", SIMILAR),
            " of people; leave out ",
            Argument("weights"),
            ".",
        )
