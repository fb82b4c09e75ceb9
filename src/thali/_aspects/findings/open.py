"""What the open combination of a prior and a likelihood finds out."""

from typing import TYPE_CHECKING, Any

from thali._data.kinds import OWN, SIMILARITIES
from thali._model.choice_findings import check
from thali._model.common_findings import (
    convergence,
    data,
    make_methods_maker,
    make_question_maker,
    summary,
)
from thali._model.finding import MISSES, ON_SCREEN, Brief, Finding, FindingMaker, finding
from thali._model.settings import AnswerSettings

from .english import ENGLISH
from .features import features_finding, number_finding, of_variance

if TYPE_CHECKING:
    from ..models.open import LatentFeatureModel


def finding_makers(
    model: "LatentFeatureModel", settings: AnswerSettings
) -> tuple[FindingMaker, ...]:
    """The makers of the findings, with the check that there is for the kind of data."""
    checked = _CHECKS.get(model._view.data_kind, check)
    return (
        make_question_maker(lambda model: ENGLISH["open.asked"]),
        features,
        n_features,
        checked,
        summary,
        data,
        make_methods_maker(lambda model: ()),
        convergence,
    )


@finding("features", "Features", ON_SCREEN)
def features(model: "LatentFeatureModel", settings: AnswerSettings) -> Finding:
    """The features, with their probabilities and weights, and who has them."""
    return features_finding(model, model.features(ci=settings.ci), "feature")


@finding("n_features", "Number of features", ON_SCREEN)
def n_features(model: "LatentFeatureModel", settings: AnswerSettings) -> Finding:
    """The number of features."""
    return number_finding(model, model._view.n_features, "feature", "features", settings.ci)


@finding("check", "Model check", ON_SCREEN, chapter=MISSES)
def explained(model: "LatentFeatureModel", settings: AnswerSettings) -> Finding:
    """How much of the similarities is explained."""
    results: Any = model._data_answers
    share = results.share_explained()
    sentence = of_variance(share, "additive.explained", whose=ENGLISH["additive.of.expectation"])
    return Finding(sentence, brief=Brief("Fit"))


@finding("check", "Model check", chapter=MISSES)
def unknown(model: "LatentFeatureModel", settings: AnswerSettings) -> Finding:
    """That no replicates are drawn of a likelihood of the user's own."""
    return Finding(ENGLISH["open.unknown"])


_CHECKS = {SIMILARITIES: explained, OWN: unknown}  # of other data replicates are drawn
