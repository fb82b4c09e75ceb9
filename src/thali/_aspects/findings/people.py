"""What is found out of people: whether intervals hold for others, and what each prefers whose
weights are their own."""

from dataclasses import replace
from typing import Any

from thali._digits import number
from thali._labels import listed
from thali._model.choice_findings import build_dependence_finding, describe_dependence
from thali._model.finding import FULL, ON_SCREEN, STATISTICS, Finding, FindingMaker, Text, finding
from thali._model.phrases import phrase
from thali._model.registry import find_spec
from thali._model.respondent_findings import build_effects_finding, build_individuals_finding
from thali._model.segment_findings import (
    describe_segmentation,
    make_segment_function,
    make_segment_makers,
)
from thali._model.settings import AnswerSettings
from thali._posterior.dependence import POWER
from thali._trees.tree import Tree

from ..answers.individuals import population_table
from ..answers.slopes import covariates_in
from ..group_state import SLOPE_SD
from .english import ENGLISH
from .groups import parameter_notes


@finding(
    "independence", "Repeated answers from the same respondents", ON_SCREEN, chapter=STATISTICS
)
def independence(model: Any, settings: AnswerSettings) -> Finding | None:
    """What was made of the answers of the same people."""
    dependence = model._view.dependence
    if dependence is None or (found := build_dependence_finding(dependence)) is None:
        return None
    spec = find_spec(model)
    assert spec is not None
    features = spec.features
    learned = isinstance(model.get_params()[features], str | int | Tree) and bool(
        model._view.n_features.any()
    )
    notes = (
        (phrase(ENGLISH, "independence.aspects", features=features),)
        if dependence.by == POWER and learned
        else ()
    )
    return replace(found, notes=notes)


def modelled_people(model: Any) -> tuple[Text, ...]:
    """How a paper says what was made of them; nothing where nobody knew who answered."""
    return describe_dependence(model._view.dependence)


# people of whom each has weights of their own about common ones -----------------------------------


@finding("respondent_effects", "Effects of respondent characteristics", ON_SCREEN)
def respondent_effects(model: Any, settings: AnswerSettings) -> Finding | None:
    """By how much columns of people change what they prefer."""
    if model._view.slopes is None:
        return None
    table, known = model.respondents.effects(settings.ci), covariates_in(model._view)
    return build_effects_finding(table, known, "weight", ENGLISH["respondent_effects.by"])


@finding("individuals", "Individual feature weights", FULL)
def feature_weights(model: Any, settings: AnswerSettings) -> Finding | None:
    """The weight of each probable feature for everybody."""
    table = model.respondents.individuals(settings.ci)
    return Finding(title=ENGLISH["individuals.weights"], table=table) if len(table) else None


@finding("individuals", "Individual preferences", FULL)
def individuals(model: Any, settings: AnswerSettings) -> Finding:
    """Everybody's share of each option, beside that of the population."""
    table, population = (
        model.respondents.individuals(settings.ci),
        population_table(model._view, settings.ci),
    )
    return build_individuals_finding(
        table, population, ENGLISH["individuals.title"], ENGLISH["individuals.caption"]
    )


def segments_of(settings: AnswerSettings) -> tuple[FindingMaker, ...]:
    """The makers of segments of people."""
    return make_segment_makers(settings, make_segment_function(settings))


def modelled(model: Any) -> tuple[Text, ...]:
    """How a paper says what was made of everybody's weights."""
    segments = describe_segmentation("each respondent's preference for an option over the others")
    return (ENGLISH["individuals.methods"], *known_of_people(model), segments)


def known_of_people(model: Any) -> tuple[Text, ...]:
    """How a paper says what everybody's weights depended on; nothing where they did not."""
    if model._view.slopes is None:
        return ()
    columns = listed(covariates_in(model._view).sources)
    return (phrase(ENGLISH, "respondent_effects.methods", columns=columns, sd=number(SLOPE_SD)),)


@finding("parameters", "Other parameters and assumptions", chapter=STATISTICS)
def parameters(model: Any, settings: AnswerSettings) -> Finding:
    """The parameters that are not of single people."""
    return Finding(notes=parameter_notes(model, model.summary(settings.ci), "individuals"))
