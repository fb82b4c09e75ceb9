"""Findings that the multinomial and the hierarchical logit report."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from thali._labels import list_names
from thali._model.choice_findings import describe_errors
from thali._model.common_findings import (
    convergence,
    data,
    make_methods_maker,
    summary,
)
from thali._model.finding import (
    FULL,
    MISSES,
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
from thali._number_format import format_number
from thali._posterior.posterior_interval import describe_interval
from thali._posterior.posterior_tree import PosteriorTree
from thali.errors import Setting

from ..reports.finding_sentences import ENGLISH
from ..reports.findings import (
    MARKET_FINDINGS,
    RESPONDENT_FINDINGS,
    SEGMENT_SENTENCE,
    build_choice_makers,
    build_simulator_maker,
    report_check,
    report_levels,
)
from ..respondent_errors import report_dependence
from .hierarchical_draws import measure_prior_influence, read_respondent_effects
from .hierarchical_fit import DEFAULT_SCALE, MEAN_SD
from .hierarchical_logit import HierarchicalLogit

if TYPE_CHECKING:
    from .multinomial_logit import MultinomialLogit


def list_makers(
    model: "HierarchicalLogit | MultinomialLogit", settings: AnswerSettings
) -> tuple[FindingMaker, ...]:
    """Return the functions that make the findings of either logit."""
    if isinstance(model, HierarchicalLogit):
        market_makers, segment_makers = build_choice_makers(settings)
        return (
            _ask_about_respondents,
            *market_makers,
            report_respondent_effects,
            report_population,
            report_individuals,
            *segment_makers,
            report_check,
            report_quantities,
            data,
            report_levels,
            *RESPONDENT_FINDINGS,
            make_methods_maker(_describe_hierarchical),
            convergence,
        )
    return (
        *_MULTINOMIAL,
        report_no_check,
        summary,
        data,
        report_levels,
        make_methods_maker(_describe_multinomial),
        report_dependence,
        convergence,
    )


def _phrase_question(key: str, settings: AnswerSettings) -> Finding:
    """Return the research question, with willingness to pay if an attribute is the price."""
    pay_text = ""
    if settings.price is not None:
        pay_text = ENGLISH["logit.asked.pay"]
    return Finding(phrase(ENGLISH, key, pay=pay_text))


@finding("asked", "Research question", SHOWN)
def _ask_about_products(model: "MultinomialLogit", settings: AnswerSettings) -> Finding:
    """Report the question that a multinomial logit answers."""
    return _phrase_question("logit.asked", settings)


@finding("asked", "Research question", SHOWN)
def _ask_about_respondents(model: "HierarchicalLogit", settings: AnswerSettings) -> Finding:
    """Report the question that a hierarchical logit answers."""
    return _phrase_question("logit.asked.people", settings)


@finding("population", "Population coefficients and heterogeneity")
def report_population(model: "HierarchicalLogit", settings: AnswerSettings) -> Finding:
    """Report population means and standard deviations of tastes."""
    table = model.population(settings.ci)
    title = ENGLISH["logit.population"]
    if (price := model._find_price_coefficient()) is not None:
        title = str(phrase(ENGLISH, "logit.population.money", price=price))
    table = table.rename_axis(table.index.name or "coefficient")
    return Finding(title=title, table=table, notes=_describe_prior_influence(model))


@finding("respondent_effects", "Effects of respondent characteristics", ON_SCREEN)
def report_respondent_effects(
    model: "HierarchicalLogit", settings: AnswerSettings
) -> Finding | None:
    """Report effects of respondents' columns on the population means of coefficients."""
    from thali._posterior.summary_table import build_summary

    effects = read_respondent_effects(PosteriorTree(model.posterior_).draws)
    if not effects:
        return None
    table: Any = build_summary(
        {f"{name} per {covariate}": draws for (covariate, name), draws in effects.items()},
        settings.ci,
    )
    interval_words = describe_interval(settings.ci)
    is_clear = (table["low"] > 0.0) | (table["high"] < 0.0)
    sentence = phrase(ENGLISH, "logit.by.none", interval=interval_words)
    if is_clear.any():
        k = int((table["mean"].abs() / table["sd"]).to_numpy().argmax())
        column, coefficient = list(effects)[k]
        row = table.iloc[k]
        sentence = phrase(
            ENGLISH,
            "logit.by",
            clear=int(is_clear.sum()),
            total=len(table),
            column=column,
            coefficient=coefficient,
            change=format_number(row["mean"]),
            interval=interval_words,
            low=format_number(row["low"]),
            high=format_number(row["high"]),
        )
    return Finding(sentence, table=table.rename_axis("coefficient"), brief=Brief("Effects"))


