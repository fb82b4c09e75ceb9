"""Findings that elimination by aspects reports."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import list_names
from thali._model.choice_findings import (
    MAX_RANKED,
    build_covariate_finding,
    build_prediction_finding,
    build_rank_finding,
    check,
    describe_dependence,
    describe_ties,
    format_row,
)
from thali._model.common_findings import (
    build_methods_finding,
    convergence,
    data,
    summary,
)
from thali._model.finding import (
    FULL,
    METHODS,
    ON_SCREEN,
    SHOWN,
    STATISTICS,
    Brief,
    Finding,
    FindingMaker,
    Text,
    finding,
)
from thali._model.finding_settings import AnswerSettings
from thali._model.references import Cite
from thali._model.sentence_templates import phrase
from thali._number_format import format_percent
from thali._trees.tree import Tree

from ..results.data_kind_checks import require_choices
from ..results.result_classes import load_results
from .english_sentences import ENGLISH
from .features import (
    build_features_finding,
    build_number_finding,
    count_shared_features,
    describe_tree_positions,
    has_only_unique_aspects,
    has_probable_shared_features,
    membership,
    with_draws,
)
from .repeated_answers import independence

if TYPE_CHECKING:
    from thali._posterior.posterior_tree import Posterior

    from ..models.elimination import EliminationByAspects

_MIN_COMPARED_OPTIONS = 3


def list_makers(
    model: "EliminationByAspects", settings: AnswerSettings
) -> tuple[FindingMaker, ...]:
    """List the functions that make the findings of a fit."""
    return ELIMINATION_FINDINGS


def has_no_shared_aspects(posterior: "Posterior") -> bool:
    """Return whether no draw has an aspect besides the unique ones."""
    return not posterior.n_features.any()


def _describe_question(model: "EliminationByAspects", posterior: "Posterior") -> Text:
    """Return the question that the model answers, as the report's first sentence."""
    if has_no_shared_aspects(posterior):
        return ENGLISH["elimination.asked.plain"]
    if isinstance(model.aspects, Tree):
        return ENGLISH["elimination.asked.tree"]
    if isinstance(model.aspects, str):
        return ENGLISH["elimination.asked.latent"]
    return ENGLISH["elimination.asked.given"]


@finding("asked", "Research question", SHOWN)
@with_draws
def research_question(
    model: "EliminationByAspects", posterior: "Posterior", settings: AnswerSettings
) -> Finding:
    """Report the question that the model answers."""
    return Finding(_describe_question(model, posterior))


@finding("features", "Aspects", ON_SCREEN)
@with_draws
def aspects(
    model: "EliminationByAspects", posterior: "Posterior", settings: AnswerSettings
) -> Finding | None:
    """Report the aspects with probabilities, weights and members."""
    if has_only_unique_aspects(model):
        return None
    aspects_table: Any = model.features(similar=settings.similar, ci=settings.ci)
    notes: tuple[str, ...] = ()
    if len(aspects_table) and "place" in aspects_table:
        notes += (describe_tree_positions(posterior, model.aspects, "aspect", "options"),)
    if (
        len(aspects_table)
        and aspects_table["members"].map(len).isin([1, posterior.n_options]).any()
    ):
        notes += (ENGLISH["elimination.silent"],)
    return build_features_finding(model, posterior, aspects_table, "aspect", notes)


@finding("n_features", "Number of aspects", ON_SCREEN)
@with_draws
def n_features(
    model: "EliminationByAspects", posterior: "Posterior", settings: AnswerSettings
) -> Finding | None:
    """Report the number of latent aspects; None if the model has only unique aspects."""
    if has_only_unique_aspects(model):
        return None
    if not model.unique:
        return build_number_finding(posterior.n_features, "aspect", "latent aspects", settings.ci)
    n_shared = count_shared_features(posterior)
    number_finding = build_number_finding(n_shared, "aspect", "shared aspects", settings.ci)
    if has_probable_shared_features(posterior):
        return number_finding
    sentence_key = "number.uncertain"
    if np.median(n_shared) == 0:
        sentence_key = "number.zero"
    return replace(number_finding, sentence=f"{number_finding.sentence} {ENGLISH[sentence_key]}")


@finding("ranks", "Ranking of the options", ON_SCREEN)
def ranks(model: "EliminationByAspects", settings: AnswerSettings) -> Finding:
    """Report the ranks of the options by utility."""
    return build_rank_finding(
        model.ranks(every_rank=True, ci=settings.ci), ENGLISH["ranks.title"], settings.ci
    )


@finding("unique_weights", "Weights of unique aspects", ON_SCREEN)
@with_draws
def unique_weights(
    model: "EliminationByAspects", posterior: "Posterior", settings: AnswerSettings
) -> Finding:
    """Report the weight of each option's unique aspect."""
    weights_table = model.unique_weights(settings.ci)
    sorted_table = weights_table.sort_values("weight", ascending=False, kind="stable")
    brief = None
    if has_no_shared_aspects(posterior):
        brief = Brief("Worths", table=sorted_table)
    return Finding(
        title=ENGLISH["unique_weights.title"], table=weights_table, shown=sorted_table, brief=brief
    )


