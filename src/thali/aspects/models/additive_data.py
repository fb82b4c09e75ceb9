"""What additive clustering makes of each kind of data: the likelihood, and the usual prior of weights."""

from typing import TYPE_CHECKING, Any, ClassVar

from thali.data.kinds import SIMILARITIES, SIMILARITY_GROUPS, TRIPLETS

from ..likelihoods.additive import USUAL_PRIOR, Additive, suited_prior
from ..likelihoods.most_similar_pair import MostSimilarPair

if TYPE_CHECKING:
    from .additive import AdditiveClustering


class OfSimilarities:
    """Similarities of one group of people; whatever else was given is refused by the likelihood."""

    kind: ClassVar[str] = SIMILARITIES  # for which the options are
    called: ClassVar[str] = SIMILARITIES
    has_estimates: ClassVar[bool] = True  # besides posterior means

    def likelihood(self, model: "AdditiveClustering") -> Any:
        """The likelihood with the arguments of the model, of which sigma may be unknown."""
        return Additive(model.sigma, bool(model.constant))

    def weight_prior(self, data: Any) -> tuple[float, float]:
        """Shape and rate of the Gamma prior of weights, unless the user gives one."""
        return suited_prior(data)

    def lacks_sigma(self, data: Any) -> bool:
        """Whether sigma is needed, could be chosen by cross-validation, and is not known of the data."""
        return data.sigma is None


class OfGroups(OfSimilarities):
    """Similarities of several groups."""

    called = f"{SIMILARITIES} of several groups"
    has_estimates = False

    def weight_prior(self, data: Any) -> tuple[float, float]:
        return min(map(suited_prior, data.data))

    def lacks_sigma(self, data: Any) -> bool:
        return False


class OfTriplets(OfSimilarities):
    """Which pair of a set is the most similar."""

    kind = called = TRIPLETS
    has_estimates = False

    def likelihood(self, model: "AdditiveClustering") -> Any:
        return MostSimilarPair(model.link, model.lapse)

    def weight_prior(self, data: Any) -> tuple[float, float]:
        return 1.0, 1.0

    def lacks_sigma(self, data: Any) -> bool:
        return False


class OfOthers(OfSimilarities):
    """Data that the likelihood refuses."""

    def weight_prior(self, data: Any) -> tuple[float, float]:
        return USUAL_PRIOR

    def lacks_sigma(self, data: Any) -> bool:
        return False


_BY_KIND = {SIMILARITIES: OfSimilarities(), SIMILARITY_GROUPS: OfGroups(), TRIPLETS: OfTriplets()}
_OTHERS = OfOthers()


def of_data(data: Any) -> OfSimilarities:
    """What is made of these data; None: of a fit whose data are not kept."""
    return _OTHERS if data is None else _BY_KIND.get(data.kind, _OTHERS)
