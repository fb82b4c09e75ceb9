"""Findings of elimination by aspects by maximum likelihood."""

from typing import TYPE_CHECKING, Any

from thali._inference.numerics.ranks import sort_descending
from thali._labels import list_names
from thali._model.choice_findings import (
    build_covariate_finding,
    build_prediction_finding,
    describe_errors,
    describe_ties,
    make_dependence_maker,
)
from thali._model.common_findings import convergence, data, make_methods_maker, make_question_maker
from thali._model.finding import (
    FULL,
    MISSES,
    ON_SCREEN,
    Brief,
    Finding,
    FindingMaker,
    Picture,
    Text,
    finding,
)
from thali._model.finding_settings import AnswerSettings
from thali._model.references import Cite
from thali._model.sentence_templates import phrase
from thali._number_format import format_number

from ..maximum_likelihood.elimination_engine import get_aspect_estimates
from ..maximum_likelihood.estimate_tables import (
    build_branch_table,
    build_prediction_table,
    build_utility_table,
    describe_outcome,
)
from .english_sentences import ENGLISH

if TYPE_CHECKING:
    from ..models.elimination import EliminationByAspects

_MAX_BEST = 3
_MAX_WORST = 3


def list_makers(
    model: "EliminationByAspects", settings: AnswerSettings
) -> tuple[FindingMaker, ...]:
    """List the functions that make the findings of a maximum-likelihood fit."""
    return LIKELIHOOD_FINDINGS


@finding("weights", "Aspect weights", ON_SCREEN)
def weights(model: "EliminationByAspects", settings: AnswerSettings) -> Finding:
    """Report aspect weights with standard errors, and which are at the boundary 0."""
    weights_table = model.summary(settings.ci)
    weights_table.attrs |= {"interval": settings.ci}
    zero_weights = [
        str(name) for name, weight in model.maximum_likelihood.weights().items() if weight == 0.0
    ]
    notes = []
    picture = None
    if zero_weights:
        notes.append(str(phrase(ENGLISH, "ml.zero", names=list_names(zero_weights))))
    estimates = get_aspect_estimates(model)
    if estimates.independent_tests:
        notes.append(estimates.independent_tests)
    given_aspects = estimates.known
    if given_aspects.shared.any() and given_aspects.crossing is None:
        branch_table = build_branch_table(given_aspects, estimates.weights)
        picture = Picture("preference_tree", ENGLISH["ml.tree"], branch_table)
    weights_table = weights_table.rename_axis(weights_table.index.name or "aspect")
    known_columns = weights_table.dropna(axis="columns", how="all")
    return Finding(
        title=ENGLISH["ml.weights"],
        table=weights_table,
        shown=known_columns,
        brief=Brief(
            "Weights", table=known_columns.iloc[sort_descending(weights_table["weight"].to_numpy())]
        ),
        picture=picture,
        notes=tuple(notes),
    )


@finding("utility_scale", "Utility scale", ON_SCREEN)
def utility_scale(model: "EliminationByAspects", settings: AnswerSettings) -> Finding:
    """Report the utility of each option, the sum of its aspect weights."""
    utility_table = build_utility_table(get_aspect_estimates(model), settings.ci)
    utilities = model.maximum_likelihood.utility_scale()
    sorted_utilities = utilities.iloc[sort_descending(utilities.to_numpy())]
    best_options = list_names(
        [
            f"{name} ({format_number(value)})"
            for name, value in sorted_utilities.head(_MAX_BEST).items()
        ]
    )
    sentence = str(phrase(ENGLISH, "ml.best", best=best_options))
    return Finding(
        sentence,
        title=ENGLISH["ml.utility"],
        table=utility_table,
        brief=Brief(
            "Preferred",
            parts=tuple(
                (str(name), format_number(value)) for name, value in sorted_utilities.items()
            ),
            order=0,
        ),
    )


@finding("covariates", "Covariate effects", ON_SCREEN)
def covariates(model: "EliminationByAspects", settings: AnswerSettings) -> Finding | None:
    """Report effects of comparison covariates; None without covariates."""
    if not get_aspect_estimates(model).data.covariate_names:
        return None
    effects_table = model.covariate_effects(settings.ci)
    return build_covariate_finding(effects_table, effects_table["estimate"])


@finding("choice_probabilities", "Choice probabilities", FULL)
def choice_probabilities(model: "EliminationByAspects", settings: AnswerSettings) -> Finding:
    """Report observed proportions and predicted probabilities."""
    return build_prediction_finding(build_prediction_table(get_aspect_estimates(model)))


