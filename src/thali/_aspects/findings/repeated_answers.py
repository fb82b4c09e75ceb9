"""Findings about repeated answers of respondents."""

from dataclasses import replace
from typing import TYPE_CHECKING

from thali._model.choice_findings import build_dependence_finding
from thali._model.finding import ON_SCREEN, STATISTICS, Finding, finding
from thali._model.finding_settings import AnswerSettings
from thali._model.registry import find_spec
from thali._model.sentence_templates import phrase
from thali._posterior.respondent_dependence import POWER
from thali._trees.tree import Tree

from .english_sentences import ENGLISH
from .features import with_draws

if TYPE_CHECKING:
    from thali._posterior.posterior_tree import Posterior

    from ..models.base_model import LatentFeatures


@finding(
    "independence", "Repeated answers from the same respondents", ON_SCREEN, chapter=STATISTICS
)
@with_draws
def independence(
    model: "LatentFeatures", posterior: "Posterior", settings: AnswerSettings
) -> Finding | None:
    """Report whether the fit corrects for repeated answers of a respondent, and how."""
    dependence = posterior.dependence
    if dependence is None:
        return None
    dependence_finding = build_dependence_finding(dependence)
    if dependence_finding is None:
        return None
    model_spec = find_spec(model)
    assert model_spec is not None
    features_parameter = model_spec.features
    are_features_inferred = isinstance(
        model.get_params()[features_parameter], str | int | Tree
    ) and bool(posterior.n_features.any())
    if dependence.by == POWER and are_features_inferred:
        return replace(
            dependence_finding,
            notes=(phrase(ENGLISH, "independence.aspects", features=features_parameter),),
        )
    return replace(dependence_finding, notes=())
