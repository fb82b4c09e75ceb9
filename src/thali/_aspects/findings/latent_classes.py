"""Findings that latent classes of respondents report."""

from typing import TYPE_CHECKING, Any

from thali._model.choice_findings import MAX_GROUPS
from thali._model.common_findings import data, summary
from thali._model.finding import (
    ON_SCREEN,
    STATISTICS,
    Brief,
    Finding,
    FindingMaker,
    Picture,
    Text,
    finding,
)
from thali._model.finding_settings import AnswerSettings
from thali._model.latent_class_findings import (
    assignment,
    class_notes,
    describe_matching,
    latent_classes,
    question,
    ranks,
    same_class,
)
from thali._model.sentence_templates import phrase
from thali._people.people_argument import SIMILAR

from .english_sentences import ENGLISH
from .features import (
    append_members,
    build_empty_finding,
    build_number_finding,
    expand_members,
    read_labels,
)
from .groups import describe_parameters, list_weight_columns

if TYPE_CHECKING:
    from ..models.elimination import EliminationByAspects


def list_class_findings(
    check: FindingMaker, *more_findings: FindingMaker
) -> tuple[FindingMaker, ...]:
    """List the functions that make the findings of latent classes.

    `check` is the model check of the data, and `more_findings` are further ones.
    """
    first_makers = question, latent_classes, features, n_features, ranks, *more_findings
    return (*first_makers, parameters, check, summary, data, assignment, same_class)


@finding("features", "Aspect weights by class", ON_SCREEN)
def features(model: "EliminationByAspects", settings: AnswerSettings) -> Finding | None:
    """Report the aspects with their weight in each class."""
    aspects_table: Any = model.features(similar=settings.similar, ci=settings.ci)
    labels = read_labels(model)
    shared_aspects = aspects_table[aspects_table["members"].map(len).between(2, len(labels) - 1)]
    exported_table = expand_members(aspects_table, labels)
    if not len(shared_aspects):
        return build_empty_finding(exported_table, "aspect")
    weight_columns = list_weight_columns(aspects_table)
    reading_table = append_members(shared_aspects, [*weight_columns, "mcse", "probability"], labels)
    picture = None
    if 1 < model._view.max_classes <= MAX_GROUPS:
        picture = Picture("group_weights", ENGLISH["kinds.caption"], aspects_table)
    return Finding(
        title=ENGLISH["kinds.features"],
        table=exported_table,
        shown=reading_table,
        brief=Brief("Aspects", table=reading_table[[*weight_columns, "probability", "members"]]),
        picture=picture,
    )


@finding("n_features", "Number of aspects", ON_SCREEN)
def n_features(model: "EliminationByAspects", settings: AnswerSettings) -> Finding | None:
    """Report the posterior of the number of shared aspects."""
    return build_number_finding(model, model._view.n_counted, "aspect", "aspects", settings.ci)


@finding("parameters", "Other parameters and assumptions", chapter=STATISTICS)
def parameters(model: "EliminationByAspects", settings: AnswerSettings) -> Finding:
    """Report alpha, lapse rate and other parameters that no single aspect has."""
    summary_rows = model.summary(settings.ci)
    return Finding(
        notes=(*class_notes(summary_rows), *describe_parameters(model, summary_rows, "kinds"))
    )


def describe_class_methods(model: Any) -> tuple[Text, ...]:
    """Return methods sentences about latent classes."""
    dependence_text = ENGLISH["kinds.methods.free"]
    if model.people.weights == SIMILAR:
        dependence_text = ENGLISH["kinds.methods.similar"]
    return (
        phrase(ENGLISH, "kinds.methods", number=model.people.classes, how=dependence_text),
        describe_matching(),
    )
