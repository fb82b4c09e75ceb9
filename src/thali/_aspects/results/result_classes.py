"""Result class for each kind of data, imported when first needed."""

from typing import TYPE_CHECKING

from thali._data.kinds import CHOICES, OWN, PAIRS, SIMILARITIES, TRIPLETS
from thali._lazy_imports import load_object
from thali._posterior.posterior_tree import Posterior

if TYPE_CHECKING:
    from .posterior_results import PosteriorResults

_PACKAGE = "thali._aspects.results"
_RESULTS = {
    PAIRS: f"{_PACKAGE}.choice_results:PairResults",
    CHOICES: f"{_PACKAGE}.choice_results:SetResults",
    SIMILARITIES: f"{_PACKAGE}.similarity_results:SimilarityResults",
    TRIPLETS: f"{_PACKAGE}.triplet_results:TripletResults",
    OWN: f"{_PACKAGE}.posterior_results:CustomDataResults",
}


def load_results(posterior: Posterior) -> "PosteriorResults":
    """Build the results object for the data kind of a posterior."""
    return load_object(_RESULTS[posterior.data_kind])(posterior)
