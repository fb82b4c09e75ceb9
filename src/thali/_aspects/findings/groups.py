"""What a fit to several groups of people finds out, of choices or of similarities."""

from typing import TYPE_CHECKING, Any

from thali._digits import probability
from thali._labels import listed, plural
from thali._model.choice_findings import MAX_GROUPS, format_row
from thali._model.common_findings import data, make_question_maker, summary
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
from thali._model.group_findings import make_group_ranks_maker
from thali._model.phrases import format_estimate, phrase
from thali._model.settings import AnswerSettings

from ..answers.matched_features import members_in_words
from ..answers.options import rank_draws
from .english import ENGLISH
from .features import by_member, labels_of, number_finding

if TYPE_CHECKING:
    import pandas

_SURE = 0.95  # probability from which on a difference is named
_NAMED = 3


def finding_makers(
    word: str, check: FindingMaker, *besides: FindingMaker
) -> tuple[FindingMaker, ...]:
    """The makers of the findings but for the paragraph of a paper; `word`: aspect or feature;
    `check`: of the data; `besides`: answers that are of all groups together."""

    @finding("features", f"Shared {word}s and their weights by group", ON_SCREEN)
    def features(model: Any, settings: AnswerSettings) -> Finding | None:
        return _features(model, settings, word)

    @finding("n_features", f"Number of {word}s", ON_SCREEN)
    def n_features(model: Any, settings: AnswerSettings) -> Finding | None:
        return number_finding(model, model._view.n_counted, word, f"{word}s", settings.ci)

    question = make_question_maker(
        lambda model: phrase(ENGLISH, "groups.asked", names=listed(model._groups), word=word)
    )
    own = (ranks,) * (word == "aspect")
    return (question, features, n_features, *own, *besides, parameters, check, summary, data)


ranks = make_group_ranks_maker(lambda model: rank_draws(model._view))


def _features(model: Any, settings: AnswerSettings, word: str) -> Finding:
    """The features that some but not all share, with their weight in each group."""
    table = model.features(similar=settings.similar, ci=settings.ci)
    labels = labels_of(model)
    shared = table[table["members"].map(len).between(2, len(labels) - 1)]
    written = by_member(table, labels)
    if not len(shared):
        none = phrase(ENGLISH, "features.none", word=word)
        return Finding(none, table=written, is_printed=False, brief=Brief(f"{word.capitalize()}s"))
    sentence, weights = differences(shared, word), weight_columns(shared)
    picture = Picture("group_weights", str(phrase(ENGLISH, "groups.caption", word=word)), table)
    shown = shared[["probability", "mcse", *weights, *table.attrs["compared"]]]
    shown = shown.assign(members=[members_in_words(each, labels) for each in shared["members"]])
    number = len(model._groups)
    more, few = plural(number - MAX_GROUPS, "more group"), number <= MAX_GROUPS
    return Finding(
        sentence,
        title=str(phrase(ENGLISH, "groups.title", word=word)),
        table=written,
        shown=shown,
        picture=picture if few else None,
        notes=() if few else (phrase(ENGLISH, "groups.others", word=word, more=more),),
        brief=Brief(f"{word.capitalize()}s", table=shown[["probability", *weights, "members"]]),
    )


def weight_columns(features: "pandas.DataFrame") -> list[str]:
    """The columns of the weights in the groups, or latent classes, that people read."""
    return [f"weight[{name}]" for name in features.attrs.get("groups", ())[:MAX_GROUPS]]


def differences(shared: "pandas.DataFrame", word: str) -> str:
    """Which features certainly weigh more in one group than in another."""
    found = []
    for row in shared.to_dict("records"):
        for column, (a, b) in shared.attrs["compared"].items():
            sure = row[column]
            if not 1 - _SURE < sure < _SURE:
                more, less = (a, b) if sure > 0.5 else (b, a)
                how = {
                    "sure": probability(max(sure, 1 - sure)),
                    "probability": probability(row["probability"]),
                }
                members = listed(row["members"])
                found.append(
                    str(
                        phrase(
                            ENGLISH,
                            "groups.more",
                            members=members,
                            more=more,
                            less=less,
                            word=word,
                            **how,
                        )
                    )
                )
    return (
        ". ".join(found[:_NAMED]) + "." if found else str(phrase(ENGLISH, "groups.same", word=word))
    )


@finding("parameters", "Other parameters and assumptions", chapter=STATISTICS)
def parameters(model: Any, settings: AnswerSettings) -> Finding:
    """The parameters that are not of single features."""
    return Finding(notes=parameter_notes(model, model.summary(settings.ci), "groups"))


def parameter_notes(model: Any, rows: "pandas.DataFrame", several: str) -> tuple[Text, ...]:
    """The parameters in words, from the rows of the summary; `several`: "groups" or "kinds" of
    people."""
    kappa = model._view.kappa
    notes: list[Text] = []
    if "alpha" in rows.index:
        notes.append(phrase(ENGLISH, "parameters.alpha", value=format_row(rows, "alpha")))
    if kappa is not None:
        spread = format_estimate(kappa**-0.5, rows.attrs["interval"])
        notes.append(phrase(ENGLISH, f"{several}.kappa", estimate=spread))
    notes.append(
        phrase(ENGLISH, f"{several}.log_likelihood", value=format_row(rows, "log_likelihood"))
    )
    return tuple(notes)


def modelled(model: Any, word: str) -> Text:
    """How the groups were modelled."""
    how = ENGLISH["groups.methods.free" if model._view.kappa is None else "groups.methods.similar"]
    return phrase(ENGLISH, "groups.methods", number=len(model._groups), word=word, how=how)
