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
from .hierarchical_draws import list_attributes_near_zero, measure_prior_influence
from .hierarchical_fit import MEAN_SD
from .hierarchical_logit import HierarchicalLogit

if TYPE_CHECKING:
    import pandas

    from .multinomial_logit import MultinomialLogit


def list_makers(
    model: "HierarchicalLogit | MultinomialLogit", settings: AnswerSettings
) -> tuple[FindingMaker, ...]:
    """Return the functions that make the findings of either logit."""
    if isinstance(model, HierarchicalLogit):
        attention_makers: tuple[FindingMaker, ...] = ()
        if model._attention is not None:
            attention_makers = (
                report_attention,
                report_attention_odds,
                report_patterns,
                report_individual_attention,
            )
        market_makers, segment_makers = build_choice_makers(settings)
        return (
            make_question_maker(lambda model: ENGLISH["logit.asked.people"]),
            *market_makers,
            *attention_makers,
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
        convergence,
    )


@finding("attention", "Attribute non-attendance", ON_SCREEN)
def report_attention(model: "HierarchicalLogit", settings: AnswerSettings) -> Finding:
    """Report the share of the population that attends to each attribute."""
    tables = model.attention(settings.ci)
    sentences, interval_words, sentence_key = [], describe_interval(settings.ci), "attention.first"
    for row in tables.shares.sort_values("attends", kind="stable").reset_index().to_dict("records"):
        percent_texts = {
            name: f"{100 * (1.0 - row[column]):.0f}" for name, column in _IGNORED.items()
        }
        sentences.append(
            str(
                phrase(
                    ENGLISH,
                    sentence_key,
                    attribute=row["attribute"],
                    interval=interval_words,
                    **percent_texts,
                )
            )
        )
        sentence_key = "attention.part"
    table = tables.shares
    if settings.attention_scale is not None:
        scale_comparison = model.attention_by_scale(settings.attention_scale, settings.ci)
        table = table.join(scale_comparison[[f"{name}_other" for name in _SHOWN]])
        table.attrs.update(scale_comparison.attrs)
    notes = [phrase(ENGLISH, "attention.alike", source=Cite("hess2013"))]
    if near_zero_attributes := list_attributes_near_zero(
        model._view.draws, model._build_taste_distribution()
    ):
        notes.append(phrase(ENGLISH, "attention.close", named=list_names(near_zero_attributes)))
    notes.append(_describe_scale_sensitivity(model, table))
    return Finding(
        str(phrase(ENGLISH, "attention", named=list_names(sentences))),
        title=ENGLISH["attention.title"],
        table=table,
        shown=table.filter(items=[*_SHOWN, *(f"{name}_other" for name in _SHOWN)]),
        picture=Picture(
            "attention", str(phrase(ENGLISH, "attention.caption", interval=interval_words)), tables
        ),
        notes=tuple(notes),
        brief=Brief("Attention"),
    )


def _describe_scale_sensitivity(model: "HierarchicalLogit", table: "pandas.DataFrame") -> Text:
    """Return a sentence on how attention depends on the prior variance."""
    if "scales" not in table.attrs:
        scale_setting = Setting("attention_scale", model._alternative_scale())
        return phrase(
            ENGLISH,
            "attention.prior",
            scale=format_number(model._prior_scale()),
            setting=scale_setting,
        )
    fit_scale, other_scale = map(format_number, table.attrs["scales"])
    share_pairs = table[["attends_other", "attends"]].to_numpy()
    share_differences = np.abs(share_pairs[:, 0] - share_pairs[:, 1])
    if not (share_differences > _MIN_DIFFERENCE).any():
        return phrase(
            ENGLISH,
            "attention.same",
            scale=fit_scale,
            other=other_scale,
            largest=f"{100 * share_differences.max():.0f}",
        )
    sentences = []
    for attribute, (ignoring_share, other_share), is_different in zip(
        table.index, 100.0 * (1.0 - share_pairs), share_differences > _MIN_DIFFERENCE, strict=True
    ):
        if is_different:
            sentences.append(
                str(
                    phrase(
                        ENGLISH,
                        "attention.differs",
                        attribute=attribute,
                        share=f"{ignoring_share:.0f}",
                        than=f"{other_share:.0f}",
                    )
                )
            )
    return phrase(
        ENGLISH, "attention.both", scale=fit_scale, other=other_scale, named=list_names(sentences)
    )


@finding("attention_odds", "Predictors of attribute attendance", ON_SCREEN)
def report_attention_odds(model: "HierarchicalLogit", settings: AnswerSettings) -> Finding | None:
    """Report effects of respondents' columns on the odds of attending."""
    table, interval_words = model.attention(settings.ci).odds, describe_interval(settings.ci)
    if table is None:
        return None
    certain_rows = [
        row for row in table.to_dict("records") if row["low"] > 1.0 or row["high"] < 1.0
    ]
    sentence = phrase(ENGLISH, "attention.odds.none", interval=interval_words)
    if certain_rows:
        strongest_row = max(
            certain_rows,
            key=lambda effect: abs(effect["log_odds"]) / np.log(effect["high"] / effect["low"]),
        )
        odds_texts = {name: format_number(strongest_row[name]) for name in ("odds", "low", "high")}
        sentence = phrase(
            ENGLISH,
            "attention.odds",
            column=strongest_row["column"],
            attribute=strongest_row["attribute"],
            interval=interval_words,
            **odds_texts,
        )
    shown_table = table[["attribute", "column", "odds", "low", "high"]]
    title, brief = ENGLISH["attention.odds.title"], Brief("Effects")
    return Finding(sentence, title=title, table=table, shown=shown_table, brief=brief)


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
    sentences = [phrase(ENGLISH, "logit.methods", source=Cite("mcfadden1974"))]
    if model._price_ is not None:
        price = model._coding_.names[model._price_]
        sentences.append(phrase(ENGLISH, "logit.money", source=Cite("train2005"), price=price))
    return tuple(sentences)


def _describe_hierarchical(model: "HierarchicalLogit") -> tuple[Text, ...]:
    """Return methods sentences about the hierarchical logit."""
    signs, covariates = model.signs or {}, model._covariates_.names
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
    sentences.append(
        phrase(ENGLISH, "hierarchical.prior", logarithms=logarithm_note, **prior_sizes)
    )
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
