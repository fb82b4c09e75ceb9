"""What a fit of latent classes finds out."""

from typing import TYPE_CHECKING, Any

from thali._model.choice_findings import MAX_GROUPS
from thali._model.class_findings import (
    assignment,
    class_notes,
    describe_matching,
    latent_classes,
    question,
    ranks,
    same_class,
)
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
from thali._model.phrases import phrase
from thali._model.settings import AnswerSettings
from thali._people.populations import SIMILAR

from ..answers.matched_features import members_in_words
from .english import ENGLISH
from .features import by_member, labels_of, number_finding
from .groups import parameter_notes, weight_columns

if TYPE_CHECKING:
    from ..models.elimination import EliminationByAspects


def finding_makers(check: FindingMaker, *more: FindingMaker) -> tuple[FindingMaker, ...]:
    """The makers of the findings but for the paragraph of a paper; `check`: of the data; `more`:
    further answers."""
    own = question, latent_classes, features, n_features, ranks, *more
    return (*own, parameters, check, summary, data, assignment, same_class)


@finding("features", "Aspect weights by class", ON_SCREEN)
def features(model: "EliminationByAspects", settings: AnswerSettings) -> Finding | None:
    """Return the aspects with their weight in each class."""
    table: Any = model.features(similar=settings.similar, ci=settings.ci)
    labels = labels_of(model)
    shared = table[table["members"].map(len).between(2, len(labels) - 1)]
    written, several = by_member(table, labels), model._view.most_classes
    if not len(shared):
        none = phrase(ENGLISH, "features.none", word="aspect")
        return Finding(none, table=written, is_printed=False, brief=Brief("Aspects"))
    weights = weight_columns(table)
    shown = shared[[*weights, "mcse", "probability"]]
    shown = shown.assign(members=[members_in_words(each, labels) for each in shared["members"]])
    return Finding(
        title=ENGLISH["kinds.features"],
        table=written,
        shown=shown,
        brief=Brief("Aspects", table=shown[[*weights, "probability", "members"]]),
        picture=Picture("group_weights", ENGLISH["kinds.caption"], table)
        if 1 < several <= MAX_GROUPS
        else None,
    )


@finding("n_features", "Number of aspects", ON_SCREEN)
def n_features(model: "EliminationByAspects", settings: AnswerSettings) -> Finding | None:
    """How many aspects there are."""
    return number_finding(model, model._view.n_counted, "aspect", "aspects", settings.ci)


@finding("parameters", "Other parameters and assumptions", chapter=STATISTICS)
def parameters(model: "EliminationByAspects", settings: AnswerSettings) -> Finding:
    """The parameters that are not of single aspects."""
    rows = model.summary(settings.ci)
    return Finding(notes=(*class_notes(rows), *parameter_notes(model, rows, "kinds")))


def modelled(model: Any) -> tuple[Text, ...]:
    """Return the methods text of latent classes."""
    how = ENGLISH[
        "kinds.methods.similar" if model.people.weights == SIMILAR else "kinds.methods.free"
    ]
    return (
        phrase(ENGLISH, "kinds.methods", number=model.people.classes, how=how),
        describe_matching(),
    )