def _describe_prior_influence(model: "HierarchicalLogit") -> tuple[Text, ...]:
    """Return a warning if the prior determines the standard deviations."""
    posterior = PosteriorTree(model.posterior_)
    scale = model._scale_
    prior = model._build_prior(len(scale.names))
    shrinkage = 1.0 - 0.5 ** measure_prior_influence(posterior.draws, scale, prior.df, prior.scale)
    if shrinkage.max() < _MIN_INFLUENCE:
        return ()
    n_people = posterior.draws.sizes["respondent"]
    tasks_per_person = format_number(posterior.observed["chosen"].size / n_people)
    shrinkage_text = f"{100 * shrinkage.max():.0f}"
    prior_setting = Setting("priors", {"scale": float(f"{0.5 * prior.scale:.3g}")})
    return (
        phrase(
            ENGLISH,
            "logit.population.prior",
            setting=prior_setting,
            share=shrinkage_text,
            people=f"{n_people:,}",
            tasks=tasks_per_person,
            name=scale.names[int(shrinkage.argmax())],
        ),
    )


@finding("summary", "Parameter estimates and convergence", chapter=STATISTICS)
def report_quantities(model: "HierarchicalLogit", settings: AnswerSettings) -> Finding:
    """Report the quantities that the convergence check uses.

    Files also contain means and standard deviations of tastes, and effects of covariates.
    """
    import pandas as pd

    summary_finding: Any = summary(model, settings)
    all_rows = pd.concat([model.summary(settings.ci), model.population(settings.ci)]).rename_axis(
        "quantity"
    )
    return replace(summary_finding, table=all_rows, shown=summary_finding.table)


@finding("individuals", "Individual coefficients", FULL)
def report_individuals(model: "HierarchicalLogit", settings: AnswerSettings) -> Finding:
    """Report posterior mean tastes of each respondent."""
    title = ENGLISH["logit.individuals"]
    if (price := model._find_price_coefficient()) is not None:
        title = str(phrase(ENGLISH, "logit.individuals.money", price=price))
    return Finding(title=title, table=model.individual_.rename_axis("respondent"))


@finding("check", "Model check", FULL, chapter=MISSES)
def report_no_check(model: "MultinomialLogit", settings: AnswerSettings) -> Finding:
    """Report that a point estimate has no model check."""
    return Finding(ENGLISH["logit.no_check"], notes=(ENGLISH["logit.compare"],))


def _describe_multinomial(model: "MultinomialLogit") -> tuple[Text, ...]:
    """Return methods sentences about the multinomial logit."""
    errors = describe_errors(model._people_)
    sentences = [phrase(ENGLISH, "logit.methods", source=Cite("mcfadden1974"), errors=errors)]
    if model._price_ is not None:
        price = model._coding_.names[model._price_]
        sentences.append(phrase(ENGLISH, "logit.money", source=Cite("train2005"), price=price))
    return tuple(sentences)


def _describe_hierarchical(model: "HierarchicalLogit") -> tuple[Text, ...]:
    """Return methods sentences about the hierarchical logit."""
    signs = model.signs or {}
    covariates = model._covariates_.names
    sentences = [phrase(ENGLISH, "hierarchical.methods", source=Cite("rossi2005"))]
    if (price_coefficient := model._find_price_coefficient()) is not None:
        sentences.append(
            phrase(ENGLISH, "hierarchical.money", source=Cite("train2005"), price=price_coefficient)
        )
    if signs:
        attribute_names = list_names(
            [f"{attribute} ({direction})" for attribute, direction in signs.items()]
        )
        sentences.append(phrase(ENGLISH, "hierarchical.signs", named=attribute_names))
    if covariates:
        sentences.append(phrase(ENGLISH, "hierarchical.covariates", named=list_names(covariates)))
    logarithm_note = ""
    if signs or price_coefficient is not None:
        logarithm_note = ENGLISH["hierarchical.logarithms"]
    prior_sizes = {"mean_sd": f"{MEAN_SD:g}", "df": "p + 3", "scale": f"{DEFAULT_SCALE:g}"}
    prior_sizes |= {name: f"{size:g}" for name, size in (model.priors or {}).items()}
    if prior_sizes["scale"] == "1":
        prior_sizes["scale"] = ""
    sentences.append(
        phrase(ENGLISH, "hierarchical.prior", logarithms=logarithm_note, **prior_sizes)
    )
    sentences.append(phrase(ENGLISH, "hierarchical.sampler", source=Cite("yu2011")))
    return (*sentences, SEGMENT_SENTENCE)


# report the prior if halving its size shrinks a standard deviation by at least this share
_MIN_INFLUENCE = 0.05


_MULTINOMIAL = (
    _ask_about_products,
    *MARKET_FINDINGS,
    build_simulator_maker(),
)
