"""What the multinomial and the hierarchical logit find out."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._digits import format_number
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
from thali._model.phrases import phrase
from thali._model.references import Cite
from thali._model.settings import AnswerSettings
from thali._posterior.interval import interval_name
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
from .hierarchical_draws import close_to_zero, felt_prior
from .hierarchical_fit import MEAN_SD, SCALE, SCALE_WITH_ATTENTION

if TYPE_CHECKING:
    import pandas

    from .multinomial import MultinomialLogit


def list_makers(
    model: "HierarchicalLogit | MultinomialLogit", settings: AnswerSettings
) -> tuple[FindingMaker, ...]:
    """The makers of the findings of either logit."""
    if isinstance(model, HierarchicalLogit):
        attention = (
            ()
            if model._attention is None
            else (who_attends, attention_odds, patterns, individual_attention)
        )
        answers, segments = build_choice_makers(settings)
        first = (
            make_question_maker(lambda model: ENGLISH["logit.asked.people"]),
            *answers,
            *attention,
            population,
            individuals,
        )
        return (
            *first,
            *segments,
            report_check,
            quantities,
            data,
            report_levels,
            *RESPONDENT_FINDINGS,
            make_methods_maker(_hierarchical),
            convergence,
        )
    return (
        *_MULTINOMIAL,
        no_check,
        summary,
        data,
        report_levels,
        make_methods_maker(_multinomial),
        convergence,
    )


@finding("attention", "Attribute non-attendance", ON_SCREEN)
def who_attends(model: "HierarchicalLogit", settings: AnswerSettings) -> Finding:
    """The part of the people who attend to each attribute."""
    found = model.attention(settings.ci)
    named, interval = [], interval_name(settings.ci)
    for row in found.shares.sort_values("attends", kind="stable").reset_index().to_dict("records"):
        ends = {name: f"{100 * (1.0 - row[of]):.0f}" for name, of in _IGNORED.items()}
        word = "attention.part" if named else "attention.first"
        named.append(
            str(phrase(ENGLISH, word, attribute=row["attribute"], interval=interval, **ends))
        )
    table = found.shares
    if settings.attention_scale is not None:
        both = model.attention_by_scale(settings.attention_scale, settings.ci)
        table = table.join(both[[f"{name}_other" for name in _SHOWN]])
        table.attrs.update(both.attrs)
    close = close_to_zero(model._view.draws, model._population())
    notes = [
        phrase(ENGLISH, "attention.alike", source=Cite("hess2013")),
        *([phrase(ENGLISH, "attention.close", named=list_names(close))] if close else []),
        _by_scale(model, table),
    ]
    return Finding(
        str(phrase(ENGLISH, "attention", named=list_names(named))),
        title=ENGLISH["attention.title"],
        table=table,
        shown=table[
            [name for name in (*_SHOWN, *(f"{name}_other" for name in _SHOWN)) if name in table]
        ],
        picture=Picture(
            "attention", str(phrase(ENGLISH, "attention.caption", interval=interval)), found
        ),
        notes=tuple(notes),
        brief=Brief("Attention"),
    )


def _by_scale(model: "HierarchicalLogit", table: "pandas.DataFrame") -> Text:
    """How the parts hang on the prior size of a variance: both, where they were asked for and
    differ."""
    if "scales" not in table.attrs:
        other = SCALE if model._prior_scale() != SCALE else SCALE_WITH_ATTENTION
        setting = Setting("attention_scale", other)
        return phrase(
            ENGLISH, "attention.prior", scale=format_number(model._prior_scale()), setting=setting
        )
    scale, other = map(format_number, table.attrs["scales"])
    pairs = table[["attends_other", "attends"]].to_numpy()
    off = np.abs(pairs[:, 0] - pairs[:, 1])
    if not (off > _FAR).any():
        return phrase(
            ENGLISH, "attention.same", scale=scale, other=other, largest=f"{100 * off.max():.0f}"
        )
    parts = []
    for name, (share, than), is_far in zip(
        table.index, 100.0 * (1.0 - pairs), off > _FAR, strict=True
    ):
        if is_far:
            facts = {"attribute": name, "share": f"{share:.0f}", "than": f"{than:.0f}"}
            parts.append(str(phrase(ENGLISH, "attention.differs", **facts)))
    return phrase(ENGLISH, "attention.both", scale=scale, other=other, named=list_names(parts))


@finding("attention_odds", "Predictors of attribute attendance", ON_SCREEN)
def attention_odds(model: "HierarchicalLogit", settings: AnswerSettings) -> Finding | None:
    """How columns of people change the odds of attending."""
    table, interval = model.attention(settings.ci).odds, interval_name(settings.ci)
    if table is None:
        return None
    sure = [row for row in table.to_dict("records") if row["low"] > 1.0 or row["high"] < 1.0]
    sentence = phrase(ENGLISH, "attention.odds.none", interval=interval)
    if sure:
        row = max(sure, key=lambda each: abs(each["log_odds"]) / np.log(each["high"] / each["low"]))
        ends = {name: format_number(row[name]) for name in ("odds", "low", "high")}
        named = {"column": row["column"], "attribute": row["attribute"], "interval": interval}
        sentence = phrase(ENGLISH, "attention.odds", **named, **ends)
    shown = table[["attribute", "column", "odds", "low", "high"]]
    title, brief = ENGLISH["attention.odds.title"], Brief("Effects")
    return Finding(sentence, title=title, table=table, shown=shown, brief=brief)


@finding("attention_patterns", "Patterns of attribute attendance", FULL)
def patterns(model: "HierarchicalLogit", settings: AnswerSettings) -> Finding:
    """The parts of the respondents who attend to just these attributes."""
    return Finding(title=ENGLISH["attention.patterns"], table=model.attention(settings.ci).patterns)


@finding("individual_attention", "Individual attribute attendance", FILE)
def individual_attention(model: "HierarchicalLogit", settings: AnswerSettings) -> Finding:
    """The probability that each respondent attends to each attribute."""
    return Finding(table=model.attention(settings.ci).people)


@finding("population", "Population coefficients and heterogeneity")
def population(model: "HierarchicalLogit", settings: AnswerSettings) -> Finding:
    """Means and standard deviations of the tastes in the population."""
    table = model.population(settings.ci)
    title: Text = ENGLISH[
        "logit.population" if model._attention is None else "attention.population"
    ]
    if (price := model._money()) is not None:
        title = str(phrase(ENGLISH, "logit.population.money", price=price))
    table = table.rename_axis(table.index.name or "coefficient")
    return Finding(title=title, table=table, notes=_felt(model))


def _felt(model: "HierarchicalLogit") -> tuple[Text, ...]:
    """How far standard deviations among people lean on their prior, if they do."""
    posterior, scale = model._view, model._scale_
    prior = model._prior(len(scale.names))
    smaller = 1.0 - 0.5 ** felt_prior(posterior.draws, scale, prior.df, prior.scale)
    if smaller.max() < _FELT:
        return ()
    people = posterior.draws.sizes["respondent"]
    tasks = format_number(posterior.observed["chosen"].size / people)
    facts = {"people": f"{people:,}", "tasks": tasks, "name": scale.names[int(smaller.argmax())]}
    share = f"{100 * smaller.max():.0f}"
    setting = Setting("priors", {"scale": float(f"{0.5 * prior.scale:.3g}")})
    return (phrase(ENGLISH, "logit.population.prior", setting=setting, share=share, **facts),)


@finding("summary", "Parameter estimates and convergence", chapter=STATISTICS)
def quantities(model: "HierarchicalLogit", settings: AnswerSettings) -> Finding:
    """What `convergence` judges; in files also means and standard deviations of tastes, and effects
    of covariates."""
    import pandas as pd

    found: Any = summary(model, settings)
    every = pd.concat([model.summary(settings.ci), model.population(settings.ci)]).rename_axis(
        "quantity"
    )
    return replace(found, table=every, shown=found.table)


@finding("individuals", "Individual coefficients", FULL)
def individuals(model: "HierarchicalLogit", settings: AnswerSettings) -> Finding:
    """The posterior mean of the tastes of each respondent."""
    table, price = model.individual_.rename_axis("respondent"), model._money()
    money = None if price is None else str(phrase(ENGLISH, "logit.individuals.money", price=price))
    return Finding(title=money or ENGLISH["logit.individuals"], table=table)


@finding("check", "Model check", FULL, chapter=MISSES)
def no_check(model: "MultinomialLogit", settings: AnswerSettings) -> Finding:
    """Why an estimate is not checked."""
    return Finding(ENGLISH["logit.no_check"], notes=(ENGLISH["logit.compare"],))


def _multinomial(model: "MultinomialLogit") -> tuple[Text, ...]:
    """How a paper says it of the multinomial logit."""
    sentences = [phrase(ENGLISH, "logit.methods", source=Cite("mcfadden1974"))]
    if model._price_ is not None:
        price = model._coding_.names[model._price_]
        sentences.append(phrase(ENGLISH, "logit.money", source=Cite("train2005"), price=price))
    return tuple(sentences)


def _hierarchical(model: "HierarchicalLogit") -> tuple[Text, ...]:
    """How a paper says it of the hierarchical logit."""
    signs, covariates = model.signs or {}, model._covariates_.names
    sentences = [phrase(ENGLISH, "hierarchical.methods", source=Cite("rossi2005"))]
    if (price := model._money()) is not None:
        sentences.append(
            phrase(ENGLISH, "hierarchical.money", source=Cite("train2005"), price=price)
        )
    if signs:
        named = list_names([f"{attribute} ({way})" for attribute, way in signs.items()])
        sentences.append(phrase(ENGLISH, "hierarchical.signs", named=named))
    if covariates:
        sentences.append(phrase(ENGLISH, "hierarchical.covariates", named=list_names(covariates)))
    logarithms = ENGLISH["hierarchical.logarithms"] if signs or price is not None else ""
    numbers = {"mean_sd": f"{MEAN_SD:g}", "df": "p + 3", "scale": f"{model._prior_scale():g}"}
    numbers |= {name: f"{size:g}" for name, size in (model.priors or {}).items()}
    attributes = model._population().attention.names
    if attributes:
        named = list_names(attributes)
        sentences.append(
            phrase(ENGLISH, "hierarchical.attention", named=named, source=Cite("gilbride2006"))
        )
    if model._looking_ is not None:
        sentences.append(
            phrase(ENGLISH, "hierarchical.attention.by", named=list_names(model._looking_.names))
        )
    sentences.append(phrase(ENGLISH, "hierarchical.prior", logarithms=logarithms, **numbers))
    sentences.append(phrase(ENGLISH, "hierarchical.sampler", source=Cite("yu2011")))
    if attributes:
        sentences.append(ENGLISH["hierarchical.attention.sampler"])
    return (*sentences, SEGMENT_SENTENCE)


_SHOWN = ("attends", "low", "high")
# part by which half the size of the prior makes a standard deviation smaller, from which on it is
# said
_FELT = 0.05
_FAR = 0.1  # difference of two parts that is said
_IGNORED = {"share": "attends", "low": "high", "high": "low"}


_MULTINOMIAL = (
    make_question_maker(lambda model: ENGLISH["logit.asked"]),
    *MARKET_FINDINGS,
    build_simulator_maker(),
)
