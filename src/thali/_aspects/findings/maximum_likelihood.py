"""Findings of elimination by aspects by maximum likelihood."""

from typing import TYPE_CHECKING, Any

from thali._digits import format_number
from thali._inference.numerics.ranks import sort_descending
from thali._labels import list_names
from thali._model.choice_findings import (
    build_covariate_finding,
    build_prediction_finding,
    describe_ties,
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
from thali._model.phrases import phrase
from thali._model.references import Cite
from thali._model.settings import AnswerSettings
from thali._posterior.interval import describe_interval

from ..maximum_likelihood.estimate_tables import (
    build_branch_table,
    build_prediction_table,
    build_utility_table,
    describe_outcome,
)
from .english_sentences import ENGLISH

if TYPE_CHECKING:
    from ..models.elimination import EliminationByAspects

_MAX_BEST, _MAX_WORST = 3, 3


def list_makers(
    model: "EliminationByAspects", settings: AnswerSettings
) -> tuple[FindingMaker, ...]:
    """List the functions that make the findings of a maximum-likelihood fit."""
    return LIKELIHOOD_FINDINGS


@finding("weights", "Aspect weights", ON_SCREEN)
def weights(model: "EliminationByAspects", settings: AnswerSettings) -> Finding:
    """Report aspect weights with standard errors, and which are at the boundary 0."""
    table = model.summary(settings.ci)
    table.attrs |= {"interval": settings.ci}
    zero_weights = [
        str(name) for name, weight in model.maximum_likelihood.weights().items() if weight == 0.0
    ]
    notes, picture = [], None
    if zero_weights:
        notes.append(str(phrase(ENGLISH, "ml.zero", names=list_names(zero_weights))))
    if model._estimates_.error_source:
        notes.append(model._estimates_.error_source)
    aspects = model._estimates_.known
    if aspects.shared.any() and aspects.crossing is None:
        branches = build_branch_table(aspects, model._estimates_.weights)
        picture = Picture("preference_tree", ENGLISH["ml.tree"], branches)
    table = table.rename_axis(table.index.name or "aspect")
    known_columns = table.dropna(axis="columns", how="all")
    return Finding(
        title=ENGLISH["ml.weights"],
        table=table,
        shown=known_columns,
        brief=Brief(
            "Weights", table=known_columns.iloc[sort_descending(table["weight"].to_numpy())]
        ),
        picture=picture,
        notes=tuple(notes),
    )


@finding("utility_scale", "Utility scale", ON_SCREEN)
def utility_scale(model: "EliminationByAspects", settings: AnswerSettings) -> Finding:
    """Report the utility of each option, the sum of its aspect weights."""
    table = build_utility_table(model._estimates_, settings.ci)
    utilities = model.maximum_likelihood.utility_scale()
    scale = utilities.iloc[sort_descending(utilities.to_numpy())]
    best = list_names(
        [f"{name} ({format_number(value)})" for name, value in scale.head(_MAX_BEST).items()]
    )
    sentence = str(phrase(ENGLISH, "ml.best", best=best))
    caption = str(phrase(ENGLISH, "ml.utility.caption", interval=describe_interval(settings.ci)))
    return Finding(
        sentence,
        title=ENGLISH["ml.utility"],
        table=table,
        picture=Picture("utility_scale", caption, table),
        brief=Brief(
            "Preferred",
            parts=tuple((str(name), format_number(value)) for name, value in scale.items()),
            order=0,
        ),
    )


@finding("covariates", "Covariate effects", ON_SCREEN)
def covariates(model: "EliminationByAspects", settings: AnswerSettings) -> Finding | None:
    """Report effects of comparison covariates; None without covariates."""
    if not model._covariates:
        return None
    table = model.covariate_effects(settings.ci)
    return build_covariate_finding(table, table["estimate"])


@finding("choice_probabilities", "Choice probabilities", FULL)
def choice_probabilities(model: "EliminationByAspects", settings: AnswerSettings) -> Finding:
    """Report observed proportions and predicted probabilities."""
    return build_prediction_finding(build_prediction_table(model._estimates_))


@finding("fit", "Goodness of fit", ON_SCREEN, chapter=MISSES)
def fit(model: "EliminationByAspects", settings: AnswerSettings) -> Finding:
    """Report the test of fit, the likelihood and information criteria."""
    import pandas as pd

    statistics, test = model.summary().attrs, model._estimates_.default_test
    sentence, notes = str(test), list[Text]()
    if test.kind != "none":
        sentence = f"Test of fit: {test}."
        pearson = f"{statistics['pearson']:.4f}"
        notes.append(phrase(ENGLISH, "ml.pearson", pearson=pearson))
    if "tie" in statistics:
        notes.append(
            phrase(
                ENGLISH,
                "ml.ties",
                nu=f"{statistics['tie']:.4f}",
                error=f"{statistics['tie_std_error']:.4f}",
            )
        )
    criteria = {name: f"{statistics[name]:.4f}" for name in ("log_likelihood", "aic", "bic")}
    notes.append(phrase(ENGLISH, "ml.likelihood", what=model._estimates_.coefficients, **criteria))
    notes.append(phrase(ENGLISH, "parameters.lapse", lapse=f"{model._estimates_.lapse:g}"))
    table = pd.DataFrame([statistics]).drop(columns=["interval", "columns"], errors="ignore")
    return Finding(
        sentence,
        title=ENGLISH["ml.fit"],
        table=table,
        is_printed=False,
        notes=tuple(notes),
        brief=Brief("Fit"),
    )


@finding("residuals", "Largest residuals", chapter=MISSES)
def residuals(model: "EliminationByAspects", settings: AnswerSettings) -> Finding:
    """Report the residual of each pair, the largest first."""
    table: Any = model.maximum_likelihood.residuals()
    sorted_table = table.iloc[sort_descending(table["residual"].abs().to_numpy())].reset_index(
        drop=True
    )
    worst = "; ".join(
        describe_outcome(row) for row in sorted_table.head(_MAX_WORST).to_dict("records")
    )
    unit_noun = ENGLISH["ml.outcomes"]
    if model._estimates_.is_of_choices:
        unit_noun = ENGLISH["ml.pairs"]
    sentence = str(phrase(ENGLISH, "ml.worst", what=unit_noun, worst=worst))
    return Finding(sentence, title=ENGLISH["ml.residuals"], table=table, shown=sorted_table)


def describe_likelihood_methods(model: "EliminationByAspects") -> tuple[Text, ...]:
    """Return methods sentences about the maximum-likelihood fit."""
    key, source = "ml.methods.elimination", Cite("tversky1972")
    if isinstance(model.aspects, str):
        key, source = "ml.methods.luce", Cite("bradley1952", "luce1959", inside=True)
    sentences: list[Text] = [phrase(ENGLISH, key, source=source)]
    if model._estimates_.tie is not None:
        sentences.append(describe_ties())
    if model._covariates:
        sentences.append(
            phrase(ENGLISH, "ml.methods.covariates", names=list_names(model._covariates))
        )
    errors: Text = ENGLISH["ml.methods.observed"]
    if model._estimates_.is_over_people:
        errors = phrase(ENGLISH, "ml.methods.people", source=Cite("bell2002"))
    if model._estimates_.is_tested_over_people:
        errors = phrase(ENGLISH, "ml.methods.tests", source=Cite("bell2002", "rao1984"))
    sentences.append(
        phrase(ENGLISH, "ml.methods.fitted", source=Cite("wickelmaier2004"), errors=errors)
    )
    if model._estimates_.lapse:
        sentences.append(phrase(ENGLISH, "ml.methods.lapse", lapse=f"{model._estimates_.lapse:g}"))
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
    convergence,
)
