"""Findings that the multinomial and the hierarchical logit report."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import list_names
from thali._model.common_findings import (
    convergence,
    data,
    make_methods_maker,
    make_question_maker,
    summary,
)
from thali._model.finding import (
    FILE,
    FULL,
    MISSES,
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
from thali._model.references import Cite
from thali._model.sentence_templates import phrase
from thali._number_format import format_number
from thali._posterior.posterior_interval import describe_interval
from thali.errors import Setting

from ..answers.english import ENGLISH
from ..answers.findings import (
    MARKET_FINDINGS,
    RESPONDENT_FINDINGS,
    SEGMENT_SENTENCE,
    build_choice_makers,
    build_simulator_maker,
    report_check,
    report_levels,
)
from .hierarchical import HierarchicalLogit
from .hierarchical_draws import list_attributes_near_zero, measure_prior_influence
from .hierarchical_fit import MEAN_SD

if TYPE_CHECKING:
    import pandas

    from .multinomial import MultinomialLogit


def list_makers(
    model: "HierarchicalLogit | MultinomialLogit", settings: AnswerSettings
) -> tuple[FindingMaker, ...]:
    """Return the functions that make the findings of either logit."""
    if isinstance(model, HierarchicalLogit):
        attention: tuple[FindingMaker, ...] = ()
        if model._attention is not None:
            attention = (
                report_attention,
                report_attention_odds,
                report_patterns,
                report_individual_attention,
            )
        answers, segments = build_choice_makers(settings)
        return (
            make_question_maker(lambda model: ENGLISH["logit.asked.people"]),
            *answers,
            *attention,
            report_population,
            report_individuals,
            *segments,
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
        convergence,
    )


@finding("attention", "Attribute non-attendance", ON_SCREEN)
def report_attention(model: "HierarchicalLogit", settings: AnswerSettings) -> Finding:
    """Report the share of the population that attends to each attribute."""
    tables = model.attention(settings.ci)
    sentences, interval, key = [], describe_interval(settings.ci), "attention.first"
    for row in tables.shares.sort_values("attends", kind="stable").reset_index().to_dict("records"):
        ends = {name: f"{100 * (1.0 - row[column]):.0f}" for name, column in _IGNORED.items()}
        sentences.append(
            str(phrase(ENGLISH, key, attribute=row["attribute"], interval=interval, **ends))
        )
        key = "attention.part"
    table = tables.shares
    if settings.attention_scale is not None:
        comparison = model.attention_by_scale(settings.attention_scale, settings.ci)
        table = table.join(comparison[[f"{name}_other" for name in _SHOWN]])
        table.attrs.update(comparison.attrs)
    notes = [phrase(ENGLISH, "attention.alike", source=Cite("hess2013"))]
    if near_zero := list_attributes_near_zero(model._view.draws, model._build_taste_distribution()):
        notes.append(phrase(ENGLISH, "attention.close", named=list_names(near_zero)))
    notes.append(_describe_scale_sensitivity(model, table))
    return Finding(
        str(phrase(ENGLISH, "attention", named=list_names(sentences))),
        title=ENGLISH["attention.title"],
        table=table,
        shown=table.filter(items=[*_SHOWN, *(f"{name}_other" for name in _SHOWN)]),
        picture=Picture(
            "attention", str(phrase(ENGLISH, "attention.caption", interval=interval)), tables
        ),
        notes=tuple(notes),
        brief=Brief("Attention"),
    )


def _describe_scale_sensitivity(model: "HierarchicalLogit", table: "pandas.DataFrame") -> Text:
    """Return a sentence on how attention depends on the prior variance."""
    if "scales" not in table.attrs:
        setting = Setting("attention_scale", model._alternative_scale())
        return phrase(
            ENGLISH, "attention.prior", scale=format_number(model._prior_scale()), setting=setting
        )
    scale, other = map(format_number, table.attrs["scales"])
    pairs = table[["attends_other", "attends"]].to_numpy()
    differences = np.abs(pairs[:, 0] - pairs[:, 1])
    if not (differences > _MIN_DIFFERENCE).any():
        return phrase(
            ENGLISH,
            "attention.same",
            scale=scale,
            other=other,
            largest=f"{100 * differences.max():.0f}",
        )
    sentences = []
    for name, (share, other_share), differs in zip(
        table.index, 100.0 * (1.0 - pairs), differences > _MIN_DIFFERENCE, strict=True
    ):
        if differs:
            sentences.append(
                str(
                    phrase(
                        ENGLISH,
                        "attention.differs",
                        attribute=name,
                        share=f"{share:.0f}",
                        than=f"{other_share:.0f}",
                    )
                )
            )
    return phrase(ENGLISH, "attention.both", scale=scale, other=other, named=list_names(sentences))


@finding("attention_odds", "Predictors of attribute attendance", ON_SCREEN)
def report_attention_odds(model: "HierarchicalLogit", settings: AnswerSettings) -> Finding | None:
    """Report effects of respondents' columns on the odds of attending."""
    table, interval = model.attention(settings.ci).odds, describe_interval(settings.ci)
    if table is None:
        return None
    certain = [row for row in table.to_dict("records") if row["low"] > 1.0 or row["high"] < 1.0]
    sentence = phrase(ENGLISH, "attention.odds.none", interval=interval)
    if certain:
        row = max(
            certain,
            key=lambda effect: abs(effect["log_odds"]) / np.log(effect["high"] / effect["low"]),
        )
        ends = {name: format_number(row[name]) for name in ("odds", "low", "high")}
        sentence = phrase(
            ENGLISH,
            "attention.odds",
            column=row["column"],
            attribute=row["attribute"],
            interval=interval,
            **ends,
        )
    shown = table[["attribute", "column", "odds", "low", "high"]]
    title, brief = ENGLISH["attention.odds.title"], Brief("Effects")
    return Finding(sentence, title=title, table=table, shown=shown, brief=brief)


