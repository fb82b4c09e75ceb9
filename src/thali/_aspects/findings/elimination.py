"""What elimination by aspects finds out."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.kinds import GROUPS, KINDS, ONE, PEOPLE
from thali._digits import percent
from thali._labels import listed
from thali._model.choice_findings import (
    MAX_RANKED,
    build_covariate_finding,
    build_prediction_finding,
    build_rank_finding,
    check,
    describe_ties,
    format_row,
)
from thali._model.common_findings import (
    convergence,
    data,
    make_methods_maker,
    make_question_maker,
    summary,
)
from thali._model.finding import (
    FULL,
    ON_SCREEN,
    STATISTICS,
    Brief,
    Finding,
    FindingMaker,
    Text,
    finding,
)
from thali._model.phrases import phrase
from thali._model.references import Cite
from thali._model.settings import AnswerSettings
from thali._people.populations import LatentClasses
from thali._trees.tree import Tree

from ..answers.kind import of_choices
from . import groups, kinds, people
from .english import ENGLISH
from .features import (
    features_finding,
    membership,
    number_finding,
    of_options_alone,
    place_sentence,
)
from .people import independence, modelled_people

if TYPE_CHECKING:
    from ..models.elimination import EliminationByAspects

_MIN_RANKED = 3


def finding_makers(
    model: "EliminationByAspects", settings: AnswerSettings
) -> tuple[FindingMaker, ...]:
    """The makers of the findings of a fit to one group of people, to several, to kinds or to people
    themselves."""
    of_people = (*_FIRST_OF_PEOPLE, *people.segments_of(settings), *_LAST_OF_PEOPLE)
    return {ONE: MAKERS, GROUPS: OF_GROUPS, PEOPLE: of_people, KINDS: OF_KINDS}[
        model._view.population
    ]


def is_plain(model: "EliminationByAspects") -> bool:
    """Whether each option has its own aspect and no other."""
    return not model._view.n_features.any()


def _asked(model: "EliminationByAspects") -> Text:
    """What is asked of a model with these aspects."""
    if is_plain(model):
        return ENGLISH["elimination.asked.plain"]
    if isinstance(model.aspects, Tree):
        return ENGLISH["elimination.asked.tree"]
    return ENGLISH[
        "elimination.asked.latent" if isinstance(model.aspects, str) else "elimination.asked.given"
    ]


@finding("features", "Aspects", ON_SCREEN)
def aspects(model: "EliminationByAspects", settings: AnswerSettings) -> Finding | None:
    """The aspects, with their probabilities and weights, and who has them."""
    if of_options_alone(model):
        return None
    table: Any = model.features(similar=settings.similar, ci=settings.ci)
    notes: tuple[str, ...] = ()
    if len(table) and "place" in table:
        notes += (place_sentence(model, model.aspects, "aspect", "options"),)
    if len(table) and table["members"].map(len).isin([1, model._view.n_options]).any():
        notes += (ENGLISH["elimination.silent"],)
    return features_finding(model, table, "aspect", notes)


@finding("n_features", "Number of aspects", ON_SCREEN)
def n_features(model: "EliminationByAspects", settings: AnswerSettings) -> Finding | None:
    """The number of latent aspects, where there may be any."""
    if of_options_alone(model):
        return None
    what = "aspects other than the unique ones" if model.unique else "latent aspects"
    return number_finding(model, model._view.n_features, "aspect", what, settings.ci)


@finding("ranks", "Ranking of the options", ON_SCREEN)
def ranks(model: "EliminationByAspects", settings: AnswerSettings) -> Finding:
    """The ranks of the options by utility."""
    return build_rank_finding(
        model.ranks(every_rank=True, ci=settings.ci), ENGLISH["ranks.title"], settings.ci
    )


@finding("ranks", "Ranking of the options", ON_SCREEN)
def ranks_of_people(model: "EliminationByAspects", settings: AnswerSettings) -> Finding | None:
    """The ranks of the options by the weights that are common to everybody."""
    found = ranks(model, settings)
    return None if found is None else replace(found, notes=(*found.notes, ENGLISH["ranks.common"]))


@finding("unique_weights", "Weights of unique aspects", ON_SCREEN)
def unique_weights(model: "EliminationByAspects", settings: AnswerSettings) -> Finding:
    """The weight of what each option has alone."""
    table = model.unique_weights(settings.ci)
    shown = table.sort_values("weight", ascending=False, kind="stable")
    brief = Brief("Worths", table=shown) if is_plain(model) else None
    return Finding(title=ENGLISH["unique_weights.title"], table=table, shown=shown, brief=brief)


@finding("covariates", "Covariate effects", ON_SCREEN)
def covariates(model: "EliminationByAspects", settings: AnswerSettings) -> Finding | None:
    """The effects of covariates."""
    if not model._covariates:
        return None
    table = model.covariate_effects(settings.ci)
    return build_covariate_finding(table, table["mean"], (ENGLISH["covariates.zero"],))


@finding("choice_probabilities", "Choice probabilities", FULL)
def choice_probabilities(model: "EliminationByAspects", settings: AnswerSettings) -> Finding:
    """Observed proportions beside predicted probabilities."""
    of_choices(model._view, "The prediction")
    return build_prediction_finding(model._data_answers.predictions(settings.ci))


@finding("option_similarity", "Similarity of the options", FULL)
def option_similarity(model: "EliminationByAspects", settings: AnswerSettings) -> Finding | None:
    """How much of what options have they share."""
    n = model._view.n_options
    if is_plain(model) or not _MIN_RANKED <= n <= MAX_RANKED:
        return None
    table = model.option_similarity()
    rows, columns = np.triu_indices(n, 1)
    most = table.to_numpy()[rows, columns].argmax()
    a, b = (str(table.index[at[most]]) for at in (rows, columns))
    share = percent(float(table.loc[a, b]), 1)
    return Finding(
        phrase(ENGLISH, "option_similarity", a=a, b=b, share=share),
        title=ENGLISH["option_similarity.title"],
        table=table.rename_axis("option"),
    )


@finding("parameters", "Other parameters and assumptions", chapter=STATISTICS)
def parameters(model: "EliminationByAspects", settings: AnswerSettings) -> Finding:
    """The parameters of the model that are not of single options."""
    rows = model.summary(settings.ci)
    notes = [
        phrase(ENGLISH, f"parameters.{name}", value=format_row(rows, name))
        for name in ("alpha", "tie", "log_likelihood")
        if name in rows.index
    ]
    return Finding(
        notes=(*notes, phrase(ENGLISH, "parameters.lapse", lapse=f"{model._view.lapse:g}"))
    )


# how a paper says what was done -------------------------------------------------------------------


def modelled(model: "EliminationByAspects") -> tuple[Text, ...]:
    """How the choices of one person or group were modelled."""
    lapse = phrase(ENGLISH, "methods.lapse", lapse=f"{model._view.lapse:g}")
    ends = (*_ties(model), *_covariates(model), lapse, *modelled_people(model))
    if is_plain(model):
        source = Cite("bradley1952", "luce1959", inside=True)
        return (phrase(ENGLISH, "methods.luce", source=source), *ends)
    sentences = [phrase(ENGLISH, "methods.elimination", source=Cite("tversky1972"))]
    if isinstance(model.aspects, Tree):
        sentences.append(phrase(ENGLISH, "methods.tree", source=Cite("miller2008")))
    elif isinstance(model.aspects, str):
        sentences.append(phrase(ENGLISH, "methods.ibp", source=Cite("gorur2006")))
    elif isinstance(model.aspects, int):
        sentences.append(phrase(ENGLISH, "methods.finite", number=model.aspects))
    else:
        sentences.append(ENGLISH["methods.given"])
    if isinstance(model.aspects, str | Tree):
        how = ENGLISH["methods.alpha.learned"]
        if model.alpha is not None:
            how = phrase(ENGLISH, "methods.alpha.fixed", alpha=f"{model.alpha:g}")
        sentences.append(phrase(ENGLISH, "methods.alpha", how=how))
    return (*sentences, ENGLISH["methods.own" if model.unique else "methods.no_own"], *ends)


def _ties(model: "EliminationByAspects") -> tuple[Text, ...]:
    has_none = model._view.tie is None
    return () if has_none else (describe_ties(ENGLISH["methods.ties.prior"]),)


def _covariates(model: "EliminationByAspects") -> tuple[Text, ...]:
    names = model._covariates
    if not names:
        return ()
    several = (
        "groups" if model._groups else "kinds" if isinstance(model.people, LatentClasses) else ""
    )
    common = (ENGLISH[f"{several}.methods.covariates"],) if several else ()
    return phrase(ENGLISH, "methods.covariates", names=listed(names)), *common


OF_GROUPS = (
    *groups.finding_makers("aspect", check, covariates),
    make_methods_maker(lambda model: (*modelled(model), groups.modelled(model, "aspect"))),
    independence,
    convergence,
)
_FIRST_OF_PEOPLE = (
    make_question_maker(lambda model: ENGLISH["independence.asked"]),
    aspects,
    n_features,
    ranks_of_people,
    people.respondent_effects,
    people.individuals,
)
_LAST_OF_PEOPLE = (
    people.parameters,
    check,
    summary,
    data,
    make_methods_maker(lambda model: (*modelled(model), *people.modelled(model))),
    independence,
    convergence,
)
OF_KINDS = (
    *kinds.finding_makers(check, covariates),
    make_methods_maker(lambda model: (*modelled(model), *kinds.modelled(model))),
    convergence,
)
MAKERS = (
    make_question_maker(_asked),
    aspects,
    n_features,
    ranks,
    unique_weights,
    covariates,
    option_similarity,
    choice_probabilities,
    parameters,
    check,
    summary,
    data,
    membership,
    make_methods_maker(modelled),
    independence,
    convergence,
)
