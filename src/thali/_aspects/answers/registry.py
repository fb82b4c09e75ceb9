"""Results of a posterior by kind of data and population: one row for each pair, loaded when it is
first needed."""

from typing import TYPE_CHECKING

from thali._data.kinds import (
    CHOICES,
    GROUPS,
    KINDS,
    ONE,
    OWN,
    PAIRS,
    PEOPLE,
    SIMILARITIES,
    TRIPLETS,
)
from thali._late import load
from thali._posterior.view import Posterior

if TYPE_CHECKING:
    from .data_answers import DataAnswers

_ANSWERS = "thali._aspects.answers"
_PAIR, _SET = f"{_ANSWERS}.choice_results:PairResults", f"{_ANSWERS}.choice_results:SetResults"
_CHOOSER, _CLASS = (
    f"{_ANSWERS}.choice_results:ChooserResults",
    f"{_ANSWERS}.choice_results:LatentClassResults",
)
_GROUP, _PERSON = f"{_ANSWERS}.data_answers:GroupResults", f"{_ANSWERS}.data_answers:PersonResults"
RESULTS = {
    (PAIRS, ONE): _PAIR,
    (PAIRS, GROUPS): _GROUP,
    (PAIRS, PEOPLE): _CHOOSER,
    (PAIRS, KINDS): _CLASS,
    (CHOICES, ONE): _SET,
    (CHOICES, GROUPS): _GROUP,
    (CHOICES, PEOPLE): _CHOOSER,
    (CHOICES, KINDS): _CLASS,
    (SIMILARITIES, ONE): f"{_ANSWERS}.similarities:SimilarityResults",
    (SIMILARITIES, GROUPS): _GROUP,
    (SIMILARITIES, PEOPLE): _PERSON,
    (TRIPLETS, ONE): f"{_ANSWERS}.triplets:TripletResults",
    (TRIPLETS, GROUPS): _GROUP,
    (TRIPLETS, PEOPLE): _PERSON,
    (OWN, ONE): f"{_ANSWERS}.data_answers:OwnDataResults",
}


def answers_of(posterior: Posterior, population: str = "") -> "DataAnswers":
    """Return the results of a posterior, or with ONE those that depend on its kind of data
    alone."""
    return load(RESULTS[posterior.data_kind, population or posterior.population])(posterior)