@finding("attention_patterns", "Patterns of attribute attendance", FULL)
def report_patterns(model: "HierarchicalLogit", settings: AnswerSettings) -> Finding:
    """Report shares of respondents by pattern of attended attributes."""
    return Finding(title=ENGLISH["attention.patterns"], table=model.attention(settings.ci).patterns)


@finding("individual_attention", "Individual attribute attendance", FILE)
def report_individual_attention(model: "HierarchicalLogit", settings: AnswerSettings) -> Finding:
    """Report the probability that each respondent attends to each attribute."""
    return Finding(table=model.attention(settings.ci).people)


@finding("population", "Population coefficients and heterogeneity")
def report_population(model: "HierarchicalLogit", settings: AnswerSettings) -> Finding:
    """Report population means and standard deviations of tastes."""
    table = model.population(settings.ci)
    title = ENGLISH["logit.population"]
    if (price := model._find_price_coefficient()) is not None:
        title = str(phrase(ENGLISH, "logit.population.money", price=price))
    elif model._attention is not None:
        title = ENGLISH["attention.population"]
    table = table.rename_axis(table.index.name or "coefficient")
    return Finding(title=title, table=table, notes=_describe_prior_influence(model))


def _describe_prior_influence(model: "HierarchicalLogit") -> tuple[Text, ...]:
    """Return a warning if the prior determines the standard deviations."""
    posterior, scale = model._view, model._scale_
    prior = model._build_prior(len(scale.names))
    shrinkage = 1.0 - 0.5 ** measure_prior_influence(posterior.draws, scale, prior.df, prior.scale)
    if shrinkage.max() < _MIN_INFLUENCE:
        return ()
    people = posterior.draws.sizes["respondent"]
    tasks = format_number(posterior.observed["chosen"].size / people)
    share = f"{100 * shrinkage.max():.0f}"
    setting = Setting("priors", {"scale": float(f"{0.5 * prior.scale:.3g}")})
    return (
        phrase(
            ENGLISH,
            "logit.population.prior",
            setting=setting,
            share=share,
            people=f"{people:,}",
            tasks=tasks,
            name=scale.names[int(shrinkage.argmax())],
        ),
    )


@finding("summary", "Parameter estimates and convergence", chapter=STATISTICS)
def report_quantities(model: "HierarchicalLogit", settings: AnswerSettings) -> Finding:
    """Report the quantities that the convergence check uses.

    Files also contain means and standard deviations of tastes, and effects of covariates.
    """
    import pandas as pd

    report: Any = summary(model, settings)
    all_rows = pd.concat([model.summary(settings.ci), model.population(settings.ci)]).rename_axis(
        "quantity"
    )
    return replace(report, table=all_rows, shown=report.table)


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
    sentences = [phrase(ENGLISH, "logit.methods", source=Cite("mcfadden1974"))]
    if model._price_ is not None:
        price = model._coding_.names[model._price_]
        sentences.append(phrase(ENGLISH, "logit.money", source=Cite("train2005"), price=price))
    return tuple(sentences)


def _describe_hierarchical(model: "HierarchicalLogit") -> tuple[Text, ...]:
    """Return methods sentences about the hierarchical logit."""
    signs, covariates = model.signs or {}, model._covariates_.names
    sentences = [phrase(ENGLISH, "hierarchical.methods", source=Cite("rossi2005"))]
    if (price := model._find_price_coefficient()) is not None:
        sentences.append(
            phrase(ENGLISH, "hierarchical.money", source=Cite("train2005"), price=price)
        )
    if signs:
        attribute_names = list_names(
            [f"{attribute} ({direction})" for attribute, direction in signs.items()]
        )
        sentences.append(phrase(ENGLISH, "hierarchical.signs", named=attribute_names))
    if covariates:
        sentences.append(phrase(ENGLISH, "hierarchical.covariates", named=list_names(covariates)))
    logarithms = ""
    if signs or price is not None:
        logarithms = ENGLISH["hierarchical.logarithms"]
    prior_sizes = {"mean_sd": f"{MEAN_SD:g}", "df": "p + 3", "scale": f"{model._prior_scale():g}"}
    prior_sizes |= {name: f"{size:g}" for name, size in (model.priors or {}).items()}
    attributes = model._build_taste_distribution().attention.names
    if attributes:
        attribute_names = list_names(attributes)
        sentences.append(
            phrase(
                ENGLISH,
                "hierarchical.attention",
                named=attribute_names,
                source=Cite("gilbride2006"),
            )
        )
    if model._looking_ is not None:
        sentences.append(
            phrase(ENGLISH, "hierarchical.attention.by", named=list_names(model._looking_.names))
        )
    sentences.append(phrase(ENGLISH, "hierarchical.prior", logarithms=logarithms, **prior_sizes))
    sentences.append(phrase(ENGLISH, "hierarchical.sampler", source=Cite("yu2011")))
    if attributes:
        sentences.append(ENGLISH["hierarchical.attention.sampler"])
    return (*sentences, SEGMENT_SENTENCE)


_SHOWN = ("attends", "low", "high")
# report the prior if halving its size shrinks a standard deviation by at least this share
_MIN_INFLUENCE = 0.05
_MIN_DIFFERENCE = 0.1  # smallest difference of two shares that is reported
_IGNORED = {"share": "attends", "low": "high", "high": "low"}


_MULTINOMIAL = (
    make_question_maker(lambda model: ENGLISH["logit.asked"]),
    *MARKET_FINDINGS,
    build_simulator_maker(),
)
