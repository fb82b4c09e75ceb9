"""What the latent-class logit finds out."""

from typing import TYPE_CHECKING

from thali._digits import format_number, format_percent
from thali._labels import list_names
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
from thali._posterior.interval import interval_name

from ..answers.english import ENGLISH
from ..answers.findings import RESPONDENT_FINDINGS, build_choice_makers, report_check, report_levels
from .fit import FOLDS

if TYPE_CHECKING:
    from .model import LatentClassLogit


def list_makers(model: "LatentClassLogit", settings: AnswerSettings) -> tuple[FindingMaker, ...]:
    """The makers of the findings."""
    # whose classes are the segments, if each holds somebody
    held = set(model.membership_.to_numpy().argmax(axis=1))
    usual = model._n_classes_ if 1 < model._n_classes_ == len(held) else None
    answers, segments = build_choice_makers(settings, usual, instead="")
    individual = RESPONDENT_FINDINGS if model._n_classes_ > 1 else ()
    return (*_FIRST, *answers, *segments, *_REST, *individual, *_LAST)


@finding("classes", "Latent classes", ON_SCREEN)
def classes(model: "LatentClassLogit", settings: AnswerSettings) -> Finding:
    """The classes, their sizes and what they want."""
    shares = list_names([format_percent(size) for size in model._sizes_])
    several = model._n_classes_ > 1
    sentence = phrase(
        ENGLISH,
        "latent.several" if several else "latent.one",
        number=model._n_classes_,
        shares=shares,
    )
    row = model.choice_.loc[model._n_classes_]
    values = {"log_likelihood": f"{model.log_likelihood_:.2f}", "bic": f"{model.bic_:.2f}"}
    counts = {"found": int(row["times_found"]), "starts": int(row["starts"])}
    notes = [phrase(ENGLISH, "latent.maximum", **values, **counts)]
    if several:
        notes.append(phrase(ENGLISH, "latent.entropy", entropy=format_number(row["entropy_r2"])))
    table = model.respondents.classes().rename_axis("coefficient")
    brief = Brief("Classes", table=table, order=0)
    return Finding(
        sentence, title=ENGLISH["latent.classes"], table=table, notes=tuple(notes), brief=brief
    )


@finding("class_odds", "Predictors of class membership", ON_SCREEN)
def class_odds(model: "LatentClassLogit", settings: AnswerSettings) -> Finding | None:
    """How columns of people change the odds of classes."""
    if model._membership_coef_ is None or model._n_classes_ < 2:
        return None
    table = model.respondents.effects(settings.ci)
    sure = [row for row in table.to_dict("records") if row["low"] > 1.0 or row["high"] < 1.0]
    interval = interval_name(settings.ci)
    sentence = phrase(ENGLISH, "latent.odds.none", interval=interval)
    if sure:
        row = min(sure, key=lambda each: each["p_value"])
        ends = {
            "odds": format_number(row["odds"]),
            "low": format_number(row["low"]),
            "high": format_number(row["high"]),
        }
        named = {"column": row["column"], "label": row["latent_class"], "interval": interval}
        sentence = phrase(ENGLISH, "latent.odds", **named, **ends)
    return Finding(
        sentence, title=ENGLISH["latent.odds.title"], table=table, brief=Brief("Effects")
    )


@finding("numbers_of_classes", "Number of classes")
def numbers_of_classes(model: "LatentClassLogit", settings: AnswerSettings) -> Finding | None:
    """The numbers of classes that were tried."""
    tried = model.choice_
    shown = tried.dropna(axis=1, how="all")
    return Finding(
        title=ENGLISH["latent.numbers"], table=tried, shown=shown, is_printed=len(tried) > 1
    )


LEVEL = 0.05  # of a test
MIN_REPLICATES = 19  # with fewer no p-value is as small as that


@finding("bootstrap_test", "Tests of the number of classes", ON_SCREEN)
def bootstrap_test(model: "LatentClassLogit", settings: AnswerSettings) -> Finding | None:
    """Tests of one class fewer, and of one more."""
    if not settings.bootstrap:
        return None
    table = model.bootstrap_test(
        settings.bootstrap, random_seed=settings.random_seed, job=settings.job
    )
    told, finished = [], int(table["replicates"].to_numpy().min())
    for classes, row in table.to_dict("index").items():
        facts = {"fewer": classes, "more": int(row["against"]), "p": format_number(row["p_value"])}
        few = finished < MIN_REPLICATES
        how = "few" if few else "rejected" if row["p_value"] <= LEVEL else "enough"
        told.append(str(phrase(ENGLISH, f"latent.{how}", **facts)))
    note = phrase(ENGLISH, "latent.replicates", replicates=finished)
    return Finding(
        " ".join(told),
        title=ENGLISH["latent.tests"],
        table=table,
        notes=(note,),
        stopped=finished < settings.bootstrap,
        brief=Brief("Number"),
    )


@finding("membership", "Class membership", FULL)
def membership(model: "LatentClassLogit", settings: AnswerSettings) -> Finding:
    """The probability of each respondent's class."""
    shown = model.membership_.rename(columns=lambda k: f"class {k}")
    return Finding(title=ENGLISH["latent.membership"], table=model.membership_, shown=shown)


@finding("summary", "Parameter estimates", FULL, chapter=STATISTICS)
def estimates(model: "LatentClassLogit", settings: AnswerSettings) -> Finding | None:
    """The coefficients with their errors, which a terminal shows beside each other."""
    return summary(model, settings)


def modelled(model: "LatentClassLogit") -> tuple[Text, ...]:
    """How a paper says it."""
    sentence = phrase(ENGLISH, "latent.methods", source=Cite("kamakura1989"))
    sentences = [sentence]
    if model._membership_coef_ is not None:
        named = list_names(list(model._membership_coef_.columns[1:]))
        sentences.append(
            phrase(ENGLISH, "latent.by_columns", source=Cite("dayton1988"), named=named)
        )
    if len(model.choice_) > 1:
        criterion = (
            "BIC" if model.choose == "bic" else phrase(ENGLISH, "latent.left_out", folds=FOLDS)
        )
        sentences.append(phrase(ENGLISH, "latent.chosen", criterion=criterion))
    return tuple(sentences)


_FIRST = (
    make_question_maker(lambda model: ENGLISH["latent.asked"]),
    classes,
    class_odds,
    numbers_of_classes,
    bootstrap_test,
)
_REST = (report_check, estimates, data, report_levels, membership)
_LAST = (make_methods_maker(modelled), convergence)
