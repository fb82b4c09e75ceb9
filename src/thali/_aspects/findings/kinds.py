"""What a fit of latent classes finds out."""

from typing import TYPE_CHECKING, Any

from thali._digits import number, probability
from thali._labels import listed
from thali._model.choice_findings import MAX_GROUPS, row_in_words
from thali._model.common_findings import asked, data, summary
from thali._model.finding import (
    FILE,
    ON_SCREEN,
    STATISTICS,
    Brief,
    Finding,
    Maker,
    Picture,
    Text,
    finding,
)
from thali._model.references import Cite
from thali._model.settings import AnswerSettings
from thali._model.wording import phrase
from thali._people.populations import SIMILAR
from thali._posterior.interval import interval_name

from ..answers.matched_features import members_in_words
from .english import ENGLISH
from .features import by_member, labels_of, number_finding, of_options_alone
from .groups import parameter_notes, ranks_finding, weight_columns

if TYPE_CHECKING:
    from ..models.elimination import EliminationByAspects

_LIKED = 3


def makers_of(check: Maker, *more: Maker) -> tuple[Maker, ...]:
    """The makers of the findings but for the paragraph of a paper; `check`: of the data; `more`:
    further answers."""
    question = asked(lambda model: ENGLISH["kinds.asked"])
    own = question, kinds, features, n_features, ranks, *more
    return (*own, parameters, check, summary, data, assignment, same_class)


@finding("latent_classes", "Latent classes", ON_SCREEN)
def kinds(model: "EliminationByAspects", settings: AnswerSettings) -> Finding:
    """Return the latent classes, their sizes, and what they prefer."""
    sizes: Any = model.respondents.classes(settings.ci)
    numbers = sizes.attrs["n_classes"]
    likeliest = max(numbers, key=numbers.get)
    how = {"number": likeliest, "most": len(sizes), "probability": probability(numbers[likeliest])}
    notes: list[Text] = []
    for kind, row in sizes.iterrows():
        low, high = (number(100.0 * row[f"population_share_{end}"]) for end in ("low", "high"))
        shares = {name: number(100.0 * row[f"{name}_share"]) for name in ("sample", "population")}
        ends = {"interval": interval_name(settings.ci), "low": low, "high": high}
        prefer = _preferred(model.respondents.of_class(kind))
        notes.append(phrase(ENGLISH, "kinds.each", kind=kind, prefers=prefer, **shares, **ends))
    if len(sizes) > 1:
        notes.append(ENGLISH["kinds.shares"])
    return Finding(
        phrase(ENGLISH, "kinds", **how),
        title=ENGLISH["kinds.title"],
        table=sizes.assign(respondents=sizes["respondents"].map("; ".join)),
        shown=sizes.assign(respondents=sizes["respondents"].map(len)),
        notes=tuple(notes),
        brief=Brief(
            "Classes",
            table=sizes[["population_share", "population_share_low", "population_share_high"]],
            order=0,
        ),
    )


def _preferred(model: Any) -> Text:
    """The options of the best mean ranks."""
    liked = listed([str(option) for option in model.ranks().index[:_LIKED]])
    return phrase(ENGLISH, "kinds.liked", liked=liked)


@finding("features", "Aspect weights by class", ON_SCREEN)
def features(model: "EliminationByAspects", settings: AnswerSettings) -> Finding | None:
    """Return the aspects with their weight in each class."""
    if of_options_alone(model):
        return None
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
    if of_options_alone(model):
        return None
    return number_finding(model, model._view.n_counted, "aspect", "aspects", settings.ci)


@finding("ranks", "Ranking of the options by class", ON_SCREEN)
def ranks(model: "EliminationByAspects", settings: AnswerSettings) -> Finding:
    """Return the ranks of the options in each class."""
    found = {
        kind: model.respondents.of_class(kind).ranks(every_rank=True, ci=settings.ci)
        for kind in range(1, model._view.most_classes + 1)
    }
    return ranks_finding("latent_class", found, "", ENGLISH["kinds.ranks"])


@finding("parameters", "Other parameters and assumptions", chapter=STATISTICS)
def parameters(model: "EliminationByAspects", settings: AnswerSettings) -> Finding:
    """The parameters that are not of single aspects."""
    rows = model.summary(settings.ci)
    notes = parameter_notes(model, rows, "kinds")
    if "n_classes" in rows.index:
        number_of_kinds = phrase(ENGLISH, "kinds.n_kinds", value=row_in_words(rows, "n_classes"))
        agreement = phrase(ENGLISH, "kinds.agreement", value=row_in_words(rows, "class_agreement"))
        notes = (number_of_kinds, agreement, *notes)
    return Finding(notes=notes)


@finding("assignment", "Class membership", FILE)
def assignment(model: "EliminationByAspects", settings: AnswerSettings) -> Finding:
    """Return the class of each respondent."""
    return Finding(table=model.respondents.membership())


@finding("same_class", "Probability of sharing a class", FILE)
def same_class(model: "EliminationByAspects", settings: AnswerSettings) -> Finding:
    """Return the probability that two respondents are in the same class."""
    return Finding(table=model.respondents.same_class())


def modelled(model: Any) -> tuple[Text, ...]:
    """Return the methods text of latent classes."""
    how = ENGLISH[
        "kinds.methods.similar" if model.people.weights == SIMILAR else "kinds.methods.free"
    ]
    matched = phrase(ENGLISH, "kinds.methods.matched", source=Cite("stephens2000"))
    return (phrase(ENGLISH, "kinds.methods", number=model.people.classes, how=how), matched)
