"""Result class for each kind of data and population, imported when first needed."""

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
from thali._lazy_imports import load_object
from thali._posterior.posterior_tree import Posterior

if TYPE_CHECKING:
    from .posterior_results import PosteriorResults

_PACKAGE = "thali._aspects.results"
_PAIR_RESULTS, _SET_RESULTS = (
    f"{_PACKAGE}.choice_results:PairResults",
    f"{_PACKAGE}.choice_results:SetResults",
)
_CHOOSER_RESULTS, _CLASS_RESULTS = (
    f"{_PACKAGE}.choice_results:RespondentChoiceResults",
    f"{_PACKAGE}.choice_results:LatentClassResults",
)
_GROUP_RESULTS, _RESPONDENT_RESULTS = (
    f"{_PACKAGE}.posterior_results:GroupResults",
    f"{_PACKAGE}.posterior_results:IndividualResults",
)
RESULTS = {
    (PAIRS, ONE): _PAIR_RESULTS,
    (PAIRS, GROUPS): _GROUP_RESULTS,
    (PAIRS, PEOPLE): _CHOOSER_RESULTS,
    (PAIRS, KINDS): _CLASS_RESULTS,
    (CHOICES, ONE): _SET_RESULTS,
    (CHOICES, GROUPS): _GROUP_RESULTS,
    (CHOICES, PEOPLE): _CHOOSER_RESULTS,
    (CHOICES, KINDS): _CLASS_RESULTS,
    (SIMILARITIES, ONE): f"{_PACKAGE}.similarity_results:SimilarityResults",
    (SIMILARITIES, GROUPS): _GROUP_RESULTS,
    (SIMILARITIES, PEOPLE): _RESPONDENT_RESULTS,
    (TRIPLETS, ONE): f"{_PACKAGE}.triplet_results:TripletResults",
    (TRIPLETS, GROUPS): _GROUP_RESULTS,
    (TRIPLETS, PEOPLE): _RESPONDENT_RESULTS,
    (OWN, ONE): f"{_PACKAGE}.posterior_results:CustomDataResults",
}


def load_results(posterior: Posterior, population: str = "") -> "PosteriorResults":
    """Build the results object for the data kind and population of a posterior.

    With `population=ONE` the results depend on the kind of data alone.
    """
    return load_object(RESULTS[posterior.data_kind, population or posterior.population])(posterior)