@finding("fit", "Goodness of fit", ON_SCREEN, chapter=MISSES)
def fit(model: "EliminationByAspects", settings: AnswerSettings) -> Finding:
    """Report the test of fit, the likelihood and information criteria."""
    import pandas as pd

    fit_statistics = model.summary().attrs
    estimates = get_aspect_estimates(model)
    fit_test = estimates.default_test
    sentence = str(fit_test)
    notes = list[Text]()
    if fit_test.kind != "none":
        sentence = f"Test of fit: {fit_test}."
        pearson_text = f"{fit_statistics['pearson']:.4f}"
        notes.append(phrase(ENGLISH, "ml.pearson", pearson=pearson_text))
    if "tie" in fit_statistics:
        notes.append(
            phrase(
                ENGLISH,
                "ml.ties",
                nu=f"{fit_statistics['tie']:.4f}",
                error=f"{fit_statistics['tie_std_error']:.4f}",
            )
        )
    criteria_texts = {
        name: f"{fit_statistics[name]:.4f}" for name in ("log_likelihood", "aic", "bic")
    }
    notes.append(phrase(ENGLISH, "ml.likelihood", what=estimates.coefficients, **criteria_texts))
    notes.append(phrase(ENGLISH, "parameters.lapse", lapse=f"{estimates.lapse:g}"))
    statistics_table = pd.DataFrame([fit_statistics]).drop(
        columns=["interval", "columns"], errors="ignore"
    )
    return Finding(
        sentence,
        title=ENGLISH["ml.fit"],
        table=statistics_table,
        is_printed=False,
        notes=tuple(notes),
        brief=Brief("Fit"),
    )


@finding("residuals", "Largest residuals", chapter=MISSES)
def residuals(model: "EliminationByAspects", settings: AnswerSettings) -> Finding:
    """Report the residual of each pair, the largest first."""
    residual_table: Any = model.maximum_likelihood.residuals()
    sorted_table = residual_table.iloc[
        sort_descending(residual_table["residual"].abs().to_numpy())
    ].reset_index(drop=True)
    worst_pairs = "; ".join(
        describe_outcome(row) for row in sorted_table.head(_MAX_WORST).to_dict("records")
    )
    unit_noun = ENGLISH["ml.outcomes"]
    if get_aspect_estimates(model).is_of_choices:
        unit_noun = ENGLISH["ml.pairs"]
    sentence = str(phrase(ENGLISH, "ml.worst", what=unit_noun, worst=worst_pairs))
    return Finding(
        sentence, title=ENGLISH["ml.residuals"], table=residual_table, shown=sorted_table
    )


def describe_likelihood_methods(model: "EliminationByAspects") -> tuple[Text, ...]:
    """Return methods sentences about the maximum-likelihood fit."""
    sentence_key = "ml.methods.elimination"
    model_citation = Cite("tversky1972")
    if isinstance(model.aspects, str):
        sentence_key = "ml.methods.luce"
        model_citation = Cite("bradley1952", "luce1959", inside=True)
    sentences: list[Text] = [phrase(ENGLISH, sentence_key, source=model_citation)]
    estimates = get_aspect_estimates(model)
    if estimates.tie is not None:
        sentences.append(describe_ties())
    if covariate_names := estimates.data.covariate_names:
        sentences.append(
            phrase(ENGLISH, "ml.methods.covariates", names=list_names(covariate_names))
        )
    error_sentence = describe_errors(estimates.people)
    if estimates.is_tested_over_people:
        error_sentence = phrase(ENGLISH, "ml.methods.tests", source=Cite("bell2002", "rao1984"))
    sentences.append(
        phrase(ENGLISH, "ml.methods.fitted", source=Cite("wickelmaier2004"), errors=error_sentence)
    )
    if estimates.lapse:
        sentences.append(phrase(ENGLISH, "ml.methods.lapse", lapse=f"{estimates.lapse:g}"))
    return tuple(sentences)


LIKELIHOOD_FINDINGS = (
    make_question_maker(lambda model: ENGLISH["ml.asked"]),
    weights,
    utility_scale,
    covariates,
    choice_probabilities,
    fit,
    residuals,
    data,
    make_methods_maker(describe_likelihood_methods),
    make_dependence_maker(lambda model: get_aspect_estimates(model).people),
    convergence,
)
