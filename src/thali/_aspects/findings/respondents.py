"""Findings about respondents: repeated answers, individual weights and segments."""

from dataclasses import replace
from typing import Any

from thali._labels import list_names
from thali._model.choice_findings import build_dependence_finding, describe_dependence
from thali._model.finding import FULL, ON_SCREEN, STATISTICS, Finding, FindingMaker, Text, finding
from thali._model.finding_settings import AnswerSettings
from thali._model.registry import find_spec
from thali._model.respondent_findings import build_effects_finding, build_individuals_finding
from thali._model.segment_findings import (
    describe_segmentation,
    make_segment_function,
    make_segment_makers,
)
from thali._model.sentence_templates import phrase
from thali._number_format import format_number
from thali._posterior.respondent_dependence import POWER
from thali._trees.tree import Tree

from ..group_state import SLOPE_SD
from ..results.individual_weights import population_shares_table
from ..results.weight_slopes import read_covariates
from .english_sentences import ENGLISH
from .groups import describe_parameters


@finding(
    "independence", "Repeated answers from the same respondents", ON_SCREEN, chapter=STATISTICS
)
def independence(model: Any, settings: AnswerSettings) -> Finding | None:
    """Report whether the fit corrects for repeated answers of a respondent, and how."""
    dependence = model._view.dependence
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
    ) and bool(model._view.n_features.any())
    if dependence.by == POWER and are_features_inferred:
        return replace(
            dependence_finding,
            notes=(phrase(ENGLISH, "independence.aspects", features=features_parameter),),
        )
    return replace(dependence_finding, notes=())


def describe_repeated_answers(model: Any) -> tuple[Text, ...]:
    """Return methods sentences about repeated answers; () if respondents are unknown."""
    return describe_dependence(model._view.dependence)


# Individual weights -------------------------------------------------------------------------------


@finding("respondent_effects", "Effects of respondent characteristics", ON_SCREEN)
def respondent_effects(model: Any, settings: AnswerSettings) -> Finding | None:
    """Report the effects of respondents' covariates on their weights."""
    if model._view.slopes is None:
        return None
    effects_table, covariates = model.respondents.effects(settings.ci), read_covariates(model._view)
    return build_effects_finding(
        effects_table, covariates, "weight", ENGLISH["respondent_effects.by"]
    )


@finding("individuals", "Individual feature weights", FULL)
def feature_weights(model: Any, settings: AnswerSettings) -> Finding | None:
    """Report the weight of each probable feature for each respondent."""
    weights_table = model.respondents.individuals(settings.ci)
    if not len(weights_table):
        return None
    return Finding(title=ENGLISH["individuals.weights"], table=weights_table)


@finding("individuals", "Individual preferences", FULL)
def individuals(model: Any, settings: AnswerSettings) -> Finding:
    """Report each respondent's shares of options beside the population's."""
    shares_table, population = (
        model.respondents.individuals(settings.ci),
        population_shares_table(model._view, settings.ci),
    )
    return build_individuals_finding(
        shares_table, population, ENGLISH["individuals.title"], ENGLISH["individuals.caption"]
    )


def list_segment_findings(settings: AnswerSettings) -> tuple[FindingMaker, ...]:
    """List the functions that make findings about segments of respondents."""
    return make_segment_makers(settings, make_segment_function(settings))


def describe_individual_methods(model: Any) -> tuple[Text, ...]:
    """Return methods sentences about individual weights."""
    segmentation_text = describe_segmentation(
        "each respondent's preference for an option over the others"
    )
    return (ENGLISH["individuals.methods"], *describe_slopes(model), segmentation_text)


def describe_slopes(model: Any) -> tuple[Text, ...]:
    """Return methods sentences about covariates of individual weights."""
    if model._view.slopes is None:
        return ()
    covariate_names = list_names(read_covariates(model._view).sources)
    return (
        phrase(
            ENGLISH,
            "respondent_effects.methods",
            columns=covariate_names,
            sd=format_number(SLOPE_SD),
        ),
    )


@finding("parameters", "Other parameters and assumptions", chapter=STATISTICS)
def parameters(model: Any, settings: AnswerSettings) -> Finding:
    """Report alpha, kappa and other parameters that no single respondent has."""
    return Finding(notes=describe_parameters(model, model.summary(settings.ci), "individuals"))