@finding("covariates", "Covariate effects", ON_SCREEN)
@with_draws
def covariates(
    model: "EliminationByAspects", posterior: "Posterior", settings: AnswerSettings
) -> Finding | None:
    """Report effects of comparison covariates; None without covariates."""
    if not posterior.covariates:
        return None
    effects_table = model.covariate_effects(settings.ci)
    return build_covariate_finding(
        effects_table, effects_table["mean"], (ENGLISH["covariates.zero"],)
    )


@finding("choice_probabilities", "Choice probabilities", FULL)
@with_draws
def choice_probabilities(
    model: "EliminationByAspects", posterior: "Posterior", settings: AnswerSettings
) -> Finding:
    """Report observed proportions and predicted probabilities."""
    require_choices(posterior, "The prediction")
    return build_prediction_finding(load_results(posterior).predictions(settings.ci))


@finding("option_similarity", "Similarity of the options", FULL)
@with_draws
def option_similarity(
    model: "EliminationByAspects", posterior: "Posterior", settings: AnswerSettings
) -> Finding | None:
    """Report the share of weight that options have in common; None without shared aspects."""
    n_options = posterior.n_options
    if has_no_shared_aspects(posterior) or not _MIN_COMPARED_OPTIONS <= n_options <= MAX_RANKED:
        return None
    similarity_table = model.option_similarity()
    first_options, second_options = np.triu_indices(n_options, 1)
    closest_pair = similarity_table.to_numpy()[first_options, second_options].argmax()
    a, b = (
        str(similarity_table.index[indices[closest_pair]])
        for indices in (first_options, second_options)
    )
    share_text = format_percent(float(similarity_table.loc[a, b]), 1)
    return Finding(
        phrase(ENGLISH, "option_similarity", a=a, b=b, share=share_text),
        title=ENGLISH["option_similarity.title"],
        table=similarity_table.rename_axis("option"),
    )


@finding("parameters", "Other parameters and assumptions", chapter=STATISTICS)
@with_draws
def parameters(
    model: "EliminationByAspects", posterior: "Posterior", settings: AnswerSettings
) -> Finding:
    """Report alpha, tie parameter, log-likelihood and lapse rate."""
    summary_rows = model.summary(settings.ci)
    notes = [
        phrase(ENGLISH, f"parameters.{name}", value=format_row(summary_rows, name))
        for name in ("alpha", "tie", "log_likelihood")
        if name in summary_rows.index
    ]
    return Finding(
        notes=(*notes, phrase(ENGLISH, "parameters.lapse", lapse=f"{posterior.lapse:g}"))
    )


# Methods text -------------------------------------------------------------------------------------


def describe_elimination_methods(
    model: "EliminationByAspects", posterior: "Posterior"
) -> tuple[Text, ...]:
    """Return methods sentences about elimination by aspects."""
    lapse_sentence = phrase(ENGLISH, "methods.lapse", lapse=f"{posterior.lapse:g}")
    last_sentences = (
        *_describe_ties(posterior),
        *_describe_covariates(posterior),
        lapse_sentence,
        *describe_dependence(posterior.dependence),
    )
    if has_no_shared_aspects(posterior):
        model_citation = Cite("bradley1952", "luce1959", inside=True)
        return (phrase(ENGLISH, "methods.luce", source=model_citation), *last_sentences)
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
        alpha_clause = ENGLISH["methods.alpha.learned"]
        if model.alpha is not None:
            alpha_clause = phrase(ENGLISH, "methods.alpha.fixed", alpha=f"{model.alpha:g}")
        sentences.append(phrase(ENGLISH, "methods.alpha", how=alpha_clause))
    if model.unique:
        sentences.append(ENGLISH["methods.own"])
    else:
        sentences.append(ENGLISH["methods.no_own"])
    return (*sentences, *last_sentences)


def _describe_ties(posterior: "Posterior") -> tuple[Text, ...]:
    """Return methods sentences about the prior of ties; () without ties."""
    if posterior.tie is None:
        return ()
    return (describe_ties(ENGLISH["methods.ties.prior"]),)


def _describe_covariates(posterior: "Posterior") -> tuple[Text, ...]:
    """Return methods sentences about comparison covariates; () without them."""
    if not posterior.covariates:
        return ()
    return (phrase(ENGLISH, "methods.covariates", names=list_names(posterior.covariates)),)


@finding("methods", "Methods text", SHOWN, chapter=METHODS)
@with_draws
def methods_text(
    model: "EliminationByAspects", posterior: "Posterior", settings: AnswerSettings
) -> Finding:
    """Report the methods text of a paper."""
    return build_methods_finding(model, describe_elimination_methods(model, posterior), settings)


ELIMINATION_FINDINGS = (
    research_question,
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
    methods_text,
    independence,
    convergence,
)
