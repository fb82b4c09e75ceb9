"""Findings of `LatentFeatureModel`: any prior over features with any likelihood."""

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
from thali._model.finding import (
    MISSES,
    ON_SCREEN,
    Brief,
    Finding,
    FindingMaker,
    finding,
)
from thali._model.finding_settings import AnswerSettings
from thali._posterior.posterior_tree import Posterior

from ..results.result_classes import load_results
from .english_sentences import ENGLISH
from .features import build_features_finding, build_number_finding, describe_variance, with_draws

if TYPE_CHECKING:
    from ..models.latent_feature_model import LatentFeatureModel


def list_makers(model: "LatentFeatureModel", settings: AnswerSettings) -> tuple[FindingMaker, ...]:
    """List the functions that make the findings, with the check for the data kind."""
    check_maker = _CHECKS.get(Posterior(model.posterior_).data_kind, check)
    return (
        make_question_maker(lambda model: ENGLISH["open.asked"]),
        features,
        n_features,
        check_maker,
        summary,
        data,
        make_methods_maker(lambda model: ()),
        convergence,
    )


@finding("features", "Features", ON_SCREEN)
@with_draws
def features(
    model: "LatentFeatureModel", posterior: "Posterior", settings: AnswerSettings
) -> Finding:
    """Report the features with probabilities, weights and members."""
    return build_features_finding(model, posterior, model.features(ci=settings.ci), "feature")


@finding("n_features", "Number of features", ON_SCREEN)
@with_draws
def n_features(
    model: "LatentFeatureModel", posterior: "Posterior", settings: AnswerSettings
) -> Finding:
    """Report the posterior of the number of features."""
    return build_number_finding(posterior.n_features, "feature", "features", settings.ci)


@finding("check", "Model check", ON_SCREEN, chapter=MISSES)
@with_draws
def variance_check(
    model: "LatentFeatureModel", posterior: "Posterior", settings: AnswerSettings
) -> Finding:
    """Report the share of variance of similarities that the features account for."""
    data_results: Any = load_results(posterior)
    explained_share = data_results.share_explained()
    sentence = describe_variance(
        explained_share,
        "additive.explained",
        posterior.reliability,
        whose=ENGLISH["additive.of.expectation"],
    )
    return Finding(sentence, brief=Brief("Fit"))


@finding("check", "Model check", chapter=MISSES)
def missing_check(model: "LatentFeatureModel", settings: AnswerSettings) -> Finding:
    """Report that a user-defined likelihood has no model check."""
    return Finding(ENGLISH["open.unknown"])


# other data are compared with replicates
_CHECKS = {
    SIMILARITIES: variance_check,
    OWN: missing_check,
}
