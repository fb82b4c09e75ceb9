"""Results about respondents: individual weights, segments and latent classes (choices)."""

from thali._people.latent_class_results import AlignedClassResults
from thali._people.respondent_segments import Preferences, SegmentResults

from ..results.individual_weights import compute_preferences, require_individual_weights
from .feature_respondent_results import FeatureRespondents


class AspectRespondents(FeatureRespondents, SegmentResults, AlignedClassResults):
    """Results about respondents with individual weights, or in latent classes.

    `EliminationByAspects.respondents`: `individuals`, `segments` and `effects` after a fit with
    ``people=Individuals()``; `classes`, `membership`, `same_class` and `of_class` after one with
    ``people=LatentClasses()``.
    """

    def _preferences(self) -> Preferences:
        """Return each respondent's preferences in every draw, by individual weights."""
        return compute_preferences(require_individual_weights(self._model._view, "segments"))
